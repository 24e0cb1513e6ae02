//! Shorter aggregates in dense cells.

use crate::aggregate::AggregateLimits;
use crate::{Band, PPDU_MAX, PhyRate, WifiError};
use sojourn_units::Duration;

/// While many stations have data queued, aggregates are shorter: each station's turn comes sooner, and more of the
/// airtime goes to preambles, contention and answers. Source: seed 002 section 4.1, "Dynamic aggregate sizing".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DenseSpec {
    /// So many stations with something to send in the access category make a cell dense.
    pub stations: u32,
    /// How long an aggregate's PPDU may be then; a single frame may be longer.
    pub aggregate_time: Duration,
}

impl DenseSpec {
    pub(crate) fn validate(&self, who: &str, aggregate_time: Duration) -> Result<(), WifiError> {
        WifiError::unless_in(1..=2007, who, "dense_stations", self.stations, "1 to 2007 stations")?;
        let times = Duration::from_nanos(1)..=aggregate_time.min(PPDU_MAX);
        let rule = format!("1ns to {aggregate_time} (wifi.aggregate_time)");
        WifiError::unless_in(times, who, "dense_aggregate_time", self.aggregate_time, rule)
    }
}

/// The limits of aggregates in a dense cell.
#[derive(Clone, Debug)]
pub(crate) struct Dense {
    pub(crate) spec: DenseSpec,
    /// By peer.
    pub(crate) limits: Vec<AggregateLimits>,
}

impl Dense {
    /// For peers with these rates, and aggregates of `frames` at most.
    pub(crate) fn new(spec: DenseSpec, frames: u32, rates: impl Iterator<Item = PhyRate>, band: Band) -> Self {
        let limits = |rate| AggregateLimits::new(rate, band, frames, spec.aggregate_time);
        Self {
            spec,
            limits: rates.map(limits).collect(),
        }
    }

    pub(crate) fn set_rate(&mut self, place: usize, rate: PhyRate, band: Band, frames: u32) {
        self.limits[place] = AggregateLimits::new(rate, band, frames, self.spec.aggregate_time);
    }

    /// Whether these peers, those with something to send, are enough.
    #[inline]
    pub(crate) fn applies(&self, backlogged: impl Iterator<Item = u16>) -> bool {
        let enough = self.spec.stations as usize;
        backlogged.take(enough).count() == enough
    }
}
