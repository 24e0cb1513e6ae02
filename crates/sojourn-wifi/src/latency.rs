//! What can be set to shorten the time below the queues: seed 002 section 4.1.

use crate::aql::AqlSpec;
use crate::dense::DenseSpec;
use crate::{PPDU_MAX, Scheme, WifiError};
use sojourn_units::Duration;

/// Options of an access point's sending side, all off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencySpec {
    /// Bounds of the airtime below the queues; only for a scheme that queues in the MAC.
    pub aql: Option<AqlSpec>,
    /// So long before the expected end of what is on the air the next aggregate is built, and not earlier. Then at
    /// most one aggregate of an access category waits behind the one on the air, whatever `hardware_queue` says.
    pub defer: Option<Duration>,
    /// How long building takes: from what lets it begin (an arrival, a completion, the time of `defer`) until
    /// aggregates are in the hardware queue.
    pub build_time: Duration,
    /// A frame whose transmission failed is given up if its first one began this long ago.
    pub retry_time: Option<Duration>,
    /// A frame whose transmission failed is given up if it came to the sender this long ago.
    pub retry_sojourn: Option<Duration>,
    /// Shorter aggregates while many stations have data queued.
    pub dense: Option<DenseSpec>,
}

impl LatencySpec {
    /// None of them.
    pub const OFF: Self = Self {
        aql: None,
        defer: None,
        build_time: Duration::ZERO,
        retry_time: None,
        retry_sojourn: None,
        dense: None,
    };

    /// Checks every option beside others of the node; `who` names the node in the error.
    ///
    /// # Errors
    /// [`WifiError`] for the first option that cannot be used.
    pub(crate) fn validate(
        &self,
        who: &str,
        scheme: Scheme,
        aggregate_time: Duration,
        hardware_queue: u32,
    ) -> Result<(), WifiError> {
        if let Some(aql) = &self.aql {
            aql.validate(who, scheme)?;
        }
        if let Some(dense) = &self.dense {
            dense.validate(who, aggregate_time)?;
        }
        if let (Some(defer), 1) = (self.defer, hardware_queue) {
            let rule = "left out with a hardware_queue of 1, which has no place for the next aggregate";
            return Err(WifiError::new(who, "defer", defer.to_string(), rule));
        }
        let build_rule = format!("0s to {PPDU_MAX} (the longest PPDU)");
        if let Some(defer) = self.defer {
            WifiError::unless_in(..=PPDU_MAX, who, "defer", defer, build_rule.as_str())?;
        }
        WifiError::unless_in(..=PPDU_MAX, who, "build_time", self.build_time, build_rule)?;
        for (field, age) in [("retry_time", self.retry_time), ("retry_sojourn", self.retry_sojourn)] {
            if let Some(age) = age {
                let ages = Duration::from_nanos(1)..=Duration::from_secs(1000);
                WifiError::unless_in(ages, who, field, age, "1ns to 1000s")?;
            }
        }
        Ok(())
    }
}

/// What the options did to a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencyStats {
    /// Frames given up by `retry_time` or `retry_sojourn`, that could have been sent again by `retries`.
    pub expired: u64,
    /// Aggregates built while the cell was dense.
    pub dense_aggregates: u64,
    /// Aggregates built.
    pub built: u64,
    /// Airtime pending of the peer and access category after an aggregate was built: the sum over aggregates, and the
    /// largest.
    pub pending: Duration,
    /// The largest of them.
    pub pending_max: Duration,
}

impl LatencyStats {
    pub(crate) fn built(&mut self, pending: Duration, is_dense: bool) {
        self.built += 1;
        self.dense_aggregates += u64::from(is_dense);
        self.pending += pending;
        self.pending_max = self.pending_max.max(pending);
    }
}

#[cfg(test)]
mod tests;
