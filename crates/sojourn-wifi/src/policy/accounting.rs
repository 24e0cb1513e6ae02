//! Airtime that is charged later than it was used.

use crate::AccessCategory;
use sojourn_units::{Duration, Time};
use std::collections::VecDeque;

/// Airtime of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Charge {
    pub(super) station: u16,
    pub(super) category: AccessCategory,
    pub(super) airtime: Duration,
}

/// Charges on their way to the scheduler, as where the fast path leaves them on queues that another thread empties.
///
/// Source: seed 002 section 4.2, "Performance issues". The delay is that of every record; Linux would have a period.
///
/// A charge is dated when the next one is asked for, which is at once after a completion: the scheduler is told the
/// time, charges are not. What was received is dated by the next packet or completion.
#[derive(Clone, Debug)]
pub(super) struct Accounting {
    delay: Duration,
    fresh: Vec<Charge>,
    late: VecDeque<(Time, Charge)>,
}

impl Accounting {
    pub(super) fn new(delay: Duration) -> Self {
        Self {
            delay,
            fresh: Vec::new(),
            late: VecDeque::new(),
        }
    }

    #[inline]
    pub(super) fn add(&mut self, charge: Charge) {
        self.fresh.push(charge);
    }

    /// The next charge that is due by `now`.
    #[inline]
    pub(super) fn next(&mut self, now: Time) -> Option<Charge> {
        let due = now + self.delay;
        self.late.extend(self.fresh.drain(..).map(|charge| (due, charge)));
        let &(due, charge) = self.late.front()?;
        (due <= now).then(|| {
            self.late.pop_front();
            charge
        })
    }
}
