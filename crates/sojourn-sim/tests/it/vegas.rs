//! Vegas against what its authors promise: a full link, and a few segments in its queue.

use crate::common::{FRAME, PAYLOAD, record};
use serde_json::json;
use sojourn_sim::Record;

const MBIT: f64 = 10.0;

/// Flows up for a minute over a FIFO that would hold a second.
fn up(flows: usize, beta: u32) -> Record {
    let flows: Vec<_> = (0..flows)
        .map(|i| json!({"name": format!("flow_{i}"), "direction": "up", "congestion_control": "vegas"}))
        .collect();
    record(
        &json!({"duration": "60s", "up": "10mbit", "down": "1gbit", "rtt": "50ms", "qdisc_up": "pfifo limit 1000",
        "qdisc_down": "pfifo limit 1000", "burst_up": "1514b", "tcp": {"vegas_beta": beta}, "flows": flows}),
    )
}

/// Packets in the queue from the tenth second on, mean.
fn queued(r: &Record) -> f64 {
    let bins: Vec<f64> = r
        .series
        .t_s
        .iter()
        .zip(&r.series.backlog_packets.up)
        .filter(|(t, _)| **t >= 10.0)
        .map(|(_, n)| *n as f64)
        .collect();
    bins.iter().sum::<f64>() / bins.len() as f64
}

/// Brakmo and Peterson 1995: each flow keeps between alpha (2) and beta segments in the queue. What a delayed
/// acknowledgement holds back, two segments, waits beside them.
#[test]
fn each_flow_keeps_between_alpha_and_beta_segments_in_the_queue_of_a_busy_link() {
    for (flows, beta) in [(1, 4), (1, 40), (4, 4)] {
        let r = up(flows, beta);
        let (least, most) = (2.0 * flows as f64, (f64::from(beta) + 2.0) * flows as f64);
        let queue = queued(&r);
        assert!((least - 1.0..=most).contains(&queue), "{flows} {beta}: {queue}");
        assert_eq!(
            r.flows.iter().map(|f| f.retransmissions).sum::<u64>(),
            0,
            "{flows} {beta}"
        );
        let share = r.summary.goodput_up_mbit / (MBIT * PAYLOAD / FRAME);
        assert!(share > 0.97, "{flows} {beta}: {share}");
    }
}

/// The known weakness, and why it is not used beside others: CUBIC fills the queue, from which Vegas keeps away.
#[test]
fn beside_cubic_it_has_little() {
    let flow = |control: &str| json!({"name": control, "direction": "up", "congestion_control": control});
    let r = record(
        &json!({"duration": "60s", "up": "10mbit", "down": "1gbit", "rtt": "50ms", "qdisc_up": "pfifo limit 83",
        "flows": [flow("vegas"), flow("cubic")]}),
    );
    assert!(
        r.flows[0].goodput_mbit < 0.5 * r.flows[1].goodput_mbit,
        "{}",
        r.flows[0].goodput_mbit
    );
}
