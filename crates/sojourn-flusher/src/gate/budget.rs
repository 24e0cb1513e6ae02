//! Bytes in any 60 seconds.

use sojourn_units::{Duration, Time};
use std::collections::VecDeque;

/// What the budget is counted over.
const WINDOW: Duration = Duration::from_secs(60);
/// Spendings within one cell are kept as one, at its end, so that memory is bounded: a spending counts for 60 to 60.1
/// s.
const CELL: Duration = Duration::from_millis(100);

/// No 60 seconds see more bytes than the limit; at most 602 entries.
#[derive(Clone, Debug)]
pub struct Budget {
    limit: u64,
    /// End of a cell, bytes spent in it; in order of time.
    spent: VecDeque<(Time, u64)>,
    now: Time,
}

impl Budget {
    /// Nothing spent.
    #[must_use]
    pub const fn new(limit: u64) -> Self {
        Self {
            limit,
            spent: VecDeque::new(),
            now: Time::ZERO,
        }
    }

    /// Another limit; what was spent stays spent.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// What may be spent at `now`; a time before the last spending's is taken for that.
    #[must_use]
    pub fn left(&self, now: Time) -> u64 {
        let now = self.now.max(now);
        let spent = self
            .spent
            .iter()
            .filter(|(end, _)| now.since(*end) < WINDOW)
            .fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        self.limit.saturating_sub(spent)
    }

    /// Takes `bytes` from it.
    ///
    /// # Panics
    /// If there are not so many left: whoever spends has asked.
    pub fn spend(&mut self, bytes: u64, now: Time) {
        assert!(bytes <= self.left(now), "more is spent than is left");
        self.now = self.now.max(now);
        while self
            .spent
            .front()
            .is_some_and(|(end, _)| self.now.since(*end) >= WINDOW)
        {
            self.spent.pop_front();
        }
        let cell = self.now.as_nanos() / CELL.as_nanos() + 1;
        let end = Time::from_nanos(cell.saturating_mul(CELL.as_nanos()));
        match self.spent.back_mut() {
            Some((last, sum)) if *last == end => *sum += bytes,
            _ => self.spent.push_back((end, bytes)),
        }
    }

    /// Entries kept.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.spent.len()
    }
}
