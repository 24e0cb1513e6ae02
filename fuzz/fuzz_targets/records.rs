//! See `sojourn_fuzz::records`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sojourn_fuzz::records(data));
