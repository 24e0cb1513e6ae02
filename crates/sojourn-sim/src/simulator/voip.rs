//! Voice streams on the network.

use super::{Added, Component, Owner, SimError, Simulator};
use crate::packet::Packet;
use crate::traffic::voip::{Voip, VoipSpec};

impl Simulator {
    /// A voice stream, which starts at `spec.start`.
    ///
    /// # Errors
    /// [`SimError`] if there are more routes than can be numbered.
    pub fn add_voip(&mut self, spec: VoipSpec) -> Result<Added, SimError> {
        let index = self.voips.len() as u32;
        let owner = Owner::Voip(index);
        let routes = self.add_routes(&spec.name, (&spec.route, owner), (&spec.back, owner))?;
        let slot = self.add_slot(Component::Voip(index));
        self.fabric.calendar.set(slot, spec.start);
        let base_delay = self.fabric.empty_delay(&spec.route, spec.size);
        self.voips.push(Voip::new(spec, slot, routes.forth.0, base_delay));
        let index = index as usize;
        Ok(Added { index, routes })
    }

    /// Whether a packet of a voice stream may still be under way.
    #[must_use]
    pub fn awaits_voip(&self) -> bool {
        self.voips.iter().any(Voip::awaits) && self.fabric.carries_packets()
    }

    pub(super) fn voip_due(&mut self, voip: u32) {
        let v = &mut self.voips[voip as usize];
        if v.due().is_none() {
            self.fabric.calendar.clear(v.slot);
            return;
        }
        let (number, route, size) = (v.on_due(), v.route, v.spec.size);
        match v.due() {
            Some(at) => self.fabric.calendar.set(v.slot, at),
            None => self.fabric.calendar.clear(v.slot),
        }
        self.fabric.send(Packet::probe(
            number,
            self.fabric.hashes[usize::from(route)],
            size,
            route,
        ));
        self.deliver_arrived();
    }
}
