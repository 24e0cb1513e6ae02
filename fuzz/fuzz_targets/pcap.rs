//! See `sojourn_fuzz::pcap`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sojourn_fuzz::pcap(data));
