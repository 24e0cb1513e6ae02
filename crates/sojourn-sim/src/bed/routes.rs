//! The routes by which a meter counts the frames that a bed saw.

use crate::meter::Meter;
use crate::network::{RouteId, RoutePair};
use sojourn_scenario::{AnyTraffic, Direction, Scenario};

/// Two routes for each piece of traffic, and one for all other frames.
#[derive(Debug)]
pub(super) struct BedRoutes {
    /// In the order of [`Scenario::traffic`], with the direction of the first of the two. Those of web clients have no
    /// frames: they are not told apart from others.
    pub(super) traffic: Vec<(RoutePair, Direction)>,
    pub(super) others: RouteId,
    /// Of each flow of programs: up, and down.
    pub(super) programs: Vec<RoutePair>,
    /// A meter that has them.
    empty: Meter,
}

impl BedRoutes {
    pub(super) fn new(s: &Scenario, program_flows: usize) -> Self {
        let mut empty = Meter::default();
        let mut pair = |opens: Direction| {
            let pair = RoutePair {
                forth: empty.add_route(),
                back: empty.add_route(),
            };
            (pair, opens)
        };
        let traffic = s.traffic().map(|one| pair(one.opens())).collect();
        let programs = (0..program_flows).map(|_| pair(Direction::Up).0).collect();
        let others = empty.add_route();
        Self {
            traffic,
            others,
            programs,
            empty,
        }
    }

    /// The traffic of one kind, such as `&FlowScenario`, with its routes.
    pub(super) fn of_kind<'a, K: TryFrom<AnyTraffic<'a>>>(
        &self,
        s: &'a Scenario,
    ) -> impl Iterator<Item = (K, RoutePair)> {
        s.traffic_with(self.traffic.iter().map(|(routes, _)| *routes))
    }

    /// A meter for one direction.
    pub(super) fn meter(&self) -> Meter {
        self.empty.clone()
    }
}
