//! See `sojourn_fuzz::gate`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sojourn_fuzz::gate(data));
