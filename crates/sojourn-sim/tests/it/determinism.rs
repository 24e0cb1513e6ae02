//! One scenario, one record: whoever runs it, however often, on however many threads.

use crate::common::{comparable, record, rrul, with};
use serde_json::{Value, json};

/// Every part that draws or could draw random numbers, in one short run.
fn scenario() -> Value {
    with(
        &rrul(
            3,
            json!({"up": "5mbit", "down": "20mbit", "qdisc_up": "pie", "qdisc_down": "sfq perturb 1", "duration": "5s"}),
        ),
        json!({"probes": [
            {"name": "ping", "kind": "icmp"},
            {"name": "rr", "kind": "udp_rr"},
            {"name": "stream", "kind": "isochronous", "direction": "down", "interval": "20ms"},
            {"name": "voip", "kind": "voip"},
            {"name": "arrivals", "kind": "poisson", "interval": "30ms"},
        ], "web": [{"name": "web", "objects": [20_000, 3000, 4000]}]}),
    )
}

#[test]
fn the_same_scenario_gives_the_same_record_byte_by_byte() {
    assert_eq!(comparable(&record(&scenario())), comparable(&record(&scenario())));
}

#[test]
fn four_threads_at_once_give_the_record_of_one() {
    let alone = comparable(&record(&scenario()));
    std::thread::scope(|s| {
        let threads: Vec<_> = (0..4).map(|_| s.spawn(|| comparable(&record(&scenario())))).collect();
        for thread in threads {
            assert_eq!(thread.join().expect("the run does not panic"), alone);
        }
    });
}

#[test]
fn another_seed_gives_another_record() {
    let of = |seed: u64| {
        let mut value: Value = serde_json::from_str(&comparable(&record(&with(&scenario(), json!({"seed": seed})))))
            .expect("a record is JSON");
        // But for what names the seed.
        value["seed"] = json!(0);
        value["scenario"]["seed"] = json!(0);
        value.to_string()
    };
    assert_eq!(of(2), of(2));
    assert_ne!(of(1), of(2));
}

#[test]
fn the_scenario_in_a_record_gives_the_record_again() {
    let first = record(&scenario());
    let again = record(&first.scenario);
    assert_eq!(comparable(&first), comparable(&again));
    assert_eq!(first.scenario, again.scenario);
}

#[test]
fn a_probe_more_does_not_disturb_the_draws_of_the_others() {
    let base = json!({"duration": "5s", "probes": [{"name": "a", "kind": "poisson"}, {"name": "b", "kind": "icmp"}]});
    let more = with(
        &base,
        json!({"probes": [{"name": "new", "kind": "poisson"},
                                             {"name": "a", "kind": "poisson"}, {"name": "b", "kind": "icmp"}]}),
    );
    let (one, two) = (record(&base), record(&more));
    for name in ["a", "b"] {
        assert_eq!(one.series.rtt[name].t_s, two.series.rtt[name].t_s, "{name}");
    }
    assert_ne!(two.series.rtt["new"].t_s, two.series.rtt["a"].t_s);
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Of the run below: integers alone, so that no formatting of a float takes part.
const GOLDEN: u64 = 0xba85_1c0b_2405_0551;

#[test]
fn the_behaviour_of_a_short_run_is_the_known_one() {
    let r = record(&rrul(
        2,
        json!({"up": "2mbit", "down": "8mbit", "duration": "8s", "qdisc_up": "codel",
                                   "qdisc_down": "pfifo limit 40", "seed": 7}),
    ));
    let facts = json!({
        "flows": r.flows.iter().map(|f| json!([f.segments_sent, f.retransmissions, f.timeouts, f.acks_dropped, f.data_dropped]))
            .collect::<Vec<_>>(),
        "cwnd": r.series.cwnd_segments,
        "packets": [r.series.packets.up, r.series.packets.down],
        "drops": [r.series.drops.up, r.series.drops.down],
        "ns": r.series.rtt["ping"].rtt_ms.iter().map(|x| x.map(|ms| (ms * 1e6).round() as u64)).collect::<Vec<_>>(),
    });
    let found = hash(&facts.to_string());
    assert_eq!(
        found, GOLDEN,
        "the behaviour has changed. If it was meant to, say so in CHANGELOG.md and set GOLDEN in this file to {found:#018x}"
    );
    // And it is a sane one (above 70 % of the rates): a hash knows nothing of right and wrong.
    assert!(r.summary.goodput_up_mbit > 1.4 && r.summary.goodput_up_mbit < 2.0 * 1448.0 / 1514.0);
    assert!(r.summary.goodput_down_mbit > 5.0 && r.summary.goodput_down_mbit < 8.0 * 1448.0 / 1514.0);
}
