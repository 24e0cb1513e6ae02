//! What a bed of real network stacks is told, and the record of what it saw.

use crate::error::{param, whole};
use crate::run::{self, Parts, parts};
use pyo3::prelude::*;
use sojourn_bed::Measured;
use sojourn_qdisc::{KernelOptions, kernel_options};
use sojourn_sim::{Backend, Record, bed};
use sojourn_units::Rate;

/// The traffic of a scenario, as JSON (`sojourn-load/2`): everything drawn and decided. One seed gives the start
/// times of the simulator.
#[pyfunction]
#[pyo3(signature = (scenario_json, backend = "linux"))]
pub(crate) fn load_plan(scenario_json: &str, backend: &str) -> PyResult<String> {
    let backend: Backend = backend.parse().map_err(param)?;
    let scenario = run::scenario(scenario_json, backend).map_err(param)?;
    let plan = bed::load_plan(&scenario, backend).map_err(param)?;
    serde_json::to_string(&plan).map_err(param)
}

/// How a kernel is told to use a discipline on a link of this rate, as JSON: `kind` and `options`.
#[pyfunction]
pub(crate) fn kernel_qdisc(text: &str, rate_bps: &Bound<'_, PyAny>) -> PyResult<String> {
    let rate = Rate::from_bps(whole(rate_bps, "rate_bps", 1, 1_000_000_000_000)?);
    let options = kernel_options(text, Some(rate)).map_err(param)?;
    serde_json::to_string(&options).map_err(param)
}

/// The options of a discipline, told as ``kernel_qdisc`` or a plan tells them, for a netlink request: what
/// ``TCA_OPTIONS`` holds (None for a kind without), whether that is attributes, and the device's transmit queue
/// length if it matters.
#[pyfunction]
pub(crate) fn netlink_options(qdisc_json: &str) -> PyResult<(Option<Vec<u8>>, bool, Option<i64>)> {
    let encoded = options_of(qdisc_json)?.encode().map_err(param)?;
    Ok((encoded.payload, encoded.nested, encoded.queue_length))
}

/// The netlink requests for the classes below a discipline, told as ``kernel_qdisc`` or a plan tells it, with what each
/// is for. ``index`` is the number of the device, ``major`` the major number of the discipline.
#[pyfunction]
pub(crate) fn netlink_below(qdisc_json: &str, index: u32, major: u16) -> PyResult<Vec<(String, Vec<u8>)>> {
    let messages = options_of(qdisc_json)?.messages_below(index, major).map_err(param)?;
    Ok(messages
        .into_iter()
        .map(|request| (request.says, request.message))
        .collect())
}

fn options_of(qdisc_json: &str) -> PyResult<KernelOptions> {
    serde_json::from_str(qdisc_json).map_err(param)
}

/// The record of a scenario that a bed of the linux or the live back end ran, as JSON.
///
/// `measured` is what the agent wrote (`sojourn-measured/1`), `packets` are the frames that it watched.
#[pyfunction]
#[pyo3(signature = (scenario_json, measured, packets, wall_s, peak_rss_mb, backend = "linux"))]
pub(crate) fn record_measured(
    py: Python<'_>,
    scenario_json: &str,
    measured: &str,
    packets: &[u8],
    wall_s: f64,
    peak_rss_mb: f64,
    backend: &str,
) -> PyResult<String> {
    let cost = Spent { wall_s, peak_rss_mb };
    py.detach(|| measured_record(scenario_json, measured, packets, cost, backend).map(|record| record.to_json()))
        .map_err(param)
}

/// The record of a measured scenario in the form that is stored, as `run_stored` answers it.
#[pyfunction]
#[pyo3(signature = (scenario_json, measured, packets, wall_s, peak_rss_mb, run_id, backend = "linux"))]
#[expect(
    clippy::too_many_arguments,
    reason = "Python's own interface, in the order of record_measured"
)]
pub(crate) fn store_measured<'py>(
    py: Python<'py>,
    scenario_json: &str,
    measured: &str,
    packets: &[u8],
    wall_s: f64,
    peak_rss_mb: f64,
    run_id: &str,
    backend: &str,
) -> PyResult<Parts<'py>> {
    let cost = Spent { wall_s, peak_rss_mb };
    let record = py
        .detach(|| measured_record(scenario_json, measured, packets, cost, backend))
        .map_err(param)?;
    parts(py, &record, run_id)
}

/// What a run took.
#[derive(Clone, Copy)]
struct Spent {
    wall_s: f64,
    peak_rss_mb: f64,
}

/// # Errors
/// The sentence for the user.
fn measured_record(
    scenario_json: &str,
    measured: &str,
    packets: &[u8],
    cost: Spent,
    backend: &str,
) -> Result<Record, String> {
    let backend: Backend = backend.parse().map_err(|e: sojourn_sim::ScenarioError| e.to_string())?;
    for (field, value) in [("wall_s", cost.wall_s), ("peak_rss_mb", cost.peak_rss_mb)] {
        if !(0.0..f64::INFINITY).contains(&value) {
            return Err(format!("{field} is {value}, but must be a number >= 0"));
        }
    }
    let scenario = run::scenario(scenario_json, backend)?;
    let measured: Measured =
        serde_json::from_str(measured).map_err(|e| format!("the measurement cannot be read: {e}"))?;
    let mut record = bed::measured_record(&scenario, backend, &measured, packets).map_err(|e| e.to_string())?;
    record.cost.wall_s = cost.wall_s;
    record.cost.peak_rss_mb = cost.peak_rss_mb;
    Ok(record)
}
