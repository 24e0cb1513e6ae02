//! The record of a run: what the contract prints as JSON.

pub(crate) mod assemble;
pub(crate) mod downloads;
mod flusher;
mod games;
mod make;
pub(crate) mod numbers;
pub(crate) mod pages;
pub(crate) mod programs;
mod simulated;
mod stack;
mod voice;
pub(crate) mod wifi;

pub use downloads::{DownloadRecord, FileRecord, SojournOfOne, WritesRecord};
pub use flusher::{FlushRecord, FlusherFlowRecord, FlusherFlowSeries, FlusherRecord, PathRttRecord};
pub use games::GameRecord;
pub use pages::{FetchRecord, WebRecord};
pub use programs::{ProgramFlowRecord, ProgramRecord, ProgramWayRecord};
pub(crate) use simulated::Simulated;
pub use stack::StackRecord;
pub use voice::{VoiceRecord, VoiceSeries};
pub use wifi::{WifiLatencyRecord, WifiRecord, WifiStationRecord, WifiTidRecord, WifiWayRecord};

use crate::histogram::Histogram;
use numbers::mean;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use sojourn_scenario::{Backend, Direction};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Format name of [`Record`].
pub const FORMAT: &str = "sojourn-run/1";

/// Statistics of a set of samples, in ms if nothing else is said. Without samples all are `null` but the count.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct Quantiles {
    /// Samples.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// 50th percentile; percentiles interpolate linearly between neighbours.
    pub median: Option<f64>,
    /// 5th percentile.
    pub p5: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Smallest.
    pub min: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

impl Quantiles {
    fn of(mut v: Vec<f64>) -> Self {
        if v.is_empty() {
            return Self::default();
        }
        v.sort_unstable_by(f64::total_cmp);
        let at = |q: f64| numbers::quantile(&v, q);
        Self {
            count: v.len(),
            mean: mean(v.iter().sum(), v.len() as u64),
            median: at(0.5),
            p5: at(0.05),
            p95: at(0.95),
            p99: at(0.99),
            min: v.first().copied(),
            max: v.last().copied(),
        }
    }
}

/// The numbers that a run is judged by.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct Summary {
    /// TCP payload delivered to servers over the measured window, Mbit/s.
    pub goodput_up_mbit: f64,
    /// TCP payload delivered to clients over the measured window, Mbit/s.
    pub goodput_down_mbit: f64,
    /// Mean probe RTT over the measured window minus the path's base RTT, ms; `None` if no echo came back.
    pub induced_latency_ms: Option<f64>,
    /// Share of the echo requests sent in the measured window that were not answered; `None` if none was sent.
    pub probe_loss: Option<f64>,
    /// Jain's index of the upstream flows' goodputs; `None` if nothing was delivered.
    pub jain_up: Option<f64>,
    /// Jain's index of the downstream flows' goodputs; `None` if nothing was delivered.
    pub jain_down: Option<f64>,
    /// RTTs of all echo probes.
    pub rtt_ms: Quantiles,
    /// Mean time of all pages fetched, s; `None` without.
    pub page_fetch_s: Option<f64>,
    /// Mean completion time of all complete files of all downloads, ms; `null` without, and absent without downloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = true))]
    pub fct_ms: Option<Option<f64>>,
}

/// Times between successive drops, ms.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct DropGapsRecord {
    /// How many: one less than drops.
    pub count: u64,
    /// Their mean; `None` without.
    pub mean: Option<f64>,
    /// Their coefficient of variation (standard deviation by mean); `None` without, or if the mean is zero.
    pub cv: Option<f64>,
}

/// One flow. Of a UDP flow the counters of TCP are zero or `None`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct FlowRecord {
    /// Its name.
    pub name: String,
    /// `tcp`, `udp`; `stack` of somebody else's transport.
    pub kind: &'static str,
    /// `up` or `down`.
    pub direction: &'static str,
    /// `cubic`, `reno`; `none` of UDP, and of a stack that chose for itself.
    pub congestion_control: &'static str,
    /// Base RTT, ms.
    pub base_rtt_ms: f64,
    /// Payload delivered over the measured window, Mbit/s.
    pub goodput_mbit: f64,
    /// What only a UDP flow has.
    #[serde(flatten)]
    pub udp: Option<UdpRecord>,
    /// What only a flow of somebody else's transport has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<StackRecord>,
    /// Segments with data (or a FIN) sent, retransmissions included; datagrams that the sender of a stack has sent.
    pub segments_sent: u64,
    /// Retransmissions; packets that the sender of a stack took for lost.
    pub retransmissions: u64,
    /// Retransmission time-outs; `None` where the kernel does not count them by connection. Probe time-outs of a stack.
    pub timeouts: Option<u64>,
    /// Tail loss probes; `None` on a kernel.
    pub loss_probes: Option<u64>,
    /// Reductions of the window that were taken back; `None` on a kernel.
    pub undone: Option<u64>,
    /// Mean congestion window over the samples of the series; `None` without. That of a stack is in its largest datagrams.
    pub mean_cwnd_segments: Option<f64>,
    /// Mean of the sender's smoothed RTT over the samples of the series, ms; `None` if it never had one.
    pub mean_srtt_ms: Option<f64>,
    /// Bare acknowledgements of this flow dropped at the bottleneck.
    pub acks_dropped: u64,
    /// Data segments dropped at the bottleneck.
    pub data_dropped: u64,
    /// Times between their drops.
    pub drop_gaps_ms: DropGapsRecord,
    /// SYNs that the sender sent again.
    pub syn_retransmissions: u32,
    /// Sojourn time of its data segments in the bottleneck, ms.
    pub sojourn_ms: SojournOfOne,
    /// What became of congestion notification; of TCP flows that want it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnRecord>,
    /// The writes of a thin stream; absent from any other flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<WritesRecord>,
    /// Why its connection ended early; absent if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Flows and probes whose packets share a queue with this flow's in either direction, by the hash of the discipline there.
    /// Empty if that has no queues by flow, and on a kernel, which does not tell its hashes.
    pub queue_shared_with: Vec<String>,
}

/// Explicit congestion notification (RFC 3168) of a TCP flow.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
pub struct EcnRecord {
    /// Whether both ends have agreed on it; `None` where the kernel did not tell.
    pub agreed: Option<bool>,
    /// Data segments that the bottleneck marked with congestion experienced, over the measured window.
    pub marked: u64,
    /// Segments that were newly acknowledged by acknowledgements with an echo; `None` where the kernel did not tell.
    pub delivered_ce: Option<u64>,
    /// Acknowledgements with an echo; `None` on a kernel, which does not count them.
    pub echoes: Option<u64>,
    /// Reductions of the window because of an echo; `None` on a kernel, which does not count them.
    pub reductions: Option<u64>,
}

/// The datagrams of a UDP flow, over the measured window.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
pub struct UdpRecord {
    /// Datagrams of a UDP flow that were sent.
    pub sent: u64,
    /// Datagrams of a UDP flow that did not arrive, although a later one did. Datagrams that are still under way at the
    /// end are not counted.
    pub lost: u64,
    /// Lost datagrams of a UDP flow, as a share of those that arrived or were lost; `None` if there are none.
    #[schemars(extend("x-null" = true))]
    pub loss: Option<f64>,
}

/// One probe, over the measured window.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ProbeRecord {
    /// Its name.
    pub name: String,
    /// `icmp`, `udp_rr`, `isochronous`, `poisson`, `voip`.
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
    /// What only a voice stream has.
    #[serde(flatten)]
    pub voice: Option<VoiceRecord>,
    /// Sojourn time of its packets in the bottleneck; of an echo, of the requests. Absent if the scenario has nothing made for
    /// slow, long links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sojourn_ms: Option<SojournOfOne>,
    /// As [`FlowRecord::queue_shared_with`].
    pub queue_shared_with: Vec<String>,
}

/// A backlog over time.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct BacklogRecord {
    /// Time mean.
    pub mean: f64,
    /// Largest.
    pub max: u64,
    /// Standard deviation over time; only of packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub std: Option<f64>,
}

/// Sojourn times of all packets that departed, ms; `null` if none did.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct SojournRecord {
    /// Mean.
    pub mean: Option<f64>,
    /// 95th percentile, to 1/32.
    pub p95: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

impl SojournRecord {
    pub(crate) fn of(times: &Histogram) -> Self {
        Self {
            mean: times.mean_ms(),
            p95: times.quantile_ms(0.95),
            max: times.max_ms(),
        }
    }
}

/// SYNs and SYN-ACKs at one direction of the bottleneck.
#[derive(Clone, Copy, Debug, Default, JsonSchema, Serialize)]
pub struct SynRecord {
    /// That arrived there.
    pub offered: u64,
    /// Of them, dropped.
    pub dropped: u64,
}

/// One direction of the bottleneck, over the measured window.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
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
    /// When the first packet was dropped for each reason for which one was, s from the beginning of the measured window.
    pub first_drop_s: BTreeMap<&'static str, f64>,
    /// SYNs and SYN-ACKs.
    pub syn: SynRecord,
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
    /// Bits that departed, by what the rate would carry in the measured window; it can exceed 1 by the bucket's depth. Absent, as
    /// the next, if the scenario has nothing made for slow, long links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilisation: Option<f64>,
    /// Packets that departed and were lost on the long link; only of the simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// The kind's own counters since the beginning of the run, by `tc`'s names. On a kernel also `drops_unmatched`: drops told
    /// from the frames that were seen, less those that the kernel counted.
    pub extra: BTreeMap<Cow<'static, str>, f64>,
}

/// Both directions.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct Bottlenecks {
    /// Client to server.
    pub up: BottleneckRecord,
    /// Server to client.
    pub down: BottleneckRecord,
}

/// A probe's samples.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ProbeSeries {
    /// When each was sent, from the beginning of the measured window; negative before it.
    pub t_s: Vec<f64>,
    /// RTT or one-way delay; `null` if lost, or if no transaction ended in the bin.
    pub rtt_ms: Vec<Option<f64>>,
}

/// A value for each direction.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[schemars(rename = "PerDirection")]
pub struct PerDirection<T> {
    /// Client to server.
    pub up: T,
    /// Server to client.
    pub down: T,
}

/// What is told of a link in each bin.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct LinkSeriesRecord {
    /// Packets queued at its end.
    pub backlog_packets: Vec<u64>,
    /// Drops so far.
    pub drops: Vec<u64>,
    /// Departures so far.
    pub packets: Vec<u64>,
}

/// Time series of the measured window.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
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
    /// Each link of a topology that has a rate; absent without a topology.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, LinkSeriesRecord>,
    /// Airtime of each station in each bin, of what was sent to it and received from it, ms; absent without a cell.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub airtime_ms: BTreeMap<String, Vec<f64>>,
    /// Probe samples.
    pub rtt: BTreeMap<String, ProbeSeries>,
    /// Voice streams.
    pub voip: BTreeMap<String, VoiceSeries>,
    /// TCP flows beside a flusher; absent without.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub flusher: BTreeMap<String, FlusherFlowSeries>,
}

/// The kernel that a run was measured on.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct KernelRecord {
    /// As `uname -r` says it.
    pub release: String,
    /// As `uname -v` says it.
    pub version: String,
    /// Whether its clock is virtual.
    pub virtual_time: bool,
    /// Files of mac80211 in debugfs at the end of the measured window, as they stood there, by `down/STATION/FILE` (at the
    /// access point), `up/STATION/FILE` (at the station) and `FILE`; absent without a cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wifi: Option<BTreeMap<String, String>>,
}

/// What a run cost.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct Cost {
    /// Calendar events; 0 on a kernel, which has none.
    pub events: u64,
    /// Packets that left either side of the bottleneck in the measured window.
    pub packets: u64,
    /// Wall-clock time, s; filled in by whoever has a clock.
    pub wall_s: f64,
    /// Length of the measured window, s.
    pub sim_s: f64,
    /// Peak memory of the process, MB; filled in by whoever can ask.
    pub peak_rss_mb: f64,
}

/// The record of a run.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct Record {
    /// `sojourn-run/1`.
    pub format: &'static str,
    /// Name of the experiment.
    pub experiment: String,
    /// The back end: `sim`, `linux`, `live`.
    pub backend: &'static str,
    /// The kernel; only of `linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelRecord>,
    /// The seed of all random numbers of the run.
    pub seed: u64,
    /// The version of Sojourn that made it.
    pub code_version: &'static str,
    /// The canonical scenario: every default written out.
    pub scenario: serde_json::Value,
    /// The numbers that matter most.
    pub summary: Summary,
    /// Each flow.
    pub flows: Vec<FlowRecord>,
    /// Each probe.
    pub probes: Vec<ProbeRecord>,
    /// Each web client.
    pub web: Vec<WebRecord>,
    /// Each download; absent without.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<DownloadRecord>,
    /// Each stream of a game; absent without.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub games: Vec<GameRecord>,
    /// Each program; absent without.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramRecord>,
    /// Each flow of programs at the bottleneck, in the order in which they came there; absent without.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub program_flows: Vec<ProgramFlowRecord>,
    /// The bottleneck.
    pub bottleneck: Bottlenecks,
    /// Each link of a topology that has a rate, by its name `A-B`; absent without a topology.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, BottleneckRecord>,
    /// The cell; absent without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wifi: Option<WifiRecord>,
    /// The flusher; absent without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flusher: Option<FlusherRecord>,
    /// Counters of TCP by host and by the names of `/proc/net/netstat`, over the measured window; only of `linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_counters: Option<BTreeMap<String, BTreeMap<String, u64>>>,
    /// What changed over time, in bins.
    pub series: SeriesRecord,
    /// What it cost.
    pub cost: Cost,
}

/// What is told of a simulation when its measured window is over; probes may still come home then.
pub(crate) struct Ended {
    record: Record,
    /// What the packets of each probe had waited by then.
    sojourns: Vec<SojournOfOne>,
}

impl Ended {
    /// The measured window is over.
    pub(crate) fn of(run: Simulated<'_>) -> Self {
        let side = |direction, link| make::bottleneck(run, &run.scenario.bottleneck(direction), link);
        let record = Record {
            bottleneck: Bottlenecks {
                up: side(Direction::Up, run.places.up),
                down: side(Direction::Down, run.places.down),
            },
            links: make::links(run),
            wifi: wifi::simulated(run.scenario, run.simulator),
            flusher: flusher::simulated(run),
            flows: make::flows(run),
            downloads: downloads::simulated(run),
            ..Record::default()
        };
        let sojourns = make::sojourns(run);
        Self { record, sojourns }
    }

    /// The record, once no probe is awaited any more.
    pub(crate) fn record(self, run: Simulated<'_>) -> Record {
        let mut probes = make::probes(run);
        probes.add_sojourns(self.sojourns);
        let made = Record {
            web: pages::simulated(run),
            games: games::simulated(run),
            cost: Cost {
                events: run.simulator.events,
                ..Cost::default()
            },
            ..self.record
        };
        assemble::complete(run.scenario, Backend::Sim, made, probes, make::series(run))
    }
}

/// The keys of a record as a JSON Schema: their types and meaning. What is not required is absent where its description says.
#[must_use]
pub fn record_schema() -> Schema {
    let settings = SchemaSettings::default().for_serialize();
    settings.into_generator().into_root_schema_for::<Record>()
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
