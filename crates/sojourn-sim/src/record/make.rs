//! From a finished simulation to its record.

use super::assemble::{
    self, DropsByReason, Facts, FlowFacts, Probes, SeriesFacts, direction_of, seconds_from, signed_ns,
};
use super::{
    BottleneckRecord, Bottlenecks, DownloadRecord, FlowRecord, FlusherRecord, PerDirection, Record, SojournOfOne,
    UdpRecord, WifiRecord, downloads, flusher, pages, wifi,
};
use crate::link::{Egress, Link};
use crate::simulator::Simulator;
use crate::traffic::flood::Flood;
use sojourn_bed::Sample;
use sojourn_qdisc::{DropReason, Qdisc};
use sojourn_scenario::{Backend, Direction, FlowScenario, ProbeKindScenario, Scenario, Transport};
use sojourn_units::{Duration, Time};
use std::borrow::Cow;

/// Number of queues by which hash collisions are told: that of `fq_codel` and SFQ.
const QUEUES: u32 = 1024;

/// Links of the dumbbell, in the order in which `topology::dumbbell` adds them.
const UP: usize = 1;
const DOWN: usize = 4;

fn link(simulator: &Simulator, direction: Direction) -> &Link {
    let link = match direction {
        Direction::Up => UP,
        Direction::Down => DOWN,
    };
    &simulator.links[link]
}

pub(super) fn egress(simulator: &Simulator, direction: Direction) -> &Egress {
    let egress = link(simulator, direction).egress.as_ref();
    egress.expect("the bottleneck has a rate")
}

/// What is told of a run when its measured window is over; probes may still come home then.
pub(crate) struct Ended {
    bottleneck: Bottlenecks,
    wifi: Option<WifiRecord>,
    flusher: Option<FlusherRecord>,
    flows: Vec<FlowRecord>,
    downloads: Vec<DownloadRecord>,
    /// What the packets of each probe had waited by then; see [`Probes::add_sojourns`].
    sojourns: Vec<SojournOfOne>,
}

/// The measured window is over.
pub(crate) fn at_end(scenario: &Scenario, simulator: &Simulator, begin: Time) -> Ended {
    let meter = |direction| &egress(simulator, direction).meter;
    Ended {
        bottleneck: bottlenecks(scenario, simulator, begin),
        wifi: wifi::simulated(scenario, simulator),
        flusher: flusher::simulated(scenario, simulator, begin),
        flows: flows(scenario, simulator),
        downloads: downloads::simulated(scenario, simulator, begin),
        sojourns: assemble::sojourns(scenario, meter(Direction::Up), meter(Direction::Down)),
    }
}

fn bottlenecks(scenario: &Scenario, simulator: &Simulator, begin: Time) -> Bottlenecks {
    let one = |direction: Direction| -> BottleneckRecord {
        let e = egress(simulator, direction);
        let drops = DropsByReason {
            drops: DropReason::OF_A_QDISC
                .iter()
                .map(|r| (r.name(), e.meter.drops[r.index()]))
                .collect(),
            first_drop_s: DropReason::OF_A_QDISC
                .iter()
                .filter_map(|r| Some((r.name(), seconds_from(begin, e.meter.first_drops[r.index()]?))))
                .collect(),
        };
        let extra = e.pacing.child().extra_stats();
        let extra = extra.into_iter().map(|(name, value)| (Cow::Borrowed(name), value));
        let mut record = assemble::bottleneck(scenario, direction, &e.meter, drops, extra.collect());
        record.lost = link(simulator, direction).weather().map(|weather| weather.lost);
        record
    };
    Bottlenecks {
        up: one(Direction::Up),
        down: one(Direction::Down),
    }
}

/// Owners of each route, by name: routes come in pairs, flows first.
fn route_names(scenario: &Scenario) -> Vec<&str> {
    scenario
        .flows
        .iter()
        .map(|f| f.name.as_str())
        .chain(scenario.probes.iter().map(|p| p.name.as_str()))
        .collect()
}

/// Who shares a queue with owner `i`, in a direction of the bottleneck that both use.
fn sharers(scenario: &Scenario, simulator: &Simulator, i: usize) -> Vec<String> {
    let names = route_names(scenario);
    // The queue of an owner in a direction; `None` for a one-way probe that does not go there.
    let queue = |k: usize, towards: Direction| {
        let (first, one_way) = if let Some(flow) = scenario.flows.get(k) {
            (flow.direction, None)
        } else {
            let one_way = direction_of(scenario.probes[k - scenario.flows.len()].kind());
            (one_way.unwrap_or(Direction::Up), one_way)
        };
        let route = 2 * k + usize::from(first != towards);
        one_way
            .is_none_or(|only| only == towards)
            .then(|| simulator.hashes[route] % QUEUES)
    };
    (0..names.len())
        .filter(|&k| {
            k != i
                && [Direction::Up, Direction::Down]
                    .iter()
                    .any(|&towards| queue(k, towards).is_some() && queue(k, towards) == queue(i, towards))
        })
        .map(|k| names[k].to_owned())
        .collect()
}

fn flows(scenario: &Scenario, simulator: &Simulator) -> Vec<FlowRecord> {
    let up = &egress(simulator, Direction::Up).meter;
    let down = &egress(simulator, Direction::Down).meter;
    // Each kind in the order of the scenario.
    let mut connections = 0..simulator.flows.len();
    let mut floods = simulator.floods.iter();
    let one = |(i, f): (usize, &FlowScenario)| {
        let queue_shared_with = sharers(scenario, simulator, i);
        let facts = match f.transport() {
            Transport::Tcp => tcp(simulator, connections.next()?, queue_shared_with),
            Transport::Udp => udp(floods.next()?, queue_shared_with),
        };
        Some(assemble::flow(scenario, i, facts, up, down))
    };
    scenario.flows.iter().enumerate().filter_map(one).collect()
}

/// The facts of TCP flow `i`, counted without those of UDP.
fn tcp(simulator: &Simulator, i: usize, queue_shared_with: Vec<String>) -> FlowFacts {
    let flow = &simulator.flows[i];
    let stats = simulator.sender(i).sender().stats();
    FlowFacts {
        delivered: simulator.receiver(i).receiver().bytes_in_order() - flow.delivered_before,
        segments_sent: stats.segments_sent,
        retransmissions: stats.retransmissions,
        timeouts: Some(stats.timeouts),
        loss_probes: Some(stats.loss_probes),
        undone: Some(stats.undone),
        mean_cwnd_segments: flow.cwnd_sum as f64 / flow.cwnd_samples.max(1) as f64,
        syn_retransmissions: simulator.sender(i).syn_retransmissions(),
        writes: flow.writes.as_ref().map(|w| (w.count(), w.delays.clone())),
        udp: None,
        error: None,
        queue_shared_with,
    }
}

fn udp(flood: &Flood, queue_shared_with: Vec<String>) -> FlowFacts {
    let counts = flood.measured();
    let lost = counts.lost();
    FlowFacts {
        delivered: flood.delivered(),
        udp: Some(UdpRecord {
            sent: counts.sent,
            lost,
            loss: lost as f64 / (lost + counts.received).max(1) as f64,
        }),
        queue_shared_with,
        ..FlowFacts::default()
    }
}

fn probes(scenario: &Scenario, simulator: &Simulator, begin: Time) -> Probes {
    let mut all = Probes::default();
    let (mut echoes, mut voips) = (simulator.probes.iter(), simulator.voips.iter());
    for (i, s) in scenario.probes.iter().enumerate() {
        let shared = sharers(scenario, simulator, scenario.flows.len() + i);
        if let ProbeKindScenario::Voip(..) = s.kind() {
            if let Some(v) = voips.next() {
                let bins = v.bins(scenario.sample_interval, scenario.whole_bins());
                all.add_voice(scenario, s, &v.trace, &bins, v.base_delay, shared);
            }
            continue;
        }
        let Some(p) = echoes.next() else { break };
        let samples = p.samples.iter().map(|sample| Sample {
            sent_ns: signed_ns(sample.sent.as_nanos()) - signed_ns(begin.as_nanos()),
            delay_ns: sample.delay.map(Duration::as_nanos),
        });
        let samples: Vec<Sample> = samples.collect();
        all.add(scenario, s, &samples, p.spec.start.since(Time::ZERO), shared);
    }
    all
}

pub(crate) fn assemble(scenario: &Scenario, simulator: &Simulator, begin: Time, ended: Ended) -> Record {
    let mut probes = probes(scenario, simulator, begin);
    probes.add_sojourns(ended.sojourns);
    let facts = Facts {
        backend: Backend::Sim,
        kernel: None,
        tcp_counters: None,
        flows: ended.flows,
        probes,
        web: pages::simulated(scenario, simulator, begin),
        downloads: ended.downloads,
        bottleneck: ended.bottleneck,
        wifi: ended.wifi,
        flusher: ended.flusher,
        series: series(scenario, simulator, begin),
        events: simulator.events,
    };
    assemble::assemble(scenario, facts)
}

fn series(scenario: &Scenario, simulator: &Simulator, begin: Time) -> SeriesFacts {
    let s = &simulator.series;
    let link = |i: usize| s.links.get(i).cloned().unwrap_or_default();
    let (up, down) = (link(UP), link(DOWN));
    let (mut connections, mut floods) = (s.flows.iter(), s.floods.iter());
    let flows = scenario.flows.iter().map(|f| match f.transport() {
        Transport::Tcp => connections
            .next()
            .map_or_else(Default::default, |f| (f.delivered.clone(), f.cwnd.clone())),
        Transport::Udp => (floods.next().cloned().unwrap_or_default(), Vec::new()),
    });
    SeriesFacts {
        t_s: s.times.iter().map(|&t| seconds_from(begin, t)).collect(),
        flows: flows.collect(),
        airtimes: s.airtimes.clone(),
        flusher: flusher::series(simulator),
        backlog_packets: PerDirection {
            up: up.backlog,
            down: down.backlog,
        },
        drops: PerDirection {
            up: up.drops,
            down: down.drops,
        },
        packets: PerDirection {
            up: up.packets,
            down: down.packets,
        },
    }
}
