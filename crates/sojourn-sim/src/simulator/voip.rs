//! Voice streams on the network.

use super::{Added, Component, Owner, SimError, Simulator};
use crate::link::Air;
use crate::network::LinkId;
use crate::packet::Packet;
use crate::traffic::voip::{Voip, VoipSpec};
use sojourn_units::{Bytes, Duration};

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
        self.calendar.set(slot, spec.start);
        let base_delay = self.empty_delay(&spec.route, spec.size);
        self.voips.push(Voip::new(spec, slot, routes.forth.0, base_delay));
        let index = index as usize;
        Ok(Added { index, routes })
    }

    /// How long a packet of `size` bytes takes along `route` if nothing else is there: propagation, serialisation
    /// where the link is a wire, and a cell without others. A token bucket that is full holds nothing back.
    fn empty_delay(&self, route: &[LinkId], size: u16) -> Duration {
        route
            .iter()
            .map(|l| &self.links[usize::from(l.0)])
            .map(|link| match (&link.egress, &link.air) {
                (Some(egress), _) => match egress.pacing.wire_rate() {
                    Some(rate) => link.delay + rate.time_to_send(Bytes::new(u64::from(size))),
                    None => link.delay,
                },
                (None, Some(Air::Cell(hop))) => link.delay + self.empty_cell(*hop, size),
                (None, _) => link.delay,
            })
            .fold(Duration::ZERO, |sum, d| sum + d)
    }

    /// Whether a packet of a voice stream may still be under way.
    #[must_use]
    pub fn awaits_voip(&self) -> bool {
        self.voips.iter().any(Voip::awaits) && self.carries_packets()
    }

    pub(super) fn voip_due(&mut self, voip: u32) {
        let v = &mut self.voips[voip as usize];
        if v.due().is_none() {
            self.calendar.clear(v.slot);
            return;
        }
        let (number, route, size) = (v.on_due(), v.route, v.spec.size);
        match v.due() {
            Some(at) => self.calendar.set(v.slot, at),
            None => self.calendar.clear(v.slot),
        }
        self.send(Packet::probe(number, self.hashes[usize::from(route)], size, route));
        self.deliver_arrived();
    }
}
