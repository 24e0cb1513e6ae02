//! The flusher on the network.

use super::{Component, Owner, SimError, Simulator};
use crate::calendar::Slot;
use crate::flusher::FlusherHost;
use crate::identity::Identity;
use crate::network::{LinkId, RoutePair};
use crate::packet::Packet;

impl Simulator {
    /// The two routes of bursts for the flow called `name`: the way through the bottleneck, and for captures, which
    /// know hosts in pairs, one back. Its packets have this identity. In a cell they have the traffic identifier of
    /// what was added last.
    pub(crate) fn add_burst_routes(
        &mut self,
        name: &str,
        forth: &[LinkId],
        back: &[LinkId],
        identity: Identity,
    ) -> Result<RoutePair, SimError> {
        self.fabric.identity = identity;
        self.add_routes(&format!("{name} flush"), (forth, Owner::Burst), (back, Owner::Burst))
    }

    /// The slot of a flusher.
    pub(crate) fn add_flusher_slot(&mut self) -> Slot {
        self.add_slot(Component::Flusher)
    }

    /// The first link of a route.
    pub(crate) fn entry_of(&self, route: u16) -> u16 {
        self.fabric.entry[usize::from(route)]
    }

    fn flusher(&mut self) -> Option<&mut FlusherHost> {
        self.fabric.watch.as_mut()?.flusher.as_mut()
    }

    #[inline(never)]
    pub(super) fn flusher_due(&mut self) {
        let Some(watch) = &mut self.fabric.watch else { return };
        let Some(flusher) = &mut watch.flusher else { return };
        if let Some((route, size, number)) = flusher.due(&mut self.fabric.calendar, self.fabric.now) {
            let hash = self.fabric.hashes[usize::from(route)];
            let (packet, link) = (Packet::probe(number, hash, size, route), self.entry_of(route));
            let lost = self.fabric.losses_at(link);
            self.fabric.send(packet);
            if self.fabric.losses_at(link) > lost
                && let Some(flusher) = self.flusher()
            {
                flusher.left_host(&packet, link);
            }
        }
        self.deliver_arrived();
    }

    #[cold]
    pub(super) fn burst_arrived(&mut self) {
        if let Some(flusher) = self.flusher() {
            flusher.arrived();
        }
    }

    /// The end of a bin of the series.
    #[cold]
    pub(super) fn sample_flusher(&mut self) {
        let (hosts, flows) = (&self.hosts, &self.flows);
        let sender_rtt = |flow: usize| hosts[flows[flow].sender as usize].endpoint.sender().srtt();
        if let Some(flusher) = self.fabric.watch.as_mut().and_then(|watch| watch.flusher.as_mut()) {
            flusher.sample(sender_rtt);
        }
    }
}
