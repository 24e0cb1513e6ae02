//! A clock that never runs backwards, whatever the caller's does.

use sojourn_units::{Duration, Time};

/// Captures of several queues may come in an order that differs by so much; it is no step.
const JITTER: Duration = Duration::from_millis(1);

/// The core's time: the caller's, plus what the caller's has stepped back since the beginning.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    latest: Time,
    behind: Duration,
}

/// The core's time, and whether the caller's stepped back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tick {
    pub(crate) now: Time,
    pub(crate) stepped: bool,
}

impl Clock {
    pub(crate) fn tick(&mut self, caller: Time) -> Tick {
        let now = caller + self.behind;
        let back = self.latest.since(now);
        let stepped = back > JITTER;
        if stepped {
            self.behind = self.latest.since(caller);
        }
        self.latest = self.latest.max(now);
        Tick {
            now: self.latest,
            stepped,
        }
    }

    pub(crate) const fn now(&self) -> Time {
        self.latest
    }

    /// A time of the core as the caller counts.
    pub(crate) fn callers(&self, time: Time) -> Time {
        if time == Time::MAX { time } else { time - self.behind }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_step_back_time_goes_on_from_where_it_was() {
        let mut clock = Clock::default();
        assert_eq!(
            clock.tick(Time::from_secs(10)),
            Tick {
                now: Time::from_secs(10),
                stepped: false
            }
        );
        assert_eq!(
            clock.tick(Time::from_secs(4)),
            Tick {
                now: Time::from_secs(10),
                stepped: true
            }
        );
        assert_eq!(
            clock.tick(Time::from_secs(5)),
            Tick {
                now: Time::from_secs(11),
                stepped: false
            }
        );
        assert_eq!(clock.callers(Time::from_secs(12)), Time::from_secs(6));
    }

    #[test]
    fn captures_a_little_out_of_order_are_no_step() {
        let mut clock = Clock::default();
        clock.tick(Time::from_millis(100));
        let early = Time::from_nanos(99_500_000);
        assert_eq!(
            clock.tick(early),
            Tick {
                now: Time::from_millis(100),
                stepped: false
            }
        );
        assert_eq!(clock.tick(Time::from_millis(101)).now, Time::from_millis(101));
    }

    #[test]
    fn the_end_of_time_and_a_step_back_from_it_are_borne() {
        let mut clock = Clock::default();
        assert_eq!(clock.tick(Time::MAX).now, Time::MAX);
        assert_eq!(
            clock.tick(Time::ZERO),
            Tick {
                now: Time::MAX,
                stepped: true
            }
        );
        assert_eq!(clock.tick(Time::from_secs(1)).now, Time::MAX);
    }
}
