//! Agents on the network.

use super::{Added, Component, Owner, SimError, Simulator};
use crate::agent::{Agent, AgentSpec, Datagram};
use crate::calendar::Slot;
use crate::packet::Packet;
use sojourn_qdisc::Packet as _;
use std::any::Any;
use std::fmt;

/// An agent and its slot.
pub(crate) struct AgentHost {
    agent: Box<dyn Agent>,
    pub(super) slot: Slot,
    hash: u32,
    route: u16,
}

impl fmt::Debug for AgentHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentHost")
            .field("route", &self.route)
            .finish_non_exhaustive()
    }
}

impl Simulator {
    /// Two agents who talk to each other from `spec.start` on. In [`Simulator::agent`] they are known by the answer's
    /// index.
    ///
    /// # Errors
    /// [`SimError`] if there are more routes than can be numbered.
    pub fn add_agents(&mut self, spec: &AgentSpec, opener: impl Agent, other: impl Agent) -> Result<Added, SimError> {
        let first = self.agents.len() as u32;
        let (to_other, to_opener) = (Owner::Agent(first + 1), Owner::Agent(first));
        let routes = self.add_routes(&spec.name, (&spec.route, to_other), (&spec.back, to_opener))?;
        let both: [Box<dyn Agent>; 2] = [Box::new(opener), Box::new(other)];
        for ((number, agent), route) in (first..).zip(both).zip(routes.both()) {
            let slot = self.add_slot(Component::Agent(number));
            self.fabric.calendar.set(slot, spec.start);
            self.agents.push(AgentHost {
                agent,
                slot,
                hash: self.hash(route),
                route: route.0,
            });
        }
        let index = first as usize / 2;
        Ok(Added { index, routes })
    }

    /// The opener of conversation `index` of agents, or its other end; `None` if there is no such conversation, or if
    /// that agent is of another type.
    #[must_use]
    pub fn agent<A: Agent>(&self, index: usize, opener: bool) -> Option<&A> {
        let host = self.agents.get(2 * index + usize::from(!opener))?;
        let agent: &dyn Any = &*host.agent;
        agent.downcast_ref()
    }

    /// An agent starts, or its timer goes off.
    ///
    /// # Panics
    /// If it asks for a timer that is due again at once, which would never end.
    #[inline(never)]
    pub(super) fn agent_due(&mut self, agent: u32) {
        self.agents[agent as usize].agent.on_timeout(self.fabric.now);
        self.pump_agent(agent);
        let slot = self.agents[agent as usize].slot;
        assert!(
            self.fabric.calendar.due(slot).is_none_or(|at| at > self.fabric.now),
            "an agent asks for a timer at {}, which has just gone off: Agent::poll_timeout must answer a later time",
            self.fabric.now
        );
        self.deliver_arrived();
    }

    #[inline(never)]
    pub(super) fn agent_arrived(&mut self, agent: u32, packet: &Packet) {
        let payload = self.fabric.segments.take_payload(packet);
        if self.frozen {
            return;
        }
        let datagram = Datagram {
            size: packet.size,
            ecn: packet.ecn(),
            payload,
        };
        self.agents[agent as usize].agent.on_datagram(datagram, self.fabric.now);
        self.pump_agent(agent);
    }

    /// Takes everything that an agent wants to send, and sets its timer.
    fn pump_agent(&mut self, agent: u32) {
        while let Some(datagram) = self.agents[agent as usize].agent.poll_transmit(self.fabric.now) {
            let body = self.fabric.segments.keep_payload(datagram.payload);
            let AgentHost { hash, route, .. } = self.agents[agent as usize];
            self.fabric
                .send(Packet::datagram(datagram.size, datagram.ecn, body, hash, route));
        }
        let host = &mut self.agents[agent as usize];
        match host.agent.poll_timeout() {
            Some(at) => self.fabric.calendar.set(host.slot, at.max(self.fabric.now)),
            None => self.fabric.calendar.clear(host.slot),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::EgressSpec;
    use crate::topology::{DumbbellSpec, dumbbell};
    use sojourn_qdisc::QdiscSpec;
    use sojourn_scenario::Impairment;
    use sojourn_units::{Duration, Rate, Time};

    /// A datagram each millisecond.
    struct Ticker(Time);

    impl Agent for Ticker {
        fn on_datagram(&mut self, _: Datagram, _: Time) {}
        fn poll_transmit(&mut self, now: Time) -> Option<Datagram> {
            (self.0 <= now).then(|| {
                self.0 = now + Duration::from_millis(1);
                Datagram::new(1514, vec![1])
            })
        }
        fn poll_timeout(&mut self) -> Option<Time> {
            Some(self.0)
        }
    }

    /// Payloads are given back, whether a datagram arrives, is refused, or is lost on the way.
    #[test]
    fn no_payload_is_kept_of_what_is_no_longer_under_way() {
        let qdisc = QdiscSpec::parse("pfifo limit 5", None).expect("valid");
        let mut side = EgressSpec::new(Rate::from_mbit(1), qdisc);
        side.impairment = Impairment {
            loss: 0.3,
            ..Impairment::default()
        };
        let net = dumbbell(&DumbbellSpec::new(side.clone(), side, Duration::from_millis(10)), None);
        let (up, down) = (net.paths[0].up.links(), net.paths[0].down.links());
        let mut sim = Simulator::new(net.topology.network(), 1, Duration::from_secs(1)).expect("a network");
        let spec = AgentSpec::new("ticks", &up, &down);
        sim.add_agents(&spec, Ticker(Time::ZERO), Ticker(Time::ZERO))
            .expect("two routes");
        sim.run_until(Time::from_secs(5));
        let stats = sim.egress_stats(net.up).expect("a queue");
        assert!(stats.dropped() > 1000 && stats.packets() > 300);
        let lost = sim
            .fabric
            .links
            .iter()
            .filter_map(|link| link.weather())
            .map(|w| w.lost)
            .sum::<u64>();
        assert!(lost > 100);
        // Of each direction: five in the queue, and one on a link of 5 ms, where a frame comes each 12 ms.
        assert!(
            (1..=12).contains(&sim.segments_under_way()),
            "{}",
            sim.segments_under_way()
        );
    }
}
