//! Key `flusher`: what is refused, and the canonical text.

use super::cases::{base, check};
use super::common::with;
use serde_json::{Value, json};
use sojourn_sim::{Backend, Scenario};

fn flusher(more: &Value) -> Value {
    with(&base(), json!({"flusher": more}))
}

fn canonical(scenario: &Value) -> Value {
    let valid = Scenario::from_json(&scenario.to_string()).unwrap_or_else(|e| panic!("{e}: {scenario}"));
    serde_json::from_str(&valid.to_json()).expect("JSON")
}

#[test]
fn without_it_the_text_does_not_name_it() {
    assert_eq!(canonical(&base()).get("flusher"), None);
}

#[test]
fn its_text_has_every_default_and_reads_back() {
    let text = canonical(&flusher(&json!({})));
    let own = &text["flusher"];
    for (key, value) in [("at", "client"), ("watch", "all"), ("mode", "active"), ("start", "0s")] {
        assert_eq!(own[key], value, "{key}");
    }
    assert!(own["params"].is_object());
    assert_eq!(canonical(&text), text);
    assert_eq!(canonical(&flusher(&json!({"params": "adaptive"}))), text);
    assert_ne!(canonical(&flusher(&json!({"params": "as_written"}))), text);
}

/// A parameter laid over a preset differs in that parameter alone.
#[test]
fn an_object_may_name_a_preset_and_what_differs() {
    let plain = canonical(&flusher(&json!({"params": "as_described"})));
    let other = canonical(&flusher(
        &json!({"params": {"preset": "as_described", "threshold": 2.0}}),
    ));
    let (one, two) = (&plain["flusher"]["params"], &other["flusher"]["params"]);
    let differing: Vec<&String> = one
        .as_object()
        .expect("an object")
        .keys()
        .filter(|&key| one[key] != two[key])
        .collect();
    assert_eq!(differing, ["threshold"]);
    assert_eq!(one["threshold"], 1.7);
}

#[test]
fn what_is_wrong_is_named() {
    for (more, sentence) in [
        (
            json!({"at": "moon"}),
            "flusher.at is \"moon\", but must be \"client\", \"router\" or \"server\"",
        ),
        (
            json!({"mode": "off"}),
            "flusher.mode is \"off\", but must be \"active\" or \"passive\"",
        ),
        (
            json!({"params": "best"}),
            "flusher.params: flusher.preset is \"best\", but must be \"as_written\", \"as_described\" or \"adaptive\"",
        ),
        (
            json!({"params": 3}),
            "flusher.params is 3, but must be the name of a preset or an object",
        ),
        (
            json!({"watch": ["nobody"]}),
            "flusher.watch[0] is \"nobody\", but must be \"all\" or a list of names of TCP flows, web clients and downloads, \
             each once",
        ),
        (
            json!({"watch": []}),
            "flusher.watch is [], but must be \"all\" or a list of names of TCP flows, web clients and downloads, each once",
        ),
        (json!({"start": "3600s"}), "flusher.start is 3600s, but must be 0s to "),
    ] {
        let error = Scenario::from_json(&flusher(&more).to_string()).expect_err("refused");
        assert!(error.to_string().starts_with(sentence), "{more}: {error}");
    }
    for more in [
        json!({"params": {"no_such": 1}}),
        json!({"params": {"threshold": 0.5}}),
        json!({"what": 1}),
    ] {
        let error = Scenario::from_json(&flusher(&more).to_string()).expect_err("refused");
        let key = more.as_object().and_then(|m| m.keys().next()).expect("a key");
        assert!(error.to_string().contains(key), "{more}: {error}");
    }
    check(&[(
        with(&base(), json!({"flusher": []})),
        "flusher is a list, but must be an object",
    )]);
}

#[test]
fn a_cell_and_a_kernel_have_none() {
    let wifi = json!({"wifi": {"stations": [{"name": "a", "rate": "ht mcs 15 20mhz sgi"}]}, "flusher": {}});
    check(&[(
        with(&base(), wifi),
        "flusher is given with wifi, but its places are on wires: leave one of them out",
    )]);
    let error = Scenario::for_backend(&flusher(&json!({})).to_string(), Backend::Linux).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "flusher is given, but the linux back end has none: use the sim back end"
    );
}
