//! From the time stamps of a capture to the time of the core.

use sojourn_units::{Duration, Time};

/// Steps back by less are taken for frames out of order, and waited out.
const REORDERING: Duration = Duration::from_secs(1);

/// A time that begins with the first frame and never goes back, whatever the machine's clock did: after a step back
/// of more than a second it goes on from where it was. A step forward cannot be told from a pause and is one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    now: Time,
    /// The stamp that `now` stands for.
    stamp: Option<u64>,
    steps: u64,
}

impl Clock {
    /// The time of a frame stamped `at_ns`, nanoseconds after 1970.
    pub fn at(&mut self, at_ns: u64) -> Time {
        let last = *self.stamp.get_or_insert(at_ns);
        if at_ns >= last {
            self.now += Duration::from_nanos(at_ns - last);
            self.stamp = Some(at_ns);
        } else if Duration::from_nanos(last - at_ns) > REORDERING {
            self.steps += 1;
            self.stamp = Some(at_ns);
        }
        self.now
    }

    /// The time that a stamp stands for if it is not before the last frame's, by the clock as it goes now. It passes
    /// no time.
    #[must_use]
    pub fn ahead(&self, at_ns: u64) -> Time {
        let last = self.stamp.unwrap_or(at_ns);
        self.now + Duration::from_nanos(at_ns.saturating_sub(last))
    }

    /// The time of the last frame.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The stamp of a time, by the clock as it goes now.
    #[must_use]
    pub fn stamp(&self, time: Time) -> u64 {
        let last = self.stamp.unwrap_or(0);
        let before = last.saturating_sub(self.now.since(time).as_nanos());
        before.saturating_add(time.since(self.now).as_nanos())
    }

    /// How often the capture's clock was set back.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn time_begins_with_the_first_frame_and_survives_steps() {
        let mut clock = Clock::default();
        let at = |clock: &mut Clock, ns| clock.at(ns).as_nanos();
        assert_eq!(at(&mut clock, 50 * SECOND), 0);
        assert_eq!(at(&mut clock, 52 * SECOND), 2 * SECOND);
        // Out of order: waits.
        assert_eq!(at(&mut clock, 51 * SECOND + 1), 2 * SECOND);
        assert_eq!(at(&mut clock, 52 * SECOND + 5), 2 * SECOND + 5);
        assert_eq!(clock.steps(), 0);
        // Set back by half a minute: goes on.
        assert_eq!(at(&mut clock, 22 * SECOND), 2 * SECOND + 5);
        assert_eq!(at(&mut clock, 23 * SECOND), 3 * SECOND + 5);
        assert_eq!(clock.steps(), 1);
        assert_eq!(clock.stamp(Time::from_nanos(2 * SECOND + 5)), 22 * SECOND);
        // What is to come.
        assert_eq!(clock.stamp(Time::from_nanos(3 * SECOND + 7)), 23 * SECOND + 2);
        assert_eq!(clock.ahead(23 * SECOND + 2).as_nanos(), 3 * SECOND + 7);
        assert_eq!(clock.ahead(20 * SECOND), clock.now());
        // To the end of what 64 bits hold, and back.
        at(&mut clock, u64::MAX);
        at(&mut clock, 0);
        assert_eq!(clock.at(u64::MAX), Time::MAX);
    }
}
