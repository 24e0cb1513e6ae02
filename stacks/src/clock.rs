//! A clock for stacks that read the time themselves: while the simulator calls one, the C library's clocks tell virtual time.

use sojourn_sim::sojourn_units::Time;
use std::sync::atomic::{AtomicU64, Ordering};

/// Virtual time, ns, plus one; 0 while the machine's clocks hold.
static NOW: AtomicU64 = AtomicU64::new(0);

/// As long as this is there, all clocks say `now`, as so long after [`crate::tls::DATE`].
pub(crate) struct Virtual;

impl Virtual {
    pub(crate) fn at(now: Time) -> Self {
        NOW.store(now.as_nanos() + 1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Virtual {
    fn drop(&mut self) {
        NOW.store(0, Ordering::Relaxed);
    }
}

/// In place of the C library's: the standard library's `Instant` and `SystemTime`, and BoringSSL, ask it.
#[expect(unsafe_code, reason = "the interface of the C library: the caller owns the timespec")]
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, into: *mut libc::timespec) -> libc::c_int {
    let now = NOW.load(Ordering::Relaxed);
    if now == 0 {
        // SAFETY: the call that the C library makes, with the caller's own words.
        return unsafe { libc::syscall(libc::SYS_clock_gettime, clock, into) as libc::c_int };
    }
    let at = crate::tls::date() * 1_000_000_000 + (now - 1);
    // SAFETY: the caller owns the timespec.
    unsafe {
        (*into).tv_sec = (at / 1_000_000_000) as libc::time_t;
        (*into).tv_nsec = (at % 1_000_000_000) as libc::c_long;
    }
    0
}
