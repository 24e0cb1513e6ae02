//! What is refused because it would not fit, with its numbers; and that nothing else is.

use super::cases::error;
use serde_json::{Value, json};
use sojourn_sim::{Backend, Limits, Scenario};

fn flows(n: usize) -> Value {
    (0..n)
        .map(|i| json!({"name": format!("f{i}"), "direction": "up"}))
        .collect()
}

fn stations(n: usize) -> Value {
    (0..n)
        .map(|i| json!({"name": format!("s{i}"), "rate": "ht mcs 7 20mhz", "scheme": "fq_mac"}))
        .collect()
}

/// Each of these ended in an abort with some GB, or in a run that did not end.
#[test]
fn what_would_not_fit_is_refused_at_once_with_its_numbers() {
    let probes: Value = (0..200)
        .map(|i| json!({"name": format!("p{i}"), "kind": "icmp", "interval": "1ms"}))
        .collect();
    let pages: Value = (0..20)
        .map(|i| json!({"name": format!("w{i}"), "objects": [1], "interval": "100ms", "workers": 1}))
        .collect();
    let cases = [
        (
            json!({"duration": "1000s", "sample_interval": "1ms", "flows": flows(300)}),
            "300 flows with series of 1000001 bins each need about 51 GB, but at most 4 GB are allowed: lengthen \
             sample_interval or shorten duration",
        ),
        (
            json!({"duration": "1s", "wifi": {"scheme": "fq_mac", "queues": 65536, "stations": stations(2007)}}),
            "an access point and 2007 stations with 131628400 queues need about 21.4 GB, but at most 4 GB are allowed: take \
             fewer stations, or fewer queues for each",
        ),
        (
            json!({"duration": "86400s", "sample_interval": "1s", "probes": probes}),
            "200 probes with 17280400200 samples need about 4.3 TB, but at most 4 GB are allowed: lengthen their intervals or \
             shorten duration",
        ),
        (
            json!({"duration": "86400s", "sample_interval": "1s", "up": "100gbit", "flows": flows(1)}),
            "this run has about ",
        ),
        (
            json!({"duration": "86400s", "sample_interval": "1s", "rtt": "1us", "up": "1gbit", "down": "1gbit", "web": pages}),
            "20 web clients with ",
        ),
    ];
    for (scenario, sentence) in cases {
        let said = error(&scenario.to_string());
        assert!(said.starts_with(sentence), "{said}");
    }
}

#[test]
fn more_may_be_allowed_or_less() {
    let text = json!({"duration": "10s", "flows": flows(4)}).to_string();
    let cost = Scenario::from_json(&text).expect("a small run").cost(Backend::Sim);
    let whole = Limits {
        memory: cost.memory,
        packets: cost.packets,
    };
    assert!(Scenario::within(&text, Backend::Sim, whole).is_ok());
    let less_memory = Limits {
        memory: cost.memory - 1,
        ..whole
    };
    let fewer_packets = Limits {
        packets: cost.packets - 1,
        ..whole
    };
    for (limits, word) in [(less_memory, " need about "), (fewer_packets, "packets, but at most ")] {
        let said = Scenario::within(&text, Backend::Sim, limits)
            .expect_err(word)
            .to_string();
        assert!(said.contains(word), "{said}");
    }
}

/// The product of what may be large does not wrap around: each of these is far beyond 64 bits of bytes or packets.
#[test]
fn an_estimate_does_not_overflow() {
    let many: Value = (0..10_000)
        .map(|i| json!({"name": format!("f{i}"), "direction": "up", "bytes": u64::MAX, "rtt": "60s"}))
        .collect();
    let text = json!({
        "duration": "86400s", "sample_interval": "86400ms", "up": "100gbit", "down": "100gbit", "flows": many,
        "qdisc_up": "pfifo limit 4294967295", "tcp": {"receive_window": "16776960b"},
    });
    assert!(error(&text.to_string()).contains("packets, but at most"));
}

#[test]
fn a_number_that_json_does_not_have_is_told_with_its_field() {
    let digits = "9".repeat(5000);
    for (text, sentence) in [
        (
            r#"{"duration": "1s", "loss_up": NaN}"#.to_owned(),
            "loss_up is NaN, but must be a finite number that JSON can hold",
        ),
        (
            r#"{"duration": "1s", "flows": [{"bytes": -Infinity}]}"#.to_owned(),
            "flows[0].bytes is -Infinity, but must be a finite number that JSON can hold",
        ),
        (
            r#"{"duration": "1s", "seed": 1e999}"#.to_owned(),
            "seed is 1e999, but must be a finite number that JSON can hold",
        ),
        (
            format!(r#"{{"duration": "1s", "seed": {digits}}}"#),
            "seed is a number of 5000 digits, but must be a finite number that JSON can hold",
        ),
    ] {
        assert_eq!(error(&text), sentence);
    }
}

#[test]
fn a_key_with_a_new_line_in_it_is_told_in_one_sentence() {
    let said = |json: &str| Scenario::from_json(json).expect_err(json).to_string();
    assert_eq!(
        said(r#"{"a\nb": -003}"#),
        "a\\nb is -003, but must be a finite number that JSON can hold"
    );
    for json in [
        r#"{"a\nb": 1}"#,
        r#"{"wifi": {"a\u001b\n": {}}}"#,
        r#"{"a\nb": 1, "a\nb": 1}"#,
    ] {
        let said = said(json);
        assert!(!said.chars().any(char::is_control), "{said:?}");
    }
}

#[test]
fn a_text_without_end_is_not_read() {
    let text = format!(r#"{{"duration": "1s", "experiment": "{}"}}"#, "x".repeat(17 << 20));
    assert_eq!(
        error(&text),
        "scenario is a text of 17825828 bytes, but must be at most 16777216 bytes"
    );
}
