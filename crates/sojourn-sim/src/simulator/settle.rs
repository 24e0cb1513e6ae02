//! Before the first event: what hosts have to know of the network.

use super::Simulator;
use crate::fabric::LinkPart;
use crate::paces::Paces;

impl Simulator {
    /// What need not be simulated step by step is found, before the first event.
    pub(super) fn settle(&mut self) {
        self.settled = true;
        self.fabric.settle();
        self.find_devices();
        self.find_paced();
    }

    /// Hosts whose own device is a computed wire know its link.
    fn find_devices(&mut self) {
        for host in &mut self.hosts {
            let entry = self.fabric.entry[usize::from(host.route)];
            let link = self.fabric.links.get(usize::from(entry));
            let wire = link.and_then(|link| link.wire.as_ref());
            if host.queues && wire.is_some_and(|wire| wire.device.is_some()) {
                host.device = entry;
            }
        }
    }

    /// Departures of the senders that pace have a wake-up of their own.
    fn find_paced(&mut self) {
        let paced: Vec<u32> = self.flows.iter().map(|flow| flow.sender).collect();
        let paced: Vec<u32> = paced
            .into_iter()
            .filter(|&host| self.hosts[host as usize].endpoint.is_paced())
            .collect();
        if paced.is_empty() {
            return;
        }
        for (which, &host) in paced.iter().enumerate() {
            let h = &mut self.hosts[host as usize];
            h.paced = true;
            h.pace = which as u32;
        }
        self.paces = Paces::new(paced);
        self.fabric.link_parts.push(LinkPart::Paces);
        self.paces_slot = self.fabric.calendar.add_link_slot();
    }
}
