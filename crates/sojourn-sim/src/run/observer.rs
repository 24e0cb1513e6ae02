//! How far somebody who watches a run has looked, and what there is to be seen.

use crate::places::Places;
use crate::probe::Probe;
use crate::record::numbers::seconds_from;
use crate::simulator::Simulator;
use crate::standing::{Event, Passage, Standing};
use crate::traffic::voip::Voip;
use crate::traffic::web::WebClient;
use crate::view::{FlowView, MOST_PACKETS, Names, Page, PassageKind, PassageView, Ping, QueueView, View, VoicePacket};
use sojourn_scenario::{AnyTraffic, Direction, Scenario, Transport};
use sojourn_units::{Duration, Rate, Time};

/// A probe that has not come home after this long is shown as lost. If it comes later, the record knows.
const LOST: Duration = Duration::from_secs(3);

/// How far somebody has looked.
#[derive(Debug)]
pub(super) struct Observer {
    /// Whose packets each route has, as a number of [`Names::all`].
    of_route: Vec<u16>,
    names: usize,
    /// The rates of the bottleneck, up and down.
    pub(super) rates: [Rate; 2],
    /// Samples of each probe, and fetches of each web client, that were told.
    probes: Vec<usize>,
    fetches: Vec<usize>,
    /// Voice streams and games: the number of each among the traffic, its source, and how many packets were told.
    voice: Vec<(u16, usize, usize)>,
    /// Airtime of each station that was told.
    airtime: Vec<Duration>,
}

/// The names of what is seen of a scenario.
pub(super) fn names(s: &Scenario) -> Names {
    let flusher = s.flusher.iter().map(|_| "flusher".to_owned());
    let tcp = s.flows.iter().filter(|f| f.transport() != Transport::Udp);
    let stations = s.wifi.iter().flat_map(|wifi| &wifi.cell.stations);
    Names {
        all: s.traffic().map(|one| one.name().to_owned()).chain(flusher).collect(),
        flows: tcp.map(|f| f.name.clone()).collect(),
        stations: stations.map(|station| station.name.clone()).collect(),
    }
}

/// The rate of the link that the record reports as the bottleneck in one direction.
fn rate(s: &Scenario, direction: Direction) -> Rate {
    let Some(topology) = &s.topology else {
        return s.bottleneck(direction).rate;
    };
    let name = match direction {
        Direction::Up => &topology.up,
        Direction::Down => &topology.down,
    };
    let found = topology
        .directed()
        .into_iter()
        .find(|link| Some(&link.name) == name.as_ref());
    found
        .and_then(|link| link.link.rate)
        .expect("a checked topology names links that have a rate")
}

/// How long the ping has been under way that was sent first of those that no answer has come to.
fn waits(simulator: &Simulator) -> Option<Duration> {
    let first = |probe: &Probe| -> Option<Time> {
        let answered = probe.samples.iter().rposition(|sample| sample.delay.is_some());
        let open = answered.map_or(0, |last| last + 1);
        probe.samples.get(open).map(|sample| sample.sent)
    };
    let sent = simulator.sources::<Probe>().filter_map(first).min()?;
    Some(simulator.now().since(sent))
}

impl Observer {
    /// Begins to watch, before the first event.
    pub(super) fn new(s: &Scenario, places: &Places, simulator: &mut Simulator) -> Self {
        for link in [places.up, places.down] {
            simulator.keep_standing(link);
        }
        simulator.keep_standing_in_air();
        let names = names(s).all.len();
        // Only a flusher's bursts have a route that is none of the traffic's.
        let mut of_route = vec![names.saturating_sub(1) as u16; simulator.routes()];
        for (number, added) in places.traffic.iter().enumerate() {
            for route in added.routes.both() {
                of_route[usize::from(route.0)] = number as u16;
            }
        }
        let mut voice = Vec::new();
        for (traffic, (number, added)) in s.traffic().zip(places.traffic.iter().enumerate()) {
            let of_voip = matches!(traffic.any(), AnyTraffic::Probe(_) | AnyTraffic::Game(_));
            if of_voip && simulator.source::<Voip>(added.index).is_some() {
                voice.push((number as u16, added.index, 0));
            }
        }
        Self {
            of_route,
            names,
            rates: Direction::ALL.map(|direction| rate(s, direction)),
            probes: vec![0; simulator.sources::<Probe>().count()],
            fetches: vec![0; simulator.sources::<WebClient>().count()],
            voice,
            airtime: Vec::new(),
        }
    }

    /// What there is to be seen now.
    pub(super) fn look(
        &mut self,
        s: &Scenario,
        simulator: &mut Simulator,
        places: &Places,
        begin: Time,
        end: Time,
    ) -> View {
        let passages = [places.up, places.down].map(|link| simulator.take_passages(link));
        let simulator = &*simulator;
        let now = simulator.now();
        let air = simulator.standing_in_air();
        let [mut up, mut down] = [(places.up, true), (places.down, false)].map(|(link, up)| {
            let in_air = air.map(|both| &both[usize::from(!up)]);
            // On the way up the cell comes first, so what is in the queue of the wire leaves first; on the way down
            // it is the other way round.
            let wire = simulator.standing(link);
            let parts = if up { [wire, in_air] } else { [in_air, wire] };
            let state = simulator.discipline_state(link);
            self.queue(parts.into_iter().flatten(), state, self.rates[usize::from(!up)], now)
        });
        for (queue, passages) in [&mut up, &mut down].into_iter().zip(passages) {
            queue.passages = passages.iter().map(|one| self.passage(one, begin)).collect();
        }
        let flow = |i: usize| FlowView {
            cwnd: simulator.sender(i).sender().cwnd(),
            delivered: simulator.receiver(i).receiver().bytes_in_order(),
        };
        let length = s.duration.as_secs_f64();
        let since = now.since(begin).as_secs_f64();
        View {
            now_s: seconds_from(begin, now),
            done: if now >= end { 1.0 } else { since / length },
            up,
            down,
            flows: (0..simulator.flows.len()).map(flow).collect(),
            waits: waits(simulator),
            pings: self.pings(simulator, begin),
            voice: self.voice(simulator, begin),
            pages: self.pages(simulator, begin),
            airtime: self.airtime(simulator),
        }
    }

    fn queue<'a>(
        &self,
        parts: impl Iterator<Item = &'a Standing>,
        state: Vec<(&'static str, f64)>,
        rate: Rate,
        now: Time,
    ) -> QueueView {
        let mut view = QueueView {
            flows: Vec::new(),
            sizes: Vec::new(),
            stood: Vec::new(),
            passages: Vec::new(),
            packets: 0,
            bytes: 0,
            departed: 0,
            dropped: 0,
            marked: 0,
            dropped_by_flow: vec![0; self.names],
            sojourn: None,
            state,
            rate,
        };
        let mut first = true;
        for part in parts {
            let left = MOST_PACKETS - view.flows.len();
            for (route, size, since) in part.in_order().into_iter().take(left) {
                view.flows.push(self.of_route[usize::from(route)]);
                view.sizes.push(size);
                view.stood.push(now.since(since));
            }
            view.packets += part.packets;
            view.bytes += part.bytes;
            view.dropped += part.dropped;
            view.marked += part.marked;
            for (route, dropped) in part.drops().enumerate() {
                let flow = usize::from(self.of_route[route]);
                if let Some(sum) = view.dropped_by_flow.get_mut(flow) {
                    *sum += dropped;
                }
            }
            if first {
                (view.departed, view.sojourn) = (part.departed, part.sojourn);
                first = false;
            }
        }
        view
    }

    fn passage(&self, passage: &Passage, begin: Time) -> PassageView {
        PassageView {
            at_s: seconds_from(begin, passage.at),
            flow: self.of_route[usize::from(passage.route)],
            kind: match passage.event {
                Event::Arrival => PassageKind::Arrival,
                Event::Departure => PassageKind::Departure,
                Event::Marked => PassageKind::Marked,
                Event::Drop => PassageKind::Drop,
            },
            stood: passage.stood,
        }
    }

    fn voice(&mut self, simulator: &Simulator, begin: Time) -> Vec<VoicePacket> {
        let mut packets = Vec::new();
        for (flow, source, told) in &mut self.voice {
            let Some(stream) = simulator.source::<Voip>(*source) else {
                continue;
            };
            let flow = *flow;
            let before = packets.len();
            let settled = stream.settled(*told, simulator.now(), LOST);
            packets.extend(settled.map(|(sent, delay)| VoicePacket {
                flow,
                at_s: seconds_from(begin, sent),
                delay,
            }));
            *told += packets.len() - before;
        }
        packets
    }

    fn pings(&mut self, simulator: &Simulator, begin: Time) -> Vec<Ping> {
        let mut pings = Vec::new();
        for (probe, told) in simulator.sources::<Probe>().zip(&mut self.probes) {
            // The end of a run takes back a transaction that was under way.
            let mut at = (*told).min(probe.samples.len());
            while let Some(sample) = probe.samples.get(at) {
                let later = &probe.samples[at + 1..];
                let overtaken = || later.iter().any(|later| later.delay.is_some());
                if sample.delay.is_none() && simulator.now().since(sample.sent) < LOST && !overtaken() {
                    break;
                }
                pings.push(Ping {
                    at_s: seconds_from(begin, sample.sent),
                    delay: sample.delay,
                });
                at += 1;
            }
            *told = at;
        }
        pings
    }

    fn pages(&mut self, simulator: &Simulator, begin: Time) -> Vec<Page> {
        let mut pages = Vec::new();
        for (web, told) in simulator.sources::<WebClient>().zip(&mut self.fetches) {
            let fetches = &web.fetches;
            pages.extend(fetches[*told..].iter().map(|fetch| Page {
                at_s: seconds_from(begin, fetch.start),
                time: fetch.time,
            }));
            *told = fetches.len();
        }
        pages
    }

    fn airtime(&mut self, simulator: &Simulator) -> Vec<Duration> {
        let so_far = simulator.airtimes();
        self.airtime.resize(so_far.len(), Duration::ZERO);
        let since = |(now, told): (&Duration, &Duration)| now.saturating_sub(*told);
        let new = so_far.iter().zip(&self.airtime).map(since).collect();
        self.airtime = so_far;
        new
    }
}
