//! The core: segments and time in, plans out.

use crate::{Event, FlowView, FlushId, FlushPlan, FlusherParams, FlusherStats, ParamError, Segment};
use sojourn_units::Time;

/// The queue flusher's decisions.
#[derive(Debug)]
pub struct Flusher {
    stats: FlusherStats,
}

impl Flusher {
    /// With these parameters.
    ///
    /// # Errors
    /// [`ParamError`] for parameters that cannot be used.
    pub fn new(params: FlusherParams) -> Result<Self, ParamError> {
        params.validate()?;
        Ok(Self {
            stats: FlusherStats::default(),
        })
    }

    /// Takes note of a captured segment.
    pub fn handle_segment(&mut self, _segment: &Segment, _now: Time) {
        self.stats.segments += 1;
    }

    /// Lets the time pass.
    pub fn handle_timeout(&mut self, _now: Time) {}

    /// When [`Self::handle_timeout`] wants to be called.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        None
    }

    /// The flush to be made now, if any.
    pub fn poll_flush(&mut self) -> Option<FlushPlan> {
        None
    }

    /// The burst has left: `sent` packets of it.
    pub fn flush_done(&mut self, _id: FlushId, _sent: u32, _now: Time) {}

    /// The gate said no.
    pub fn flush_refused(&mut self, _id: FlushId, _now: Time) {}

    /// What happened next.
    pub fn poll_event(&mut self) -> Option<Event> {
        None
    }

    /// The flows, in order of their keys.
    pub fn flows(&self) -> impl Iterator<Item = FlowView> {
        std::iter::empty()
    }

    /// The counters.
    #[must_use]
    pub fn stats(&self) -> FlusherStats {
        self.stats
    }
}
