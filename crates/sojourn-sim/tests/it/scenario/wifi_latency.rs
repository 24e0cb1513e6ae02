//! The options of a cell that shorten the time below the queues.

use super::cases::{base, check};
use crate::common::with;
use serde_json::{Value, json};
use sojourn_sim::{Scenario, run};

const KEYS: [&str; 9] = [
    "aql",
    "aql_high",
    "aql_total",
    "defer",
    "build_time",
    "retry_time",
    "retry_sojourn",
    "dense_stations",
    "dense_aggregate_time",
];

fn wifi(more: Value) -> Value {
    let two = json!({"stations": [
        {"name": "fast", "rate": "ht mcs 15 20mhz sgi", "error": 0.2},
        {"name": "slow", "rate": "ht mcs 0 20mhz sgi", "error": 0.2},
    ]});
    with(&base(), json!({"wifi": with(&two, more)}))
}

fn canonical(scenario: &Value) -> Value {
    let valid = Scenario::from_json(&scenario.to_string()).unwrap_or_else(|e| panic!("{e}: {scenario}"));
    serde_json::from_str(&valid.to_json()).expect("JSON")
}

#[test]
fn without_them_the_text_has_none_of_their_keys() {
    let text = canonical(&wifi(json!({})));
    for key in KEYS {
        assert_eq!(text["wifi"].get(key), None, "{key}");
    }
    assert_eq!(canonical(&wifi(json!({"build_time": "0s"}))), text);
}

#[test]
fn the_text_reads_back_with_defaults_written_out() {
    let text = canonical(&wifi(json!({
        "aql": "5ms", "defer": "200us", "build_time": "50us", "retry_time": "10ms", "retry_sojourn": "50ms",
        "dense_stations": 8, "dense_aggregate_time": "1ms",
    })));
    let all = json!({
        "aql": "5ms", "aql_high": "12ms", "aql_total": "24ms", "defer": "200us", "build_time": "50us",
        "retry_time": "10ms", "retry_sojourn": "50ms", "dense_stations": 8, "dense_aggregate_time": "1ms",
    });
    for key in KEYS {
        assert_eq!(text["wifi"][key], all[key], "{key}");
    }
    assert_eq!(canonical(&text), text);
}

#[test]
fn what_is_of_no_use_alone_is_refused() {
    check(&[
        (
            wifi(json!({"aql_high": "12ms"})),
            "wifi.aql_high is 12ms, but must be left out without wifi.aql",
        ),
        (
            wifi(json!({"aql_total": "0s"})),
            "wifi.aql_total is 0s, but must be left out without wifi.aql",
        ),
        (
            wifi(json!({"aql": "20ms"})),
            "wifi.aql_high is 12ms, but must be 20ms (wifi.aql) to 10s",
        ),
        (
            wifi(json!({"aql": "5ms", "scheme": "fifo"})),
            "wifi.aql is 5ms, but must be left out with the scheme fifo, which queues above the driver",
        ),
        (
            wifi(json!({"defer": "200us", "hardware_queue": 1})),
            "wifi.defer is 200us, but must be left out with a hardware_queue of 1, which has no place for the next aggregate",
        ),
        (
            wifi(json!({"dense_stations": 4})),
            "wifi.dense_stations is 4, but must be left out without wifi.dense_aggregate_time",
        ),
        (
            wifi(json!({"dense_aggregate_time": "1ms"})),
            "wifi.dense_aggregate_time is 1ms, but must be left out without wifi.dense_stations",
        ),
        (
            wifi(json!({"dense_stations": 4, "dense_aggregate_time": "5ms"})),
            "wifi.dense_aggregate_time is 5ms, but must be 1ns to 4ms (wifi.aggregate_time)",
        ),
        (
            wifi(json!({"retry_time": "0s"})),
            "wifi.retry_time is 0s, but must be 1ns to 1000s",
        ),
    ]);
}

#[test]
fn the_record_tells_what_they_did_and_is_as_before_without_them() {
    let downloads = |more: Value| {
        let flows = ["fast", "slow"].map(|name| json!({"name": name, "direction": "down", "station": name}));
        let scenario = with(&wifi(more), json!({"flows": flows, "duration": "2s"}));
        let scenario = Scenario::from_json(&scenario.to_string()).unwrap_or_else(|e| panic!("{e}"));
        let record = run(scenario).expect("it runs").to_json();
        serde_json::from_str::<Value>(&record).expect("JSON")["wifi"].clone()
    };
    let stations = |record: &Value| record["stations"].as_array().expect("stations").clone();
    for station in stations(&downloads(json!({}))) {
        assert_eq!(station.get("latency"), None);
    }
    let some = json!({"retry_time": "5ms", "dense_stations": 2, "dense_aggregate_time": "1ms", "defer": "0s"});
    let record = stations(&downloads(some));
    let of = |station: usize, key: &str| record[station]["latency"][key].as_f64().expect("a number");
    for station in 0..2 {
        assert!(of(station, "built") >= of(station, "built_dense"));
        assert!(of(station, "built_dense") > 0.0, "both stations have data");
        assert!(of(station, "pending_max_ms") >= of(station, "pending_mean_ms"));
    }
    assert!(
        of(1, "expired") > 0.0,
        "a fifth of the frames fail, and two transmissions take 4 ms"
    );
}
