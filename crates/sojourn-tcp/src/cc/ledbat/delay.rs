//! Queuing delay out of round trips: the least of ten minutes, and the least of the last four samples.

use sojourn_units::{Duration, Time};

/// Minutes that the history has (RFC 6817 section 2.5: `BASE_HISTORY` 10).
const MINUTES: usize = 10;
/// Samples that the current delay is the least of (RFC 6817 section 2.5: `CURRENT_FILTER` 4).
const SAMPLES: usize = 4;
const NANOS_OF_MINUTE: u64 = 60_000_000_000;

/// Round trips of a connection, which stand for one-way delays (draft section 4.5).
///
/// Source: RFC 6817 section 2.4.2, `update_base_delay` and `update_current_delay`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delays {
    /// The least round trip of each minute, in a ring.
    minutes: [Option<Duration>; MINUTES],
    /// The minute of the last sample, counted from the beginning of time.
    minute: u64,
    /// The last samples, in a ring.
    recent: [Option<Duration>; SAMPLES],
    next: usize,
}

impl Delays {
    /// A round trip was measured. A minute without a sample takes no place in the history.
    pub(super) fn sample(&mut self, rtt: Duration, now: Time) {
        let minute = now.as_nanos() / NANOS_OF_MINUTE;
        if minute != self.minute {
            self.minute = minute;
            self.minutes.rotate_right(1);
            self.minutes[0] = None;
        }
        self.minutes[0] = Some(self.minutes[0].map_or(rtt, |least| least.min(rtt)));
        self.recent[self.next] = Some(rtt);
        self.next = (self.next + 1) % SAMPLES;
    }

    /// The least round trip of the last minutes; `None` before the first.
    pub(super) fn base(&self) -> Option<Duration> {
        self.minutes.iter().flatten().min().copied()
    }

    /// The least of the last samples over the base.
    pub(super) fn queuing(&self) -> Option<Duration> {
        let current = self.recent.iter().flatten().min()?;
        Some(current.saturating_sub(self.base()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn at(minute: u64) -> Time {
        Time::from_nanos(minute * NANOS_OF_MINUTE)
    }

    /// Of 90, 70, 95, 80, 85 ms the least of the last four is 70 until a fifth sample after it has pushed it out.
    #[test]
    fn the_current_delay_is_the_least_of_four_samples() {
        let mut delays = Delays::default();
        assert_eq!(delays.queuing(), None);
        delays.sample(ms(50), at(0));
        let mut queued = Vec::new();
        for rtt in [90, 70, 95, 80, 85, 99] {
            delays.sample(ms(rtt), at(0));
            queued.push(delays.queuing().expect("a sample"));
        }
        assert_eq!(queued, [0, 0, 0, 20, 20, 30].map(ms));
    }

    /// 50 ms of minute 0 count until ten minutes have begun after it: then minutes 1 to 10 are the history.
    #[test]
    fn the_base_is_the_least_of_ten_minutes() {
        let mut delays = Delays::default();
        delays.sample(ms(50), at(0));
        delays.sample(ms(60), at(0));
        for minute in 1..10 {
            delays.sample(ms(100 + minute), at(minute));
            assert_eq!(delays.base(), Some(ms(50)), "minute {minute}");
        }
        delays.sample(ms(200), at(10));
        assert_eq!(delays.base(), Some(ms(101)));
        delays.sample(ms(200), at(11));
        assert_eq!(delays.base(), Some(ms(102)));
    }
}
