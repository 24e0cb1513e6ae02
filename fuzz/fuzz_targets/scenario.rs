//! See `sojourn_fuzz::scenario`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sojourn_fuzz::scenario(data));
