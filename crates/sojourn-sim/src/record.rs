//! The record of a run: what the contract prints as JSON.

use crate::link::Egress;
use crate::probe::{Probe, ProbeKind};
use crate::scenario::{Direction, ProbeKindScenario, Scenario};
use crate::simulator::Simulator;
use serde::Serialize;
use sojourn_qdisc::{DropReason, Qdisc};
use sojourn_units::{Duration, Time};
use std::collections::BTreeMap;

/// Format name of [`Record`].
pub const FORMAT: &str = "sojourn-run/1";
/// Number of queues by which hash collisions are told: that of `fq_codel` and SFQ.
const QUEUES: u32 = 1024;

/// Statistics of a set of samples, ms. Without samples all are zero.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Quantiles {
    /// Samples.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// 50th percentile; percentiles interpolate linearly between neighbours.
    pub median: f64,
    /// 5th percentile.
    pub p5: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

impl Quantiles {
    fn of(mut v: Vec<f64>) -> Self {
        if v.is_empty() {
            return Self::default();
        }
        v.sort_unstable_by(f64::total_cmp);
        let at = |q: f64| {
            let k = (v.len() - 1) as f64 * q;
            let i = k as usize;
            let next = v[(i + 1).min(v.len() - 1)];
            v[i] + (next - v[i]) * (k - i as f64)
        };
        Self {
            count: v.len(),
            mean: v.iter().sum::<f64>() / v.len() as f64,
            median: at(0.5),
            p5: at(0.05),
            p95: at(0.95),
            p99: at(0.99),
            min: v[0],
            max: v[v.len() - 1],
        }
    }
}

/// The numbers that a run is judged by.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// TCP payload delivered to servers over the measured window, Mbit/s.
    pub goodput_up_mbit: f64,
    /// And to clients.
    pub goodput_down_mbit: f64,
    /// Mean probe RTT over the measured window minus the path's base RTT, ms.
    pub induced_latency_ms: f64,
    /// Share of the echo requests sent in the measured window that were not answered.
    pub probe_loss: f64,
    /// Jain's index of the upstream flows' goodputs; 1 without flows.
    pub jain_up: f64,
    /// And of the downstream flows'.
    pub jain_down: f64,
    /// RTTs of all echo probes.
    pub rtt_ms: Quantiles,
}

/// A mean.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Mean {
    /// It.
    pub mean: f64,
}

/// One TCP flow.
#[derive(Clone, Debug, Serialize)]
pub struct FlowRecord {
    /// Its name.
    pub name: String,
    /// `tcp`.
    pub kind: &'static str,
    /// `up` or `down`.
    pub direction: &'static str,
    /// `cubic`, `reno`.
    pub congestion_control: &'static str,
    /// Base RTT, ms.
    pub base_rtt_ms: f64,
    /// Payload delivered over the measured window, Mbit/s.
    pub goodput_mbit: f64,
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Retransmission time-outs.
    pub timeouts: u64,
    /// Tail loss probes.
    pub loss_probes: u64,
    /// Reductions of the window that were taken back.
    pub undone: u64,
    /// Mean congestion window over the samples of the series.
    pub mean_cwnd_segments: f64,
    /// Bare acknowledgements of this flow dropped at the bottleneck.
    pub acks_dropped: u64,
    /// Data segments dropped at the bottleneck.
    pub data_dropped: u64,
    /// Sojourn time of its data segments in the bottleneck, ms.
    pub sojourn_ms: Mean,
    /// Flows and probes whose packets share one of 1024 queues with this flow's in either direction.
    pub queue_shared_with: Vec<String>,
}

/// One probe, over the measured window.
#[derive(Clone, Debug, Serialize)]
pub struct ProbeRecord {
    /// Its name.
    pub name: String,
    /// `icmp`, `udp_rr`, `isochronous`, `poisson`.
    pub kind: &'static str,
    /// Which way it goes; `both` for an echo.
    pub direction: &'static str,
    /// Packets sent.
    pub sent: u64,
    /// Of them, without an answer.
    pub lost: u64,
    /// Round-trip times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<Quantiles>,
    /// One-way delays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<Quantiles>,
    /// As [`FlowRecord::queue_shared_with`].
    pub queue_shared_with: Vec<String>,
}

/// A backlog over time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BacklogRecord {
    /// Time mean.
    pub mean: f64,
    /// Largest.
    pub max: u64,
    /// Standard deviation over time; only of packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub std: Option<f64>,
}

/// Sojourn times of all packets that departed, ms.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SojournRecord {
    /// Mean.
    pub mean: f64,
    /// 95th percentile, to 1/32.
    pub p95: f64,
    /// Largest.
    pub max: f64,
}

/// One direction of the bottleneck, over the measured window.
#[derive(Clone, Debug, Serialize)]
pub struct BottleneckRecord {
    /// Kind of the discipline.
    pub qdisc: String,
    /// The discipline's whole text.
    pub qdisc_text: String,
    /// Packets that departed.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Drops by reason.
    pub drops: BTreeMap<&'static str, u64>,
    /// Of the drops, bare acknowledgements.
    pub ack_drops: u64,
    /// Bare acknowledgements that were spared (ablation).
    pub acks_spared: u64,
    /// Packets marked with congestion experienced.
    pub marks: u64,
    /// Packets in the queue.
    pub backlog_packets: BacklogRecord,
    /// Bytes in the queue.
    pub backlog_bytes: BacklogRecord,
    /// Time in the queue.
    pub sojourn_ms: SojournRecord,
    /// The kind's own counters since the beginning of the run, by `tc`'s names.
    pub extra: BTreeMap<&'static str, f64>,
}

/// Both directions.
#[derive(Clone, Debug, Serialize)]
pub struct Bottlenecks {
    /// Client to server.
    pub up: BottleneckRecord,
    /// Server to client.
    pub down: BottleneckRecord,
}

/// A probe's samples.
#[derive(Clone, Debug, Serialize)]
pub struct ProbeSeries {
    /// When each was sent, from the beginning of the measured window; negative before it.
    pub t_s: Vec<f64>,
    /// RTT or one-way delay; `null` if lost, or if no transaction ended in the bin.
    pub rtt_ms: Vec<Option<f64>>,
}

/// A value for each direction.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PerDirection<T> {
    /// Client to server.
    pub up: T,
    /// Server to client.
    pub down: T,
}

/// Time series of the measured window.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesRecord {
    /// Width of a bin.
    pub interval_s: f64,
    /// End of each bin.
    pub t_s: Vec<f64>,
    /// Goodput of each flow in each bin.
    pub goodput_mbit: BTreeMap<String, Vec<f64>>,
    /// Congestion window at the end of each bin.
    pub cwnd_segments: BTreeMap<String, Vec<u32>>,
    /// Packets queued at the end of each bin.
    pub backlog_packets: PerDirection<Vec<u64>>,
    /// Drops so far.
    pub drops: PerDirection<Vec<u64>>,
    /// Departures so far.
    pub packets: PerDirection<Vec<u64>>,
    /// Probe samples.
    pub rtt: BTreeMap<String, ProbeSeries>,
}

/// What a run cost.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cost {
    /// Calendar events.
    pub events: u64,
    /// Packets that left either side of the bottleneck in the measured window.
    pub packets: u64,
    /// Wall-clock time, s; filled in by whoever has a clock.
    pub wall_s: f64,
    /// Simulated time, s.
    pub sim_s: f64,
    /// Peak memory of the process, MB; filled in by whoever can ask.
    pub peak_rss_mb: f64,
}

/// The record of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// [`FORMAT`].
    pub format: &'static str,
    /// Name of the experiment.
    pub experiment: String,
    /// `sim`.
    pub backend: &'static str,
    /// Seed.
    pub seed: u64,
    /// Version of this code.
    pub code_version: &'static str,
    /// The canonical scenario.
    pub scenario: serde_json::Value,
    /// The numbers that matter most.
    pub summary: Summary,
    /// Each flow.
    pub flows: Vec<FlowRecord>,
    /// Each probe.
    pub probes: Vec<ProbeRecord>,
    /// The bottleneck.
    pub bottleneck: Bottlenecks,
    /// Series.
    pub series: SeriesRecord,
    /// What it cost.
    pub cost: Cost,
}

impl Record {
    /// The record as JSON on one line.
    ///
    /// # Panics
    /// Never: a record is plain data.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a record is plain data")
    }
}

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

pub(crate) fn bottlenecks(scenario: &Scenario, simulator: &Simulator) -> Bottlenecks {
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

/// Who shares a queue with owner `i`, in either direction of the bottleneck.
fn sharers(scenario: &Scenario, simulator: &Simulator, i: usize) -> Vec<String> {
    let names = route_names(scenario);
    // The route of an owner that goes upstream.
    let upstream = |k: usize| {
        let down = scenario.flows.get(k).is_some_and(|f| f.direction == Direction::Down);
        2 * k + usize::from(down)
    };
    let queue = |route: usize| simulator.hashes[route] % QUEUES;
    (0..names.len())
        .filter(|&k| {
            k != i
                && [0, 1]
                    .iter()
                    .any(|side| queue(upstream(k) ^ side) == queue(upstream(i) ^ side))
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
fn seconds_from(begin: Time, t: Time) -> f64 {
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

pub(crate) fn assemble(
    scenario: &Scenario,
    simulator: &Simulator,
    begin: Time,
    bottleneck: Bottlenecks,
    flows: Vec<FlowRecord>,
) -> Record {
    let mut rtts = Vec::new();
    let (mut sent_all, mut lost_all, mut excess) = (0, 0, 0.0);
    let mut probes = Vec::new();
    let mut rtt_series = BTreeMap::new();
    for (i, (p, s)) in simulator.probes.iter().zip(&scenario.probes).enumerate() {
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
        let direction = match s.kind {
            ProbeKindScenario::Isochronous(d, _) | ProbeKindScenario::Poisson(d, _) => d.name(),
            ProbeKindScenario::Icmp(_) | ProbeKindScenario::UdpRr(_) => "both",
        };
        if !one_way {
            sent_all += sent;
            lost_all += lost;
            // Each probe's own base RTT is taken off, so that paths of different lengths mix.
            excess += measured.iter().sum::<f64>() - s.rtt.as_millis_f64() * measured.len() as f64;
            rtts.extend_from_slice(&measured);
        }
        let quantiles = Some(Quantiles::of(measured));
        probes.push(ProbeRecord {
            name: s.name.clone(),
            kind,
            direction,
            sent,
            lost,
            rtt_ms: if one_way { None } else { quantiles.clone() },
            delay_ms: if one_way { quantiles } else { None },
            queue_shared_with: sharers(scenario, simulator, scenario.flows.len() + i),
        });
        rtt_series.insert(s.name.clone(), series);
    }
    let goodputs = |direction: Direction| -> Vec<f64> {
        flows
            .iter()
            .filter(|f| f.direction == direction.name())
            .map(|f| f.goodput_mbit)
            .collect()
    };
    let (up, down) = (goodputs(Direction::Up), goodputs(Direction::Down));
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
            induced_latency_ms: if rtts.is_empty() {
                0.0
            } else {
                excess / rtts.len() as f64
            },
            probe_loss: if sent_all == 0 {
                0.0
            } else {
                f64::from(lost_all as u32) / sent_all as f64
            },
            jain_up: jain(&up),
            jain_down: jain(&down),
            rtt_ms: Quantiles::of(rtts),
        },
        flows,
        probes,
        bottleneck,
        series: series(scenario, simulator, begin, rtt_series),
        cost: Cost {
            events: simulator.events,
            packets,
            sim_s: scenario.duration.as_secs_f64(),
            ..Cost::default()
        },
    }
}

fn series(scenario: &Scenario, simulator: &Simulator, begin: Time, rtt: BTreeMap<String, ProbeSeries>) -> SeriesRecord {
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
    }
}
