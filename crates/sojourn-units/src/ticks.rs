//! The kernel's coarse clock: ticks of 1 ms (`CONFIG_HZ=1000`), and when a timer that is set in ticks goes off.

use crate::{Duration, Time};

/// Nanoseconds of a tick.
const TICK_NS: u64 = 1_000_000;

/// A number of ticks, or a time in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticks(u64);

impl Ticks {
    /// So many milliseconds, which are as many ticks.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms)
    }

    /// The time that they take.
    #[must_use]
    pub const fn as_duration(self) -> Duration {
        Duration::from_nanos(self.0 * TICK_NS)
    }
}

impl std::ops::Add for Ticks {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

/// Zero if it would be negative.
impl std::ops::Sub for Ticks {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl std::ops::Mul<u64> for Ticks {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

/// Rounds down.
impl std::ops::Div<u64> for Ticks {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

/// The clock at `now`: Linux's `jiffies`.
#[must_use]
pub const fn of(now: Time) -> Ticks {
    Ticks(now.as_nanos() / TICK_NS)
}

/// `duration`, rounded up: Linux's `usecs_to_jiffies`.
#[must_use]
pub const fn up(duration: Duration) -> Ticks {
    Ticks(duration.as_nanos().div_ceil(TICK_NS))
}

/// When a timer goes off that is set at `now` to `expires`: never early, so at the next boundary after it, and
/// boundaries are the coarser the farther off it is. Source: Linux `kernel/time/timer.c`, `calc_index` (since 4.8).
#[must_use]
pub fn fires(now: Ticks, expires: Ticks) -> Time {
    let shift = match expires.0.saturating_sub(now.0) {
        0..63 => 0,
        63..504 => 3,
        504..4032 => 6,
        4032..32_256 => 9,
        _ => 12,
    };
    Time::from_nanos((((expires.0 >> shift) + 1) << shift) * TICK_NS)
}

/// When a timer goes off that is set at `now` to `wait` later: Linux rounds the wait up to ticks, counts them from the
/// last one, and its timers are never early. So it is late by up to 2 ms, and by up to an eighth of a wait of more
/// than 62.
#[must_use]
pub fn after(wait: Duration, now: Time) -> Time {
    let tick = of(now);
    fires(tick, tick + up(wait))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_is_late_by_up_to_an_eighth() {
        // Worked by hand from the levels of the wheel: 64 buckets each, every level eight times as coarse.
        let at = |now, expires| fires(Ticks(now), Ticks(expires)).as_nanos() / TICK_NS;
        assert_eq!(at(1000, 1040), 1041);
        assert_eq!(at(1000, 1062), 1063);
        assert_eq!(at(1000, 1063), 1064);
        assert_eq!(at(1000, 1064), 1072);
        assert_eq!(at(1000, 1200), 1208);
        assert_eq!(at(1000, 2000), 2048);
        assert_eq!(at(1000, 9000), 9216);
        assert_eq!(at(1000, 65_000), 65_536);
    }

    #[test]
    fn ticks_round_as_the_kernel_does() {
        assert_eq!(of(Time::from_nanos(1_999_999)), Ticks(1));
        assert_eq!(up(Duration::from_nanos(1_000_001)), Ticks(2));
        assert_eq!(Ticks(3) - Ticks(5), Ticks(0));
    }
}
