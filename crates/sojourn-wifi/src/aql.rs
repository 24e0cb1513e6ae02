//! Airtime queue limits: how much airtime may be pending below the queues.

mod estimate;

use crate::{AccessCategory, PhyRate, Scheme, Variant, WifiError};
use estimate::expected_airtime;
use sojourn_units::{Bytes, Duration};

/// Airtime queue limits (AQL) of mac80211.
///
/// Source: `ieee80211_txq_airtime_check`: more may go below the queues while the station and access category has less
/// than `low` pending, or less than `high` while everything together is below `total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AqlSpec {
    /// What a station may have pending in an access category whatever the others have.
    pub low: Duration,
    /// What it may have pending while all together stay below `total`.
    pub high: Duration,
    /// Bound of the sum over stations and access categories, up to which `high` holds.
    pub total: Duration,
}

impl AqlSpec {
    /// Source: `IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L`, `_H` and `IEEE80211_AQL_THRESHOLD`.
    pub const LINUX: Self = Self {
        low: Duration::from_millis(5),
        high: Duration::from_millis(12),
        total: Duration::from_millis(24),
    };

    pub(crate) fn validate(&self, who: &str, scheme: Scheme) -> Result<(), WifiError> {
        if scheme.has_qdisc() {
            let rule = format!(
                "left out with the scheme {}, which queues above the driver",
                scheme.name()
            );
            return Err(WifiError::new(who, "aql", self.low.to_string(), rule));
        }
        let (least, most) = (Duration::from_micros(1), Duration::from_secs(10));
        let high_rule = format!("{} (wifi.aql) to 10s", self.low);
        WifiError::unless_in(least..=most, who, "aql", self.low, "1us to 10s")?;
        WifiError::unless_in(self.low..=most, who, "aql_high", self.high, high_rule)?;
        WifiError::unless_in(..=most, who, "aql_total", self.total, "0s to 10s")
    }
}

/// Airtime below the queues, by station and access category.
///
/// Source: `ieee80211_txq_airtime_check`, `ieee80211_txq_schedule_airtime_check`,
/// `ieee80211_sta_update_pending_airtime`.
///
/// With [`Variant::Linux612`] it is what mac80211 counts: the estimate of each frame, from when it leaves its queue
/// until it has arrived or is given up; the limits are asked before each frame leaves, so an aggregate ends where
/// they end.
///
/// With [`Variant::Paper`] it is the airtime of the aggregates that were built and not yet completed, and limits are
/// asked before each aggregate. Stations without room take their turns as if they had none, and their quanta, as in
/// `ieee80211_next_txq`. Deviation: if no station has room, nobody gets a quantum; in Linux everybody does, at each
/// packet's arrival. Deviation: cut to the room that is left,
/// aggregates would stay as small as those whose completion made room. So a station can exceed its limit by one
/// aggregate. And while it has one pending it builds none that would not be full, since firmware that aggregates what
/// is pending would not either. Frames that wait to be sent again are not pending until they are built in again.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    spec: Option<AqlSpec>,
    variant: Variant,
    by_station: Vec<[Duration; 4]>,
    by_category: [Duration; 4],
    total: Duration,
}

impl Pending {
    pub(crate) fn new(spec: Option<AqlSpec>, variant: Variant, stations: usize) -> Self {
        Self {
            spec,
            variant,
            by_station: vec![[Duration::ZERO; 4]; stations],
            by_category: [Duration::ZERO; 4],
            total: Duration::ZERO,
        }
    }

    /// Whether one access category can keep another from building.
    pub(crate) const fn limits(&self) -> bool {
        self.spec.is_some()
    }

    /// Whether whole aggregates are counted.
    pub(crate) fn counts_aggregates(&self) -> bool {
        self.variant == Variant::Paper
    }

    /// What a frame that leaves its queue counts; nothing if aggregates are counted, or without limits.
    pub(crate) fn estimate(&self, rate: PhyRate, size: Bytes, category: AccessCategory) -> Duration {
        if self.counts_aggregates() || !self.limits() {
            return Duration::ZERO;
        }
        expected_airtime(rate, size, category != AccessCategory::Voice)
    }

    /// An aggregate was built, or a frame has left its queue. Answers what the station has pending now.
    pub(crate) fn add(&mut self, station: u16, category: AccessCategory, airtime: Duration) -> Duration {
        self.total += airtime;
        self.by_category[category.index()] += airtime;
        let own = &mut self.by_station[usize::from(station)][category.index()];
        *own += airtime;
        *own
    }

    /// An aggregate is complete, or a frame is done with.
    pub(crate) fn remove(&mut self, station: u16, category: AccessCategory, airtime: Duration) {
        let own = &mut self.by_station[usize::from(station)][category.index()];
        *own = own.saturating_sub(airtime);
        let of_category = &mut self.by_category[category.index()];
        *of_category = of_category.saturating_sub(airtime);
        self.total = self.total.saturating_sub(airtime);
    }

    /// What the station has pending, if there are limits.
    pub(crate) fn of(&self, station: u16, category: AccessCategory) -> Duration {
        let own = self.by_station[usize::from(station)][category.index()];
        if self.limits() { own } else { Duration::ZERO }
    }

    /// Whether the station may build another aggregate, or let another frame go.
    pub(crate) fn has_room(&self, station: u16, category: AccessCategory) -> bool {
        let Some(spec) = self.spec else {
            return true;
        };
        let own = self.by_station[usize::from(station)][category.index()];
        own < spec.low || (self.total < spec.total && own < spec.high)
    }

    /// Whether anybody may have a turn while so many stations are listed: the access category has less pending than
    /// one station's `high` and half of `low` for each of the others.
    pub(crate) fn may_schedule(&self, category: AccessCategory, listed: usize) -> bool {
        let Some(spec) = self.spec else {
            return true;
        };
        listed == 0 || self.by_category[category.index()] < spec.low * (listed as u64 - 1) / 2 + spec.high
    }
}

#[cfg(test)]
mod tests;
