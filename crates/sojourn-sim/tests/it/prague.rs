//! Prague against what RFC 9331 and RFC 9332 promise: a shallow queue, two marks a round trip, and a share beside CUBIC
//! behind DualPI2; and flows with ECN of their own.

use crate::common::{FRAME, PAYLOAD, record, with};
use serde_json::{Value, json};
use sojourn_sim::Record;

/// Flows up, each a control and keys of its own, through a discipline at 100 Mbit/s, 20 ms.
fn up(qdisc: &str, flows: &[(&str, Value)], more: Value) -> Record {
    let flows: Vec<Value> = flows
        .iter()
        .enumerate()
        .map(|(i, (control, keys))| {
            let flow = json!({"name": format!("flow_{i}"), "direction": "up", "congestion_control": control});
            with(&flow, keys.clone())
        })
        .collect();
    let scenario = json!({"duration": "30s", "lead": "10s", "up": "100mbit", "down": "1gbit", "rtt": "20ms",
                          "qdisc_up": qdisc, "qdisc_down": "pfifo limit 10000", "flows": flows});
    record(&with(&scenario, more))
}

/// The goodput that a link of 100 Mbit/s can have, with the 12 bytes of the AccECN option.
fn most() -> f64 {
    100.0 * (PAYLOAD - 12.0) / FRAME
}

/// A step at 1 ms: the link is busy, and the queue is at the step, not at a classic target. Nothing is lost after slow
/// start.
#[test]
fn prague_alone_keeps_the_queue_at_the_step_and_the_link_busy() {
    let r = up("dualpi2", &[("prague", json!({}))], json!({}));
    let flow = &r.flows[0];
    assert!(flow.goodput_mbit / most() > 0.95, "{} Mbit/s", flow.goodput_mbit);
    assert_eq!((flow.retransmissions, flow.timeouts), (0, Some(0)));
    let bins = &r.series.backlog_packets.up;
    let mean = bins.iter().sum::<u64>() as f64 / bins.len() as f64;
    let queue_ms = mean * FRAME * 8.0 / 100_000.0;
    assert!(queue_ms < 1.5, "{queue_ms} ms");
    let ecn = flow.ecn.as_ref().expect("Prague has ECN");
    let (delivered, reductions) = (ecn.delivered_ce.expect("a count"), ecn.reductions.expect("a count"));
    assert!(delivered > 0 && reductions > 0, "{delivered} {reductions}");
    assert!(
        delivered.abs_diff(ecn.marked) <= ecn.marked / 20 + 300,
        "what is marked is told"
    );
}

/// RFC 9332 section 2.1: p_L = k p' and p_C = p'^2, with k = 2. Over a run p_C is the mean of the squares, so that p_L is at
/// most 2 sqrt(p_C), and less where p' varies. The step of the low-latency queue adds few marks.
///
/// Rates follow. CUBIC, as Reno here, has a window of sqrt(0.53 * 1.7 / 0.6 / p_C) = 1.22 / sqrt(p_C) (RFC 9438 section 4.3
/// with beta 0.7), and Prague one of 2.73 / p_L (see `marks_of_a_round_are_two_at_any_probability`), so that theirs are in a
/// ratio of 1.1 to 1.6. CUBIC's RTT is 34 ms beside 20 ms. So Prague has up to 2.7 times CUBIC's rate, and neither
/// starves.
#[test]
fn prague_and_cubic_are_coupled_behind_dualpi2() {
    for seed in 1..=3 {
        let r = up(
            "dualpi2",
            &[("prague", json!({})), ("cubic", json!({"ecn": true}))],
            json!({"duration": "120s", "seed": seed}),
        );
        let share = |i: usize| {
            let flow = &r.flows[i];
            flow.ecn.as_ref().expect("ECN").marked as f64 / flow.segments_sent as f64
        };
        let coupling = share(0) / share(1).sqrt();
        assert!((1.4..2.05).contains(&coupling), "{seed}: {coupling}");
        let ratio = r.flows[0].goodput_mbit / r.flows[1].goodput_mbit;
        assert!((1.0..2.75).contains(&ratio), "{seed}: {ratio}");
        assert!(r.flows[0].goodput_mbit + r.flows[1].goodput_mbit > 0.93 * most());
    }
}

/// Of a queue for each flow only that of the flow with ECT(1) is marked above the threshold.
#[test]
fn the_selector_marks_prague_alone() {
    let flows = [("prague", json!({})), ("cubic", json!({"ecn": true}))];
    let marks = |selector: &str| {
        let qdisc = format!("fq_codel ecn target 20ms ce_threshold 1ms{selector}");
        let r = up(&qdisc, &flows, json!({}));
        let of = |i: usize| r.flows[i].ecn.as_ref().map_or(0, |ecn| ecn.marked);
        (of(0), of(1), r.flows[1].goodput_mbit)
    };
    let (prague, cubic, goodput) = marks(" ce_threshold_selector 0x01/0x01");
    assert!(prague > 100 && goodput > 40.0, "{prague} {cubic} {goodput}");
    let (_, all, _) = marks("");
    assert!(
        all > 10 * cubic.max(1),
        "without it CUBIC is marked {all} times, with it {cubic}"
    );
}

/// The flow without ECN has no marks in its record, and the others have theirs.
#[test]
fn each_flow_has_its_own_ecn() {
    let flows = [
        ("cubic", json!({"ecn": false})),
        ("cubic", json!({"ecn": "accecn"})),
        ("cubic", json!({})),
    ];
    let r = up("fq_codel", &flows, json!({"tcp": {"ecn": true}}));
    let marked: Vec<Option<u64>> = r.flows.iter().map(|f| f.ecn.as_ref().map(|ecn| ecn.marked)).collect();
    assert!(marked[0].is_none(), "{marked:?}");
    assert!(marked[1] > Some(0) && marked[2] > Some(0), "{marked:?}");
    assert!(r.flows[0].retransmissions > 0 && r.flows[2].retransmissions == 0);
}

/// The same run twice, also with the detection of classic queues.
#[test]
fn runs_are_the_same_twice() {
    for more in [
        json!({}),
        json!({"tcp": {"prague_fallback": true, "prague_rtt": "additive"}}),
        json!({"tcp": {"prague_fallback": true, "prague_version": "0.7"}}),
    ] {
        let flows = [("prague", json!({})), ("cubic", json!({"ecn": true}))];
        let run = || serde_json::to_string(&up("codel ecn", &flows, more.clone())).expect("a record is plain data");
        assert_eq!(run(), run());
    }
}

/// Behind one queue with classic marks Prague has nearly all. With the detection CUBIC has more than without.
#[test]
fn the_detection_of_classic_marks_leaves_more_for_cubic() {
    let cubic = |fallback: bool| {
        let flows = [("prague", json!({})), ("cubic", json!({"ecn": true}))];
        let more = json!({"tcp": {"prague_fallback": fallback}});
        up("codel ecn", &flows, more).flows[1].goodput_mbit
    };
    let (without, with) = (cubic(false), cubic(true));
    assert!(without < 25.0, "{without}");
    assert!(with > 2.0 * without, "{with} beside {without}");
}

/// Behind DualPI2 the detection of 0.7 takes the queue for a classic one, so that Prague has a small share beside CUBIC;
/// that of 0.6 does not. A test bed of 0.7 had 9 % (PAM 2025, two bandwidth-delay products at 100 Mbit/s and 10 ms).
#[test]
fn the_detection_of_0_7_starves_prague_behind_dualpi2() {
    let share = |version: &str| {
        let flows = [("prague", json!({})), ("cubic", json!({"ecn": true}))];
        let more = json!({"rtt": "10ms", "tcp": {"prague_fallback": true, "prague_version": version}});
        let found = up("dualpi2 target 5ms", &flows, more).flows;
        found[0].goodput_mbit / (found[0].goodput_mbit + found[1].goodput_mbit)
    };
    let (older, later) = (share("0.6"), share("0.7"));
    assert!(older > 0.35, "{older}");
    assert!(later < 0.2, "{later}");
}
