//! The simulator for a page in a browser: conversions, no algorithm.
//!
//! `web/src/engine/worker.ts` calls what is exported here, and `web/src/engine/protocol.ts` says what the page sees of it.
//! Scenarios, records and lists are JSON. What a page draws many times in a second is given as arrays of numbers. An error
//! is the sentence for the user.

mod catalogue;
mod live;
mod snapshot;

pub use catalogue::catalogue;
pub use live::Live;
pub use snapshot::{Queue, Snapshot};

use sojourn_scenario::{Backend, Limits, Scenario};
use wasm_bindgen::prelude::wasm_bindgen;

/// Memory that a run may need by its estimate: WebAssembly has 4 GiB for all.
const MEMORY: u64 = 3 << 30;

/// Reads a scenario for the simulator.
fn read(scenario_json: &str) -> Result<Scenario, String> {
    let limits = Limits {
        memory: Limits::DEFAULT.memory.min(MEMORY),
        ..Limits::DEFAULT
    };
    Scenario::within(scenario_json, Backend::Sim, limits).map_err(|error| error.to_string())
}

/// The canonical JSON of a scenario: every default written out.
///
/// # Errors
/// A sentence that names field, value and rule.
#[wasm_bindgen]
pub fn normalize(scenario_json: &str) -> Result<String, String> {
    Ok(read(scenario_json)?.to_json())
}

/// The keys of a scenario as a JSON Schema: their types, defaults and meaning.
///
/// # Panics
/// Never: a schema is plain data.
#[must_use]
#[wasm_bindgen]
pub fn schema() -> String {
    serde_json::to_string(&sojourn_scenario::schema()).expect("a schema is plain data")
}

/// The version of Sojourn that this was built from.
#[must_use]
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
