//! Short ways to a scenario, and to the sentence that refuses it.

use crate::common::with;
use serde_json::{Value, json};
use sojourn_sim::Scenario;
use sojourn_tcp::cc::Algorithm;

pub(crate) fn base() -> Value {
    json!({"duration": "5s"})
}

pub(crate) fn flow(more: Value) -> Value {
    with(
        &base(),
        json!({"flows": [with(&json!({"name": "a", "direction": "up"}), more)]}),
    )
}

pub(crate) fn probe(kind: &str, more: Value) -> Value {
    with(
        &base(),
        json!({"probes": [with(&json!({"name": "p", "kind": kind}), more)]}),
    )
}

pub(crate) fn web(more: Value) -> Value {
    with(
        &base(),
        json!({"web": [with(&json!({"name": "w", "objects": [5000]}), more)]}),
    )
}

/// The names of the congestion controls, as sentences list them.
pub(crate) fn controls() -> String {
    Algorithm::ALL
        .iter()
        .map(|one| one.name())
        .collect::<Vec<_>>()
        .join(", ")
}

pub(crate) fn error(text: &str) -> String {
    match Scenario::from_json(text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(e) => e.to_string(),
    }
}

/// Each case: a scenario, and the whole sentence.
pub(crate) fn check(cases: &[(Value, &str)]) {
    for (scenario, sentence) in cases {
        assert_eq!(error(&scenario.to_string()), *sentence, "{scenario}");
    }
}
