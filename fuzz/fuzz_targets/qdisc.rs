//! See `sojourn_fuzz::qdisc`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sojourn_fuzz::qdisc(data));
