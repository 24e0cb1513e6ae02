//! BBR version 3 against what its draft says of a flow alone on a path, and beside others.

use crate::common::{FRAME, PAYLOAD, record, with};
use serde_json::{Value, json};
use sojourn_sim::Record;

/// Flows up from the beginning of the run on, over a FIFO that holds so many pipes.
fn up(mbit: f64, rtt_ms: f64, pipes: f64, controls: &[&str], more: Value) -> Record {
    let flows: Vec<Value> = controls
        .iter()
        .enumerate()
        .map(|(i, control)| json!({"name": format!("flow_{i}"), "direction": "up", "congestion_control": control}))
        .collect();
    let limit = (pipe(mbit, rtt_ms) * pipes).ceil();
    record(&with(
        &json!({"duration": "60s", "up": format!("{mbit}mbit"), "down": "1gbit", "rtt": format!("{rtt_ms}ms"),
                "qdisc_up": format!("pfifo limit {limit}"), "qdisc_down": "pfifo limit 10000", "burst_up": "1514b",
                "sample_interval": "10ms", "flows": flows}),
        more,
    ))
}

fn alone(mbit: f64, rtt_ms: f64, pipes: f64, more: Value) -> Record {
    up(mbit, rtt_ms, pipes, &["bbr3"], more)
}

/// Frames that the path holds.
fn pipe(mbit: f64, rtt_ms: f64) -> f64 {
    mbit * 1e3 * rtt_ms / (FRAME * 8.0)
}

/// What of the path's rate is delivered.
fn share(r: &Record, mbit: f64) -> f64 {
    r.summary.goodput_up_mbit / (mbit * PAYLOAD / FRAME)
}

/// Rate, Mbit/s, and round-trip time, ms.
const PATHS: [(f64, f64); 4] = [(2.0, 60.0), (10.0, 50.0), (100.0, 10.0), (20.0, 100.0)];

/// Draft sections 5.3.3.5 and 5.3.4.2: the window admits 2.25 pipes while the flow probes, so that the queue is never
/// longer than 1.25 pipes and what three sends and the probe need. Probes for the least round trip cost 2 % at most,
/// pacing below the estimate 1 %, and start-up a second of sixty.
#[test]
fn a_flow_alone_fills_its_path_with_a_short_queue_in_any_buffer() {
    for (mbit, rtt_ms) in PATHS {
        for pipes in [0.5, 1.0, 2.0, 4.0, 8.0, 16.0] {
            let r = alone(mbit, rtt_ms, pipes, json!({}));
            let share = share(&r, mbit);
            let queue = *r.series.backlog_packets.up[500..].iter().max().expect("bins") as f64;
            let mean = r.bottleneck.up.sojourn_ms.mean.unwrap();
            let sent_again = r.flows[0].retransmissions;
            println!("{mbit} Mbit/s {rtt_ms} ms {pipes} pipes: {share:.3}, {mean:.2} ms, {queue}, {sent_again} again");
            assert!((0.95..=1.0).contains(&share), "{mbit} {rtt_ms} {pipes}: {share}");
            assert!(
                queue <= 1.25 * pipe(mbit, rtt_ms) + 8.0,
                "{mbit} {rtt_ms} {pipes}: {queue}"
            );
            // Two frames are what pacing and delayed acknowledgements leave in the queue of a slow path.
            let frames_ms = 2.0 * FRAME * 8.0 / (mbit * 1e3);
            assert!(mean < 0.2 * rtt_ms + frames_ms, "{mbit} {rtt_ms} {pipes}: {mean} ms");
            if pipes >= 2.0 {
                assert_eq!(sent_again, 0, "{mbit} {rtt_ms} {pipes}");
            }
        }
    }
}

/// Draft section 5.3.1.1: the rate doubles each round trip until the path is full.
#[test]
fn start_up_doubles_its_rate_each_round_trip() {
    for (mbit, rtt_ms) in [(100.0, 40.0), (50.0, 100.0), (200.0, 100.0)] {
        let r = alone(mbit, rtt_ms, 20.0, json!({"duration": "2s"}));
        let bins = (rtt_ms / 10.0) as usize;
        let rates: Vec<f64> = r.series.goodput_mbit["flow_0"]
            .chunks(bins)
            .map(|bins| bins.iter().sum::<f64>() / bins.len() as f64)
            .collect();
        let growth: Vec<f64> = rates
            .windows(2)
            .take_while(|w| w[1] < 0.45 * mbit)
            .filter(|w| w[0] > 0.0)
            .skip(1)
            .map(|w| w[1] / w[0])
            .collect();
        println!("{mbit} Mbit/s {rtt_ms} ms: {growth:.2?}");
        // The first ten segments are left out: they leave at once, at the end of a round trip of the series.
        let product: f64 = growth.iter().product();
        let bound = |each: f64| growth.iter().map(|_| each).product::<f64>();
        assert!(
            (bound(1.75)..bound(2.25)).contains(&product),
            "{mbit} {rtt_ms}: {growth:?}"
        );
    }
}

/// The window of two pipes bounds the queue of start-up to one, and to what three sends need. Three round trips later
/// the flow drains it at 0.35 of the rate: of two pipes one is gone after 1 / (1 - 0.35) round trips.
#[test]
fn start_up_queues_one_pipe_which_the_drain_empties() {
    for (mbit, rtt_ms) in [(20.0, 40.0), (100.0, 20.0), (50.0, 100.0)] {
        let pipe = pipe(mbit, rtt_ms);
        let r = alone(mbit, rtt_ms, 20.0, json!({"duration": "4s"}));
        let backlog = &r.series.backlog_packets.up;
        let (peak_at, peak) = backlog.iter().enumerate().max_by_key(|(_, n)| **n).expect("bins");
        assert!(
            (0.6 * pipe..1.1 * pipe + 8.0).contains(&(*peak as f64)),
            "{peak} of {pipe}"
        );
        let drained = backlog[peak_at..].iter().position(|&n| n as f64 <= 0.05 * pipe + 2.0);
        let drained = drained.expect("it is drained") as f64 * 10.0 / rtt_ms;
        println!("{mbit} Mbit/s {rtt_ms} ms: {peak} of {pipe:.0}, drained {drained:.1} round trips later");
        assert!(
            drained < 3.0 + 1.0 / 0.65 + 1.5,
            "{mbit} {rtt_ms}: {drained} round trips"
        );
        assert_eq!(r.flows[0].retransmissions, 0);
    }
}

/// Where the window of the series is no more than half of the pipe, and one: when that begins, and for how long, s.
fn dips(r: &Record, half: f64) -> Vec<(f64, f64)> {
    let mut dips: Vec<(f64, f64)> = Vec::new();
    let mut before = false;
    for (t, &cwnd) in r.series.t_s.iter().zip(&r.series.cwnd_segments["flow_0"]) {
        let least = *t > 1.0 && f64::from(cwnd) <= half;
        match dips.last_mut() {
            Some(dip) if least && before => dip.1 += r.series.interval_s,
            _ if least => dips.push((*t, r.series.interval_s)),
            _ => {}
        }
        before = least;
    }
    dips
}

/// Draft section 5.3.4: every five seconds half of the pipe is in flight, for 200 ms and a round trip, once the queue
/// is drained.
#[test]
fn the_window_dips_to_half_of_the_pipe_every_five_seconds() {
    let r = alone(20.0, 40.0, 8.0, json!({"duration": "44s"}));
    let dips = dips(&r, 0.5 * pipe(20.0, 40.0) + 2.0);
    assert!((7..=8).contains(&dips.len()), "{dips:?}");
    for (at, lasts) in &dips {
        assert!((0.2..=0.36).contains(lasts), "{lasts} s at {at} s");
    }
    for pair in dips.windows(2) {
        let apart = pair[1].0 - pair[0].0;
        assert!((5.0..5.6).contains(&apart), "{dips:?}");
    }
    let least = r.series.cwnd_segments["flow_0"][100..].iter().min().expect("bins");
    assert!(*least >= 30, "{least}: half of 66, not four");
}

/// Draft section 5.3.3.8.3: each round trip with losses that no probe makes reduces the rate by what was lost. Between
/// two probes of a pipe of 331 there are 2 to 3 s, at 100 ms 20 to 30 round trips: a mean of (1 - 0.99^25) / (25 x
/// 0.01) = 0.89 of the rate at 1 %, of which 99 % arrive. Beyond the threshold of 2 % each probe bounds the volume to
/// 0.7 of what it was, and the flow collapses. Reno has 1.22 / sqrt(0.01) = 12 segments a round trip at 1 %.
#[test]
fn losses_below_two_percent_cost_little_and_more_are_congestion() {
    let shares: Vec<f64> = [0.001, 0.01, 0.05, 0.2]
        .iter()
        .map(|&loss| share(&alone(40.0, 100.0, 3.0, json!({"loss_up": loss})), 40.0))
        .collect();
    println!("0.1, 1, 5 and 20 % at 40 Mbit/s and 100 ms: {shares:.3?}");
    assert!(shares[0] > 0.9, "{shares:?}");
    assert!((0.8..0.92).contains(&shares[1]), "{shares:?}");
    assert!(shares[2] < 0.3 && shares[3] < 0.05, "{shares:?}");
    let reno = up(40.0, 100.0, 3.0, &["reno"], json!({"loss_up": 0.01}));
    assert!(share(&reno, 40.0) < 0.08, "{}", share(&reno, 40.0));
}

/// A test bed had TCP Prague beside BBRv3 of google's Linux 6.4 behind a FIFO, 100 Mbit/s and 10 ms, for 60 s each (PAM
/// 2025). Prague does there as CUBIC does: beside it CUBIC has 57, 53, 44 and 46 % in 0.5, 1, 2 and 4 pipes. BBRv3 had
/// 75 % in half a pipe, 75 % in one, 55 % in two and 39 % in four.
#[test]
fn beside_cubic_it_has_more_in_a_short_buffer_and_less_in_a_deep_one() {
    for (pipes, bed) in [(0.5, 0.75), (1.0, 0.75), (2.0, 0.55), (4.0, 0.39)] {
        let shares: Vec<f64> = ["cubic", "reno"]
            .iter()
            .map(|other| {
                let r = up(100.0, 10.0, pipes, &["bbr3", other], json!({}));
                let [a, b] = [r.flows[0].goodput_mbit, r.flows[1].goodput_mbit];
                assert!(a + b > 92.0, "{other} {pipes}: {a} and {b}");
                a / (a + b)
            })
            .collect();
        println!("{pipes} pipes beside cubic, reno: {shares:.3?}; the bed {bed}");
        assert!((shares[0] - bed).abs() < 0.12, "{pipes}: {shares:?}, {bed}");
    }
}

/// Waits are drawn: two flows of one run do not probe at the same time, and a run repeats.
#[test]
fn two_flows_share_a_path_and_a_run_repeats() {
    for pipes in [0.5, 2.0, 8.0] {
        let run = || up(20.0, 40.0, pipes, &["bbr3", "bbr3"], json!({}));
        let (one, two) = (run(), run());
        assert_eq!(crate::common::comparable(&one), crate::common::comparable(&two));
        let [a, b] = [one.flows[0].goodput_mbit, one.flows[1].goodput_mbit];
        println!("two flows, {pipes} pipes: {a:.2} {b:.2}");
        assert!(a / b > 0.7 && b / a > 0.7, "{pipes}: {a} and {b}");
    }
}

/// Where the path marks at a shallow threshold and is short, the flow answers marks by its volume, so that the queue is
/// short and nothing is lost. Else a mark means nothing to it, as google's Linux has it.
#[test]
fn marks_of_a_shallow_threshold_keep_the_queue_short() {
    let run = |rtt_ms: f64, ecn: Value, ecn_low: bool| {
        let tcp = json!({"ecn": ecn, "ecn_low": ecn_low});
        let queue = "codel limit 1000 target 1s ce_threshold 500us ecn";
        up(
            100.0,
            rtt_ms,
            8.0,
            &["bbr3", "bbr3"],
            json!({"tcp": tcp, "qdisc_up": queue}),
        )
    };
    let mean = |r: &Record| r.bottleneck.up.sojourn_ms.mean.unwrap();
    for ecn in [json!(true), json!("accecn")] {
        let (low, not) = (run(4.0, ecn.clone(), true), run(4.0, ecn.clone(), false));
        println!(
            "{ecn}: ecn_low {:.3} ms {:.3}, without {:.3} ms {:.3}",
            mean(&low),
            share(&low, 100.0),
            mean(&not),
            share(&not, 100.0)
        );
        assert!(mean(&low) < 0.75 * mean(&not), "{} and {}", mean(&low), mean(&not));
        assert!(share(&low, 100.0) > 0.93, "{}", share(&low, 100.0));
        // 10 ms are longer than 5 ms.
        let (low, not) = (run(10.0, ecn.clone(), true), run(10.0, ecn, false));
        assert!(mean(&low) > 0.9 * mean(&not), "{} and {}", mean(&low), mean(&not));
    }
}

/// The setting is for flows with ECN.
#[test]
fn the_setting_needs_ecn() {
    let scenario = json!({"duration": "1s", "tcp": {"ecn_low": true}});
    let refused = sojourn_sim::Scenario::from_json(&scenario.to_string()).expect_err("no ECN");
    assert_eq!(
        refused.to_string(),
        "tcp.ecn_low is true, but must be false without tcp.ecn, whose marks it is about"
    );
}
