//! The kernel's clocks, and a timer on the monotonic one.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_create,
    timerfd_settime,
};

/// Nanoseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000_000;

/// What a clock of the kernel shows, nanoseconds.
pub(crate) fn now(clock: ClockId) -> i64 {
    let t = clock_gettime(clock);
    t.tv_sec * SECOND + t.tv_nsec
}

/// The real-time clock less the monotonic clock, nanoseconds, and what the latter showed last.
pub(crate) fn real_ahead() -> (i64, i64) {
    let before = now(ClockId::Monotonic);
    let real = now(ClockId::Realtime);
    let after = now(ClockId::Monotonic);
    (real - (before + (after - before) / 2), after)
}

/// A `timerfd` on the monotonic clock, which the kernel's timer slack does not touch.
#[derive(Debug)]
pub(crate) struct Timer(OwnedFd);

impl Timer {
    /// A timer that is off. With [`TimerfdFlags::NONBLOCK`] reading it does not wait.
    pub(crate) fn new(flags: TimerfdFlags) -> Result<Self, Errno> {
        timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | flags).map(Self)
    }

    /// Sets it to a time of the clock, nanoseconds, or switches it off.
    pub(crate) fn set(&self, at: Option<i64>) -> Result<(), Errno> {
        // A time that is over must not become 0, which would switch the timer off.
        let time = at.map_or(0, |at| at.max(1));
        let setting = Itimerspec {
            it_interval: Timespec::default(),
            it_value: Timespec {
                tv_sec: time / SECOND,
                tv_nsec: time % SECOND,
            },
        };
        timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &setting).map(drop)
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
