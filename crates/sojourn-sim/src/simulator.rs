//! The engine: it carries packets and the time to the algorithms.

mod flusher;
mod hosts;
mod settle;
mod setup;
mod source;
mod stats;
mod view;
mod window;

pub(crate) use hosts::Host;

pub use crate::error::SimError;
pub use crate::network::Destination;
pub use crate::traffic::flow::FlowSpec;
use source::SourceHost;
pub use stats::{EgressStats, RouteStats};

use crate::calendar::Slot;
use crate::fabric::{Fabric, LinkPart};
use crate::network::{Network, RouteId, RoutePair};
use crate::paces::Paces;
use crate::packet::Packet;
use crate::series::Series;
use crate::traffic::thin::WriteTrace;
use sojourn_tcp::{Endpoint, Metrics};
use sojourn_units::{Duration, Time};

/// Traffic that was added to a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// Its number: of a flow, among flows; of anything else, among all sources.
    pub index: usize,
    /// The routes of its packets.
    pub routes: RoutePair,
}

/// Who owns a route.
#[derive(Clone, Copy, Debug)]
enum Owner {
    /// The packet is for this endpoint.
    Endpoint(u32),
    /// The same, at the receiver of a thin stream.
    Thin(u32),
    /// For the other end of this source (true) or its opener.
    Source(u32, bool),
    /// A packet of a flusher's burst: nobody's.
    Burst,
}

/// What a timer's slot wakes.
#[derive(Clone, Copy, Debug)]
enum Component {
    Endpoint(u32),
    /// The application of a flow starts, or writes.
    Application(u32),
    Source(u32),
    Flusher,
    Sampler,
}

/// A running TCP flow.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) spec: FlowSpec,
    /// The hosts of its two ends.
    sender: u32,
    receiver: u32,
    /// Bytes that the application has written.
    made: u64,
    started: bool,
    /// The sender has told what it knows of its destination.
    remembered: bool,
    slot: Slot,
    /// Time integral of the congestion window, segment-nanoseconds, sampled with the series.
    pub(crate) cwnd_sum: u64,
    pub(crate) cwnd_samples: u64,
    /// Sum of the smoothed RTT over the same samples, as far as there was one, in whole microseconds as `tcp_info` has.
    pub(crate) srtt_us_sum: u64,
    pub(crate) srtt_samples: u64,
    /// Bytes delivered when the window of measurement began.
    pub(crate) delivered_before: u64,
    /// The writes of a thin stream.
    pub(crate) writes: Option<Box<WriteTrace>>,
}

/// A simulation under way.
#[derive(Debug)]
pub struct Simulator {
    pub(crate) fabric: Fabric,
    components: Vec<Component>,
    owners: Vec<Owner>,
    hosts: Vec<Host>,
    /// When those of them that pace may send, and its wake-up.
    paces: Paces,
    paces_slot: Slot,
    /// What is known of each destination.
    metrics: Vec<Metrics>,
    pub(crate) flows: Vec<Flow>,
    sources: Vec<SourceHost>,
    pub(crate) series: Series,
    sampler_slot: Slot,
    sample_interval: Duration,
    pub(crate) events: u64,
    /// It runs: what there is to be simulated is known.
    settled: bool,
    /// TCP has stopped: the measured window is over.
    frozen: bool,
}

impl Simulator {
    /// An idle simulation of `network` with random streams derived from `seed`. Series are sampled every
    /// `sample_interval` once [`Simulator::begin_window`] is called.
    ///
    /// # Errors
    /// [`SimError::Qdisc`] if a token bucket's depth is unusable.
    pub fn new(network: &Network, seed: u64, sample_interval: Duration) -> Result<Self, SimError> {
        let mut fabric = Fabric::new(network, seed)?;
        let sampler_slot = fabric.calendar.add_timer_slot();
        Ok(Self {
            fabric,
            paces: Paces::default(),
            paces_slot: Slot::default(),
            components: vec![Component::Sampler],
            owners: Vec::new(),
            hosts: Vec::new(),
            metrics: Vec::new(),
            flows: Vec::new(),
            sources: Vec::new(),
            series: Series::default(),
            sampler_slot,
            sample_interval,
            events: 0,
            settled: false,
            frozen: false,
        })
    }

    /// The time that the simulation has reached.
    #[must_use]
    pub fn now(&self) -> Time {
        self.fabric.now
    }

    /// The sending end of flow `flow`.
    ///
    /// # Panics
    /// If there is no such flow.
    #[must_use]
    pub fn sender(&self, flow: usize) -> &Endpoint {
        &self.hosts[self.flows[flow].sender as usize].endpoint
    }

    /// The receiving end of flow `flow`.
    ///
    /// # Panics
    /// If there is no such flow.
    #[must_use]
    pub fn receiver(&self, flow: usize) -> &Endpoint {
        &self.hosts[self.flows[flow].receiver as usize].endpoint
    }

    /// The hash by which queues know the packets of a route.
    pub(crate) fn hash(&self, route: RouteId) -> u32 {
        self.fabric.hash(route)
    }

    /// Whose packets a route has, and their code point.
    #[cfg(test)]
    pub(crate) fn identity(&self, route: RouteId) -> crate::identity::Identity {
        self.fabric.identities[usize::from(route.0)]
    }

    /// How many routes there are.
    pub(crate) fn routes(&self) -> usize {
        self.fabric.hashes.len()
    }

    /// Whether anything is under way or queued anywhere.
    #[must_use]
    pub fn carries_packets(&self) -> bool {
        self.fabric.carries_packets()
    }

    /// TCP segments that are neither at a host nor dropped.
    #[cfg(test)]
    pub(crate) fn segments_under_way(&self) -> usize {
        self.fabric.segments.count()
    }

    /// Runs every event up to and including `until`.
    pub fn run_until(&mut self, until: Time) {
        if !self.settled {
            self.settle();
        }
        while let Some((at, slot)) = self.fabric.calendar.next(until) {
            self.fabric.now = at;
            self.events += 1;
            if slot.is_link() {
                match self.fabric.link_parts[slot.index()] {
                    LinkPart::Egress(link) => self.fabric.serve(link),
                    LinkPart::Line(link) => {
                        if let Some(packet) = self.fabric.line_due(link) {
                            self.deliver(&packet);
                        }
                    }
                    LinkPart::Cell(cell) => self.cell_due(cell),
                    LinkPart::Paces => self.pace_due(),
                }
                self.deliver_arrived();
                self.tell_senders();
                continue;
            }
            match self.components[slot.index()] {
                Component::Endpoint(host) => self.endpoint_due(host),
                Component::Application(flow) => self.application_due(flow),
                Component::Source(source) => self.source_due(source),
                Component::Flusher => self.flusher_due(),
                Component::Sampler => self.sample(),
            }
            self.tell_senders();
        }
        self.fabric.now = until;
        self.fabric.catch_up_all();
    }

    /// A cell's time has come.
    #[inline(never)]
    fn cell_due(&mut self, cell: u16) {
        self.fabric.advance_cell(cell);
        // What hosts send in answer may enter the same cell; nothing leaves it before it is due again.
        let mut arrived = std::mem::take(&mut self.fabric.radios[usize::from(cell)].arrived);
        for (link, packet) in arrived.drain(..) {
            if let Some(packet) = self.fabric.leave_cell(link, packet) {
                self.deliver(&packet);
            }
        }
        self.fabric.radios[usize::from(cell)].arrived = arrived;
    }

    #[inline]
    fn deliver_arrived(&mut self) {
        while let Some(packet) = self.fabric.arrived.pop_front() {
            self.deliver(&packet);
        }
    }

    #[inline]
    fn deliver(&mut self, packet: &Packet) {
        match self.owners[usize::from(packet.route)] {
            Owner::Endpoint(host) => self.endpoint_arrived(host, packet),
            owner => self.deliver_to(owner, packet),
        }
    }

    /// [`Simulator::deliver`] to anybody: apart, because most packets are for endpoints.
    #[inline(never)]
    fn deliver_to(&mut self, owner: Owner, packet: &Packet) {
        match owner {
            Owner::Endpoint(host) => self.endpoint_arrived(host, packet),
            Owner::Thin(host) => self.thin_arrived(host, packet),
            Owner::Source(source, forth) => self.source_arrived(source, forth, packet),
            Owner::Burst => self.burst_arrived(),
        }
    }

    #[inline(never)]
    fn endpoint_arrived(&mut self, host: u32, packet: &Packet) {
        if self.frozen {
            self.fabric.segments.discard(packet);
        } else {
            let endpoint = &mut self.hosts[host as usize].endpoint;
            endpoint.on_segment(self.fabric.segments.arrived(packet), self.fabric.now);
            self.fabric.segments.free(packet);
            if endpoint.receiver().is_finished() {
                // An application that has read everything closes too.
                endpoint.close();
                self.remember(host);
            }
            self.pump(host);
        }
    }
}
