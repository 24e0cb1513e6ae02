//! Routes, flows and probes are added before a simulation runs.

use super::{Component, Destination, Flow, FlowSpec, Host, Owner, SimError, Simulator};
use crate::calendar::Slot;
use crate::link::END;
use crate::network::{LinkId, NetworkError};
use crate::probe::{Probe, ProbeSpec};
use sojourn_tcp::{Device, Endpoint, Metrics};
use sojourn_units::Stream;

impl Simulator {
    pub(super) fn add_slot(&mut self, component: Component) -> Slot {
        self.components.push(component);
        self.calendar.add_timer_slot()
    }

    /// A new route. Links without rate and delay are left out: they would only be passed through.
    pub(super) fn add_route(&mut self, route: &[LinkId], owner: Owner, name: &str) -> Result<u16, SimError> {
        let index = self.entry.len();
        if index >= usize::from(END) {
            return Err(NetworkError::TooMany {
                what: "routes",
                count: index + 1,
                limit: usize::from(END),
            }
            .into());
        }
        let mut ids: Vec<u16> = Vec::new();
        for l in route {
            let link = &self.links[usize::from(l.0)];
            if link.egress.is_some() || link.air.is_some() || !link.delay.is_zero() {
                ids.push(l.0);
            }
        }
        for link in &mut self.links {
            link.next.push(END);
            if let Some(e) = &mut link.egress {
                e.meter.add_route();
            }
        }
        for pair in ids.windows(2) {
            self.links[usize::from(pair[0])].next[index] = pair[1];
        }
        self.entry.push(ids.first().copied().unwrap_or(END));
        self.owners.push(owner);
        self.tids.push(self.tid);
        // The kernel hashes addresses and ports with a key drawn at start; so does a run, once for all its egresses.
        self.hashes
            .push(Stream::named(self.seed, &format!("hash {name}")).u32());
        Ok(index as u16)
    }

    /// A destination, of which nothing is known yet.
    ///
    /// # Panics
    /// Beyond 65,536 of them.
    pub fn add_destination(&mut self) -> Destination {
        self.metrics.push(Metrics::default());
        Destination(u16::try_from(self.metrics.len() - 1).expect("at most 65,536 destinations"))
    }

    /// A TCP flow, which connects at `spec.start`. Answers its index.
    ///
    /// # Errors
    /// [`SimError`] for unusable TCP parameters, or more routes than can be numbered.
    pub fn add_flow(&mut self, spec: FlowSpec) -> Result<usize, SimError> {
        let index = self.flows.len() as u32;
        let (a, b) = (self.hosts.len() as u32, self.hosts.len() as u32 + 1);
        let owner = if spec.writes.is_some() {
            Owner::Thin(b)
        } else {
            Owner::Endpoint(b)
        };
        let forth = self.add_route(&spec.route, owner, &format!("{} forth", spec.name))?;
        let back = self.add_route(&spec.back, Owner::Endpoint(a), &format!("{} back", spec.name))?;
        for (mut endpoint, id, route, links) in [
            (Endpoint::client(&spec.tcp)?, a, forth, &spec.route),
            (Endpoint::server(&spec.tcp)?, b, back, &spec.back),
        ] {
            let slot = self.add_slot(Component::Endpoint(id));
            let device = self.own_device(id, route, links.first());
            if let Some(device) = device {
                endpoint.set_device(device);
            }
            self.hosts.push(Host {
                endpoint,
                slot,
                route,
                hash: self.hashes[usize::from(route)],
                queues: device.is_some(),
                radio: device == Some(Device::Wireless),
                device: END,
                waits: false,
            });
        }
        let slot = self.add_slot(Component::Application(index));
        self.calendar.set(slot, spec.start);
        self.flows.push(Flow {
            unwritten: spec.bytes.unwrap_or(u64::MAX),
            writes: spec.writes.map(|_| Box::default()),
            spec,
            started: false,
            remembered: false,
            slot,
            cwnd_sum: 0,
            cwnd_samples: 0,
            delivered_before: 0,
        });
        Ok(index as usize)
    }

    /// A probe, which starts at `spec.start`. Answers its index.
    ///
    /// # Errors
    /// [`SimError`] if there are more routes than can be numbered.
    pub fn add_probe(&mut self, spec: ProbeSpec) -> Result<usize, SimError> {
        let index = self.probes.len() as u32;
        let forth = self.add_route(&spec.route, Owner::Probe(index, true), &format!("{} forth", spec.name))?;
        let back = self.add_route(&spec.back, Owner::Probe(index, false), &format!("{} back", spec.name))?;
        let slot = self.add_slot(Component::Probe(index));
        self.calendar.set(slot, spec.start);
        let gaps = Stream::named(self.seed, &format!("gaps {}", spec.name));
        self.probes.push(Probe::new(spec, slot, [forth, back], gaps));
        Ok(index as usize)
    }
}
