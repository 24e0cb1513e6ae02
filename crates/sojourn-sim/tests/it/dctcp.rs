//! DCTCP against what RFC 8257 and its paper say of flows through a queue that marks at a threshold.

use crate::common::{FRAME, PAYLOAD, record};
use serde_json::json;
use sojourn_sim::Record;

/// Flows up through a queue that marks what has waited for 30 frames, 3.6 ms, as a switch for DCTCP does.
fn marked(cc: &str, flows: usize) -> Record {
    let flows: Vec<_> = (0..flows)
        .map(|i| json!({"name": format!("flow_{i}"), "direction": "up", "congestion_control": cc}))
        .collect();
    record(
        &json!({"duration": "20s", "up": "100mbit", "down": "1gbit", "rtt": "10ms", "burst_up": "1514b",
        "qdisc_up": "codel limit 1000 target 1s interval 2s ecn ce_threshold 3.6ms",
        "qdisc_down": "pfifo limit 10000", "tcp": {"ecn": cc != "dctcp"}, "flows": flows}),
    )
}

/// Alizadeh and others, Data Center TCP (SIGCOMM 2010), section 3.4: a threshold of more than a seventh of the product
/// of bandwidth and delay (83 frames) never lets the queue run empty.
#[test]
fn a_seventh_of_the_pipe_is_enough_of_a_threshold() {
    let r = marked("dctcp", 2);
    assert!(r.bottleneck.up.marks > 0);
    assert_eq!(r.flows.iter().map(|f| f.retransmissions).sum::<u64>(), 0);
    let share = r.summary.goodput_up_mbit / (100.0 * PAYLOAD / FRAME);
    assert!(share > 0.97, "{share}");
    let frame_ms = FRAME * 8.0 / 100e3;
    let mean = r.bottleneck.up.sojourn_ms.mean.unwrap() / frame_ms;
    assert!((10.0..50.0).contains(&mean), "{mean} frames");
}

/// The same queue marks a window of Reno, which halves for it: DCTCP is marked more often and varies less.
#[test]
fn reno_is_marked_less_often_and_its_queue_varies_more() {
    let (dctcp, reno) = (marked("dctcp", 2), marked("reno", 2));
    let marks = |r: &Record| r.bottleneck.up.marks;
    assert!(
        marks(&dctcp) > 3 * marks(&reno),
        "{} and {}",
        marks(&dctcp),
        marks(&reno)
    );
    let spread = |r: &Record| {
        let q = &r.series.backlog_packets.up;
        let mean = q.iter().sum::<u64>() as f64 / q.len() as f64;
        (q.iter().map(|&n| (n as f64 - mean).powi(2)).sum::<f64>() / q.len() as f64).sqrt()
    };
    assert!(
        spread(&dctcp) < spread(&reno),
        "{} and {}",
        spread(&dctcp),
        spread(&reno)
    );
}
