//! BBR version 3 against what its draft says of a flow alone on a path.

mod common;

use common::{FRAME, PAYLOAD, record, with};
use serde_json::{Value, json};
use sojourn_sim::Record;

/// One flow up, from the beginning of the run on.
fn alone(mbit: f64, rtt_ms: f64, limit: u32, more: Value) -> Record {
    record(&with(
        &json!({"duration": "30s", "up": format!("{mbit}mbit"), "down": "1gbit", "rtt": format!("{rtt_ms}ms"),
                "qdisc_up": format!("pfifo limit {limit}"), "qdisc_down": "pfifo limit 10000", "burst_up": "1514b",
                "sample_interval": "10ms",
                "flows": [{"name": "bulk", "direction": "up", "congestion_control": "bbr3"}]}),
        more,
    ))
}

/// Frames that the path holds.
fn pipe(mbit: f64, rtt_ms: f64) -> f64 {
    mbit * 1e3 * rtt_ms / (FRAME * 8.0)
}

fn share(r: &Record, mbit: f64) -> f64 {
    r.summary.goodput_up_mbit / (mbit * PAYLOAD / FRAME)
}

#[test]
fn look() {
    for (mbit, rtt_ms) in [(2.0, 60.0), (10.0, 50.0), (100.0, 20.0), (100.0, 10.0), (20.0, 100.0)] {
        for depth in [0.5, 1.0, 2.0, 4.0, 16.0] {
            let limit = (pipe(mbit, rtt_ms) * depth).ceil() as u32;
            let r = alone(mbit, rtt_ms, limit, json!({}));
            println!(
                "{mbit} {rtt_ms} {depth}: share {:.3} sojourn {:.1} max {:?} retx {} of {}",
                share(&r, mbit),
                r.bottleneck.up.sojourn_ms.mean,
                r.series.backlog_packets.up[500..].iter().max(),
                r.flows[0].retransmissions,
                pipe(mbit, rtt_ms),
            );
        }
    }
    for loss in [0.001, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2] {
        let r = alone(40.0, 100.0, 1000, json!({"loss_up": loss}));
        println!("loss {loss}: {:.3}", share(&r, 40.0));
    }
    for depth in [0.5, 1.0, 2.0, 4.0, 8.0] {
        let limit = (pipe(100.0, 10.0) * depth).ceil() as u32;
        let flows = json!({"duration": "60s", "flows": [
            {"name": "a", "direction": "up", "congestion_control": "bbr3"},
            {"name": "b", "direction": "up", "congestion_control": "cubic"}]});
        let r = alone(100.0, 10.0, limit, flows);
        println!(
            "beside cubic {depth}: {:.2} {:.2}",
            r.flows[0].goodput_mbit, r.flows[1].goodput_mbit
        );
    }
}
