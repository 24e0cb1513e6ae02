//! What a simulation has measured, for those who drive it themselves.

use super::Simulator;
use crate::meter::Meter;
use crate::network::{LinkId, RouteId};
use crate::record::numbers::mean;
use sojourn_qdisc::{Backlog, DropReason};

/// What was measured at the egress of a link since [`Simulator::begin_window`], or since the beginning of the run.
#[derive(Clone, Copy, Debug)]
pub struct EgressStats<'a> {
    meter: &'a Meter,
}

/// The part that the packets of one route have in it. Bare acknowledgements of TCP are not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RouteStats {
    /// Packets that departed.
    pub sent: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Mean sojourn time of those that departed, ms; `None`, as the next, without any.
    pub sojourn_mean_ms: Option<f64>,
    /// The longest sojourn time, ms.
    pub sojourn_max_ms: Option<f64>,
}

impl EgressStats<'_> {
    /// Packets that departed.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.meter.packets
    }

    /// Their bytes on the wire.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.meter.bytes
    }

    /// Those that the discipline marked.
    #[must_use]
    pub fn marks(&self) -> u64 {
        self.meter.marks
    }

    /// Packets that were dropped for this reason.
    #[must_use]
    pub fn drops(&self, reason: DropReason) -> u64 {
        self.meter.drops[reason.index()]
    }

    /// Packets that were dropped.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.meter.dropped()
    }

    /// What is queued now.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        self.meter.backlog()
    }

    /// The most that was queued: packets and bytes, each by itself.
    #[must_use]
    pub fn backlog_max(&self) -> Backlog {
        self.meter.backlog_max
    }

    /// Mean sojourn time of the packets that departed, ms; `None` without any.
    #[must_use]
    pub fn sojourn_mean_ms(&self) -> Option<f64> {
        self.meter.sojourn.mean_ms()
    }

    /// The longest sojourn time, ms; `None` without any.
    #[must_use]
    pub fn sojourn_max_ms(&self) -> Option<f64> {
        self.meter.sojourn.max_ms()
    }

    /// The sojourn time that a share `q` of the packets does not exceed, ms, to within 1/32 of it; `None` without any.
    ///
    /// # Panics
    /// If `q` is not in 0 to 1.
    #[must_use]
    pub fn sojourn_quantile_ms(&self, q: f64) -> Option<f64> {
        assert!((0.0..=1.0).contains(&q), "q is {q}, but a quantile must be in 0 to 1");
        self.meter.sojourn.quantile_ms(q)
    }

    /// The part of one route.
    ///
    /// # Panics
    /// If the route is of another simulation, which has more of them.
    #[must_use]
    pub fn route(&self, route: RouteId) -> RouteStats {
        let counts = self.meter.counts(route);
        let sent = counts.data_sent;
        RouteStats {
            sent,
            dropped: counts.data_dropped,
            sojourn_mean_ms: mean(counts.data_sojourn_ns as f64, sent).map(|ns| ns / 1e6),
            sojourn_max_ms: (sent > 0).then(|| counts.data_sojourn_max_ns as f64 / 1e6),
        }
    }
}

impl Simulator {
    /// What was measured at the egress of `link`; `None` if it has no egress, or one without a name
    /// ([`crate::network::EgressSpec::name`]).
    ///
    /// # Panics
    /// If the link is of another network, which has more of them.
    #[must_use]
    pub fn egress_stats(&self, link: LinkId) -> Option<EgressStats<'_>> {
        let egress = self.fabric.links[usize::from(link.0)].egress.as_ref();
        egress.filter(|e| e.reported).map(|e| EgressStats { meter: &e.meter })
    }
}
