//! The record of a voice stream.

use super::{ProbeRecord, Quantiles};
use crate::traffic::voice_trace::{VoiceBin, VoiceTrace};
use schemars::JsonSchema;
use serde::Serialize;
use sojourn_scenario::{Direction, ProbeScenario, Scenario, Voice};
use sojourn_units::Duration;

/// What the record of a voice stream has beside that of any probe.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct VoiceRecord {
    /// `g711`, `opus`.
    pub codec: &'static str,
    /// Rate of the coded speech, kbit/s.
    pub bitrate_kbit: f64,
    /// Time between packets, ms.
    pub frame_ms: f64,
    /// One-way delay of the empty path, ms.
    pub base_delay_ms: f64,
    /// RFC 3550's interarrival jitter at the end, ms; `None` if fewer than two packets arrived.
    #[schemars(extend("x-null" = true))]
    pub jitter_ms: Option<f64>,
    /// Mean difference of the delays of successive packets, ms; `None` if no two arrived.
    #[schemars(extend("x-null" = true))]
    pub ipdv_ms: Option<f64>,
}

/// The packets of a voice stream by the bin in which they were sent.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct VoiceSeries {
    /// End of each bin.
    pub t_s: Vec<f64>,
    /// Mean delay of those that arrived; `None` if there is none.
    pub delay_ms: Vec<Option<f64>>,
    /// Largest of them.
    pub max_ms: Vec<Option<f64>>,
    /// Packets sent.
    pub sent: Vec<u32>,
    /// Of them, lost.
    pub lost: Vec<u32>,
}

pub(super) fn record(
    probe: &ProbeScenario,
    direction: Direction,
    voice: Voice,
    trace: &VoiceTrace,
    base_delay: Duration,
    queue_shared_with: Vec<String>,
) -> ProbeRecord {
    ProbeRecord {
        name: probe.name.clone(),
        kind: "voip",
        direction: direction.name(),
        sent: trace.sent(),
        lost: trace.lost(),
        rtt_ms: None,
        delay_ms: Some(Quantiles::of(trace.delays().map(Duration::as_millis_f64).collect())),
        voice: Some(VoiceRecord {
            codec: voice.codec.name(),
            bitrate_kbit: voice.bitrate.as_bps() as f64 / 1e3,
            frame_ms: voice.frame.as_millis_f64(),
            base_delay_ms: base_delay.as_millis_f64(),
            jitter_ms: trace.jitter_ns().map(|ns| ns / 1e6),
            ipdv_ms: trace.ipdv_ns().map(|ns| ns / 1e6),
        }),
        sojourn_ms: None,
        queue_shared_with,
    }
}

/// In the bins of all series: of packets that were sent after the last whole bin it tells nothing.
pub(super) fn series(scenario: &Scenario, bins: &[VoiceBin]) -> VoiceSeries {
    let width = scenario.sample_interval;
    let arrived = |ns: f64, n: u32| (n > 0).then_some(ns / 1e6);
    VoiceSeries {
        t_s: (1..=bins.len() as u64).map(|k| (width * k).as_secs_f64()).collect(),
        delay_ms: bins
            .iter()
            .map(|b| {
                arrived(
                    b.delay_sum_ns as f64 / f64::from((b.sent - b.lost).max(1)),
                    b.sent - b.lost,
                )
            })
            .collect(),
        max_ms: bins
            .iter()
            .map(|b| arrived(b.delay_max_ns as f64, b.sent - b.lost))
            .collect(),
        sent: bins.iter().map(|b| b.sent).collect(),
        lost: bins.iter().map(|b| b.lost).collect(),
    }
}
