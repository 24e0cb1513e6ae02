//! See `sojourn_fuzz::control`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sojourn_fuzz::control(data));
