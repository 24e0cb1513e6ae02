//! See `sojourn_fuzz::tc`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sojourn_fuzz::tc(data));
