//! The record of a flusher, and of what round trips its flows saw.

use super::numbers::{mean, seconds_from};
use super::simulated::Simulated;
use crate::flusher::pairs::{BIN, Rtts};
use crate::flusher::{FlushEvent, FlusherHost, Subject, reason_name};
use crate::network::RoutePair;
use crate::simulator::Simulator;
use schemars::JsonSchema;
use serde::Serialize;
use sojourn_units::{Duration, Time};
use std::collections::BTreeMap;

/// A flusher, over the measured window.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct FlusherRecord {
    /// Where it was: `client`, `router`, `server`.
    pub at: &'static str,
    /// `active`, `passive`.
    pub mode: &'static str,
    /// Bursts that it began.
    pub flushes: u64,
    /// Their packets that left it, and their bytes on the wire.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
    /// Of the packets, those that arrived where the flow's data does.
    pub delivered: u64,
    /// And those that a queue dropped. What is in neither was under way at the end.
    pub dropped: u64,
    /// Flushes that it proposed but was not let send: all in passive mode; those that would not have crossed the bottleneck.
    pub refused: u64,
    /// RTT samples that it took.
    pub samples: u64,
    /// Flushes that it judged to have helped, and not to have helped.
    pub helped: u64,
    /// Flushes that it judged not to have helped.
    pub failed: u64,
    /// Times that the conditions for a flush were fulfilled and it proposed none.
    pub withheld: u64,
    /// Each TCP flow, web client and download, seen or not.
    pub flows: Vec<FlusherFlowRecord>,
    /// Each flush proposed, in order.
    pub events: Vec<FlushRecord>,
}

/// One flow, web client or download beside a flusher.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct FlusherFlowRecord {
    /// Its name.
    pub name: String,
    /// Whether the flusher saw it.
    pub seen: bool,
    /// Bursts for it, and their packets.
    pub flushes: u64,
    /// Packets of them.
    pub packets: u64,
    /// Round-trip times of a flow by synthetic packet pairs; absent of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<PathRttRecord>,
}

/// Round-trip times of a flow by synthetic packet pairs, between captures at its two ends. They are of the measured window.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct PathRttRecord {
    /// Pairs.
    pub count: u64,
    /// Mean, ms; `None` without any, as the next two.
    pub mean_ms: Option<f64>,
    /// Smallest.
    pub min_ms: Option<f64>,
    /// Largest.
    pub max_ms: Option<f64>,
    /// Width of a bin of the histogram, ms.
    pub bin_ms: f64,
    /// Number of the first bin that is not empty; bin n begins at n widths. What is longer than a minute is in the last of them.
    pub first_bin: usize,
    /// Pairs in this bin and in those that follow, up to the last that is not empty.
    pub bins: Vec<u32>,
}

impl PathRttRecord {
    pub(crate) fn of(rtts: &Rtts) -> Self {
        let first = rtts.counts.iter().position(|&n| n > 0).unwrap_or(0);
        Self {
            count: rtts.count,
            mean_ms: mean(rtts.sum_ns as f64, rtts.count).map(|ns| ns / 1e6),
            min_ms: rtts.min.map(Duration::as_millis_f64),
            max_ms: (rtts.count > 0).then(|| rtts.max.as_millis_f64()),
            bin_ms: BIN.as_millis_f64(),
            first_bin: first,
            bins: rtts.counts[first..].to_vec(),
        }
    }
}

/// A flush that was proposed.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct FlushRecord {
    /// When, from the beginning of the measured window.
    pub t_s: f64,
    /// How long its packets took to leave; `null` if it was refused or the run ended before.
    pub took_ms: Option<f64>,
    /// For which flow; `null` if no host of the run has the address.
    pub flow: Option<String>,
    /// Packets that left, or would have.
    pub packets: u32,
    /// Whether it was refused.
    pub refused: bool,
    /// `threshold`, `forced`, `top_up`.
    pub reason: &'static str,
    /// What the size was worked out from: throughput, Mbit/s.
    pub throughput_mbit: f64,
    /// And round-trip time, ms.
    pub rtt_ms: f64,
    /// Base RTT of the flow, ms.
    pub base_rtt_ms: f64,
    /// Largest RTT that the flusher had measured, ms.
    pub max_rtt_ms: f64,
}

/// A flow beside a flusher, by bin of the series.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct FlusherFlowSeries {
    /// Mean of the pairs in each bin; `null` if there were none.
    pub path_rtt_ms: Vec<Option<f64>>,
    /// Largest of them.
    pub path_rtt_max_ms: Vec<Option<f64>>,
    /// The sender's smoothed RTT at the end of each bin, as `tcp_info` tells it.
    pub sender_rtt_ms: Vec<Option<f64>>,
    /// The flusher's smoothed RTT. This and what follows is empty of a flow that it does not see.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rtt_ms: Vec<Option<f64>>,
    /// Its base RTT.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub base_rtt_ms: Vec<Option<f64>>,
    /// The throughput that it measures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub throughput_mbit: Vec<Option<f64>>,
}

fn host(simulator: &Simulator) -> Option<&FlusherHost> {
    simulator.fabric.watch.as_ref()?.flusher.as_ref()
}

/// The record of a finished run; `None` without a flusher.
pub(super) fn simulated(run: Simulated<'_>) -> Option<FlusherRecord> {
    let (host, spec) = (host(run.simulator)?, run.scenario.flusher.as_ref()?);
    let routes = host.subjects.iter().filter_map(|s| s.burst);
    let meters = || {
        run.simulator
            .fabric
            .links
            .iter()
            .filter_map(|link| link.egress.as_ref())
    };
    let dropped =
        |(routes, _): (RoutePair, bool)| -> u64 { meters().map(|e| e.meter.counts(routes.forth).data_dropped).sum() };
    let stats = host.core.stats();
    Some(FlusherRecord {
        at: spec.place.name(),
        mode: if spec.active() { "active" } else { "passive" },
        flushes: host.counts.flushes,
        packets: host.counts.packets,
        bytes: host.counts.bytes,
        delivered: host.counts.delivered,
        dropped: routes.map(dropped).sum(),
        refused: host.counts.refused,
        samples: stats.samples,
        helped: stats.helped,
        failed: stats.failed,
        withheld: stats.withheld,
        flows: host.subjects.iter().map(flow).collect(),
        events: host.events.iter().map(|event| flush(host, event, run.begin)).collect(),
    })
}

fn flow(subject: &Subject) -> FlusherFlowRecord {
    FlusherFlowRecord {
        name: subject.name.clone(),
        seen: subject.seen,
        flushes: subject.flushes,
        packets: subject.packets,
        rtt: subject.flow.map(|_| PathRttRecord::of(&subject.pairing.rtts)),
    }
}

fn flush(host: &FlusherHost, event: &FlushEvent, begin: Time) -> FlushRecord {
    let took = |done: Time| -> Duration { done.since(event.at) };
    FlushRecord {
        t_s: seconds_from(begin, event.at),
        took_ms: event.done.map(|done| took(done).as_millis_f64()),
        flow: event.subject.map(|i| host.subjects[i as usize].name.clone()),
        packets: event.packets,
        refused: event.refused,
        reason: reason_name(event.plan.reason),
        throughput_mbit: event.plan.estimate.throughput.as_bps() as f64 / 1e6,
        rtt_ms: event.plan.estimate.rtt.as_millis_f64(),
        base_rtt_ms: event.plan.estimate.base.as_millis_f64(),
        max_rtt_ms: event.plan.estimate.max_rtt.as_millis_f64(),
    }
}

/// The series of each flow; empty without a flusher.
pub(super) fn series(simulator: &Simulator) -> BTreeMap<String, FlusherFlowSeries> {
    let subjects = host(simulator).into_iter().flat_map(|host| &host.subjects);
    subjects
        .filter(|subject| subject.flow.is_some())
        .map(|subject| {
            let s = subject.series.clone();
            let series = FlusherFlowSeries {
                path_rtt_ms: s.path_rtt,
                path_rtt_max_ms: s.path_rtt_max,
                sender_rtt_ms: s.sender_rtt,
                rtt_ms: s.rtt,
                base_rtt_ms: s.base_rtt,
                throughput_mbit: s.throughput,
            };
            (subject.name.clone(), series)
        })
        .collect()
}
