//! What a run will need: packets, time and memory, reckoned from the scenario alone, before anything is made.
//!
//! The one estimate, for every back end. It errs on the high side: what it reckons is what a run needs if all traffic gets what it
//! could, and all queues are full. The costs of each thing are measured ([`tools/bench/cost.py`] compares them with runs).
//!
//! All of it is in floating-point numbers, in which no product of a hostile scenario overflows.
//!
//! [`tools/bench/cost.py`]: ../../../../../tools/bench/cost.py

use crate::traffic::KINDS;
use crate::{Backend, BottleneckScenario, Direction, ProgramScenario, Scenario, Traffic, Transport, UDP_FRAME};
use serde::Serialize;
use sojourn_units::Duration;
use sojourn_wifi::{CellSpec, NodeSpec};

/// Headers of a TCP segment on the wire, bytes.
pub(crate) const HEADERS: f64 = 66.0;

/// Bytes for each bin of a series while a record is made, written as JSON and read by Python: of what has one value each, such as
/// a station; and of all links together.
pub(crate) const VALUE_BIN: f64 = 105.0;
const LINKS_BIN: f64 = 580.0;

/// Of each packet that is queued or under way: of UDP, a probe or an acknowledgement; and of a TCP segment, which its sender and the
/// store of segments remember, too.
const PACKET: f64 = 64.0;
const SEGMENT: f64 = 300.0;
/// Of a flow with its two ends, of any other traffic, and of a connection of a web client or a download.
pub(crate) const CONNECTION: f64 = 8_000.0;
const TRAFFIC: f64 = 4_000.0;
/// Of each link in the table of a route, and of each path of a station.
const HOP: f64 = 3.0;
const PATH: f64 = 250.0;
/// Of each route at a link with a queue.
const METER: f64 = 250.0;
/// Of a cell: each station, with what the access point has for it; each queue of the MAC; each traffic identifier.
const STATION: f64 = 150_000.0;
const MAC_QUEUE: f64 = 160.0;
/// Of each frame that a bed watches: at both sides of a queue, in the file, in order, and read.
const WATCHED: f64 = 160.0;

/// Seconds of one core for a packet from end to end, for a flow in a bin, and for a pair of flows (which share a queue or not).
const PACKET_S: f64 = 0.6e-6;
const BIN_S: f64 = 0.3e-6;
const PAIR_S: f64 = 20e-9;

/// What is done by the clock, whether there are packets or not, takes this part of the time of a packet.
const BY_CLOCK: f64 = 0.1;

/// Links beside those that are there for each round-trip time and station.
const LINKS: f64 = 6.0;
/// Packets by which a connection begins and ends, in each direction.
pub(crate) const HANDSHAKE: f64 = 4.0;
/// How long a connection stays after its last byte: its ends close in a few round trips, or after time-outs.
const CLOSING_S: f64 = 1.0;

/// Connections at a time of those that so many of them follow in a run, each for itself: the last ones are closing.
pub(crate) fn closing(count: f64, rtt: Duration, duration: Duration) -> f64 {
    let closing = CLOSING_S + 4.0 * rtt.as_secs_f64();
    (count / duration.as_secs_f64() * closing).min(count)
}

/// What needs memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// What it is, in the plural, with its numbers.
    pub what: String,
    /// How much.
    pub bytes: u64,
    /// What makes it less.
    #[serde(skip)]
    pub(crate) remedy: &'static str,
}

/// What a run needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Packets that are offered to the network, and writes of applications.
    pub packets: u64,
    /// Of one core of 2024, in the simulator.
    pub seconds: f64,
    /// Bytes, beside what the program takes without a run.
    pub memory: u64,
    /// By what needs them.
    pub parts: Vec<Part>,
}

/// One direction of the path, and what TCP and UDP send on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    bytes_per_s: f64,
    burst: f64,
    /// Of the longest path, one way, s.
    delay_s: f64,
    /// Packets that all queues on it hold.
    queues: f64,
    /// What they do by the clock in a second.
    updates: f64,
    /// Segments that are full, and those of thin streams, with the least of their frames.
    pub(crate) full: f64,
    pub(crate) thin: f64,
    pub(crate) thin_frame: f64,
    pub(crate) datagrams: f64,
    /// Segments that the windows let be under way.
    pub(crate) windows: f64,
}

impl Way {
    /// Of the path in one direction: its rate is that of the bottleneck, or of the cell where that is lower.
    fn new(s: &Scenario, b: &BottleneckScenario) -> Self {
        let mut bps = b.rate.as_bps() as f64;
        let footprint = b.qdisc.footprint();
        let (mut queues, mut updates) = (footprint.packets as f64, footprint.updates as f64);
        if s.edge_rate.is_some() {
            queues += 2.0 * f64::from(s.edge_limit);
        }
        if let Some(topology) = &s.topology {
            let sides = topology.directed();
            let sides: Vec<_> = sides.iter().filter_map(|link| link.link.bottleneck()).collect();
            queues = sides.iter().map(|side| side.qdisc.footprint().packets as f64).sum();
            updates = sides.iter().map(|side| side.qdisc.footprint().updates as f64).sum();
            bps = topology.carried(s.traffic().filter_map(Traffic::ends)).as_bps() as f64;
        }
        if let Some(wifi) = &s.wifi {
            let stations = &wifi.cell.stations;
            let rates = stations.iter().flat_map(|station| [station.rate, station.rate_up]);
            bps = bps.min(rates.map(|rate| rate.nominal().as_bps()).max().unwrap_or(0) as f64);
            let nodes = stations.iter().map(|station| &station.node);
            for node in nodes.chain([&wifi.cell.access_point]) {
                queues += held(node);
                let above = node.above_driver();
                updates += above.map_or(0.0, |qdisc| 4.0 * qdisc.footprint().updates as f64);
            }
        }
        let longest = s.traffic().map(Traffic::rtt).max();
        let delay = longest.unwrap_or(s.rtt) / 2 + b.impairment.jitter + s.delay_tick;
        Self {
            bytes_per_s: bps / 8.0,
            burst: b.burst.get() as f64,
            delay_s: delay.as_secs_f64(),
            queues,
            updates,
            full: 0.0,
            thin: 0.0,
            thin_frame: f64::INFINITY,
            datagrams: 0.0,
            windows: 0.0,
        }
    }

    /// Packets with so many bytes that pass in so many seconds.
    pub(crate) fn carries(&self, frame: f64, seconds: f64) -> f64 {
        (self.bytes_per_s * seconds + self.burst) / frame + 1.0
    }

    /// Segments that pass in so many seconds: what is sent, or what the link carries of them.
    fn segments(&self, frame: f64, seconds: f64) -> f64 {
        let full = self.full.min(self.carries(frame, seconds));
        full + self.thin.min(self.carries(self.thin_frame.min(frame), seconds))
    }

    /// Segments, and datagrams, that are queued or under way at a time.
    fn under_way(&self, frame: f64, seconds: f64) -> (f64, f64) {
        let least = self.thin_frame.min(frame);
        let segments = self.carries(least, self.delay_s) + self.queues;
        let datagrams = self.carries(f64::from(UDP_FRAME), self.delay_s) + self.queues;
        (
            self.windows
                .min(segments)
                .min(self.segments(frame, seconds) + self.queues),
            self.datagrams.min(datagrams),
        )
    }
}

/// Packets that all queues of a node hold.
fn held(node: &NodeSpec) -> f64 {
    match node.above_driver() {
        Some(qdisc) => 4.0 * (qdisc.footprint().packets as f64 + f64::from(node.driver_frames)),
        None => f64::from(node.limit),
    }
}

/// How often something happens that is done at intervals.
pub(crate) fn times(window: Duration, interval: Duration) -> f64 {
    window.as_secs_f64() / interval.as_secs_f64() + 1.0
}

/// What a run needs, while the parts of its scenario add what they need.
pub(crate) struct Estimate<'a> {
    pub(crate) s: &'a Scenario,
    bins: f64,
    /// A full segment, bytes: its payload, and on the wire.
    pub(crate) mss: f64,
    frame: f64,
    pub(crate) ways: [Way; 2],
    /// Of all but TCP and floods, which the links bound; and writes of applications.
    packets: f64,
    parts: Vec<Part>,
}

impl Scenario {
    /// What a run of it needs on this back end. It takes no longer than reading the scenario did.
    #[must_use]
    pub fn cost(&self, backend: Backend) -> Cost {
        let mss = f64::from(self.tcp.mss);
        let estimate = Estimate {
            s: self,
            bins: times(self.duration, self.sample_interval).floor(),
            mss,
            frame: mss + HEADERS,
            ways: Direction::ALL.map(|direction| Way::new(self, &self.bottleneck(direction))),
            packets: 0.0,
            parts: Vec::new(),
        };
        estimate.cost(backend)
    }
}

impl Estimate<'_> {
    fn cost(mut self, backend: Backend) -> Cost {
        let s = self.s;
        s.cost_each(&mut self);
        ProgramScenario::cost(&s.programs, &mut self);
        self.series();
        let seconds = s.duration.as_secs_f64();
        let acks = if s.tcp.delayed_ack { 0.6 } else { 1.0 };
        let mut packets = self.packets;
        let mut held = (0.0, 0.0);
        for way in self.ways {
            packets += way.segments(self.frame, seconds) * (1.0 + acks) + way.datagrams;
            let (segments, datagrams) = way.under_way(self.frame, seconds);
            held = (held.0 + segments, held.1 + datagrams);
        }
        self.part(
            format!("{:.0} packets that are queued or under way", held.0 + held.1),
            held.0 * SEGMENT + held.1 * PACKET,
            "lower the limits of the queues, the rates or the round-trip times",
        );
        self.network();
        if backend.has_real_hosts() {
            self.part(
                format!("{packets:.0} frames that are watched"),
                packets * WATCHED,
                "shorten duration or lower the rates",
            );
        }
        packets += self.by_clock() * BY_CLOCK;
        let traffic = s.traffic().count() as f64;
        let seconds = packets * PACKET_S + self.bins * (traffic + LINKS) * BIN_S + traffic * traffic * PAIR_S;
        let memory = self.parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.bytes));
        Cost {
            packets: packets as u64,
            seconds,
            memory,
            parts: self.parts,
        }
    }

    /// What queues and bottlenecks do by the clock: updates of a probability, and turns of a shared medium.
    fn by_clock(&self) -> f64 {
        let s = self.s;
        let mut per_second: f64 = self.ways.iter().map(|way| way.updates).sum();
        for direction in Direction::ALL {
            let interval = s.bottleneck(direction).service_interval;
            if !interval.is_zero() {
                per_second += 1.0 / interval.as_secs_f64();
            }
        }
        per_second * (s.lead + s.duration).as_secs_f64()
    }

    /// Packets beside those of TCP and of floods, and writes of applications.
    pub(crate) fn packets(&mut self, count: f64) {
        self.packets += count;
    }

    /// So many things with series, of which all together take so many bytes for each bin.
    pub(crate) fn bins(&mut self, count: usize, things: &str, bytes: f64) {
        let bins = self.bins;
        let what = format!("{count} {things} with series of {bins:.0} bins each");
        self.part(what, bins * bytes, "lengthen sample_interval or shorten duration");
    }

    /// From the first packet of a probe to the end of the measured window.
    pub(crate) fn window(&self) -> Duration {
        self.s.lead + self.s.duration
    }

    /// Segments in a receive window that holds no more than so many bytes.
    pub(crate) fn windowful(&self, bytes: f64) -> f64 {
        (self.s.tcp.receive_window.get() as f64).min(bytes) / self.mss + 1.0
    }

    pub(crate) fn part(&mut self, what: String, bytes: f64, remedy: &'static str) {
        if bytes > 0.0 {
            let bytes = bytes as u64;
            self.parts.push(Part { what, bytes, remedy });
        }
    }

    pub(crate) fn way(&mut self, direction: Direction) -> &mut Way {
        &mut self.ways[usize::from(direction == Direction::Down)]
    }

    /// What is sampled at intervals beside traffic.
    fn series(&mut self) {
        let stations = self.s.wifi.as_ref().map_or(0, |wifi| wifi.cell.stations.len());
        self.bins(stations, "stations", stations as f64 * VALUE_BIN);
        self.bins(2, "directions", LINKS_BIN);
    }

    /// What is there before the first packet: connections, routes, links, queues, the cell.
    fn network(&mut self) {
        let s = self.s;
        let connections = s.flows.iter().filter(|f| f.transport() != Transport::Udp).count() as f64;
        let traffic = s.traffic().count() as f64;
        let stations = s.wifi.as_ref().map_or(0, |wifi| wifi.cell.stations.len()) as f64;
        let rtts = s.rtts().len() as f64;
        let links = match &s.topology {
            Some(topology) => topology.directed().len() as f64,
            None => LINKS + 2.0 * rtts + 2.0 * stations,
        };
        let routes = 2.0 * traffic;
        let paths = stations.max(1.0) * rtts;
        self.part(
            format!("{traffic:.0} {KINDS} on {paths:.0} paths"),
            connections * CONNECTION + traffic * TRAFFIC + routes * (links * HOP + METER) + paths * PATH,
            "take fewer of them, or fewer different round-trip times",
        );
        let mut queues: Vec<_> = Direction::ALL
            .iter()
            .map(|way| s.bottleneck(*way).qdisc.footprint().empty)
            .collect();
        if let Some(topology) = &s.topology {
            let sides = topology.directed();
            let sides = sides.iter().filter_map(|link| link.link.bottleneck());
            queues = sides.map(|side| side.qdisc.footprint().empty).collect();
        }
        self.part(
            format!("the queues of {} bottlenecks", queues.len()),
            queues.iter().map(|empty| empty.get() as f64).sum(),
            "take fewer flows of the disciplines",
        );
        if let Some(wifi) = &s.wifi {
            let (queues, bytes) = cell(&wifi.cell);
            self.part(
                format!("an access point and {stations:.0} stations with {queues:.0} queues"),
                bytes,
                "take fewer stations, or fewer queues for each",
            );
        }
    }
}

/// The queues of all nodes of a cell, and what the cell takes.
fn cell(cell: &CellSpec) -> (f64, f64) {
    let stations = cell.stations.len() as f64;
    let node = |node: &NodeSpec, peers: f64| {
        if let Some(qdisc) = node.above_driver() {
            let footprint = qdisc.footprint();
            (4.0 * footprint.queues as f64, 4.0 * footprint.empty.get() as f64)
        } else {
            let queues = f64::from(node.queues) + 8.0 * peers;
            (queues, queues * MAC_QUEUE)
        }
    };
    let all = cell.stations.iter().map(|station| node(&station.node, 1.0));
    let (queues, bytes) = all
        .chain([node(&cell.access_point, stations)])
        .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (queues, bytes + stations * STATION)
}
