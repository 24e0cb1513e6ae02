//! UDP flows on the network.

use super::{Component, Owner, SimError, Simulator};
use crate::packet::Packet;
use crate::traffic::flood::{Flood, FloodSpec};
use sojourn_scenario::UDP_FRAME;

impl Simulator {
    /// A UDP flow, which starts at `spec.start`. Answers its index among them.
    ///
    /// # Errors
    /// [`SimError`] if there are more routes than can be numbered.
    pub fn add_flood(&mut self, spec: FloodSpec) -> Result<usize, SimError> {
        let index = self.floods.len() as u32;
        let forth = self.add_route(&spec.route, Owner::Flood(index), &format!("{} forth", spec.name))?;
        self.add_route(&spec.back, Owner::Flood(index), &format!("{} back", spec.name))?;
        let slot = self.add_slot(Component::Flood(index));
        self.calendar.set(slot, spec.start);
        self.floods.push(Flood::new(spec, slot, forth));
        Ok(index as usize)
    }

    #[inline(never)]
    pub(super) fn flood_due(&mut self, flood: u32) {
        let f = &mut self.floods[flood as usize];
        let number = f.on_due();
        let route = f.route;
        match f.due() {
            Some(at) => self.calendar.set(f.slot, at),
            None => self.calendar.clear(f.slot),
        }
        let hash = self.hashes[usize::from(route)];
        self.send(Packet::probe(number, hash, UDP_FRAME, route));
        self.deliver_arrived();
    }

    pub(super) fn flood_arrived(&mut self, flood: u32, number: u32) {
        if !self.frozen {
            self.floods[flood as usize].on_arrival(number);
        }
    }
}
