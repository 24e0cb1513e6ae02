use super::*;
use crate::agent::fake::{Fake, index, load, measured, planned};
use serde_json::json;

fn plan(rate_bps: Option<u64>) -> FlowPlan {
    let rate = rate_bps.map(sojourn_units::Rate::from_bps);
    let spec = json!({"name": "udp", "direction": "down", "protocol": "udp", "rate": rate});
    planned(serde_json::from_value(spec).expect("a flow"), 5_000_000)
}

/// 1472 bytes at 7 kbit/s: 11,776 bits take 1.682285714 s, and three of them 5.046857142 s; as the simulator's.
#[test]
fn datagrams_leave_at_multiples_of_their_time() {
    let mut flood = Flood::new(0, &plan(Some(7000)), &load()).expect("a plan");
    let mut at = Vec::new();
    for _ in 0..4 {
        at.extend(flood.due_ns());
        flood.sent += 1;
    }
    assert_eq!(at, [5_000_000, 1_687_285_714, 3_369_571_428, 5_051_857_142]);
}

#[test]
fn a_rate_is_needed() {
    let error = Flood::new(3, &plan(None), &load()).expect_err("no rate");
    assert_eq!(
        error.to_string(),
        "flows[3].rate is absent, but must be given for a UDP flow"
    );
}

/// A second of 1.1776 Mbit/s from 5 ms on: a datagram every 10 ms, at 5, 15, ... 995 ms.
#[test]
fn all_datagrams_of_a_path_without_loss_arrive() {
    let mut load = load();
    let place = index(40);
    load.flows = vec![plan(Some(1_177_600)); place + 1];
    let mut flood = Flood::new(place, &load.flows[place], &load).expect("a plan");
    let mut world = Fake::manual(-1, 1_000_000_000);
    world.run(&mut flood, 0).expect("a run");
    let mut seen = measured();
    seen.flows = vec![FlowMeasured::default(); place + 1];
    flood.finish(&mut seen);
    let flow = &seen.flows[place];
    let udp = UdpMeasured {
        sent: 100,
        received: 100,
        lost: 0,
    };
    assert_eq!(flow.udp, Some(udp));
    assert_eq!(flow.delivered.len(), 10);
    assert_eq!(flow.delivered_total, 100 * 1472);
}
