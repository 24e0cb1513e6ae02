//! A link that follows a trace, against the trace.

use crate::common::{record, with};
use crate::scenario::cases::error;
use serde_json::{Value, json};
use sojourn_sim::{Backend, Scenario};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/mahimahi/uplink.trace");

fn times() -> Vec<u64> {
    let text = std::fs::read_to_string(FILE).expect("testdata");
    text.lines().map(|line| line.parse().expect("a time")).collect()
}

/// How many opportunities there are by each of so many milliseconds, the trace again and again.
fn opportunities(most_ms: u64) -> Vec<u64> {
    let (times, mut counts) = (times(), vec![0; most_ms as usize + 1]);
    let period = times[times.len() - 1];
    for round in 0..=most_ms / period {
        for at in times.iter().map(|ms| ms + round * period).filter(|ms| *ms <= most_ms) {
            counts[at as usize] += 1;
        }
    }
    counts
        .iter()
        .scan(0, |sum, n| {
            *sum += n;
            Some(*sum)
        })
        .collect()
}

/// Datagrams that fill an opportunity each, more than the link takes.
fn flood() -> Value {
    let flow = json!({"name": "f", "protocol": "udp", "direction": "up", "rate": "50mbit"});
    json!({"duration": "3s", "lead": "0s", "start_jitter": "0s", "sample_interval": "1ms", "qdisc_up": "pfifo limit 50",
           "flows": [flow]})
}

fn topology(link: &Value) -> Value {
    let edges = json!({"between": ["a", "b"], "rate": "100mbit", "delay": "1ms"});
    let long = with(&json!({"between": ["b", "c"], "delay": "24ms"}), link.clone());
    json!({"topology": {"ends": ["a", "c"], "links": [edges, long]}})
}

/// Counts of a bin may or may not have what leaves at its very end.
fn equal(departures: &[u64], expected: &[u64]) {
    assert_eq!(departures.len(), 3000);
    let by = |shift: usize| (0..3000).all(|i| departures[i] == expected[i + shift]);
    assert!(by(0) || by(1), "{:?} {:?}", &departures[..20], &expected[..20]);
}

#[test]
fn what_the_path_releases_is_the_trace() {
    let r = record(&with(&flood(), json!({"trace_up": FILE})));
    equal(&r.series.packets.up, &opportunities(3000));
    let sent = r.bottleneck.up.utilisation.map(|of| (of - 1.0).abs() < 0.03);
    assert!(sent.is_none_or(|near| near), "{:?}", r.bottleneck.up.utilisation);
}

#[test]
fn what_a_link_of_a_topology_releases_is_the_trace() {
    let more = topology(&json!({"trace": FILE, "qdisc": "pfifo limit 50"}));
    let mut flood = flood();
    flood.as_object_mut().expect("keys").remove("qdisc_up");
    let r = record(&with(&flood, more));
    // Frames come after the first link: 1 ms and 1514 bytes at 100 Mbit/s later, before the first opportunity.
    assert!(times()[0] > 1);
    equal(&r.series.links["b-c"].packets, &opportunities(3000));
}

#[test]
fn the_canonical_text_has_the_hash_and_means_the_same() {
    let s = Scenario::from_json(&with(&flood(), json!({"trace_up": FILE})).to_string()).expect("valid");
    let text = s.to_value();
    let trace = text["trace_up"].as_str().expect("text");
    assert!(trace.starts_with(&format!("{FILE} sha256:")), "{trace}");
    let times = times();
    let mean = times.len() as u64 * 1514 * 8 * 1000 / times[times.len() - 1];
    assert_eq!(text["up"], sojourn_units::Rate::from_bps(mean).to_string());
    let again = Scenario::from_json(&text.to_string()).expect("the canonical form is valid");
    assert_eq!(again.to_value(), text);
}

#[test]
fn what_does_not_go_with_a_trace_is_refused() {
    let with_trace = |more: Value| with(&with(&flood(), json!({"trace_up": FILE})), more).to_string();
    let rate = error(&with_trace(json!({"up": "5mbit"})));
    assert!(
        rate.starts_with("up is 5mbit, but must be absent with trace_up, whose mean rate is "),
        "{rate}"
    );
    assert_eq!(
        error(&with_trace(json!({"service_interval_up": "5ms"}))),
        "service_interval_up is 5ms, but must be absent with trace_up"
    );
    assert_eq!(
        error(&with_trace(json!({"burst_up": "3028b"}))),
        "burst_up is 3028b, but must be absent with trace_up"
    );
    assert_eq!(
        error(&with_trace(json!({"trace_down": "/dev/zero"}))),
        "trace_down is \"/dev/zero\", but must be the name of a file with a trace"
    );
    let missing = error(&with_trace(topology(&json!({"trace": "no such"}))));
    assert!(
        missing.starts_with("topology.links[1].trace is \"no such\", but the file cannot be read: "),
        "{missing}"
    );
    for backend in [Backend::Linux, Backend::Live] {
        let refused = Scenario::for_backend(&with_trace(json!({})), backend)
            .expect_err("refused")
            .to_string();
        assert!(
            refused.contains("back end's link has a constant rate: use sim"),
            "{refused}"
        );
    }
}
