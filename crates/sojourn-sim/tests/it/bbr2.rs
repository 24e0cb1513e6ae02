//! BBR version 2 against what its sources say of a flow alone on a path, and beside others: google's, and the one for
//! L4S.

use crate::common::{FRAME, PAYLOAD, record, with};
use serde_json::{Value, json};
use sojourn_sim::{Record, Scenario};

/// Flows up from the beginning of the run on, each a control and keys of its own, through a discipline.
fn up(mbit: f64, rtt_ms: f64, qdisc: &str, flows: &[(&str, Value)], more: Value) -> Record {
    let flows: Vec<Value> = flows
        .iter()
        .enumerate()
        .map(|(i, (control, keys))| {
            let flow = json!({"name": format!("flow_{i}"), "direction": "up", "congestion_control": control});
            with(&flow, keys.clone())
        })
        .collect();
    record(&with(
        &json!({"duration": "30s", "up": format!("{mbit}mbit"), "down": "1gbit", "rtt": format!("{rtt_ms}ms"),
                "qdisc_up": qdisc, "qdisc_down": "pfifo limit 10000", "burst_up": "1514b", "sample_interval": "10ms",
                "flows": flows}),
        more,
    ))
}

/// Frames that the path holds.
fn pipe(mbit: f64, rtt_ms: f64) -> f64 {
    mbit * 1e3 * rtt_ms / (FRAME * 8.0)
}

fn fifo(mbit: f64, rtt_ms: f64, pipes: f64) -> String {
    format!("pfifo limit {}", (pipe(mbit, rtt_ms) * pipes).ceil())
}

/// What of the path's rate is delivered.
fn share(r: &Record, mbit: f64) -> f64 {
    r.summary.goodput_up_mbit / (mbit * PAYLOAD / FRAME)
}

fn mean_ms(r: &Record) -> f64 {
    r.bottleneck.up.sojourn_ms.mean.unwrap()
}

/// A probe ends once 1.25 pipes are in flight, but lasts for a round trip at least, and what it has sent in that time
/// is on its way: the queue is no longer than half of a pipe, and what three sends and the probe need. Version 3 goes
/// on until the rate does not grow, so that its queue is longer.
#[test]
fn a_flow_alone_fills_its_path_and_its_probes_queue_less_than_those_of_version_three() {
    for (mbit, rtt_ms) in [(10.0, 50.0), (100.0, 10.0), (20.0, 100.0)] {
        let longest = |control: &str| {
            let r = up(
                mbit,
                rtt_ms,
                &fifo(mbit, rtt_ms, 8.0),
                &[(control, json!({}))],
                json!({}),
            );
            let queue = *r.series.backlog_packets.up[500..].iter().max().expect("bins") as f64;
            let share = share(&r, mbit);
            println!(
                "{control} {mbit} Mbit/s {rtt_ms} ms: {share:.3}, {:.2} ms, {queue}",
                mean_ms(&r)
            );
            assert!((0.94..=1.0).contains(&share), "{control} {mbit} {rtt_ms}: {share}");
            assert_eq!(r.flows[0].retransmissions, 0, "{control} {mbit} {rtt_ms}");
            queue
        };
        let third = longest("bbr3");
        for control in ["bbr2", "bbr2-l4s"] {
            let queue = longest(control);
            assert!(
                queue <= 0.5 * pipe(mbit, rtt_ms) + 8.0,
                "{control} {mbit} {rtt_ms}: {queue}"
            );
            assert!(queue < third, "{control} {mbit} {rtt_ms}: {queue} and {third}");
        }
    }
}

/// The window of start-up is 2.885 pipes, so that it queues up to 1.885 of them, and 5 % for what is acknowledged at
/// once; with version 3 it is one.
#[test]
fn start_up_queues_nearly_two_pipes() {
    let (mbit, rtt_ms) = (50.0, 100.0);
    for control in ["bbr2", "bbr2-l4s"] {
        let r = up(
            mbit,
            rtt_ms,
            &fifo(mbit, rtt_ms, 20.0),
            &[(control, json!({}))],
            json!({"duration": "4s"}),
        );
        let peak = *r.series.backlog_packets.up.iter().max().expect("bins") as f64 / pipe(mbit, rtt_ms);
        println!("{control}: {peak:.2} pipes");
        assert!((1.2..1.885 * 1.05).contains(&peak), "{control}: {peak}");
    }
}

/// As of version 3: losses below 2 % cost little, and more are congestion.
#[test]
fn losses_below_two_percent_cost_little() {
    for control in ["bbr2", "bbr2-l4s"] {
        let shares: Vec<f64> = [0.001, 0.01, 0.05]
            .iter()
            .map(|&loss| {
                let flows = [(control, json!({}))];
                let r = up(
                    40.0,
                    100.0,
                    &fifo(40.0, 100.0, 3.0),
                    &flows,
                    json!({"loss_up": loss, "duration": "60s"}),
                );
                share(&r, 40.0)
            })
            .collect();
        println!("{control}: 0.1, 1 and 5 %: {shares:.3?}");
        assert!(
            shares[0] > 0.85 && shares[1] > 0.7 && shares[2] < 0.3,
            "{control}: {shares:?}"
        );
    }
}

/// Marks above 500 us: who answers them keeps the queue there. The one for L4S does so on a path of 10 ms and of 40 ms;
/// google's does so on paths up to 5 ms, or as long as is set.
#[test]
fn marks_are_answered_on_paths_as_short_as_is_set() {
    let queue = "codel limit 1000 target 1s ce_threshold 500us ecn";
    let run = |control: &str, rtt_ms: f64, tcp: Value| {
        let flows = [(control, json!({})), (control, json!({}))];
        let r = up(100.0, rtt_ms, queue, &flows, json!({ "tcp": tcp }));
        println!("{control} {rtt_ms} ms: {:.3} ms {:.3}", mean_ms(&r), share(&r, 100.0));
        assert!(share(&r, 100.0) > 0.85, "{control} {rtt_ms}: {}", share(&r, 100.0));
        mean_ms(&r)
    };
    for rtt_ms in [10.0, 40.0] {
        let not = run("bbr2", rtt_ms, json!({"ecn": true}));
        let set = run("bbr2", rtt_ms, json!({"ecn": true, "bbr2_ecn_max_rtt": "0s"}));
        let l4s = run("bbr2-l4s", rtt_ms, json!({}));
        assert!(set < 0.75 * not && l4s < 0.75 * not, "{rtt_ms}: {not}, {set}, {l4s}");
    }
    let short = run("bbr2", 4.0, json!({"ecn": true}));
    let not = run("bbr2", 4.0, json!({"ecn": true, "bbr2_ecn_max_rtt": "3ms"}));
    assert!(short < 0.75 * not, "{short} {not}");
}

/// A classic receiver echoes from a mark until it hears CWR (RFC 3168 section 6.1.3), so that a round trip seems to be
/// marked; as DCTCP's it echoes each mark once (RFC 8257 section 3.2).
#[test]
fn the_receiver_echoes_each_mark_once_with_ecn_low() {
    let told = |ecn_low: bool| {
        let tcp = json!({"ecn": true, "ecn_low": ecn_low, "bbr2_ecn_max_rtt": "0s"});
        let flows = [("bbr2", json!({})), ("bbr2", json!({}))];
        let r = up(
            100.0,
            10.0,
            "codel limit 1000 target 1s ce_threshold 1ms ecn",
            &flows,
            json!({ "tcp": tcp }),
        );
        let ecn = r.flows[0].ecn.as_ref().expect("ECN");
        ecn.delivered_ce.expect("a count") as f64 / ecn.marked as f64
    };
    let (classic, once) = (told(false), told(true));
    println!("told of marks: classic {classic:.2}, each once {once:.2}");
    assert!(
        (0.95..1.05).contains(&once) && classic > 1.25 * once,
        "{classic} {once}"
    );
}

/// In one scenario the flow for L4S has AccECN and ECT(1), whatever the other has. Behind DualPI2 it is in the queue
/// for low latency, neither starves beside a flow that answers the signals of its queue, and a run repeats.
#[test]
fn it_runs_beside_every_other_control() {
    for (other, keys, least) in [
        ("bbr2", json!({}), 0.2),
        ("bbr2", json!({"ecn": true}), 0.2),
        ("prague", json!({}), 0.2),
        ("cubic", json!({}), 0.2),
        ("cubic", json!({"ecn": true}), 0.2),
        ("bbr", json!({}), 0.02),
        ("bbr3", json!({"ecn": true}), 0.02),
    ] {
        let run = || {
            let flows = [("bbr2-l4s", json!({})), (other, keys.clone())];
            let more = json!({"tcp": {"bbr2_ecn_max_rtt": "0s"}, "duration": "20s"});
            up(100.0, 10.0, "dualpi2", &flows, more)
        };
        let r = run();
        assert_eq!(crate::common::comparable(&r), crate::common::comparable(&run()));
        let [a, b] = [r.flows[0].goodput_mbit, r.flows[1].goodput_mbit];
        let wait = r.flows[0].sojourn_ms.mean.unwrap();
        println!("{other} {keys}: {a:.1} and {b:.1} Mbit/s, {wait:.2} ms");
        let part = a / (a + b);
        assert!(part > least && part < 0.85, "{other} {keys}: {a} and {b}");
        assert!(wait < 2.0, "{other} {keys}: {wait} ms");
        assert!(r.flows[0].ecn.as_ref().expect("AccECN").marked > 0, "{other} {keys}");
        assert_eq!(
            r.flows[1].ecn.is_some(),
            other == "prague" || keys["ecn"] == true,
            "{other} {keys}"
        );
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |scenario: Value| {
        Scenario::from_json(&scenario.to_string())
            .expect_err("refused")
            .to_string()
    };
    assert_eq!(
        refused(json!({"duration": "1s", "tcp": {"bbr2_ecn_max_rtt": "2s"}})),
        "tcp.bbr2_ecn_max_rtt is 2s, but must be 0s to 1s"
    );
    let flow = json!({"name": "a", "direction": "up", "congestion_control": "bbr2-l4s", "ecn": true});
    assert_eq!(
        refused(json!({"duration": "1s", "flows": [flow]})),
        "flows[0].ecn is true, but must be \"accecn\" or absent with congestion_control \"bbr2-l4s\""
    );
}
