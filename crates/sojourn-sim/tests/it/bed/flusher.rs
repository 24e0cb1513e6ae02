//! A flusher on a bed: what the daemon and the captures told, and the record of it, worked out by hand.

use super::{MS, bytes, data, left, nothing, scenario};
use serde_json::{Value, json};
use sojourn_bed::{Conversation, FlushMeasured, FlusherFlowMeasured, FlusherMeasured, Measured, Watched};
use sojourn_sim::bed::{load_plan, measured_record};
use sojourn_sim::{Backend, Scenario};

fn with_flusher(mode: &str) -> Scenario {
    scenario(&json!({
        "flows": [{"name": "f", "direction": "up"}],
        "flusher": {"params": "as_described", "mode": mode, "start": "100ms"},
    }))
}

/// Pairs at 50, 150 and 160 ms of 30, 40 and 50 ms; one from before the window. A flush of 7 packets at 500 ms, of
/// which 5 arrived, and a refused one of 9.
fn seen(s: &Scenario) -> Measured {
    let mut m = nothing(s);
    m.flows[0].srtt_us = vec![0, 41_000, 42_000, 43_000, 44_000];
    let flush = |at_ms: i64, packets, refused: bool| FlushMeasured {
        at_ns: at_ms * MS,
        took_ns: (!refused).then_some(2_000_000),
        flow: Some(0),
        packets,
        refused,
        reason: "threshold".to_owned(),
        throughput_bps: 4_000_000,
        rtt_ns: 200_000_000,
        base_ns: 50_000_000,
        max_rtt_ns: 250_000_000,
    };
    m.flusher = Some(FlusherMeasured {
        flows: vec![FlusherFlowMeasured {
            pairs: vec![
                (-5 * MS, 9),
                (50 * MS, 30_000_000),
                (250 * MS, 40_000_000),
                (260 * MS, 50_000_000),
            ],
            rtt_ns: vec![None, Some(45_000_000), None, None, None],
            base_ns: vec![None; 5],
            throughput_bps: vec![Some(3_000_000); 5],
        }],
        events: vec![flush(500, 7, false), flush(600, 9, true), flush(1001, 8, false)],
        samples: 12,
        helped: 1,
        failed: 2,
        withheld: 3,
        packets: 7,
        bytes: 7 * 1500,
        delivered: 5,
    });
    m
}

fn record(s: &Scenario, m: &Measured, packets: &[u8]) -> Value {
    let record = measured_record(s, Backend::Linux, m, packets).expect("a measurement");
    serde_json::from_str(&record.to_json()).expect("JSON")
}

#[test]
fn pairs_become_a_histogram_and_bins_and_flushes_become_events() {
    let s = with_flusher("active");
    let found = record(&s, &seen(&s), &[]);
    let head = &found["flusher"];
    assert_eq!(
        json!([
            head["at"],
            head["mode"],
            head["flushes"],
            head["refused"],
            head["packets"],
            head["bytes"]
        ]),
        json!(["client", "active", 1, 1, 7, 7 * 1514])
    );
    assert_eq!(
        json!([head["delivered"], head["dropped"], head["helped"]]),
        json!([5, 2, 1])
    );
    let rtt = &head["flows"][0]["rtt"];
    assert_eq!(
        json!([
            rtt["count"],
            rtt["mean_ms"],
            rtt["min_ms"],
            rtt["max_ms"],
            rtt["first_bin"]
        ]),
        json!([3, 40.0, 30.0, 50.0, 60])
    );
    let first = &head["events"][0];
    assert_eq!(
        json!([
            first["t_s"],
            first["took_ms"],
            first["flow"],
            first["packets"],
            first["rtt_ms"]
        ]),
        json!([0.5, 2.0, "f", 7, 200.0])
    );
    assert_eq!(head["events"].as_array().map(Vec::len), Some(2));
    let series = &found["series"]["flusher"]["f"];
    assert_eq!(series["path_rtt_ms"], json!([30.0, 45.0, null, null, null]));
    assert_eq!(series["path_rtt_max_ms"], json!([30.0, 50.0, null, null, null]));
    assert_eq!(series["sender_rtt_ms"], json!([null, 41.0, 42.0, 43.0, 44.0]));
    assert_eq!(series["throughput_mbit"][0], 3.0);
}

#[test]
fn datagrams_of_a_flush_take_part_in_the_queue_and_its_drops() {
    let s = with_flusher("active");
    let datagram = |key, ms| Watched {
        conversation: Conversation::Flush,
        data: false,
        ..data(key, ms)
    };
    let mut m = seen(&s);
    // Two of three are dropped, and so is what the kernel counts.
    for (k, sample) in m.up.samples.iter_mut().enumerate() {
        sample.drops = if k == 5 { 2 } else { 0 };
        sample.packets = if k == 5 { 2 } else { 0 };
    }
    let frames = bytes(&[
        data(1, 10),
        datagram(2, 11),
        datagram(3, 11),
        datagram(4, 11),
        left(data(1, 10), 14),
        left(datagram(2, 11), 16),
    ]);
    let found = record(&s, &m, &frames);
    assert_eq!(found["bottleneck"]["up"]["drops"]["queue_limit"], 2);
    assert_eq!(found["bottleneck"]["up"]["extra"]["drops_unmatched"], 0.0);
    let without = scenario(&json!({"flows": [{"name": "f", "direction": "up"}]}));
    let error = measured_record(&without, Backend::Linux, &nothing(&without), &frames).expect_err("it has no flusher");
    assert!(
        error
            .to_string()
            .starts_with("conversation of watched frame 1 is a flush"),
        "{error}"
    );
}

#[test]
fn the_plan_says_where_the_flusher_is_and_its_parameters_as_the_daemon_reads_them() {
    let s = with_flusher("passive");
    let plan = load_plan(&s, Backend::Linux)
        .expect("a plan")
        .flusher
        .expect("a flusher");
    assert_eq!(
        (plan.at.as_str(), plan.active, plan.start_ns),
        ("client", false, 100_000_000)
    );
    for line in ["threshold = 1.7", "method = \"thesis\"", "floor = \"50ms\""] {
        assert!(
            plan.parameters.lines().any(|l| l == line),
            "{line} in {}",
            plan.parameters
        );
    }
}

#[test]
fn a_measurement_that_no_flusher_made_is_refused() {
    let s = with_flusher("active");
    let refused = |change: &dyn Fn(&mut Measured), sentence: &str| {
        let mut m = seen(&s);
        change(&mut m);
        let error = measured_record(&s, Backend::Linux, &m, &[]).expect_err(sentence);
        assert!(error.to_string().starts_with(sentence), "{error}");
    };
    let of = |m: &mut Measured, change: &dyn Fn(&mut FlusherMeasured)| change(m.flusher.as_mut().expect("it is there"));
    refused(&|m| m.flusher = None, "flusher of the measurement is absent");
    refused(
        &|m| of(m, &|f| f.flows.clear()),
        "number of flows beside the flusher is 0",
    );
    refused(
        &|m| of(m, &|f| f.flows[0].rtt_ns.truncate(1)),
        "number of samples of the flusher for flow 0 is 1",
    );
    refused(
        &|m| of(m, &|f| f.flows[0].pairs.push((i64::MIN, 1))),
        "a packet pair of flow 0",
    );
    refused(&|m| of(m, &|f| f.events[1].reason = "whim".into()), "flush 1 is");
    refused(&|m| of(m, &|f| f.events[0].flow = Some(9)), "flush 0 is");
    let without = scenario(&json!({"flows": [{"name": "f", "direction": "up"}]}));
    let mut m = nothing(&without);
    m.flusher = Some(FlusherMeasured::default());
    let error = measured_record(&without, Backend::Linux, &m, &[]).expect_err("the scenario has none");
    assert!(
        error.to_string().starts_with("flusher of the measurement is there"),
        "{error}"
    );
}
