//! Sources on the network.

use super::{Added, Component, Owner, SimError, Simulator};
use crate::agent::{Agent, AgentEnd, AgentSpec};
use crate::calendar::Slot;
use crate::network::{LinkId, RoutePair};
use crate::packet::Packet;
use crate::probe::Probe;
use crate::source::{Context, Source};
use sojourn_units::{Duration, Time};
use std::any::Any;

/// A source and where it sits.
#[derive(Debug)]
pub(super) struct SourceHost {
    source: Box<dyn Source>,
    slot: Slot,
    routes: RoutePair,
    /// It is told nothing more.
    over: bool,
}

impl Simulator {
    /// Traffic that is called `name`, which is unique, on the way `route` to its other end and on `back`.
    /// [`Simulator::source`] knows it by the answer's index.
    ///
    /// # Errors
    /// [`SimError`] if there are more routes than can be numbered.
    pub fn add_source(
        &mut self,
        name: &str,
        route: &[LinkId],
        back: &[LinkId],
        source: Box<dyn Source>,
    ) -> Result<Added, SimError> {
        let index = self.sources.len();
        let [to_other, to_opener] = [true, false].map(|forth| Owner::Source(index as u32, forth));
        let routes = self.add_routes(name, (route, to_other), (back, to_opener))?;
        self.host(source, routes);
        Ok(Added { index, routes })
    }

    /// Two agents who talk to each other from `spec.start` on. In [`Simulator::agent`] they are known by the answer's
    /// index.
    ///
    /// # Errors
    /// [`SimError`] if there are more routes than can be numbered.
    pub fn add_agents(&mut self, spec: &AgentSpec, opener: impl Agent, other: impl Agent) -> Result<Added, SimError> {
        let start = spec.start;
        self.add_ends(spec, [AgentEnd::new(opener, start), AgentEnd::new(other, start)])
    }

    /// The two ends of a conversation of agents, as [`Simulator::add_agents`].
    pub(crate) fn add_ends(&mut self, spec: &AgentSpec, [opener, other]: [AgentEnd; 2]) -> Result<Added, SimError> {
        let index = self.sources.len();
        let [to_other, to_opener] = [index + 1, index].map(|agent| Owner::Source(agent as u32, true));
        let routes = self.add_routes(&spec.name, (&spec.route, to_other), (&spec.back, to_opener))?;
        let reverse = RoutePair {
            forth: routes.back,
            back: routes.forth,
        };
        self.host(Box::new(opener), routes);
        self.host(Box::new(other), reverse);
        Ok(Added { index, routes })
    }

    /// The next source.
    fn host(&mut self, source: Box<dyn Source>, routes: RoutePair) {
        let slot = self.add_slot(Component::Source(self.sources.len() as u32));
        self.fabric.calendar.set(slot, source.start());
        self.sources.push(SourceHost {
            source,
            slot,
            routes,
            over: false,
        });
    }

    /// Source `index`; `None` if there is none, or if it is of another type.
    #[must_use]
    pub fn source<S: Source>(&self, index: usize) -> Option<&S> {
        let source: &dyn Any = &*self.sources.get(index)?.source;
        source.downcast_ref()
    }

    /// All sources of this type, in the order in which they were added.
    pub fn sources<S: Source>(&self) -> impl Iterator<Item = &S> {
        (0..self.sources.len()).filter_map(|index| self.source(index))
    }

    /// The opener of the conversation of agents of this index, or its other end; `None` if there is no such
    /// conversation, or if that agent is of another type.
    #[must_use]
    pub fn agent<A: Agent>(&self, index: usize, opener: bool) -> Option<&A> {
        self.source::<AgentEnd>(index + usize::from(!opener))?.agent()
    }

    /// What probe `probe` has measured: when each packet left, and its round-trip time or one-way delay, `None` as
    /// long as it has not come home.
    ///
    /// # Panics
    /// If there is no such probe.
    pub fn probe_samples(&self, probe: usize) -> impl Iterator<Item = (Time, Option<Duration>)> + '_ {
        let probe: &Probe = self.source(probe).expect("a probe of this index");
        probe.samples.iter().map(|s| (s.sent, s.delay))
    }

    /// Whether a probe of the measured window is still under way.
    #[must_use]
    pub fn awaits_probes(&self) -> bool {
        self.sources().any(Probe::awaits_answer)
    }

    /// Answers to probes that come from now on count as lost.
    pub fn dismiss_probes(&mut self) {
        for host in &mut self.sources {
            let source: &mut dyn Any = &mut *host.source;
            if let Some(probe) = source.downcast_mut::<Probe>() {
                probe.dismiss();
            }
        }
    }

    /// Whether a packet that a source awaits may still be under way, such as one of a voice stream.
    #[must_use]
    pub fn awaits_packets(&self) -> bool {
        self.sources.iter().any(|host| host.source.awaits()) && self.carries_packets()
    }

    #[inline(never)]
    pub(super) fn source_due(&mut self, index: u32) {
        let host = &mut self.sources[index as usize];
        self.fabric.calendar.clear(host.slot);
        let mut context = Context {
            fabric: &mut self.fabric,
            metrics: &mut self.metrics,
            slot: host.slot,
            routes: host.routes,
        };
        host.source.on_wake(&mut context);
        self.deliver_arrived();
    }

    #[inline(never)]
    pub(super) fn source_arrived(&mut self, index: u32, forth: bool, packet: &Packet) {
        let host = &mut self.sources[index as usize];
        if host.over {
            self.fabric.segments.discard(packet);
            return;
        }
        let mut context = Context {
            fabric: &mut self.fabric,
            metrics: &mut self.metrics,
            slot: host.slot,
            routes: host.routes,
        };
        host.source.on_packet(packet, forth, &mut context);
    }

    pub(super) fn begin_sources(&mut self) {
        for host in &mut self.sources {
            host.source.begin_window();
        }
    }

    pub(super) fn sample_sources(&mut self) {
        for host in &mut self.sources {
            host.source.on_sample();
        }
    }

    pub(super) fn end_sources(&mut self) {
        for host in &mut self.sources {
            host.over = !host.source.end_window();
            if host.over {
                self.fabric.calendar.clear(host.slot);
            }
        }
    }
}
