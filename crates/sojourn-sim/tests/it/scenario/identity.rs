//! Keys that say whose packets these are, on wires: `client`, `server` and `dscp`.

use super::cases::{base, check, flow, probe};
use crate::common::with;
use serde_json::json;
use sojourn_sim::Scenario;

#[test]
fn hosts_are_numbered_from_1_to_64() {
    check(&[
        (flow(json!({"client": 0})), "flows[0].client is 0, but must be 1 to 64"),
        (
            probe("icmp", json!({"server": 65})),
            "probes[0].server is 65, but must be 1 to 64",
        ),
        (
            with(&base(), json!({"web": [{"name": "w", "objects": [1], "client": 65}]})),
            "web[0].client is 65, but must be 1 to 64",
        ),
        (
            with(
                &base(),
                json!({"downloads": [{"name": "d", "direction": "up", "bytes": 1, "gap": "1s", "server": 1000}]}),
            ),
            "downloads[0].server is 1000, but must be 1 to 64",
        ),
    ]);
}

#[test]
fn traffic_of_the_first_hosts_without_a_code_point_has_one_text() {
    let text = |scenario: &serde_json::Value| Scenario::from_json(&scenario.to_string()).expect("valid").to_json();
    let plain = text(&flow(json!({})));
    assert_eq!(text(&flow(json!({"client": 1, "server": 1, "dscp": "CS0"}))), plain);
    for key in ["client", "server", "dscp"] {
        assert!(!plain.contains(key), "{key} in {plain}");
    }
    let named = text(&flow(json!({"client": 3, "server": 2, "dscp": "EF"})));
    for part in [r#""client":3"#, r#""server":2"#, r#""dscp":46"#] {
        assert!(named.contains(part), "{part} not in {named}");
    }
}
