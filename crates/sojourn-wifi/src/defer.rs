//! When aggregates are built.

use crate::AccessCategory;
use sojourn_units::{Duration, Time};

/// Just-in-time building: as late as the next aggregate can be ready in time.
///
/// Source: seed 002 section 4.1, "Minimising hardware queue length". Two things decide about the right moment. The
/// expected end of what is on the air is known when it starts. Building takes time, and an aggregate that is not
/// ready when the medium could be contended for contends later: that is the price of building too late.
///
/// Deviation: the end is expected as if the answer came; the medium may be busy a little longer, if others collide
/// with it or no answer comes. Packets are taken out of their queues at the end of the time that building takes.
#[derive(Clone, Debug)]
pub(crate) struct Deferral {
    guard: Option<Duration>,
    build_time: Duration,
    /// By access category: from when on the next aggregate may be built; `None` while nothing is on the air.
    opens: [Option<Time>; 4],
    /// By access category: when its aggregates will be built.
    builds: [Option<Time>; 4],
    /// The earliest of them.
    next: Option<Time>,
}

impl Deferral {
    pub(crate) const fn new(guard: Option<Duration>, build_time: Duration) -> Self {
        Self {
            guard,
            build_time,
            opens: [None; 4],
            builds: [None; 4],
            next: None,
        }
    }

    /// The head of `category` is on the air from `now` on, as far as is known for `airtime`.
    pub(crate) fn started(&mut self, category: AccessCategory, airtime: Duration, now: Time) {
        if let Some(guard) = self.guard {
            let opens = now + airtime.saturating_sub(guard);
            self.opens[category.index()] = Some(opens);
            self.build_at(category, opens + self.build_time);
        }
    }

    /// It has ended.
    pub(crate) fn ended(&mut self, category: AccessCategory) {
        self.opens[category.index()] = None;
    }

    /// How many aggregates may be in the hardware queue of `category`, which has `places`.
    #[inline]
    pub(crate) fn places(&self, category: AccessCategory, places: usize, now: Time) -> usize {
        match (self.guard, self.opens[category.index()]) {
            (None, _) => places,
            (Some(_), Some(opens)) if now >= opens => places.min(2),
            (Some(_), _) => 1,
        }
    }

    /// Something asks for aggregates of `category`. Answers whether they are to be built at once; if not, later.
    #[inline]
    pub(crate) fn at_once(&mut self, category: AccessCategory, now: Time) -> bool {
        if self.build_time.is_zero() {
            return true;
        }
        self.build_at(category, now + self.build_time);
        false
    }

    fn build_at(&mut self, category: AccessCategory, at: Time) {
        let own = &mut self.builds[category.index()];
        *own = Some(own.map_or(at, |earlier| earlier.min(at)));
        self.next = self.builds.iter().flatten().min().copied();
    }

    /// When something is to be built that was put off.
    #[inline]
    pub(crate) const fn next(&self) -> Option<Time> {
        self.next
    }

    /// A category whose time has come.
    pub(crate) fn take(&mut self, now: Time) -> Option<AccessCategory> {
        let due = |category: &AccessCategory| self.builds[category.index()].is_some_and(|at| at <= now);
        let category = AccessCategory::ALL.into_iter().find(due)?;
        // An arrival may have asked for building before the aggregate behind the one on the air may be built.
        let later = self.opens[category.index()].map(|opens| opens + self.build_time);
        self.builds[category.index()] = later.filter(|&later| later > now);
        self.next = self.builds.iter().flatten().min().copied();
        Some(category)
    }
}
