//! See `sojourn_fuzz::flusher`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sojourn_fuzz::flusher(data));
