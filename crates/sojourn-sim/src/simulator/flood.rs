//! UDP flows on the network.

use super::{Added, Component, Owner, SimError, Simulator};
use crate::packet::Packet;
use crate::traffic::flood::{Flood, FloodSpec};
use sojourn_scenario::UDP_FRAME;

impl Simulator {
    /// A UDP flow, which starts at `spec.start`.
    ///
    /// # Errors
    /// [`SimError`] if there are more routes than can be numbered.
    pub fn add_flood(&mut self, spec: FloodSpec) -> Result<Added, SimError> {
        let index = self.floods.len() as u32;
        let owner = Owner::Flood(index);
        let routes = self.add_routes(&spec.name, (&spec.route, owner), (&spec.back, owner))?;
        let slot = self.add_slot(Component::Flood(index));
        self.fabric.calendar.set(slot, spec.start);
        self.floods.push(Flood::new(spec, slot, routes.forth.0));
        let index = index as usize;
        Ok(Added { index, routes })
    }

    #[inline(never)]
    pub(super) fn flood_due(&mut self, flood: u32) {
        let f = &mut self.floods[flood as usize];
        let number = f.on_due();
        let route = f.route;
        match f.due() {
            Some(at) => self.fabric.calendar.set(f.slot, at),
            None => self.fabric.calendar.clear(f.slot),
        }
        let hash = self.fabric.hashes[usize::from(route)];
        self.fabric.send(Packet::probe(number, hash, UDP_FRAME, route));
        self.deliver_arrived();
    }

    pub(super) fn flood_arrived(&mut self, flood: u32, number: u32) {
        if !self.frozen {
            self.floods[flood as usize].on_arrival(number);
        }
    }
}
