//! Routes, flows and probes are added before a simulation runs.

use super::{Added, Component, Destination, Flow, FlowSpec, Host, Owner, SimError, Simulator};
use crate::calendar::Slot;
use crate::identity::Identity;
use crate::link::END;
use crate::network::{LinkId, RoutePair};
use crate::probe::{Probe, ProbeSpec};
use sojourn_tcp::{Device, Endpoint, Metrics};
use sojourn_units::Duration;
use sojourn_wifi::Tid;

impl Simulator {
    pub(super) fn add_slot(&mut self, component: Component) -> Slot {
        self.components.push(component);
        self.fabric.calendar.add_timer_slot()
    }

    /// The two routes of what is called `name`, and who owns them.
    pub(super) fn add_routes(
        &mut self,
        name: &str,
        (forth, to_receiver): (&[LinkId], Owner),
        (back, to_opener): (&[LinkId], Owner),
    ) -> Result<RoutePair, SimError> {
        let pair = self.fabric.add_routes(name, forth, back)?;
        self.owners.extend([to_receiver, to_opener]);
        Ok(pair)
    }

    /// What is added from now on has packets with this identity from its opener, and the reverse of it from the other
    /// end. Disciplines look at it that have [`Descriptor::reads_identity`](sojourn_qdisc::Descriptor). Cells look at
    /// its code point: the first one says how that is mapped.
    pub fn set_identity(&mut self, identity: Identity) {
        let variant = self.fabric.radios.first().map(|radio| radio.spec.access_point.variant);
        self.fabric.tid = Tid::of_dscp(identity.dscp, variant.unwrap_or_default());
        self.fabric.identity = identity;
    }

    /// How long a packet of `size` bytes takes along `route` if nothing else is there, of what is added next:
    /// propagation, serialisation where the link is a wire, and a cell without others. A token bucket that is full holds
    /// nothing back.
    #[must_use]
    pub fn empty_delay(&self, route: &[LinkId], size: u16) -> Duration {
        self.fabric.empty_delay(route, size)
    }

    /// A destination, of which nothing is known yet.
    ///
    /// # Panics
    /// Beyond 65,536 of them.
    pub fn add_destination(&mut self) -> Destination {
        self.metrics.push(Metrics::default());
        Destination(u16::try_from(self.metrics.len() - 1).expect("at most 65,536 destinations"))
    }

    /// A TCP flow, which connects at `spec.start`.
    ///
    /// # Errors
    /// [`SimError`] for unusable TCP parameters, or more routes than can be numbered.
    pub fn add_flow(&mut self, spec: FlowSpec) -> Result<Added, SimError> {
        let index = self.flows.len() as u32;
        let (a, b) = (self.hosts.len() as u32, self.hosts.len() as u32 + 1);
        let owner = if spec.application.writes.is_some() {
            Owner::Thin(b)
        } else {
            Owner::Endpoint(b)
        };
        let routes = self.add_routes(&spec.name, (&spec.route, owner), (&spec.back, Owner::Endpoint(a)))?;
        for (mut endpoint, id, route, links) in [
            (Endpoint::client(&spec.tcp)?, a, routes.forth, &spec.route),
            (Endpoint::server(&spec.tcp)?, b, routes.back, &spec.back),
        ] {
            let slot = self.add_slot(Component::Endpoint(id));
            let device = self.own_device(id, route.0, links.first());
            if let Some(device) = device {
                endpoint.set_device(device);
            }
            self.hosts.push(Host {
                endpoint,
                slot,
                route: route.0,
                hash: self.hash(route),
                queues: device.is_some(),
                radio: device == Some(Device::Wireless),
                device: END,
                waits: false,
                paced: false,
                pace: 0,
            });
        }
        let slot = self.add_slot(Component::Application(index));
        self.fabric.calendar.set(slot, spec.start);
        self.flows.push(Flow {
            made: 0,
            writes: spec.application.writes.map(|_| Box::default()),
            spec,
            sender: a,
            receiver: b,
            started: false,
            remembered: false,
            slot,
            cwnd_sum: 0,
            cwnd_samples: 0,
            srtt_us_sum: 0,
            srtt_samples: 0,
            delivered_before: 0,
        });
        let index = index as usize;
        Ok(Added { index, routes })
    }

    /// A probe, which starts at `spec.start`.
    ///
    /// # Errors
    /// [`SimError`] if there are more routes than can be numbered.
    pub fn add_probe(&mut self, spec: ProbeSpec) -> Result<Added, SimError> {
        let (name, route, back) = (spec.name.clone(), spec.route.clone(), spec.back.clone());
        self.add_source(&name, &route, &back, Box::new(Probe::new(spec, self.fabric.seed)))
    }
}
