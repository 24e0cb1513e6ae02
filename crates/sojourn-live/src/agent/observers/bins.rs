//! The bins of a plan's series.

use crate::agent::World;
use crate::agent::actor::signed;
use sojourn_bed::LoadPlan;
use std::iter::StepBy;
use std::ops::RangeInclusive;

/// The ends of the bins of the measured window that are still to come.
#[derive(Clone, Debug)]
pub(crate) struct Bins(StepBy<RangeInclusive<i64>>);

impl Bins {
    /// All bins of a plan.
    pub(crate) fn of(plan: &LoadPlan) -> Self {
        let whole = plan.duration_ns - plan.duration_ns % plan.interval_ns;
        Self((signed(plan.interval_ns)..=signed(whole)).step_by(plan.interval_ns as usize))
    }

    /// Sets the timer `key` to the end of the next bin, if there is one.
    pub(crate) fn wait(&mut self, key: u32, world: &mut dyn World) {
        if let Some(end) = self.0.next() {
            world.set_timer(key, end);
        }
    }
}
