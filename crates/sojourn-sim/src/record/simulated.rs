//! A simulation of which a record is made.

use crate::meter::Meters;
use crate::network::LinkId;
use crate::places::Places;
use crate::simulator::{Added, Simulator};
use sojourn_scenario::{AnyTraffic, Scenario};
use sojourn_units::Time;

/// A simulated scenario, and where its traffic is.
#[derive(Clone, Copy)]
pub(crate) struct Simulated<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) simulator: &'a Simulator,
    pub(crate) places: &'a Places,
    /// The beginning of the measured window.
    pub(crate) begin: Time,
}

impl<'a> Simulated<'a> {
    /// The traffic of one kind, such as `&FlowScenario`, and where it is.
    pub(super) fn traffic<K: TryFrom<AnyTraffic<'a>>>(&self) -> impl Iterator<Item = (K, Added)> + use<'a, K> {
        self.scenario.traffic_with(self.places.traffic.iter().copied())
    }

    /// What is counted at the bottleneck of traffic between these nodes, of a topology; without one, at the only bottleneck.
    pub(super) fn meters(&self, nodes: Option<&[String; 2]>) -> Meters<'a> {
        let between = nodes.and_then(|nodes| self.places.by_ends.get(nodes));
        let [up, down] = *between.unwrap_or(&[self.places.up, self.places.down]);
        let meter = |id: LinkId| {
            let egress = self.simulator.fabric.links[usize::from(id.0)].egress.as_ref();
            &egress.expect("a bottleneck has a rate").meter
        };
        Meters {
            up: meter(up),
            down: meter(down),
        }
    }
}
