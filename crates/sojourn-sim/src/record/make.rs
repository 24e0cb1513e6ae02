//! From a finished simulation to its record.

use super::{
    BacklogRecord, BottleneckRecord, Bottlenecks, Cost, DropGapsRecord, FORMAT, FlowRecord, Mean, PerDirection,
    ProbeRecord, ProbeSeries, Quantiles, Record, SeriesRecord, SojournRecord, Summary, SynRecord, VoiceSeries, pages,
    voice,
};
use crate::link::Egress;
use crate::probe::{Probe, ProbeKind};
use crate::scenario::{Direction, ProbeKindScenario, Scenario};
use crate::simulator::Simulator;
use sojourn_qdisc::{DropReason, Qdisc};
use sojourn_units::{Duration, Time};
use std::collections::BTreeMap;

/// Number of queues by which hash collisions are told: that of `fq_codel` and SFQ.
const QUEUES: u32 = 1024;

/// Links of the dumbbell, in the order in which `topology::dumbbell` adds them.
const UP: usize = 1;
const DOWN: usize = 4;

fn egress(simulator: &Simulator, direction: Direction) -> &Egress {
    let link = match direction {
        Direction::Up => UP,
        Direction::Down => DOWN,
    };
    simulator.links[link]
        .egress
        .as_ref()
        .expect("the bottleneck has a rate")
}

pub(crate) fn bottlenecks(scenario: &Scenario, simulator: &Simulator, begin: Time) -> Bottlenecks {
    let one = |direction: Direction| {
        let (e, b) = (
            egress(simulator, direction),
            match direction {
                Direction::Up => &scenario.up,
                Direction::Down => &scenario.down,
            },
        );
        let (mean, std, bytes) = e.meter.backlog_means();
        let text = b.qdisc.to_string();
        BottleneckRecord {
            qdisc: text.split(' ').next().unwrap_or_default().to_owned(),
            qdisc_text: text,
            packets: e.meter.packets,
            bytes: e.meter.bytes,
            drops: DropReason::ALL
                .iter()
                .map(|r| (r.name(), e.meter.drops[r.index()]))
                .collect(),
            first_drop_s: DropReason::ALL
                .iter()
                .filter_map(|r| Some((r.name(), seconds_from(begin, e.meter.first_drops[r.index()]?))))
                .collect(),
            syn: SynRecord {
                offered: e.meter.syns_offered,
                dropped: e.meter.syns_dropped,
            },
            ack_drops: e.meter.ack_drops,
            acks_spared: e.meter.acks_spared,
            marks: e.meter.marks,
            backlog_packets: BacklogRecord {
                mean,
                max: e.meter.backlog_max.packets,
                std: Some(std),
            },
            backlog_bytes: BacklogRecord {
                mean: bytes,
                max: e.meter.backlog_max.bytes.get(),
                std: None,
            },
            sojourn_ms: SojournRecord {
                mean: e.meter.sojourn.mean_ms(),
                p95: e.meter.sojourn.quantile_ms(0.95),
                max: e.meter.sojourn.max_ms(),
            },
            extra: e.pacing.child().extra_stats().into_iter().collect(),
        }
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

/// The direction of a probe that has one.
fn direction_of(kind: ProbeKindScenario) -> Option<Direction> {
    match kind {
        ProbeKindScenario::Isochronous(d, _) | ProbeKindScenario::Poisson(d, _) | ProbeKindScenario::Voip(d, _) => {
            Some(d)
        }
        ProbeKindScenario::Icmp(_) | ProbeKindScenario::UdpRr(_) => None,
    }
}

/// Who shares a queue with owner `i`, in a direction of the bottleneck that both use.
fn sharers(scenario: &Scenario, simulator: &Simulator, i: usize) -> Vec<String> {
    let names = route_names(scenario);
    // The queue of an owner in a direction; `None` for a one-way probe that does not go there.
    let queue = |k: usize, towards: Direction| {
        let (first, one_way) = if let Some(flow) = scenario.flows.get(k) {
            (flow.direction, None)
        } else {
            let one_way = direction_of(scenario.probes[k - scenario.flows.len()].kind);
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

pub(crate) fn flows(scenario: &Scenario, simulator: &Simulator) -> Vec<FlowRecord> {
    scenario
        .flows
        .iter()
        .enumerate()
        .map(|(i, f)| {
            let flow = &simulator.flows[i];
            let stats = simulator.sender(i).sender().stats();
            let delivered = simulator.receiver(i).receiver().bytes_in_order() - flow.delivered_before;
            let (forth, back) = (
                egress(simulator, f.direction),
                egress(
                    simulator,
                    match f.direction {
                        Direction::Up => Direction::Down,
                        Direction::Down => Direction::Up,
                    },
                ),
            );
            let data = forth.meter.routes[2 * i];
            let gaps = forth.meter.gaps[2 * i];
            let (mean, cv) = gaps.mean_and_cv();
            FlowRecord {
                name: f.name.clone(),
                kind: "tcp",
                direction: f.direction.name(),
                congestion_control: f.congestion_control.name(),
                base_rtt_ms: f.rtt.as_millis_f64(),
                goodput_mbit: mbit(delivered, scenario.duration),
                segments_sent: stats.segments_sent,
                retransmissions: stats.retransmissions,
                timeouts: stats.timeouts,
                loss_probes: stats.loss_probes,
                undone: stats.undone,
                mean_cwnd_segments: flow.cwnd_sum as f64 / flow.cwnd_samples.max(1) as f64,
                acks_dropped: back.meter.routes[2 * i + 1].acks_dropped,
                data_dropped: data.data_dropped,
                drop_gaps_ms: DropGapsRecord {
                    count: gaps.count,
                    mean,
                    cv,
                },
                syn_retransmissions: simulator.sender(i).syn_retransmissions(),
                sojourn_ms: Mean {
                    mean: data.data_sojourn_ns as f64 / data.data_sent.max(1) as f64 / 1e6,
                },
                queue_shared_with: sharers(scenario, simulator, i),
            }
        })
        .collect()
}

fn mbit(bytes: u64, d: Duration) -> f64 {
    bytes as f64 * 8.0 / d.as_secs_f64() / 1e6
}

fn jain(v: &[f64]) -> f64 {
    let (sum, squares) = v.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    if squares == 0.0 {
        1.0
    } else {
        sum * sum / (v.len() as f64 * squares)
    }
}

/// Seconds from `begin` to `t`, which may be before it.
pub(super) fn seconds_from(begin: Time, t: Time) -> f64 {
    (t.as_nanos() as f64 - begin.as_nanos() as f64) / 1e9
}

/// Samples of a probe as (time, RTT): those of a request-response probe are the means of the transactions that ended in
/// each bin of the series, as netperf's interim results are.
fn samples(probe: &Probe, scenario: &Scenario, begin: Time) -> ProbeSeries {
    if let ProbeKind::RequestResponse { .. } = probe.spec.kind {
        let bin = scenario.sample_interval.as_nanos();
        let end = (begin + scenario.duration).as_nanos();
        let bins = end.div_ceil(bin) as usize;
        let mut sums = vec![(0u64, 0u64); bins];
        for s in &probe.samples {
            if let Some(rtt) = s.delay
                && let Some(b) = sums.get_mut(((s.sent + rtt).as_nanos() / bin) as usize)
            {
                b.0 += rtt.as_nanos();
                b.1 += 1;
            }
        }
        let first = (probe.spec.start.as_nanos() / bin) as usize;
        let kept = sums.iter().enumerate().skip(first);
        return ProbeSeries {
            t_s: kept
                .clone()
                .map(|(i, _)| seconds_from(begin, Time::from_nanos(i as u64 * bin)))
                .collect(),
            rtt_ms: kept
                .map(|(_, &(sum, n))| (n > 0).then(|| sum as f64 / n as f64 / 1e6))
                .collect(),
        };
    }
    ProbeSeries {
        t_s: probe.samples.iter().map(|s| seconds_from(begin, s.sent)).collect(),
        rtt_ms: probe
            .samples
            .iter()
            .map(|s| s.delay.map(Duration::as_millis_f64))
            .collect(),
    }
}

/// What the probes of a run say, each and together.
#[derive(Default)]
struct Probes {
    records: Vec<ProbeRecord>,
    series: BTreeMap<String, ProbeSeries>,
    voice: BTreeMap<String, VoiceSeries>,
    /// Of all echo probes in the measured window: round-trip times, ms, and what they exceed the base by, added up.
    rtts: Vec<f64>,
    excess: f64,
    sent: u64,
    lost: u64,
}

fn probes(scenario: &Scenario, simulator: &Simulator, begin: Time) -> Probes {
    let mut all = Probes::default();
    let (mut echoes, mut voips) = (simulator.probes.iter(), simulator.voips.iter());
    for (i, s) in scenario.probes.iter().enumerate() {
        let shared = sharers(scenario, simulator, scenario.flows.len() + i);
        if let ProbeKindScenario::Voip(direction, codec) = s.kind {
            if let Some(v) = voips.next() {
                all.records.push(voice::record(s, direction, codec, v, shared));
                all.voice.insert(s.name.clone(), voice::series(scenario, v));
            }
            continue;
        }
        let Some(p) = echoes.next() else { break };
        let series = samples(p, scenario, begin);
        let measured: Vec<f64> = series
            .t_s
            .iter()
            .zip(&series.rtt_ms)
            .filter(|(t, _)| **t >= 0.0)
            .filter_map(|(_, r)| *r)
            .collect();
        let in_window = || p.samples.iter().filter(|s| s.sent >= begin);
        let sent = in_window().count() as u64;
        let lost = in_window().filter(|s| s.delay.is_none()).count() as u64;
        let one_way = !p.echoes();
        let kind = match p.spec.kind {
            ProbeKind::Echo { .. } => "icmp",
            ProbeKind::RequestResponse { .. } => "udp_rr",
            ProbeKind::Isochronous { .. } => "isochronous",
            ProbeKind::Poisson { .. } => "poisson",
        };
        if !one_way {
            all.sent += sent;
            all.lost += lost;
            // Each probe's own base RTT is taken off, so that paths of different lengths mix.
            all.excess += measured.iter().sum::<f64>() - s.rtt.as_millis_f64() * measured.len() as f64;
            all.rtts.extend_from_slice(&measured);
        }
        let quantiles = Some(Quantiles::of(measured));
        all.records.push(ProbeRecord {
            name: s.name.clone(),
            kind,
            direction: direction_of(s.kind).map_or("both", Direction::name),
            sent,
            lost,
            rtt_ms: if one_way { None } else { quantiles.clone() },
            delay_ms: if one_way { quantiles } else { None },
            voice: None,
            queue_shared_with: shared,
        });
        all.series.insert(s.name.clone(), series);
    }
    all
}

pub(crate) fn assemble(
    scenario: &Scenario,
    simulator: &Simulator,
    begin: Time,
    bottleneck: Bottlenecks,
    flows: Vec<FlowRecord>,
) -> Record {
    let p = probes(scenario, simulator, begin);
    let goodputs = |direction: Direction| -> Vec<f64> {
        flows
            .iter()
            .filter(|f| f.direction == direction.name())
            .map(|f| f.goodput_mbit)
            .collect()
    };
    let (up, down) = (goodputs(Direction::Up), goodputs(Direction::Down));
    let web = pages::records(scenario, simulator, begin);
    let packets = bottleneck.up.packets + bottleneck.down.packets;
    Record {
        format: FORMAT,
        experiment: scenario.experiment.clone(),
        backend: "sim",
        seed: scenario.seed,
        code_version: env!("CARGO_PKG_VERSION"),
        scenario: scenario.to_value(),
        summary: Summary {
            // From 0.0, because the sum of no floats is -0.0.
            goodput_up_mbit: up.iter().fold(0.0, |sum, x| sum + x),
            goodput_down_mbit: down.iter().fold(0.0, |sum, x| sum + x),
            induced_latency_ms: if p.rtts.is_empty() {
                0.0
            } else {
                p.excess / p.rtts.len() as f64
            },
            probe_loss: if p.sent == 0 {
                0.0
            } else {
                f64::from(p.lost as u32) / p.sent as f64
            },
            jain_up: jain(&up),
            jain_down: jain(&down),
            rtt_ms: Quantiles::of(p.rtts),
            page_fetch_s: pages::mean_time(&web),
        },
        flows,
        probes: p.records,
        web,
        bottleneck,
        series: series(scenario, simulator, begin, p.series, p.voice),
        cost: Cost {
            events: simulator.events,
            packets,
            sim_s: scenario.duration.as_secs_f64(),
            ..Cost::default()
        },
    }
}

fn series(
    scenario: &Scenario,
    simulator: &Simulator,
    begin: Time,
    rtt: BTreeMap<String, ProbeSeries>,
    voip: BTreeMap<String, VoiceSeries>,
) -> SeriesRecord {
    let s = &simulator.series;
    let named = |i: usize| scenario.flows[i].name.clone();
    let goodput = |delivered: &[u64]| -> Vec<f64> {
        let mut last = 0;
        delivered
            .iter()
            .map(|&d| mbit(d - std::mem::replace(&mut last, d), scenario.sample_interval))
            .collect()
    };
    let link = |i: usize| s.links.get(i).cloned().unwrap_or_default();
    let (up, down) = (link(UP), link(DOWN));
    SeriesRecord {
        interval_s: scenario.sample_interval.as_secs_f64(),
        t_s: s.times.iter().map(|&t| seconds_from(begin, t)).collect(),
        goodput_mbit: s
            .flows
            .iter()
            .enumerate()
            .map(|(i, f)| (named(i), goodput(&f.delivered)))
            .collect(),
        cwnd_segments: s
            .flows
            .iter()
            .enumerate()
            .map(|(i, f)| (named(i), f.cwnd.clone()))
            .collect(),
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
        rtt,
        voip,
    }
}
