//! The routes by which a meter counts the frames that a bed saw.

use crate::meter::Meter;
use crate::network::{RouteId, RoutePair};
use crate::places::TrafficRoutes;
use sojourn_scenario::Scenario;

/// Two routes for each flow, probe and download, and one for all other frames.
#[derive(Debug)]
pub(super) struct BedRoutes {
    /// Those of web clients are not told apart from others.
    pub(super) traffic: TrafficRoutes,
    pub(super) others: RouteId,
    /// A meter that has them.
    empty: Meter,
}

impl BedRoutes {
    pub(super) fn new(s: &Scenario) -> Self {
        let mut empty = Meter::default();
        let mut pairs = |count: usize| {
            let pair = || RoutePair {
                forth: empty.add_route(),
                back: empty.add_route(),
            };
            std::iter::repeat_with(pair).take(count).collect()
        };
        let traffic = TrafficRoutes {
            flows: pairs(s.flows.len()),
            probes: pairs(s.probes.len()),
            web: Vec::new(),
            downloads: pairs(s.downloads.len()),
        };
        let others = empty.add_route();
        Self { traffic, others, empty }
    }

    /// A meter for one direction.
    pub(super) fn meter(&self) -> Meter {
        self.empty.clone()
    }
}
