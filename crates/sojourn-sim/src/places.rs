//! Where the traffic of a scenario is in a network: the links and routes that its record reports.

use crate::network::{LinkId, RoutePair};
use std::collections::BTreeMap;

/// The routes of all traffic, each kind in the order of the scenario.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrafficRoutes {
    pub(crate) flows: Vec<RoutePair>,
    pub(crate) probes: Vec<RoutePair>,
    pub(crate) web: Vec<RoutePair>,
    pub(crate) downloads: Vec<RoutePair>,
}

impl TrafficRoutes {
    /// All of them, by the numbers that conversations have.
    pub(crate) fn by_number(&self) -> impl Iterator<Item = RoutePair> + '_ {
        let kinds = [&self.flows, &self.probes, &self.web, &self.downloads];
        kinds.into_iter().flatten().copied()
    }
}

/// The slowest links, up and down, between the nodes of a topology.
pub(crate) type BottlenecksByEnds = BTreeMap<[String; 2], [LinkId; 2]>;

/// The links and routes of a simulated scenario.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The upstream bottleneck; of a topology, the link that the record reports as such.
    pub(crate) up: LinkId,
    /// The downstream bottleneck.
    pub(crate) down: LinkId,
    pub(crate) routes: TrafficRoutes,
    /// All links of a topology that have a rate, by name.
    pub(crate) links: Vec<(String, LinkId)>,
    pub(crate) by_ends: BottlenecksByEnds,
}
