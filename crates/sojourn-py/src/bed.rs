//! What a bed of real network stacks is told, and the record of what it saw.

use crate::error::{param, whole};
use pyo3::prelude::*;
use sojourn_qdisc::{OptionValue, kernel_options};
use sojourn_sim::{Backend, Scenario, bed};
use sojourn_units::Rate;

/// The traffic of a scenario, as JSON (`sojourn-load/1`): everything drawn and decided. One seed gives the start times
/// of the simulator.
#[pyfunction]
pub(crate) fn load_plan(scenario_json: &str) -> PyResult<String> {
    let scenario = Scenario::for_backend(scenario_json, Backend::Linux).map_err(param)?;
    let plan = bed::load_plan(&scenario).map_err(param)?;
    serde_json::to_string(&plan).map_err(param)
}

/// How a kernel is told to use a discipline on a link of this rate, as JSON: `kind` and `options`.
#[pyfunction]
pub(crate) fn kernel_qdisc(text: &str, rate_bps: &Bound<'_, PyAny>) -> PyResult<String> {
    let rate = Rate::from_bps(whole(rate_bps, "rate_bps", 1, 1_000_000_000_000)?);
    let told = kernel_options(text, Some(rate)).map_err(param)?;
    let options: serde_json::Map<String, serde_json::Value> = told
        .options
        .into_iter()
        .map(|(name, value)| {
            let value = match value {
                OptionValue::Number(n) => n.into(),
                OptionValue::Flag(on) => on.into(),
                OptionValue::Text(text) => text.into(),
            };
            (name.to_owned(), value)
        })
        .collect();
    Ok(serde_json::json!({"kind": told.kind, "options": options}).to_string())
}
