//! Key `flusher`: what is refused, and the canonical text.

use super::cases::{base, check};
use crate::common::with;
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
        (
            json!({"bursts": "slow"}),
            "flusher.bursts is \"slow\", but must be \"paced\", \"at_once\" or \"daemon\"",
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
fn a_cell_and_live_packets_have_none_and_a_kernel_s_sees_all() {
    let wifi = json!({"wifi": {"stations": [{"name": "a", "rate": "ht mcs 15 20mhz sgi"}]}, "flusher": {}});
    check(&[(
        with(&base(), wifi),
        "flusher is given with wifi, but its places are on wires: leave one of them out",
    )]);
    for (backend, more, sentence) in [
        (
            Backend::Live,
            json!({}),
            "flusher is given, but the live back end has none: use the sim or the linux back end",
        ),
        (
            Backend::Linux,
            json!({"at": "router"}),
            "flusher.at is \"router\", but must be \"client\" or \"server\" on the linux back end, where what a router \
             itself sends is not seen to come to its queue",
        ),
    ] {
        let error = Scenario::for_backend(&flusher(&more).to_string(), backend).expect_err("refused");
        assert_eq!(error.to_string(), sentence);
    }
    let passive = flusher(&json!({"at": "router", "mode": "passive"})).to_string();
    Scenario::for_backend(&passive, Backend::Linux).expect("it sends nothing");
    let two = json!({"flows": [{"name": "a", "direction": "up"}, {"name": "b", "direction": "up"}],
        "flusher": {"watch": ["b"]}});
    let error = Scenario::for_backend(&with(&base(), two).to_string(), Backend::Linux).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "flusher.watch is [\"b\"], but must be \"all\" on the linux back end: the daemon sees all that passes its interface"
    );
}

#[test]
fn how_bursts_are_handed_over_is_written_only_where_it_is_not_paced() {
    assert_eq!(
        canonical(&flusher(&json!({"bursts": "paced"})))["flusher"].get("bursts"),
        None
    );
    for bursts in ["at_once", "daemon"] {
        let text = canonical(&flusher(&json!({"bursts": bursts})));
        assert_eq!(text["flusher"]["bursts"], bursts);
        assert_eq!(canonical(&text), text);
    }
}
