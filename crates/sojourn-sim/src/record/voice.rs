//! The record of a voice stream.

use super::{ProbeRecord, Quantiles, VoiceRecord, VoiceSeries};
use crate::scenario::{Direction, ProbeScenario, Scenario, Voice};
use crate::traffic::voip::Voip;
use sojourn_units::Duration;

pub(super) fn record(
    probe: &ProbeScenario,
    direction: Direction,
    voice: Voice,
    voip: &Voip,
    queue_shared_with: Vec<String>,
) -> ProbeRecord {
    ProbeRecord {
        name: probe.name.clone(),
        kind: "voip",
        direction: direction.name(),
        sent: voip.sent(),
        lost: voip.lost(),
        rtt_ms: None,
        delay_ms: Some(Quantiles::of(voip.delays().map(Duration::as_millis_f64).collect())),
        voice: Some(VoiceRecord {
            codec: voice.codec.name(),
            bitrate_kbit: voice.bitrate.as_bps() as f64 / 1e3,
            frame_ms: voice.frame.as_millis_f64(),
            base_delay_ms: voip.base_delay.as_millis_f64(),
            jitter_ms: voip.jitter_ns() / 1e6,
            ipdv_ms: voip.ipdv_ns() / 1e6,
        }),
        queue_shared_with,
    }
}

/// In the bins of all series: of packets that were sent after the last whole bin it tells nothing.
pub(super) fn series(scenario: &Scenario, voip: &Voip) -> VoiceSeries {
    let width = scenario.sample_interval;
    let count = (scenario.duration.as_nanos() / width.as_nanos()) as usize;
    let bins = voip.bins(width, count);
    let arrived = |ns: f64, n: u32| (n > 0).then_some(ns / 1e6);
    VoiceSeries {
        t_s: (1..=count as u64).map(|k| (width * k).as_secs_f64()).collect(),
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
