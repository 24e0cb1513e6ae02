//! A queue flusher on the path: it carries packets and the time to the decision core of `sojourn-flusher`, and what
//! the core decides back to the network.
//!
//! Source: seed 003 chapter 4. The flusher sees the TCP segments of its flows in both directions at its place. A
//! flush is a burst of UDP packets towards the receiver of the data: each takes the way of the flow's own packets,
//! through the same queues, one after the other at the rate of the edge links (all at once if these are infinitely
//! fast, or as a socket takes them), and is thrown away where the flow's data arrives.
//!
//! Beside it stands what measures it: round-trip times of all TCP flows of the scenario, seen or not, by `pairs`.

mod daemon;
pub(crate) mod pairs;
mod sight;
mod socket;

use crate::calendar::{Calendar, Slot};
use crate::network::RoutePair;
use crate::packet::{Packet, Segments};
use crate::tap::Passing;
use crate::tap::hosts::{End, address};
use daemon::{Daemon, Step};
use pairs::{Pairing, Pairs};
use sight::{ARRIVES, AT_FLUSHER, LEAVES};
pub(crate) use sight::{Sight, way};
pub(crate) use socket::Socket;
use sojourn_flusher::gate::{Answer, Watchman};
use sojourn_flusher::rhythm::HORIZON;
use sojourn_flusher::{FlowKey, FlushId, FlushPlan, Flusher, Reason};
use sojourn_tcp::Flags;
use sojourn_units::{Bytes, Duration, Rate, Time};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// What of the Ethernet frame no IP length counts.
const ETHERNET: u16 = 14;

/// TCP traffic of the scenario: a flow, a web client or a download.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) name: String,
    /// Its number in the run, from which its addresses follow.
    pub(crate) number: u32,
    /// See [`crate::tap::Conversation::hosts`].
    pub(crate) hosts: Option<[u32; 2]>,
    /// Whether it passes the flusher.
    pub(crate) seen: bool,
    /// Its index among the simulator's flows; `None` for a web client or a download.
    pub(crate) flow: Option<usize>,
    /// The measurement of a flow.
    pub(crate) pairing: Pairing,
    /// The routes of bursts, and whether they lead upstream; `None` if none can go to any of its hosts through the
    /// bottleneck.
    pub(crate) burst: Option<(RoutePair, bool)>,
    pub(crate) series: SubjectSeries,
    /// Bursts, and their packets.
    pub(crate) flushes: u64,
    pub(crate) packets: u64,
}

/// What is sampled of a flow, at the end of each bin.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubjectSeries {
    /// Of the pairs in the bin: mean and largest, ms.
    pub(crate) path_rtt: Vec<Option<f64>>,
    pub(crate) path_rtt_max: Vec<Option<f64>>,
    /// Of the sender: its smoothed RTT, ms.
    pub(crate) sender_rtt: Vec<Option<f64>>,
    /// Of the flusher: its smoothed and its base RTT, ms, and the throughput, Mbit/s.
    pub(crate) rtt: Vec<Option<f64>>,
    pub(crate) base_rtt: Vec<Option<f64>>,
    pub(crate) throughput: Vec<Option<f64>>,
}

/// A route that TCP segments take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) subject: u32,
    /// Whether the opener of the connections sends on it.
    pub(crate) from_opener: bool,
    pub(crate) client_opens: bool,
    /// What is added to the sequence numbers and the acknowledgements, as in a capture.
    pub(crate) isns: [u32; 2],
    /// From which the opener's port follows, together with the number of the connection; and the other port.
    pub(crate) port: u32,
    pub(crate) service: u16,
}

/// A flush that the core proposed.
#[derive(Clone, Debug)]
pub(crate) struct FlushEvent {
    pub(crate) at: Time,
    /// When its last packet left; `None` if it was refused, or had not by the end.
    pub(crate) done: Option<Time>,
    pub(crate) subject: Option<u32>,
    pub(crate) packets: u32,
    pub(crate) refused: bool,
    pub(crate) plan: FlushPlan,
}

/// A burst that is leaving.
#[derive(Debug)]
struct Burst {
    id: FlushId,
    event: usize,
    subject: u32,
    route: u16,
    size: u16,
    left: u32,
    sent: u32,
    began: Time,
    next: Time,
}

/// What is counted of all bursts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) flushes: u64,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) delivered: u64,
    pub(crate) refused: u64,
}

/// A flusher and where it sits.
#[derive(Debug)]
pub(crate) struct FlusherHost {
    pub(crate) core: Flusher,
    pub(crate) slot: Slot,
    pub(crate) subjects: Vec<Subject>,
    pub(crate) events: Vec<FlushEvent>,
    pub(crate) counts: Counts,
    /// If a gate judges what the core proposes.
    watchman: Option<Watchman>,
    sight: Sight,
    /// By route.
    ways: Vec<Option<Way>>,
    pairs: Pairs,
    active: bool,
    from: Time,
    /// Of the place's link.
    rate: Option<Rate>,
    /// If it is the daemon: its loop, and the socket that it hands bursts over to.
    daemon: Option<(Daemon, Socket)>,
    /// The stamp of the last frame that it read.
    last_frame: Option<Time>,
    burst: Option<Burst>,
    over: bool,
    /// Numbers the packets of bursts.
    number: u32,
}

/// How a [`FlusherHost`] is set up.
#[derive(Debug)]
pub(crate) struct HostSpec {
    pub(crate) core: Flusher,
    pub(crate) watchman: Option<Watchman>,
    pub(crate) slot: Slot,
    pub(crate) subjects: Vec<Subject>,
    pub(crate) ways: Vec<Option<Way>>,
    pub(crate) sight: Sight,
    pub(crate) active: bool,
    /// When it begins to look.
    pub(crate) from: Time,
    pub(crate) rate: Option<Rate>,
    /// If it is the daemon, which sends by it.
    pub(crate) socket: Option<Socket>,
}

impl FlusherHost {
    pub(crate) fn new(spec: HostSpec) -> Self {
        Self {
            core: spec.core,
            watchman: spec.watchman,
            slot: spec.slot,
            subjects: spec.subjects,
            events: Vec::new(),
            counts: Counts::default(),
            sight: spec.sight,
            ways: spec.ways,
            pairs: Pairs::default(),
            active: spec.active,
            from: spec.from,
            rate: spec.rate,
            daemon: spec.socket.map(|socket| (Daemon::default(), socket)),
            last_frame: None,
            burst: None,
            over: false,
            number: 0,
        }
    }

    /// Something happens to a packet at a link.
    pub(crate) fn pass(
        &mut self,
        passing: Passing,
        link: u16,
        packet: &Packet,
        segments: &Segments,
        calendar: &mut Calendar,
        at: Time,
    ) {
        if passing == Passing::Departed && !packet.is_tcp() {
            self.left_host(packet, link);
        }
        let seen = self.sight.of(passing, link);
        if seen == 0 || self.over || !packet.is_tcp() {
            return;
        }
        let Some(&Some(way)) = self.ways.get(usize::from(packet.route)) else {
            return;
        };
        let subject = &mut self.subjects[way.subject as usize];
        if subject.flow.is_some() {
            let pairing = &mut subject.pairing;
            // The opener of a flow sends its data.
            match (way.from_opener, seen & LEAVES > 0, seen & ARRIVES > 0) {
                (true, true, _) => self.pairs.sent(packet.body, at),
                (true, _, true) => self.pairs.received(pairing, packet.body, at),
                (false, true, _) => self.pairs.answered(pairing, packet.body, at),
                (false, _, true) => self.pairs.returned(pairing, packet.body, at),
                _ => {}
            }
        }
        if seen & AT_FLUSHER > 0 && subject.seen && at >= self.from {
            let segment = observed(&way, subject.number, packet, segments);
            match &mut self.daemon {
                Some((daemon, _)) => daemon.sees(segment, at),
                None => self.core.handle_segment(&segment, at),
            }
            self.decide(calendar, at);
        }
    }

    /// A packet has left a device, or was lost before it.
    pub(crate) fn left_host(&mut self, packet: &Packet, link: u16) {
        if let Some((_, socket)) = &mut self.daemon {
            socket.left(packet.route, link, u64::from(packet.size - ETHERNET));
        }
    }

    /// Its time has come. Answers a packet of a burst that is to be sent.
    pub(crate) fn due(&mut self, calendar: &mut Calendar, now: Time) -> Option<(u16, u16, u32)> {
        if self.daemon.is_some() {
            let sent = self.go_on(now);
            self.decide(calendar, now);
            return sent;
        }
        let sent = self.next_of_burst(now);
        if self.core.poll_timeout().is_some_and(|at| at <= now) {
            self.core.handle_timeout(now);
        }
        self.decide(calendar, now);
        sent
    }

    /// The daemon's loop, up to a packet of a burst or to its next sleep.
    fn go_on(&mut self, now: Time) -> Option<(u16, u16, u32)> {
        loop {
            let due = self.falls_due();
            let (daemon, _) = self.daemon.as_mut()?;
            match daemon.step(now, due) {
                Step::Sleep => return None,
                Step::Pump => {
                    if let Some(packet) = self.next_of_burst(now) {
                        return Some(packet);
                    }
                    if let Some((daemon, _)) = &mut self.daemon {
                        daemon.pumped();
                    }
                }
                Step::Frame(segment, at) => {
                    // What fell due since the last one comes before this one.
                    self.pass_time(at, now);
                    self.last_frame = Some(at);
                    self.core.handle_segment(&segment, at);
                    self.take_plans(at, now);
                }
                Step::Due(until) => self.pass_time(until, now),
            }
        }
    }

    /// When something falls due for the daemon's core that is to happen without a frame.
    fn falls_due(&self) -> Option<Time> {
        let horizon = self.last_frame? + HORIZON;
        self.core.poll_timeout().filter(|due| *due <= horizon)
    }

    /// What falls due for the daemon's core by then, each at its own time.
    fn pass_time(&mut self, until: Time, now: Time) {
        while let Some(due) = self.core.poll_timeout().filter(|due| *due <= until) {
            self.core.handle_timeout(due);
            self.take_plans(due, now);
        }
    }

    fn next_of_burst(&mut self, now: Time) -> Option<(u16, u16, u32)> {
        let burst = self.burst.as_mut().filter(|burst| burst.next <= now)?;
        if let Some((_, socket)) = &mut self.daemon {
            if Socket::gives_up(burst.began, now) {
                self.burst = None;
                return None;
            }
            if !socket.takes(burst.route, u64::from(burst.size - ETHERNET)) {
                return None;
            }
        }
        burst.left -= 1;
        burst.sent += 1;
        let packet = (burst.route, burst.size, self.number);
        self.number = self.number.wrapping_add(1);
        self.counts.packets += 1;
        self.counts.bytes += u64::from(burst.size);
        self.subjects[burst.subject as usize].packets += 1;
        let size = Bytes::new(u64::from(burst.size));
        burst.next = now + self.rate.map_or(Duration::ZERO, |rate| rate.time_to_send(size));
        self.events[burst.event].packets = burst.sent;
        if burst.left == 0 {
            self.events[burst.event].done = Some(now);
            let (id, sent) = (burst.id, burst.sent);
            self.burst = None;
            if self.daemon.is_none() {
                self.core.flush_done(id, sent, now);
            }
        }
        Some(packet)
    }

    /// Takes what the core has decided, and sets the timer.
    fn decide(&mut self, calendar: &mut Calendar, now: Time) {
        let due = if let Some((daemon, _)) = &self.daemon {
            daemon.wakes(self.burst.is_some() || self.falls_due().is_some(), now)
        } else {
            self.take_plans(now, now);
            let burst = self.burst.as_ref().map(|burst| burst.next);
            [burst, self.core.poll_timeout()].into_iter().flatten().min()
        };
        match due {
            Some(at) if at < Time::MAX => calendar.set(self.slot, at.max(now)),
            _ => calendar.clear(self.slot),
        }
    }

    /// Takes the flushes that the core proposes at `at`; bursts begin `now`.
    fn take_plans(&mut self, at: Time, now: Time) {
        self.tell_gate();
        while let Some(plan) = self.core.poll_flush() {
            self.consider(plan, at, now);
            self.tell_gate();
        }
    }

    /// What the core has told meanwhile is the gate's.
    fn tell_gate(&mut self) {
        if let Some(watchman) = &mut self.watchman {
            while let Some(event) = self.core.poll_event() {
                watchman.event(&event);
            }
        }
    }

    /// Begins a burst, or refuses it: if the gate does, in passive mode, if none is possible from here, and for no
    /// packets.
    fn consider(&mut self, plan: FlushPlan, at: Time, now: Time) {
        let subject = self.subject_of(&plan.flow);
        let route = subject.and_then(|(i, up)| {
            let (routes, leads_up) = self.subjects[i].burst?;
            (self.active && leads_up == up && plan.packets > 0).then_some((i, routes.forth.0))
        });
        // What could not leave anyhow costs nothing of the gate's budget.
        let route = route.filter(|_| match &mut self.watchman {
            Some(watchman) => watchman.judge(&plan, at, at) == Answer::Allowed,
            None => true,
        });
        let (id, packets, size) = (plan.id, plan.packets, plan.size);
        self.events.push(FlushEvent {
            at,
            done: None,
            subject: subject.map(|(i, _)| i as u32),
            packets: if route.is_some() { 0 } else { packets },
            refused: route.is_none(),
            plan,
        });
        let Some((subject, route)) = route else {
            self.counts.refused += 1;
            self.core.flush_refused(id, at);
            return;
        };
        self.counts.flushes += 1;
        self.subjects[subject].flushes += 1;
        if let Some((daemon, _)) = &mut self.daemon {
            // What the gate let through counts as sent, and one that comes while another leaves is lost.
            self.core.flush_done(id, packets, at);
            if self.burst.is_some() {
                return;
            }
            daemon.begins_burst();
        }
        self.burst = Some(Burst {
            id,
            event: self.events.len() - 1,
            subject: subject as u32,
            route,
            size: (size.get() as u16).saturating_add(ETHERNET),
            left: packets,
            sent: 0,
            began: now,
            next: now,
        });
    }

    /// Whose a connection is, and whether its data goes upstream.
    pub(crate) fn subject_of(&self, flow: &FlowKey) -> Option<(usize, bool)> {
        let (number, up) = number_of(flow)?;
        let found = self.subjects.binary_search_by_key(&number, |s| s.number).ok()?;
        Some((found, up))
    }

    /// A packet of a burst has arrived.
    pub(crate) fn arrived(&mut self) {
        if !self.over {
            self.counts.delivered += 1;
        }
    }

    /// The measured window is over.
    pub(crate) fn finish(&mut self, calendar: &mut Calendar) {
        self.over = true;
        calendar.clear(self.slot);
    }

    /// The end of a bin; `sender_rtt` answers the smoothed RTT of the sender of a flow.
    pub(crate) fn sample(&mut self, sender_rtt: impl Fn(usize) -> Option<Duration>) {
        let ms = |d: Option<Duration>| d.map(Duration::as_millis_f64);
        for subject in &mut self.subjects {
            let Some(flow) = subject.flow else { continue };
            let recent = subject.pairing.rtts.take_recent();
            let series = &mut subject.series;
            series.path_rtt.push(recent.map(|(mean, _)| mean));
            series.path_rtt_max.push(recent.map(|(_, most)| most));
            series.sender_rtt.push(ms(sender_rtt(flow)));
            if subject.seen {
                series.rtt.push(None);
                series.base_rtt.push(None);
                series.throughput.push(None);
            }
        }
        for view in self.core.flows() {
            let Some((number, _)) = number_of(&view.key) else {
                continue;
            };
            let Ok(i) = self.subjects.binary_search_by_key(&number, |s| s.number) else {
                continue;
            };
            let subject = &mut self.subjects[i];
            // What a flow's receiver sends is no data.
            if subject.flow.is_none() || view.rtt.is_none() {
                continue;
            }
            let last = |series: &mut Vec<Option<f64>>, value: Option<f64>| {
                if let (Some(last), Some(_)) = (series.last_mut(), value) {
                    *last = value;
                }
            };
            let series = &mut subject.series;
            last(&mut series.rtt, ms(view.rtt));
            last(&mut series.base_rtt, ms(view.base));
            last(
                &mut series.throughput,
                view.throughput.map(|rate| rate.as_bps() as f64 / 1e6),
            );
        }
    }
}

/// The number in the run of the traffic that has these addresses, and whether it goes to the server.
fn number_of(flow: &FlowKey) -> Option<(u32, bool)> {
    let octets = |at: &SocketAddr| match at.ip() {
        IpAddr::V4(ip) => Some(ip.octets()),
        IpAddr::V6(_) => None,
    };
    let [_, end, high, low] = octets(&flow.dst)?;
    let number = u32::from(high) * 250 + u32::from(low) - 1;
    Some((number, end == End::Server as u8))
}

/// The name of a reason in the record.
pub(crate) fn reason_name(reason: Reason) -> &'static str {
    match reason {
        Reason::Forced => "forced",
        Reason::Threshold { .. } => "threshold",
        Reason::TopUp { .. } => "top_up",
    }
}

/// A segment as a capture at the flusher's place has it.
fn observed(way: &Way, number: u32, packet: &Packet, segments: &Segments) -> sojourn_flusher::Segment {
    let s = segments.peek(packet);
    let from_client = way.from_opener == way.client_opens;
    let (from, to) = if from_client {
        (End::Client, End::Server)
    } else {
        (End::Server, End::Client)
    };
    let opener = crate::tap::hosts::opener_port(way.port.wrapping_add(packet.connection()));
    let (from_port, to_port) = if way.from_opener {
        (opener, way.service)
    } else {
        (way.service, opener)
    };
    let socket = |end, port| SocketAddr::from((Ipv4Addr::from(address(number, end)), port));
    let ack = s.flags.has(Flags::ACK);
    sojourn_flusher::Segment {
        src: socket(from, from_port),
        dst: socket(to, to_port),
        seq: way.isns[0].wrapping_add(s.seq as u32),
        ack: if ack { way.isns[1].wrapping_add(s.ack as u32) } else { 0 },
        flags: sojourn_flusher::Flags {
            syn: s.flags.has(Flags::SYN),
            fin: s.flags.has(Flags::FIN),
            rst: false,
            ack,
            psh: s.flags.has(Flags::PSH),
        },
        payload: u32::from(s.len),
        wire: u32::from(s.wire_size() - ETHERNET),
        window: s.window,
        timestamps: Some((s.ts_val, s.ts_ecr)),
        sack: s.sack_count > 0,
        station: None,
    }
}
