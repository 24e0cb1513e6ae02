//! Keys that say whose packets these are, on wires: `client`, `server` and `dscp`.

use super::cases::{base, check, flow, probe};
use crate::common::with;
use serde_json::json;
use sojourn_sim::{Backend, Scenario};

#[test]
fn hosts_are_numbered_from_1_to_5000() {
    check(&[
        (
            flow(json!({"client": 0})),
            "flows[0].client is 0, but must be 1 to 5000",
        ),
        (
            probe("icmp", json!({"server": 5001})),
            "probes[0].server is 5001, but must be 1 to 5000",
        ),
        (
            with(
                &base(),
                json!({"web": [{"name": "w", "objects": [1], "client": 65535}]}),
            ),
            "web[0].client is 65535, but must be 1 to 5000",
        ),
        (
            with(
                &base(),
                json!({"downloads": [{"name": "d", "direction": "up", "bytes": 1, "gap": "1s", "server": 9999}]}),
            ),
            "downloads[0].server is 9999, but must be 1 to 5000",
        ),
    ]);
}

/// A bed has a network for each host; the simulator has none.
#[test]
fn a_kernel_has_64_hosts_a_side() {
    let on = |host: u16, backend| Scenario::for_backend(&flow(json!({"client": host})).to_string(), backend);
    assert!(on(5000, Backend::Sim).is_ok());
    for backend in [Backend::Linux, Backend::Live] {
        assert!(on(64, backend).is_ok());
        let refusal = on(65, backend).expect_err("one host too many").to_string();
        let sentence = "flows[0].client is 65, but must be 1 to 64 on a kernel; the simulator has 5000";
        assert!(refusal.contains(sentence), "{refusal}");
    }
}

/// Each has one flow, and CAKE shares by hosts, of which it has places for 1024.
#[test]
fn a_conference_of_5000_hosts_shares_a_link() {
    let flows: Vec<_> = (1..=5000)
        .map(|host| json!({"name": format!("f{host}"), "direction": "up", "client": host, "bytes": 30_000}))
        .collect();
    let text = json!({
        "duration": "2s", "lead": "0s", "up": "1gbit", "down": "1gbit", "rtt": "10ms",
        "qdisc_up": "cake bandwidth 900mbit", "qdisc_down": "fq_codel", "flows": flows,
    });
    let scenario = Scenario::from_json(&text.to_string()).expect("valid");
    let record: serde_json::Value =
        serde_json::from_str(&sojourn_sim::run(scenario).expect("it runs").to_json()).expect("JSON");
    let delivered = record["flows"].as_array().expect("flows").iter();
    let all: f64 = delivered
        .map(|flow| flow["goodput_mbit"].as_f64().expect("a number"))
        .sum();
    // 5000 times 30,000 bytes are 1.2 Gbit, and 2 s of 900 Mbit/s carry 1.8 with their headers.
    assert!(all > 550.0, "{all} Mbit/s over 2 s");
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
