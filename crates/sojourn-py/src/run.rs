//! Running scenarios.

use crate::error::param;
use pyo3::prelude::*;
use sojourn_sim::{Progress, Run, Scenario};

/// The names of the congestion control algorithms.
#[pyfunction]
pub(crate) fn congestion_controls() -> Vec<&'static str> {
    sojourn_tcp::cc::Algorithm::ALL
        .map(sojourn_tcp::cc::Algorithm::name)
        .to_vec()
}

/// The canonical JSON of a scenario: every default written out.
#[pyfunction]
pub(crate) fn normalize(scenario_json: &str) -> PyResult<String> {
    Ok(Scenario::from_json(scenario_json).map_err(param)?.to_json())
}

/// Runs a scenario in the simulator and answers its record, as JSON.
///
/// Other Python threads run meanwhile; Ctrl-C is noticed within a tenth of a simulated second.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, scenario_json: &str) -> PyResult<String> {
    let scenario = Scenario::from_json(scenario_json).map_err(param)?;
    let clock = Clock::start();
    let mut run = py.detach(|| Run::new(scenario)).map_err(param)?;
    loop {
        let progress = py.detach(|| run.advance());
        py.check_signals()?;
        if let Progress::Done = progress {
            break;
        }
    }
    py.detach(|| {
        let mut record = run.finish();
        record.cost.wall_s = clock.seconds();
        record.cost.peak_rss_mb = peak_rss_mb();
        Ok(record.to_json())
    })
}

/// The wall clock: for the cost that a record reports, never for the simulation.
struct Clock(std::time::Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "the cost of a run is measured in real time")]
    fn start() -> Self {
        Self(std::time::Instant::now())
    }

    fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Peak resident memory of this process in MB (10^6 bytes), as Linux tells it; 0 where it cannot be asked.
fn peak_rss_mb() -> f64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
            let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
            Some(kib * 1024.0 / 1e6)
        })
        .unwrap_or(0.0)
}
