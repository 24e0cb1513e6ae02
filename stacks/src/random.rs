//! Where the stacks draw their random numbers: a stream of the run's seed, in place of the system's.
//!
//! `rand::rng()`, which quinn's and noq's BBR draw from, is seeded by `getrandom`, and that asks the function here, as does
//! BoringSSL. TLS keys of quinn and noq are ring's, which asks the system. Their lengths are fixed, so neither sizes nor times
//! depend on them.

use getrandom::Error;
use sojourn_sim::sojourn_units::Stream;
use std::sync::Mutex;

#[cfg(not(getrandom_backend = "custom"))]
compile_error!("build it within its folder, whose .cargo/config.toml chooses where random numbers come from");

static STREAM: Mutex<Option<Stream>> = Mutex::new(None);

/// From now on all that is drawn follows from `seed`. The first connection of a run says so, and the others change nothing.
pub(crate) fn seed(seed: u64) {
    STREAM
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
        .get_or_insert_with(|| Stream::named(seed, "stacks"));
}

/// Fills `length` bytes at `bytes`.
///
/// # Safety
/// The caller owns them.
#[expect(unsafe_code, reason = "both interfaces below hand a pointer over")]
unsafe fn fill(bytes: *mut u8, length: usize) {
    let mut stream = STREAM.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let stream = stream.get_or_insert_with(|| Stream::named(0, "stacks"));
    for i in 0..length {
        // SAFETY: `i` is less than `length`.
        unsafe { bytes.add(i).write(stream.u64() as u8) };
    }
}

/// What getrandom calls.
#[expect(
    unsafe_code,
    reason = "the interface of getrandom's custom backend: the caller owns the bytes"
)]
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(bytes: *mut u8, length: usize) -> Result<(), Error> {
    // SAFETY: the caller owns the bytes.
    unsafe { fill(bytes, length) };
    Ok(())
}

/// In place of BoringSSL's: quiche skips packet numbers at random.
#[cfg(feature = "quiche")]
#[expect(unsafe_code, reason = "the interface of BoringSSL: the caller owns the bytes")]
#[unsafe(no_mangle)]
unsafe extern "C" fn RAND_bytes(bytes: *mut u8, length: usize) -> libc::c_int {
    // SAFETY: the caller owns the bytes.
    unsafe { fill(bytes, length) };
    1
}
