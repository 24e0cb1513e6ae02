//! When the probabilities of a discipline are computed anew.

use sojourn_units::{Duration, Time, ticks};

/// The first update comes after so long. Source: Linux `pie_init`, `fq_pie_init`.
pub(crate) const FIRST_UPDATE: Duration = Duration::from_millis(500);

/// After so many updates without a call between them (four hours of 15 ms) the rest of the time is skipped: nothing
/// of interest happens in a queue that nobody touches.
const MOST_UPDATES: u32 = 1_000_000;

/// The timer of a discipline.
#[derive(Clone, Debug)]
pub(crate) struct Updates {
    next: Time,
    every: Duration,
}

impl Updates {
    /// The first after `first` from time 0 on.
    pub(crate) fn new(first: Duration, every: Duration) -> Self {
        Self {
            next: Time::ZERO + first,
            every,
        }
    }

    /// A timer that each update sets anew, on the kernel's wheel: 15 ms become 16. Source: Linux `pie_timer`,
    /// `fq_pie_timer`.
    ///
    /// Deviation: the first update is put on a boundary of the later ones, so that all periods are equal. On the
    /// kernel it can come earlier by up to an eighth of a period of 504 ms or more.
    pub(crate) fn on_ticks(every: Duration) -> Self {
        let period = ticks::after(every, Time::ZERO).since(Time::ZERO);
        let first = ticks::after(FIRST_UPDATE, Time::ZERO).since(Time::ZERO);
        Self::new(first, period)
    }

    /// Whether one is due.
    #[inline]
    pub(crate) fn due(&self, now: Time) -> bool {
        now >= self.next
    }

    /// Calls `update` with the time of each that is due, until it answers that it has changed nothing: then nothing
    /// changes any more before the next arrival or departure.
    #[cold]
    pub(crate) fn run(&mut self, now: Time, mut update: impl FnMut(Time) -> bool) {
        let mut left = MOST_UPDATES;
        while self.next <= now {
            left -= 1;
            let periods = if update(self.next) && left > 0 {
                1
            } else {
                now.since(self.next).as_nanos() / self.every.as_nanos() + 1
            };
            self.next += Duration::from_nanos(self.every.as_nanos().saturating_mul(periods));
        }
    }
}
