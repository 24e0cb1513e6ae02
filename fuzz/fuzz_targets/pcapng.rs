//! See `sojourn_fuzz::pcapng`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sojourn_fuzz::pcapng(data));
