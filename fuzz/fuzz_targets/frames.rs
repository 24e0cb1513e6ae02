//! See `sojourn_fuzz::frames`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sojourn_fuzz::frames(data));
