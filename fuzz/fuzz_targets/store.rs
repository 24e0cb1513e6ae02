//! See `sojourn_fuzz::store`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sojourn_fuzz::store(data));
