//! From the facts of a run to its record, the same for every back end.

use super::numbers::{jain, mbit, mean, seconds_from};
use super::{
    BacklogRecord, BottleneckRecord, Cost, DropGapsRecord, EcnRecord, FORMAT, FlowRecord, FlusherFlowSeries,
    LinkSeriesRecord, PerDirection, ProbeRecord, ProbeSeries, Quantiles, Record, SeriesRecord, SojournOfOne,
    SojournRecord, StackRecord, Summary, SynRecord, UdpRecord, VoiceSeries, WritesRecord, downloads, pages, voice,
};
use crate::meter::{Meter, Meters};
use crate::network::RoutePair;
use crate::traffic::voice_trace::{VoiceBin, VoiceTrace};
use sojourn_bed::Sample;
use sojourn_scenario::{
    Backend, BottleneckScenario, Direction, FlowScenario, ProbeKindScenario, ProbeScenario, Scenario, Traffic as _,
    Transport,
};
use sojourn_tcp::cc::Algorithm;
use sojourn_units::{Duration, Time};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a back end knows of a flow, beside the counts of the bottleneck.
#[derive(Default)]
pub(crate) struct FlowFacts {
    /// Payload delivered in the measured window.
    pub(crate) delivered: u64,
    pub(crate) segments_sent: u64,
    pub(crate) retransmissions: u64,
    pub(crate) timeouts: Option<u64>,
    pub(crate) loss_probes: Option<u64>,
    pub(crate) undone: Option<u64>,
    pub(crate) mean_cwnd_segments: Option<f64>,
    pub(crate) mean_srtt_ms: Option<f64>,
    pub(crate) syn_retransmissions: u32,
    /// Of TCP with ECN; what the bottleneck marked is not known here.
    pub(crate) ecn: EcnFacts,
    /// Of a thin stream: the writes in the measured window, and how long those took that arrived in it.
    pub(crate) writes: Option<(usize, Vec<Duration>)>,
    pub(crate) udp: Option<UdpRecord>,
    pub(crate) stack: Option<StackRecord>,
    pub(crate) error: Option<String>,
    pub(crate) queue_shared_with: Vec<String>,
}

/// What the sender of a flow knows of ECN.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EcnFacts {
    pub(crate) agreed: Option<bool>,
    pub(crate) delivered_ce: Option<u64>,
    pub(crate) echoes: Option<u64>,
    pub(crate) reductions: Option<u64>,
}

/// The record of flow `f`, whose data and acknowledgements have these routes.
pub(crate) fn flow(
    scenario: &Scenario,
    f: &FlowScenario,
    facts: FlowFacts,
    routes: RoutePair,
    meters: Meters<'_>,
) -> FlowRecord {
    let (forth, back) = meters.along(f.direction);
    let data = forth.counts(routes.forth);
    let gaps = forth.drop_gaps(routes.forth);
    let (gap, cv) = gaps.mean_and_cv();
    FlowRecord {
        name: f.name.clone(),
        kind: match f.transport() {
            Transport::Tcp => "tcp",
            Transport::Udp => "udp",
            Transport::Stack => "stack",
        },
        direction: f.direction.name(),
        congestion_control: f.congestion_control.map_or("none", Algorithm::name),
        base_rtt_ms: f.rtt.as_millis_f64(),
        goodput_mbit: mbit(facts.delivered, scenario.duration),
        udp: facts.udp,
        stack: facts.stack,
        segments_sent: facts.segments_sent,
        retransmissions: facts.retransmissions,
        timeouts: facts.timeouts,
        loss_probes: facts.loss_probes,
        undone: facts.undone,
        mean_cwnd_segments: facts.mean_cwnd_segments,
        mean_srtt_ms: facts.mean_srtt_ms,
        acks_dropped: back.counts(routes.back).acks_dropped,
        data_dropped: data.data_dropped,
        drop_gaps_ms: DropGapsRecord {
            count: gaps.count,
            mean: gap,
            cv,
        },
        syn_retransmissions: facts.syn_retransmissions,
        sojourn_ms: SojournOfOne::of(data, scenario.is_long_link()),
        ecn: (f.ecn_mode(scenario.tcp.ecn).is_on() && f.transport() == Transport::Tcp).then_some(EcnRecord {
            agreed: facts.ecn.agreed,
            marked: data.marked,
            delivered_ce: facts.ecn.delivered_ce,
            echoes: facts.ecn.echoes,
            reductions: facts.ecn.reductions,
        }),
        writes: facts.writes.map(|(n, delays)| WritesRecord::of(n, delays.into_iter())),
        error: facts.error,
        queue_shared_with: facts.queue_shared_with,
    }
}

/// For each reason of drops: the number of drops, and the time of the first one in seconds.
pub(crate) struct DropsByReason {
    pub(crate) drops: BTreeMap<&'static str, u64>,
    pub(crate) first_drop_s: BTreeMap<&'static str, f64>,
}

/// The record of one direction of the bottleneck.
pub(crate) fn bottleneck(
    scenario: &Scenario,
    b: &BottleneckScenario,
    meter: &Meter,
    drops: DropsByReason,
    extra: BTreeMap<Cow<'static, str>, f64>,
) -> BottleneckRecord {
    let (packets, std, bytes) = meter.backlog_means();
    BottleneckRecord {
        qdisc: b.qdisc.kind().to_owned(),
        qdisc_text: b.qdisc.to_string(),
        packets: meter.packets,
        bytes: meter.bytes,
        drops: drops.drops,
        first_drop_s: drops.first_drop_s,
        syn: SynRecord {
            offered: meter.syns_offered,
            dropped: meter.syns_dropped,
        },
        ack_drops: meter.ack_drops,
        acks_spared: meter.acks_spared,
        marks: meter.marks,
        backlog_packets: BacklogRecord {
            mean: packets,
            max: meter.backlog_max.packets,
            std: Some(std),
        },
        backlog_bytes: BacklogRecord {
            mean: bytes,
            max: meter.backlog_max.bytes.get(),
            std: None,
        },
        sojourn_ms: SojournRecord::of(&meter.sojourn),
        utilisation: scenario
            .is_long_link()
            .then(|| mbit(meter.bytes, scenario.duration) * 1e6 / b.rate.as_bps() as f64),
        lost: None,
        extra,
    }
}

/// The series of a probe: those of a request-response probe are the means of the transactions that ended in each bin, as
/// netperf's interim results are. Bins begin with the run, and are told from the one in which the probe began to send,
/// `phase` after that.
fn series_of(s: &ProbeScenario, samples: &[Sample], scenario: &Scenario, phase: Duration) -> ProbeSeries {
    if let ProbeKindScenario::UdpRr(_) = s.kind() {
        let bin = scenario.sample_interval.as_nanos();
        let lead = i128::from(scenario.lead.as_nanos());
        let bins = (scenario.lead + scenario.duration).as_nanos().div_ceil(bin) as usize;
        let mut sums = vec![(0u128, 0u64); bins];
        for sample in samples {
            if let Some(rtt) = sample.delay_ns
                && let Ok(ended) = u64::try_from(i128::from(sample.sent_ns) + lead + i128::from(rtt))
                && let Some(b) = sums.get_mut((ended / bin) as usize)
            {
                b.0 += u128::from(rtt);
                b.1 += 1;
            }
        }
        let first = (phase.as_nanos() / bin) as usize;
        let begin = Time::ZERO + scenario.lead;
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
        t_s: samples.iter().map(|s| s.sent_ns as f64 / 1e9).collect(),
        rtt_ms: samples
            .iter()
            .map(|s| s.delay_ns.map(|ns| Duration::from_nanos(ns).as_millis_f64()))
            .collect(),
    }
}

/// What the probes of a run say, each and together.
#[derive(Default)]
pub(crate) struct Probes {
    records: Vec<ProbeRecord>,
    series: BTreeMap<String, ProbeSeries>,
    voice: BTreeMap<String, VoiceSeries>,
    /// Of all echo probes in the measured window: round-trip times, ms, and what they exceed the base by, added up.
    rtts: Vec<f64>,
    excess: f64,
    sent: u64,
    lost: u64,
}

impl Probes {
    /// The next probe, which is no voice stream. It began to send `phase` after the beginning of the run.
    pub(crate) fn add(
        &mut self,
        scenario: &Scenario,
        s: &ProbeScenario,
        samples: &[Sample],
        phase: Duration,
        queue_shared_with: Vec<String>,
    ) {
        let series = series_of(s, samples, scenario, phase);
        let measured: Vec<f64> = series
            .t_s
            .iter()
            .zip(&series.rtt_ms)
            .filter(|(t, _)| **t >= 0.0)
            .filter_map(|(_, r)| *r)
            .collect();
        let in_window = || samples.iter().filter(|s| s.sent_ns >= 0);
        let sent = in_window().count() as u64;
        let lost = in_window().filter(|s| s.delay_ns.is_none()).count() as u64;
        let (kind, one_way) = match s.kind() {
            ProbeKindScenario::Icmp(_) => ("icmp", false),
            ProbeKindScenario::UdpRr(_) => ("udp_rr", false),
            ProbeKindScenario::Isochronous(..) => ("isochronous", true),
            ProbeKindScenario::Poisson(..) => ("poisson", true),
            ProbeKindScenario::Voip(..) => ("voip", true),
        };
        if !one_way {
            self.sent += sent;
            self.lost += lost;
            // Each probe's own base RTT is taken off, so that paths of different lengths mix.
            self.excess += measured.iter().sum::<f64>() - s.rtt.as_millis_f64() * measured.len() as f64;
            self.rtts.extend_from_slice(&measured);
        }
        let quantiles = Some(Quantiles::of(measured));
        self.records.push(ProbeRecord {
            name: s.name.clone(),
            kind,
            direction: s.kind().direction().map_or("both", Direction::name),
            sent,
            lost,
            rtt_ms: if one_way { None } else { quantiles.clone() },
            delay_ms: if one_way { quantiles } else { None },
            voice: None,
            sojourn_ms: None,
            queue_shared_with,
        });
        self.series.insert(s.name.clone(), series);
    }

    /// What the packets of each probe waited: see [`sojourns`].
    pub(crate) fn add_sojourns(&mut self, sojourns: Vec<SojournOfOne>) {
        for (record, sojourn) in self.records.iter_mut().zip(sojourns) {
            record.sojourn_ms = Some(sojourn);
        }
    }

    /// The next probe, which is a voice stream, if the scenario says so.
    pub(crate) fn add_voice(
        &mut self,
        scenario: &Scenario,
        s: &ProbeScenario,
        trace: &VoiceTrace,
        bins: &[VoiceBin],
        base_delay: Duration,
        queue_shared_with: Vec<String>,
    ) {
        if let ProbeKindScenario::Voip(direction, voice) = s.kind() {
            let record = voice::record(s, direction, voice, trace, base_delay, queue_shared_with);
            self.records.push(record);
            self.voice.insert(s.name.clone(), voice::series(scenario, bins));
        }
    }
}

/// What the packets of each of `probes`, which have these routes, waited at the bottleneck: only for slow, long links.
pub(crate) fn sojourns<'a>(
    scenario: &Scenario,
    probes: impl Iterator<Item = (&'a ProbeScenario, RoutePair)>,
    meters: impl Fn(Option<&[String; 2]>) -> Meters<'a>,
) -> Vec<SojournOfOne> {
    if !scenario.is_long_link() {
        return Vec::new();
    }
    let one = |(s, routes): (&ProbeScenario, RoutePair)| {
        let (meter, _) = meters(s.ends.as_ref()).along(s.opens());
        SojournOfOne::of(meter.counts(routes.forth), true)
    };
    probes.map(one).collect()
}

/// The series of a run that its back end samples, at the end of each bin.
#[derive(Default)]
pub(crate) struct SeriesFacts {
    pub(crate) t_s: Vec<f64>,
    /// Of each flow: payload delivered so far, and the window, which only TCP has.
    pub(crate) flows: Vec<(Vec<u64>, Vec<u32>)>,
    /// Airtime of each station so far, ns.
    pub(crate) airtimes: Vec<Vec<u64>>,
    /// TCP flows beside a flusher.
    pub(crate) flusher: BTreeMap<String, FlusherFlowSeries>,
    /// Of each link of a topology.
    pub(crate) links: BTreeMap<String, LinkSeriesRecord>,
    pub(crate) backlog_packets: PerDirection<Vec<u64>>,
    pub(crate) drops: PerDirection<Vec<u64>>,
    pub(crate) packets: PerDirection<Vec<u64>>,
}

/// The record of a scenario that ran on `backend`: `made`, and what follows from it, from the scenario, and from what its
/// probes and series say.
pub(crate) fn complete(scenario: &Scenario, backend: Backend, made: Record, p: Probes, sampled: SeriesFacts) -> Record {
    let goodputs = |direction: Direction| -> Vec<f64> {
        made.flows
            .iter()
            .filter(|f| f.direction == direction.name())
            .map(|f| f.goodput_mbit)
            .collect()
    };
    let (up, down) = (goodputs(Direction::Up), goodputs(Direction::Down));
    let packets = made.bottleneck.up.packets + made.bottleneck.down.packets;
    Record {
        format: FORMAT,
        experiment: scenario.experiment.clone(),
        backend: backend.name(),
        seed: scenario.seed,
        code_version: env!("CARGO_PKG_VERSION"),
        scenario: scenario.to_value(),
        summary: Summary {
            // From 0.0, because the sum of no floats is -0.0.
            goodput_up_mbit: up.iter().fold(0.0, |sum, x| sum + x),
            goodput_down_mbit: down.iter().fold(0.0, |sum, x| sum + x),
            induced_latency_ms: mean(p.excess, p.rtts.len() as u64),
            probe_loss: mean(f64::from(p.lost as u32), p.sent),
            jain_up: jain(&up),
            jain_down: jain(&down),
            rtt_ms: Quantiles::of(p.rtts),
            page_fetch_s: pages::mean_time(&made.web),
            fct_ms: downloads::mean_completion(&made.downloads),
        },
        probes: p.records,
        series: series(scenario, sampled, p.series, p.voice),
        cost: Cost {
            packets,
            sim_s: scenario.duration.as_secs_f64(),
            ..made.cost
        },
        ..made
    }
}

fn series(
    scenario: &Scenario,
    s: SeriesFacts,
    rtt: BTreeMap<String, ProbeSeries>,
    voip: BTreeMap<String, VoiceSeries>,
) -> SeriesRecord {
    let goodput = |delivered: &[u64]| -> Vec<f64> {
        let mut last = 0;
        delivered
            .iter()
            .map(|&d| mbit(d - std::mem::replace(&mut last, d), scenario.sample_interval))
            .collect()
    };
    let mut goodput_mbit = BTreeMap::new();
    let mut cwnd_segments = BTreeMap::new();
    for (flow, (delivered, cwnd)) in scenario.flows.iter().zip(s.flows) {
        goodput_mbit.insert(flow.name.clone(), goodput(&delivered));
        if flow.transport() != Transport::Udp {
            cwnd_segments.insert(flow.name.clone(), cwnd);
        }
    }
    let stations = scenario.wifi.iter().flat_map(|wifi| &wifi.cell.stations);
    let airtime = |so_far: Vec<u64>| {
        let mut last = 0;
        let in_bin = |ns: u64| (ns - std::mem::replace(&mut last, ns)) as f64 / 1e6;
        so_far.into_iter().map(in_bin).collect()
    };
    SeriesRecord {
        airtime_ms: stations
            .zip(s.airtimes)
            .map(|(station, so_far)| (station.name.clone(), airtime(so_far)))
            .collect(),
        interval_s: scenario.sample_interval.as_secs_f64(),
        t_s: s.t_s,
        goodput_mbit,
        cwnd_segments,
        backlog_packets: s.backlog_packets,
        drops: s.drops,
        packets: s.packets,
        links: s.links,
        rtt,
        voip,
        flusher: s.flusher,
    }
}
