//! The record of a stream of a game.

use super::Quantiles;
use super::numbers::quantile;
use super::simulated::Simulated;
use crate::simulator::Added;
use crate::traffic::voip::Voip;
use schemars::JsonSchema;
use serde::Serialize;
use sojourn_scenario::GameScenario;
use sojourn_units::Duration;

/// Packets that have to arrive for a 99.9th percentile: at least one is above it.
const FOR_P999: usize = 1000;

/// One stream of a game: the packets that were sent in the measured window.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct GameRecord {
    /// Its name.
    pub name: String,
    /// Which way it goes.
    pub direction: &'static str,
    /// Packets sent.
    pub sent: u64,
    /// Of them, not arrived.
    pub lost: u64,
    /// One-way delay of the empty path, ms.
    pub base_delay_ms: f64,
    /// One-way delays.
    pub delay_ms: Quantiles,
    /// The 99.9th percentile of the one-way delays, ms; `None` if fewer than 1000 packets arrived.
    pub delay_p999_ms: Option<f64>,
}

pub(super) fn simulated(run: Simulated<'_>) -> Vec<GameRecord> {
    let one = |(game, added): (&GameScenario, Added)| {
        let stream: &Voip = run.simulator.source(added.index)?;
        let mut delays: Vec<f64> = stream.trace.delays().map(Duration::as_millis_f64).collect();
        delays.sort_unstable_by(f64::total_cmp);
        Some(GameRecord {
            name: game.name.clone(),
            direction: game.direction.name(),
            sent: stream.trace.sent(),
            lost: stream.trace.lost(),
            base_delay_ms: stream.base_delay.as_millis_f64(),
            delay_p999_ms: quantile(&delays, 0.999).filter(|_| delays.len() >= FOR_P999),
            delay_ms: Quantiles::of(delays),
        })
    };
    run.traffic().filter_map(one).collect()
}
