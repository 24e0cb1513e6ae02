//! The records of downloads, and of the writes of a thin stream.

use super::Quantiles;
use super::numbers::{mbit, mean, seconds_from};
use super::simulated::Simulated;
use crate::meter::{Meters, RouteCounts};
use crate::network::RoutePair;
use crate::simulator::Added;
use crate::traffic::download::Downloader;
use schemars::JsonSchema;
use serde::Serialize;
use sojourn_scenario::{DownloadScenario, Scenario};
use sojourn_units::Duration;

/// Files that were sent one after the other, over the measured window.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct DownloadRecord {
    /// Its name.
    pub name: String,
    /// `up` or `down`.
    pub direction: &'static str,
    /// `cubic`, `reno`.
    pub congestion_control: &'static str,
    /// Base RTT, ms.
    pub base_rtt_ms: f64,
    /// Bytes of each file.
    pub bytes: u64,
    /// Each file, in order. Only the last can be incomplete.
    pub files: Vec<FileRecord>,
    /// How many are complete.
    pub completed: usize,
    /// Their completion times, ms.
    pub fct_ms: Quantiles,
    /// Payload delivered over the measured window, that of an incomplete file too, Mbit/s. It is not in the goodput of the summary.
    pub goodput_mbit: f64,
    /// Segments with data (or a FIN) sent, retransmissions included.
    pub segments_sent: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// SYNs that senders sent again.
    pub syn_retransmissions: u64,
    /// Data segments dropped at the bottleneck.
    pub data_dropped: u64,
    /// Bare acknowledgements dropped at the bottleneck.
    pub acks_dropped: u64,
    /// Sojourn time of its data segments in the bottleneck, ms.
    pub sojourn_ms: SojournOfOne,
    /// Why it ended early; absent if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A file.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
pub struct FileRecord {
    /// When its sender connected, from the beginning of the measured window, s.
    pub start_s: f64,
    /// From then to the last byte at the receiver, ms; `None` if that was not there at the end.
    pub fct_ms: Option<f64>,
}

/// Time in the bottleneck's queue of the packets with payload of one flow, download or probe, ms.
#[derive(Clone, Copy, Debug, Default, JsonSchema, Serialize)]
pub struct SojournOfOne {
    /// Mean; `null` without packets.
    pub mean: Option<f64>,
    /// Longest; `null` without packets, and absent from the flows of a scenario that has nothing made for slow, long links.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = true))]
    pub max: Option<Option<f64>>,
}

impl SojournOfOne {
    pub(crate) fn of(counts: &RouteCounts, with_max: bool) -> Self {
        Self {
            mean: mean(counts.data_sojourn_ns as f64, counts.data_sent).map(|ns| ns / 1e6),
            max: with_max.then(|| (counts.data_sent > 0).then(|| counts.data_sojourn_max_ns as f64 / 1e6)),
        }
    }
}

/// The writes of a thin stream.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct WritesRecord {
    /// Writes in the measured window.
    pub count: usize,
    /// Of them, those that the receiver had in order at its end.
    pub delivered: usize,
    /// From the write to its last byte in order at the receiver, one way, ms.
    pub delay_ms: Quantiles,
}

impl WritesRecord {
    pub(crate) fn of(count: usize, delays: impl Iterator<Item = Duration>) -> Self {
        let delays: Vec<f64> = delays.map(Duration::as_millis_f64).collect();
        Self {
            count,
            delivered: delays.len(),
            delay_ms: Quantiles::of(delays),
        }
    }
}

/// What a back end knows of a download, beside the counts of the bottleneck.
pub(crate) struct DownloadFacts {
    pub(crate) files: Vec<FileRecord>,
    /// Payload delivered in the measured window.
    pub(crate) delivered: u64,
    pub(crate) segments_sent: u64,
    pub(crate) retransmissions: u64,
    pub(crate) syn_retransmissions: u64,
    pub(crate) error: Option<String>,
}

/// The record of download `d`, whose data and acknowledgements have these routes.
pub(crate) fn record(
    scenario: &Scenario,
    d: &DownloadScenario,
    facts: DownloadFacts,
    routes: RoutePair,
    meters: Meters<'_>,
) -> DownloadRecord {
    let (forth, back) = meters.along(d.direction);
    let (data, acks) = (forth.counts(routes.forth), back.counts(routes.back));
    let times: Vec<f64> = facts.files.iter().filter_map(|f| f.fct_ms).collect();
    DownloadRecord {
        name: d.name.clone(),
        direction: d.direction.name(),
        congestion_control: d.congestion_control.name(),
        base_rtt_ms: d.rtt.as_millis_f64(),
        bytes: d.bytes,
        files: facts.files,
        completed: times.len(),
        fct_ms: Quantiles::of(times),
        goodput_mbit: mbit(facts.delivered, scenario.duration),
        segments_sent: facts.segments_sent,
        retransmissions: facts.retransmissions,
        syn_retransmissions: facts.syn_retransmissions,
        data_dropped: data.data_dropped,
        acks_dropped: acks.acks_dropped,
        sojourn_ms: SojournOfOne::of(data, true),
        error: facts.error,
    }
}

/// The records of a simulation's downloads when the measured window is over.
pub(super) fn simulated(run: Simulated<'_>) -> Vec<DownloadRecord> {
    let one = |(s, added): (&DownloadScenario, Added)| {
        let d: &Downloader = run.simulator.source(added.index)?;
        let totals = d.totals();
        let files = d.files.iter().map(|f| FileRecord {
            start_s: seconds_from(run.begin, f.start),
            fct_ms: f.completion.map(Duration::as_millis_f64),
        });
        let facts = DownloadFacts {
            files: files.collect(),
            delivered: totals.delivered,
            segments_sent: totals.segments_sent,
            retransmissions: totals.retransmissions,
            syn_retransmissions: totals.syn_retransmissions,
            error: None,
        };
        Some(record(
            run.scenario,
            s,
            facts,
            added.routes,
            run.meters(s.ends.as_ref()),
        ))
    };
    run.traffic().filter_map(one).collect()
}

/// Mean completion time of all complete files of all downloads, ms: `None` without downloads, and `Some(None)` without files.
#[expect(
    clippy::option_option,
    reason = "a key of the record that is absent differs from one that is null"
)]
pub(super) fn mean_completion(records: &[DownloadRecord]) -> Option<Option<f64>> {
    if records.is_empty() {
        return None;
    }
    let times = records.iter().flat_map(|d| &d.files).filter_map(|f| f.fct_ms);
    let (n, sum) = times.fold((0u64, 0.0), |(n, sum), t| (n + 1, sum + t));
    Some(mean(sum, n))
}
