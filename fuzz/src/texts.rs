//! Texts that people write: scenarios, and the daemon's configuration.

use crate::is_a_sentence;
use sojourn_flusher::gate::{
    LEAST_COOL_DOWN, LONGEST_RTT, MOST_BDP_THOUSANDTHS, MOST_BYTES_PER_FLUSH, MOST_BYTES_PER_MINUTE,
};
use sojourn_live::flush::config::Config;
use sojourn_scenario::{ProbeKindScenario, ProbeScenario};
use sojourn_sim::{Progress, Run, Scenario};
use sojourn_units::{Duration, Rate};

/// The daemon's configuration in TOML.
///
/// # Panics
/// If a gate comes of it that is wider than the widest, or a refusal is no sentence.
pub fn config(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Config::parse(text, &[]) {
        Ok(config) => {
            let gate = &config.pipeline.gate;
            assert!(gate.bytes_per_minute <= MOST_BYTES_PER_MINUTE && gate.bytes_per_flush <= MOST_BYTES_PER_FLUSH);
            assert!(gate.bdp_thousandths <= MOST_BDP_THOUSANDTHS && gate.max_rtt <= LONGEST_RTT);
            assert!(gate.cool_down >= LEAST_COOL_DOWN && gate.max_cool_down >= gate.cool_down);
            assert!(
                config.metrics.is_none_or(|address| address.ip().is_loopback()),
                "metrics for everybody"
            );
            config.pipeline.flusher.validate().expect("what was accepted is sound");
        }
        Err(error) => is_a_sentence(&error.to_string()),
    }
}

/// Most frames that the links of a scenario could send for it to be run here.
const TINY: f64 = 400.0;
const MILLISECOND: Duration = Duration::from_millis(1);

/// A scenario in JSON. What is valid is written and read again; what is tiny is run, twice.
///
/// # Panics
/// If the canonical text is not a fixed point, a run differs from its repetition, or a refusal is no sentence.
pub fn scenario(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let scenario = match Scenario::from_json(text) {
        Ok(scenario) => scenario,
        Err(error) => return is_a_sentence(&error.to_string()),
    };
    let canonical = scenario.to_json();
    let again = Scenario::from_json(&canonical).unwrap_or_else(|e| panic!("{canonical}: {e}"));
    assert_eq!(again.to_json(), canonical);
    if is_tiny(&scenario) {
        let (first, second) = (record(scenario), record(again));
        assert_eq!(first, second, "{canonical}");
    }
}

/// Whether it is a matter of a millisecond: short, slow, and with little traffic.
fn is_tiny(s: &Scenario) -> bool {
    let seconds = (s.duration + s.lead).as_secs_f64();
    let bits = (s.up.as_bps() as f64 + s.down.as_bps() as f64) * seconds;
    let senders = s.flows.len() + s.probes.len() + s.web.len() + s.downloads.len();
    let rare = |probe: &ProbeScenario| match probe.kind() {
        ProbeKindScenario::Icmp(every)
        | ProbeKindScenario::UdpRr(every)
        | ProbeKindScenario::Isochronous(_, every)
        | ProbeKindScenario::Poisson(_, every) => every >= MILLISECOND,
        ProbeKindScenario::Voip(_, voice) => voice.frame >= MILLISECOND,
    };
    let fast = Rate::from_mbit(20);
    seconds <= 0.2
        && bits / 8.0 / 64.0 <= TINY
        && senders <= 3
        && s.probes.iter().all(rare)
        && s.flows.iter().all(|flow| flow.rate.is_none_or(|rate| rate <= fast))
        && s.sample_interval >= MILLISECOND
        && s.wifi.is_none()
        && s.flusher.is_none()
}

fn record(scenario: Scenario) -> String {
    let mut run = Run::new(scenario).expect("a valid scenario's network can be built");
    while let Progress::Running(done) = run.advance() {
        assert!((0.0..=1.0).contains(&done), "{done} is done");
    }
    run.finish().to_json()
}
