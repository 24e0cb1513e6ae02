//! See `sojourn_fuzz::config`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sojourn_fuzz::config(data));
