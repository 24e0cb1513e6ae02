//! The record of a web client.

use super::Quantiles;
use super::numbers::{mean, seconds_from};
use super::simulated::Simulated;
use crate::simulator::Added;
use crate::traffic::web::WebClient;
use schemars::JsonSchema;
use serde::Serialize;
use sojourn_scenario::WebScenario;

/// One web client, over the measured window.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct WebRecord {
    /// Its name.
    pub name: String,
    /// Name of its page.
    pub page: String,
    /// Objects of the page, the main document among them.
    pub objects: usize,
    /// Their sizes added up.
    pub bytes: u64,
    /// Each completed fetch, in order.
    pub fetches: Vec<FetchRecord>,
    /// How many those are. One that is under way at the end is not counted.
    pub completed: usize,
    /// Their times, in seconds.
    pub time_s: Quantiles,
}

/// One page fetched; times in seconds.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct FetchRecord {
    /// When it began, from the beginning of the measured window.
    pub start_s: f64,
    /// How long the first look-up took; `None` if names are not looked up.
    pub dns_s: Option<f64>,
    /// How long the first handshake took.
    pub connect_s: f64,
    /// From the beginning to the last byte of the last object.
    pub time_s: f64,
    /// SYNs sent again.
    pub syn_retransmitted: u32,
    /// Queries sent again.
    pub dns_retried: u32,
}

/// The record of a client with these fetches.
pub(crate) fn record(s: &WebScenario, fetches: Vec<FetchRecord>) -> WebRecord {
    WebRecord {
        name: s.name.clone(),
        page: s.page.clone(),
        objects: s.objects.len(),
        bytes: s.objects.iter().sum(),
        completed: fetches.len(),
        time_s: Quantiles::of(fetches.iter().map(|f| f.time_s).collect()),
        fetches,
    }
}

pub(super) fn simulated(run: Simulated<'_>) -> Vec<WebRecord> {
    let one = |(s, added): (&WebScenario, Added)| {
        let w: &WebClient = run.simulator.source(added.index)?;
        let fetches = w.fetches.iter().map(|f| FetchRecord {
            start_s: seconds_from(run.begin, f.start),
            dns_s: s.dns.then(|| f.dns.as_secs_f64()),
            connect_s: f.connect.as_secs_f64(),
            time_s: f.time.as_secs_f64(),
            syn_retransmitted: f.syn_retransmitted,
            dns_retried: f.dns_retried,
        });
        Some(record(s, fetches.collect()))
    };
    run.traffic().filter_map(one).collect()
}

/// Mean time over all fetches of all clients; `None` without.
pub(super) fn mean_time(records: &[WebRecord]) -> Option<f64> {
    let (n, sum) = records
        .iter()
        .flat_map(|w| &w.fetches)
        .fold((0u64, 0.0), |(n, sum), f| (n + 1, sum + f.time_s));
    mean(sum, n)
}
