//! A simulation of which a record is made.

use crate::link::{Egress, Link};
use crate::places::Places;
use crate::simulator::Simulator;
use sojourn_scenario::{Direction, Scenario};
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
    /// The link behind the queue under test.
    pub(super) fn link(&self, direction: Direction) -> &'a Link {
        &self.simulator.links[usize::from(self.places.bottleneck(direction).0)]
    }

    /// Its egress.
    pub(super) fn egress(&self, direction: Direction) -> &'a Egress {
        let egress = self.link(direction).egress.as_ref();
        egress.expect("the bottleneck has a rate")
    }
}
