//! What the tests of the simulator share: short ways to a record.

use serde_json::{Map, Value, json};
use sojourn_sim::{Record, Scenario, run};

/// A full frame, and the payload in it.
pub(crate) const FRAME: f64 = 1514.0;
pub(crate) const PAYLOAD: f64 = 1448.0;

/// `base` with the keys of `more` put in.
pub(crate) fn with(base: &Value, more: Value) -> Value {
    let mut all: Map<String, Value> = base.as_object().cloned().unwrap_or_default();
    if let Value::Object(more) = more {
        all.extend(more);
    }
    Value::Object(all)
}

pub(crate) fn record(scenario: &Value) -> Record {
    let valid = Scenario::from_json(&scenario.to_string()).unwrap_or_else(|e| panic!("{e}: {scenario}"));
    run(valid).unwrap_or_else(|e| panic!("{e}: {scenario}"))
}

/// `n` flows in each direction and a ping.
pub(crate) fn rrul(n: usize, link: Value) -> Value {
    let flows: Vec<Value> = (0..n)
        .flat_map(|i| ["up", "down"].map(|d| json!({"name": format!("{d}_{i}"), "direction": d})))
        .collect();
    with(
        &json!({"duration": "10s", "flows": flows, "probes": [{"name": "ping", "kind": "icmp"}]}),
        link,
    )
}

/// The part of a record that two runs of one scenario must share.
pub(crate) fn comparable(record: &Record) -> String {
    let mut value = serde_json::to_value(record).expect("a record is plain data");
    value["cost"]["wall_s"] = json!(0);
    value["cost"]["peak_rss_mb"] = json!(0);
    value.to_string()
}
