//! Voice and web pages against numbers worked by hand.

use crate::common::{comparable, record, rrul, with};
use serde_json::{Value, json};
use sojourn_sim::record::FetchRecord;

/// Nearly equal: to the nanosecond, and what a float makes of it.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1.5e-9
}

fn voip(more: Value) -> Value {
    with(&json!({"name": "voip", "kind": "voip"}), more)
}

// ------------------------------------------------------------------------ voice

/// On an empty path a full token bucket holds nothing back: half the RTT, and 214 bytes on each edge wire of 100
/// Mbit/s.
#[test]
fn voice_on_an_idle_path_takes_propagation_and_serialisation() {
    let wire_ms = 214.0 * 8.0 / 100e6 * 1e3;
    for (edge, base) in [(json!(null), 25.0), (json!("100mbit"), 25.0 + 2.0 * wire_ms)] {
        for direction in ["up", "down"] {
            let mut s = json!({"duration": "5s", "probes": [voip(json!({"direction": direction}))]});
            if !edge.is_null() {
                s["edge_rate"] = edge.clone();
            }
            let r = record(&s);
            let p = &r.probes[0];
            let delay = p.delay_ms.as_ref().expect("a delay");
            let voice = p.voice.as_ref().expect("a voice stream");
            assert_eq!((p.kind, p.direction, p.sent, p.lost), ("voip", direction, 250, 0));
            assert!(
                (delay.min.unwrap() - base).abs() < 1e-6 && (delay.max.unwrap() - base).abs() < 1e-6,
                "{delay:?}"
            );
            assert!((voice.base_delay_ms - base).abs() < 1e-6);
            assert!(voice.jitter_ms == Some(0.0) && voice.ipdv_ms == Some(0.0));
            let series = &r.series.voip["voip"];
            assert_eq!(series.t_s, r.series.t_s);
            assert!(series.sent.iter().all(|&n| n == 10) && series.lost.iter().all(|&n| n == 0));
            assert!(
                series
                    .delay_ms
                    .iter()
                    .all(|d| (d.expect("packets") - base).abs() < 1e-6)
            );
            assert!(!r.series.rtt.contains_key("voip"));
        }
    }
}

/// 64 kbit/s of voice are 214 bytes each 20 ms: 85.6 kbit/s. At 42.8 kbit/s half of them find no room.
#[test]
fn voice_that_is_too_much_for_the_link_is_lost_by_the_queue_and_by_nothing_else() {
    let r = record(
        &json!({"duration": "60s", "up": "42.8kbit", "qdisc_up": "pfifo limit 10", "burst_up": "1514b",
                           "lead": "0s", "probes": [voip(json!({}))]}),
    );
    let p = &r.probes[0];
    assert_eq!(p.sent, 3000);
    // The link sends 1500 in a minute, 7 more from the full bucket, and 10 are queued at the end; the others are lost.
    assert!(p.lost.abs_diff(3000 - 1500 - 7 - 10) <= 1, "{}", p.lost);
    assert_eq!(p.lost, r.bottleneck.up.drops.values().sum::<u64>());
    assert_eq!(u64::from(r.series.voip["voip"].lost.iter().sum::<u32>()), p.lost);
    // A full queue is ten packets of 40 ms long.
    let delay = p.delay_ms.as_ref().expect("a delay");
    assert!(
        delay.max.unwrap() <= 25.0 + 400.0 + 1e-6 && delay.median.unwrap() > 25.0 + 350.0,
        "{delay:?}"
    );
}

/// A queue that takes eight seconds to drain loses nothing, however long that is after the end.
#[test]
fn voice_that_is_late_is_not_lost() {
    let r = record(
        &json!({"duration": "16s", "up": "42.8kbit", "qdisc_up": "pfifo limit 1000", "lead": "0s",
                           "probes": [voip(json!({}))]}),
    );
    assert_eq!((r.probes[0].sent, r.probes[0].lost), (800, 0));
    assert!(r.probes[0].delay_ms.as_ref().expect("a delay").max > Some(7000.0));
}

#[test]
fn codec_and_frame_say_what_is_sent() {
    for (probe, size, per_second) in [
        (json!({}), 214, 50),
        (json!({"codec": "opus"}), 60 + 54, 50),
        (json!({"codec": "g711", "frame": "10ms", "headers": 60}), 80 + 74, 100),
        (
            json!({"codec": "opus", "bitrate": "32kbit", "frame": "40ms"}),
            160 + 54,
            25,
        ),
    ] {
        let r = record(&json!({"duration": "10s", "probes": [voip(probe)]}));
        assert_eq!(r.probes[0].sent, per_second * 10);
        assert_eq!(r.bottleneck.up.bytes, size * per_second * 10);
    }
}

// ------------------------------------------------------------------------ web

fn page(objects: &[u64], more: Value) -> Value {
    with(&json!({"name": "web", "objects": objects, "interval": "60s"}), more)
}

fn fetches(scenario: &Value) -> Vec<FetchRecord> {
    record(scenario).web[0].fetches.clone()
}

/// One web client on an empty path.
fn idle(web: &Value, more: Value) -> Value {
    with(&json!({"duration": "5s", "start_jitter": "0s", "web": [web]}), more)
}

/// 10,300 bytes in 8 segments, the first ten of which may be sent at once: look-up, handshake and request take a
/// round trip each. The bottleneck holds them up: of 7 x 1514 + 230 bytes, a bucket of one frame lets 1514 pass at
/// once.
#[test]
fn a_small_page_takes_three_round_trips_and_its_serialisation() {
    for (rate, bps) in [("10mbit", 10e6), ("1mbit", 1e6)] {
        let link = json!({"up": rate, "down": rate, "burst_up": "1514b", "burst_down": "1514b"});
        let f = &fetches(&idle(&page(&[10_000], json!({})), link))[0];
        let serialisation = (7.0 * 1514.0 + 230.0 - 1514.0) * 8.0 / bps;
        assert_eq!((f.start_s, f.syn_retransmitted, f.dns_retried), (0.0, 0, 0));
        assert!(same(f.dns_s.unwrap(), 0.05) && same(f.connect_s, 0.05));
        assert!((f.time_s - (0.15 + serialisation)).abs() < 2e-8, "{rate}: {}", f.time_s);
    }
}

/// Slow start: 10, 20 and 40 segments, each a round trip after the other; the link is too fast to matter. (Some of
/// the last of 70 would wait for a delayed acknowledgement: a segment that ends a write is acknowledged alone, and
/// one is left over.)
#[test]
fn a_larger_page_takes_a_round_trip_more_for_each_doubling() {
    let fast = json!({"up": "10gbit", "down": "10gbit"});
    for (segments, trips) in [(10, 2), (11, 3), (30, 3), (31, 4), (60, 4), (80, 5)] {
        for cc in ["cubic", "reno"] {
            let web = page(
                &[segments * 1448 - 300],
                json!({"dns": false, "congestion_control": cc}),
            );
            let t = fetches(&idle(&web, fast.clone()))[0].time_s;
            let trips = 0.05 * f64::from(trips);
            assert!(t > trips - 1e-9 && t < trips + 0.001, "{segments} {cc}: {t}");
        }
    }
}

/// A short flow fills the queue for half a millisecond, in which the SYN (or the query) comes: the bare ACK of its
/// handshake leaves 66 bytes too few for the second frame to pass at once. Later there is no other traffic.
fn blocked(direction: &str, start: &str, dns: bool) -> (FetchRecord, FetchRecord, Value) {
    let link = json!({"up": "1mbit", "down": "1mbit", "qdisc_up": "pfifo limit 5", "qdisc_down": "pfifo limit 5",
                      "burst_up": "3028b", "burst_down": "3028b", "duration": "20s"});
    let web = json!({"start": start, "dns": dns});
    let alone = idle(&page(&[500], web), link);
    let with_flow = with(
        &alone,
        json!({"flows": [{"name": "burst", "direction": direction, "bytes": 14_480}]}),
    );
    let r = record(&with_flow);
    let facts = json!({"up": r.bottleneck.up, "down": r.bottleneck.down, "flow": r.flows[0]});
    (fetches(&alone)[0].clone(), r.web[0].fetches[0].clone(), facts)
}

/// From 2050.3 ms, when the SYN or SYN-ACK goes out that is lost, until it goes out again. By Linux's ticks the time-out
/// of 1 s ends at 3050 ms, and a timer that is so far off goes off at the next multiple of 64.
const SYN_TIMEOUT_S: f64 = 3.072 - 2.0503;

#[test]
fn a_lost_syn_costs_one_second() {
    let (alone, late, facts) = blocked("up", "50.3ms", false);
    assert_eq!((alone.syn_retransmitted, late.syn_retransmitted), (0, 1));
    assert!(
        same(late.time_s, alone.time_s + SYN_TIMEOUT_S),
        "{} {}",
        alone.time_s,
        late.time_s
    );
    assert!(same(late.connect_s, 0.05 + SYN_TIMEOUT_S));
    // The SYN of the flow, that of the client, and its repetition; of the flow's ten segments four found no room.
    assert_eq!(facts["up"]["syn"], json!({"offered": 3, "dropped": 1}));
    assert_eq!(facts["down"]["syn"], json!({"offered": 2, "dropped": 0}));
    assert_eq!(facts["flow"]["data_dropped"], json!(4));
    // They came at once, 50 ms after the flow's SYN.
    assert_eq!(
        facts["flow"]["drop_gaps_ms"],
        json!({"count": 3, "mean": 0.0, "cv": null})
    );
    assert_eq!(facts["flow"]["syn_retransmissions"], json!(0));
    assert!(
        same(
            facts["up"]["first_drop_s"]["queue_limit"].as_f64().expect("a drop"),
            0.05
        ),
        "{facts}"
    );
    assert_eq!(facts["down"]["first_drop_s"], json!({}));
}

/// The burst comes down 50 ms after the start, so the SYN-ACK of a SYN sent at 25.3 ms meets it. The client repeats
/// its SYN and the server its SYN-ACK at the same time.
#[test]
fn a_lost_syn_ack_costs_one_second() {
    let (alone, late, facts) = blocked("down", "25.3ms", false);
    assert_eq!(late.syn_retransmitted, 1);
    assert!(
        (late.time_s - alone.time_s - SYN_TIMEOUT_S).abs() < 1e-3,
        "{} {}",
        alone.time_s,
        late.time_s
    );
    assert_eq!(facts["down"]["syn"]["dropped"], json!(1));
}

#[test]
fn a_lost_query_costs_five_seconds() {
    let (alone, late, facts) = blocked("up", "50.3ms", true);
    assert_eq!((late.dns_retried, late.syn_retransmitted), (1, 0));
    assert!(same(late.time_s, alone.time_s + 5.0));
    assert!(same(late.dns_s.unwrap(), 5.05));
    assert_eq!(facts["up"]["syn"], json!({"offered": 2, "dropped": 0}));
}

/// The whole of what the page and its conversation weigh, by direction.
#[test]
fn a_page_is_its_objects_headers_requests_look_ups_and_handshakes() {
    let r = record(&idle(
        &page(&[1000, 2000, 300], json!({"workers": 2})),
        json!({"duration": "9s"}),
    ));
    assert_eq!(r.web[0].completed, 1);
    // Up: 2 queries, 2 SYNs, 3 requests, 2 FINs; and ACKs of 66 bytes. Down: 2 answers, 2 SYN-ACKs, 3 objects with 300
    // bytes before each in 1 + 2 + 1 segments, 2 FINs.
    let up = 2 * 74 + 2 * 74 + 3 * 166 + 2 * 66;
    let acks = r.bottleneck.up.bytes - up;
    assert_eq!(acks % 66, 0, "{acks}");
    // Of each SYN-ACK and FIN one; of the data, at most one each.
    assert!((4..=8).contains(&(acks / 66)), "{acks}");
    let down = 2 * 90 + 2 * 74 + (3300 + 900 + 4 * 66) + 2 * 66;
    let acks = r.bottleneck.down.bytes - down;
    assert!(acks.is_multiple_of(66) && acks / 66 <= 2, "{acks}");
}

#[test]
fn a_fetch_under_way_at_the_end_is_not_counted() {
    let web = page(&[10_000], json!({"interval": "400ms"}));
    let r = record(&idle(&web, json!({"duration": "1s"})));
    // They begin at 0, 0.4 and 0.8 s; the third is over at about 0.96 s.
    assert_eq!(r.web[0].completed, 3);
    let r = record(&idle(
        &page(&[10_000], json!({"interval": "400ms"})),
        json!({"duration": "900ms"}),
    ));
    assert_eq!(
        (r.web[0].completed, r.web[0].fetches.len(), r.web[0].time_s.count),
        (2, 2, 2)
    );
    let mean = r.web[0].fetches.iter().map(|f| f.time_s).sum::<f64>() / 2.0;
    assert!(same(r.summary.page_fetch_s.expect("a mean"), mean) && same(r.web[0].time_s.mean.unwrap(), mean));
}

// ------------------------------------------------------------------------ all together

#[test]
fn every_packet_that_was_offered_was_sent_dropped_or_is_queued() {
    // Voice alone can be counted: what it sent has arrived, or the bottleneck says that it dropped it.
    let all = with(
        &rrul(
            2,
            json!({"up": "2mbit", "down": "5mbit", "qdisc_up": "pfifo limit 20", "qdisc_down": "codel", "lead": "0s", "seed": 2}),
        ),
        json!({"web": [page(&[30_000, 2000, 4000], json!({"interval": "200ms"}))],
               "probes": [voip(json!({})), voip(json!({"name": "back", "direction": "down"}))]}),
    );
    let r = record(&all);
    assert!(r.web[0].completed > 2);
    assert!(r.probes.iter().all(|p| p.sent == 500));
    let up = &r.bottleneck.up;
    let drops: u64 = up.drops.values().sum();
    assert!(r.probes[0].lost > 0 && r.probes[0].lost + r.flows[0].data_dropped < drops);
    assert_eq!(*r.series.drops.up.last().expect("bins"), drops);
    assert!(up.syn.dropped <= up.syn.offered && up.syn.offered >= r.web[0].completed as u64);
}

#[test]
fn a_web_client_or_a_voice_stream_more_does_not_disturb_the_draws_of_the_others() {
    let base = with(
        &rrul(2, json!({"up": "50mbit", "down": "50mbit"})),
        json!({"probes": [{"name": "a", "kind": "poisson"}]}),
    );
    let more = with(
        &base,
        json!({"web": [page(&[30_000, 2000], json!({"interval": "1s"}))],
               "probes": [voip(json!({})), {"name": "a", "kind": "poisson"}]}),
    );
    let (one, two) = (record(&base), record(&more));
    assert_eq!(one.series.rtt["a"].t_s, two.series.rtt["a"].t_s);
    // And the hashes of the flows: whose queue is shared with whom.
    let shared = |r: &sojourn_sim::Record| r.flows.iter().map(|f| f.queue_shared_with.clone()).collect::<Vec<_>>();
    assert_eq!(shared(&one), shared(&two));
    assert_eq!(comparable(&two), comparable(&record(&more)));
}

/// A flow that has sent all closes: its last segment carries a FIN, and the other end's FIN is acknowledged.
#[test]
fn a_flow_of_known_size_closes() {
    let r = record(&json!({"duration": "5s", "qdisc_up": "pfifo limit 1000",
                           "flows": [{"name": "short", "direction": "up", "bytes": 14_480}]}));
    // SYN, the ACK of the handshake, ten segments, the ACK of the FIN.
    assert_eq!((r.flows[0].segments_sent, r.bottleneck.up.packets), (10, 13));
    assert_eq!(r.bottleneck.up.bytes, 74 + 66 + 10 * 1514 + 66);
    assert!(same(r.flows[0].goodput_mbit, 14_480.0 * 8.0 / 5e6));
}
