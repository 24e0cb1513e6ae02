//! Downloads, thin streams, and what befalls packets on a long link, against numbers worked by hand.

use crate::common::{PAYLOAD, comparable, record, rrul, with};
use serde_json::{Value, json};
use sojourn_sim::Record;

/// Nearly equal: to the nanosecond, and what a float makes of it.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 2e-6
}

/// A path without serialisation: a bucket that is never empty, 100 ms there and back.
fn long_path(more: Value) -> Value {
    with(
        &json!({"duration": "10s", "lead": "0s", "rtt": "100ms", "up": "1gbit", "down": "1gbit", "burst_up": "10mb",
                "burst_down": "10mb", "qdisc_up": "pfifo limit 10000", "qdisc_down": "pfifo limit 10000",
                "start_jitter": "0s", "tcp": {"initial_window": 3, "delayed_ack": false}}),
        more,
    )
}

fn file(more: Value) -> Value {
    with(
        &json!({"name": "file", "direction": "up", "bytes": 1448, "gap": "1s", "congestion_control": "reno"}),
        more,
    )
}

fn completions(r: &Record) -> Vec<f64> {
    r.downloads[0].files.iter().filter_map(|f| f.fct_ms).collect()
}

/// RFC 5681 section 3.1, by hand: a round trip for the handshake, then 3, 6, 12, 24 segments, each round a round trip
/// after the last; the last byte takes half of one. No round waits for the link.
#[test]
fn a_file_over_an_idle_path_takes_the_rounds_of_slow_start() {
    for (segments, ms) in [
        (1, 150.0),
        (3, 150.0),
        (4, 250.0),
        (9, 250.0),
        (10, 350.0),
        (21, 350.0),
        (22, 450.0),
        (45, 450.0),
    ] {
        for direction in ["up", "down"] {
            let download = file(json!({"bytes": segments * 1448, "direction": direction}));
            let r = record(&long_path(json!({"downloads": [download]})));
            let times = completions(&r);
            assert!(times.len() >= 3, "{times:?}");
            assert!(
                times.iter().all(|&t| same(t, ms)),
                "{segments} segments {direction}: {times:?}"
            );
            let d = &r.downloads[0];
            assert_eq!((d.retransmissions, d.syn_retransmissions, d.data_dropped), (0, 0, 0));
            assert!(same(r.summary.fct_ms.flatten().expect("files"), ms));
            // No queue: nothing waits.
            assert!(same(d.sojourn_ms.mean.unwrap(), 0.0) && d.sojourn_ms.max == Some(Some(0.0)));
        }
    }
}

/// The time between the end of a file and the start of the next is exponential: its mean is the one given, and a
/// share of exp(-1) is longer. Within four standard deviations of each.
#[test]
fn idle_times_are_exponential() {
    let download = file(json!({"gap": "40ms"}));
    let r = record(&long_path(
        json!({"duration": "300s", "rtt": "2ms", "downloads": [download]}),
    ));
    let files = &r.downloads[0].files;
    let gaps: Vec<f64> = files
        .windows(2)
        .map(|w| (w[1].start_s - w[0].start_s) * 1e3 - w[0].fct_ms.expect("complete"))
        .collect();
    let n = gaps.len() as f64;
    assert!(n > 6000.0, "{n}");
    let mean = gaps.iter().sum::<f64>() / n;
    assert!((mean - 40.0).abs() < 4.0 * 40.0 / n.sqrt(), "{mean} of {n}");
    let longer = gaps.iter().filter(|&&g| g > 40.0).count() as f64 / n;
    let p = 1.0 / std::f64::consts::E;
    assert!((longer - p).abs() < 4.0 * (p * (1.0 - p) / n).sqrt(), "{longer}");
    assert!(gaps.iter().all(|&g| g >= 0.0));
}

/// 100 full frames at 1 Mbit/s take 1.2 s; a run of 1 s ends before that.
#[test]
fn a_file_that_is_not_there_at_the_end_is_last_and_has_no_time() {
    let link =
        json!({"duration": "1s", "up": "1mbit", "burst_up": "1514b", "downloads": [file(json!({"bytes": 144_800}))]});
    let r = record(&long_path(link));
    let d = &r.downloads[0];
    assert_eq!((d.files.len(), d.completed, d.files[0].fct_ms), (1, 0, None));
    assert_eq!(r.summary.fct_ms, Some(None));
    assert!(d.goodput_mbit > 0.3 && d.goodput_mbit < PAYLOAD / 1514.0);
    let json: Value = serde_json::from_str(&r.to_json()).expect("a record is JSON");
    assert!(json["summary"]["fct_ms"].is_null() && json["summary"].get("fct_ms").is_some());
}

/// What was delivered is the files that are complete, and a part of the last one.
#[test]
fn every_byte_of_a_complete_file_was_delivered_once_whatever_was_lost() {
    let s = long_path(json!({
        "duration": "60s", "up": "2mbit", "burst_up": "3028b", "qdisc_up": "pfifo limit 10", "loss_up": 0.02, "loss_down": 0.02,
        "downloads": [file(json!({"bytes": 200_000}))],
    }));
    let r = record(&s);
    let d = &r.downloads[0];
    assert!(d.completed >= 3 && d.retransmissions > 0, "{d:?}");
    let delivered = d.goodput_mbit * 60.0 / 8.0 * 1e6;
    let complete = (d.completed * 200_000) as f64;
    assert!(
        delivered >= complete - 1e-3 && delivered < complete + 200_000.0,
        "{delivered} {complete}"
    );
    // Each file takes as long as the link needs for it, and a handshake.
    let least = 200_000.0 / 1448.0 * 1514.0 * 8.0 / 2e6 * 1e3 - 20.0;
    assert!(completions(&r).iter().all(|&t| t > least));
    // A loss is repaired, so there is one more segment for each: SYNs and FINs may be lost too.
    let lost = r.bottleneck.up.lost.expect("loss was asked for") + d.data_dropped;
    assert!(d.retransmissions + d.syn_retransmissions + 3 >= lost, "{lost} {d:?}");
}

/// Each file has ports of its own, so in SFQ-like disciplines a queue of its own; and two downloads do not share
/// their draws.
#[test]
fn downloads_draw_each_for_itself() {
    let two = |names: [&str; 2]| {
        let downloads = names.map(|name| file(json!({"name": name})));
        record(&long_path(json!({"duration": "30s", "downloads": downloads})))
    };
    let (ab, bc) = (two(["a", "b"]), two(["b", "c"]));
    let starts = |r: &Record, i: usize| r.downloads[i].files.iter().map(|f| f.start_s).collect::<Vec<_>>();
    assert_eq!(starts(&ab, 1), starts(&bc, 0));
    assert_ne!(starts(&ab, 0), starts(&ab, 1));
}

// ------------------------------------------------------------------------ one connection for all files

/// Files of 21 segments with idle times of this mean, over one connection. The first takes the handshake and rounds
/// of 3, 6 and 12 segments, which leave a window of 24.
fn persistent(more: Value) -> Record {
    let download = with(&file(json!({"bytes": 21 * 1448, "persistent": true})), more);
    record(&long_path(json!({"duration": "300s", "downloads": [download]})))
}

/// Completion times of the files that began between so many milliseconds after the last one was complete.
fn after_idle(r: &Record, least: f64, most: f64) -> Vec<f64> {
    let mut found = Vec::new();
    for pair in r.downloads[0].files.windows(2) {
        let idle = (pair[1].start_s - pair[0].start_s) * 1e3 - pair[0].fct_ms.expect("complete");
        if (least..most).contains(&idle) {
            found.extend(pair[1].fct_ms);
        }
    }
    found
}

/// The acknowledgements are back after 50 ms. The least time-out is 200 ms more than a round trip: until then the
/// window stays, and a file that fits into it leaves at once.
#[test]
fn the_next_file_begins_with_the_window_of_the_last_one() {
    let r = persistent(json!({"gap": "100ms"}));
    assert!(same(completions(&r)[0], 350.0), "{:?}", completions(&r)[0]);
    let soon = after_idle(&r, 51.0, 199.0);
    assert!(soon.len() > 100 && soon.iter().all(|&t| same(t, 50.0)), "{soon:?}");
}

/// RFC 2861: the window is halved for every time-out that passes, down to the initial one: slow start again, without
/// a handshake.
#[test]
fn a_long_idle_time_takes_the_window_back() {
    let r = persistent(json!({"gap": "5s"}));
    let late = after_idle(&r, 5000.0, f64::INFINITY);
    assert!(late.len() > 5 && late.iter().all(|&t| same(t, 250.0)), "{late:?}");
}

/// There is one handshake, no FIN, and every byte of a complete file was delivered, whatever was lost.
#[test]
fn a_persistent_download_has_one_connection() {
    let r = persistent(json!({"gap": "1s"}));
    let d = &r.downloads[0];
    assert!(d.completed > 100 && d.completed + 1 >= d.files.len());
    assert_eq!((d.retransmissions, d.segments_sent), (0, 21 * d.files.len() as u64));
    let json: Value = serde_json::from_str(&r.to_json()).expect("a record is JSON");
    assert_eq!(json["bottleneck"]["up"]["syn"], json!({"offered": 1, "dropped": 0}));
    let lossy = record(&long_path(json!({
        "duration": "60s", "up": "2mbit", "burst_up": "3028b", "qdisc_up": "pfifo limit 10", "loss_up": 0.02, "loss_down": 0.02,
        "downloads": [file(json!({"bytes": 200_000, "persistent": true}))],
    })));
    let d = &lossy.downloads[0];
    assert!(d.completed >= 3 && d.retransmissions > 0, "{d:?}");
    let delivered = d.goodput_mbit * 60.0 / 8.0 * 1e6;
    let complete = (d.completed * 200_000) as f64;
    assert!(
        delivered >= complete - 1e-3 && delivered < complete + 200_000.0,
        "{delivered} {complete}"
    );
}

/// Without delays each data segment is answered: beside the SYN-ACK, as many packets come back as segments went. With
/// them fewer.
#[test]
fn each_segment_is_acknowledged_unless_acknowledgements_are_delayed() {
    let answers = |delayed: bool| {
        let r = record(&long_path(json!({
            "duration": "60s", "tcp": {"initial_window": 3, "delayed_ack": delayed, "receive_window": "64kb"},
            "downloads": [file(json!({"bytes": 1000 * 1448, "gap": "3000s", "persistent": true}))],
        })));
        let d = &r.downloads[0];
        assert_eq!((d.completed, d.segments_sent), (1, 1000));
        (r.bottleneck.down.packets - 1, d.segments_sent)
    };
    let (at_once, segments) = answers(false);
    assert_eq!(at_once, segments);
    let (delayed, segments) = answers(true);
    assert!(delayed < segments * 2 / 3, "{delayed} of {segments}");
}

// ------------------------------------------------------------------------ thin streams

fn thin(more: Value) -> Value {
    with(
        &json!({"name": "thin", "direction": "up", "write": "150b", "write_interval": "300ms"}),
        more,
    )
}

/// A write takes half a round trip; the first also waits for the handshake.
#[test]
fn a_write_on_an_idle_path_takes_the_propagation() {
    for direction in ["up", "down"] {
        let flow = thin(json!({"direction": direction}));
        let r = record(&long_path(json!({"duration": "29.9s", "flows": [flow]})));
        let w = r.flows[0].writes.as_ref().expect("a thin stream");
        assert_eq!((w.count, w.delivered), (100, 100));
        assert!(
            same(w.delay_ms.min.unwrap(), 50.0)
                && same(w.delay_ms.p95.unwrap(), 50.0)
                && same(w.delay_ms.max.unwrap(), 150.0)
        );
        assert!(same(w.delay_ms.mean.unwrap(), 51.0), "{:?}", w.delay_ms);
        // A segment for each: nothing waits for more to send (Nagle).
        assert_eq!((r.flows[0].segments_sent, r.flows[0].retransmissions), (100, 0));
        assert!((r.flows[0].goodput_mbit - 150.0 * 8.0 * 100.0 / 29.9 / 1e6).abs() < 1e-9);
    }
}

#[test]
fn a_thin_stream_with_a_length_ends_with_it() {
    let r = record(&long_path(json!({"flows": [thin(json!({"bytes": 400}))]})));
    let w = r.flows[0].writes.as_ref().expect("a thin stream");
    assert_eq!((w.count, w.delivered), (3, 3));
    // The FIN goes with the last write.
    assert_eq!(r.flows[0].segments_sent, 3);
}

/// A lost segment holds back what was written after it, until it has come again: all comes, in order.
#[test]
fn every_write_of_a_lossy_path_arrives() {
    let r = record(&long_path(
        json!({"duration": "300s", "loss_up": 0.05, "flows": [thin(json!({"bytes": 135_000}))]}),
    ));
    let w = r.flows[0].writes.as_ref().expect("a thin stream");
    assert_eq!((w.count, w.delivered), (900, 900));
    assert!(
        r.flows[0].retransmissions > 20 && w.delay_ms.max.unwrap() > 200.0,
        "{w:?}"
    );
    assert!(w.delay_ms.min.unwrap() > 50.0 - 1e-6);
}

// ------------------------------------------------------------------------ loss and jitter

fn stream(direction: &str, interval: &str) -> Value {
    json!({"name": direction, "kind": "isochronous", "direction": direction, "interval": interval})
}

/// Binomial: within four standard deviations of its mean, and the other direction loses nothing.
#[test]
fn packets_are_lost_with_the_probability_given() {
    for (key, p) in [("loss_up", 0.05), ("loss_down", 0.3), ("loss_up", 0.001)] {
        let r = record(&long_path(
            json!({"duration": "60s", key: p, "probes": [stream("up", "2ms"), stream("down", "2ms")]}),
        ));
        let n = 30_000.0;
        for (i, side) in [&r.bottleneck.up, &r.bottleneck.down].into_iter().enumerate() {
            let probe = &r.probes[i];
            assert_eq!(probe.sent, 30_000);
            if key == format!("loss_{}", probe.direction) {
                assert!(
                    (probe.lost as f64 - n * p).abs() < 4.0 * (n * p * (1.0 - p)).sqrt(),
                    "{key} {}",
                    probe.lost
                );
                // Nothing is lost anywhere else.
                assert_eq!(side.lost, Some(probe.lost));
                assert_eq!(side.packets, 30_000);
            } else {
                assert_eq!((probe.lost, side.lost), (0, None));
            }
        }
    }
}

/// Far apart, the extra delays are uniform in 0 to 40 ms: mean 20, standard deviation 40 / sqrt(12).
#[test]
fn jitter_is_uniform() {
    let r = record(&long_path(
        json!({"duration": "400s", "jitter_up": "40ms", "probes": [stream("up", "100ms")]}),
    ));
    let d = r.probes[0].delay_ms.as_ref().expect("one way");
    assert_eq!((d.count, r.probes[0].lost), (4000, 0));
    assert!(
        (d.mean.unwrap() - 70.0).abs() < 4.0 * 40.0 / (12.0f64 * 4000.0).sqrt(),
        "{d:?}"
    );
    assert!(
        d.min.unwrap() >= 50.0 && d.min.unwrap() < 50.1 && d.max.unwrap() <= 90.0 && d.max.unwrap() > 89.9,
        "{d:?}"
    );
    assert!(
        (d.p5.unwrap() - 52.0).abs() < 1.0 && (d.p95.unwrap() - 88.0).abs() < 1.0,
        "{d:?}"
    );
}

/// Close together, packets wait for each other: none overtakes, and none is late by more than the jitter.
#[test]
fn jitter_keeps_the_order() {
    let r = record(&long_path(json!({
        "duration": "20s", "jitter_up": "40ms", "probes": [stream("up", "1ms")],
        "flows": [{"name": "bulk", "direction": "up", "congestion_control": "reno", "bytes": 3_000_000}],
    })));
    let series = &r.series.rtt["up"];
    let arrivals: Vec<f64> = series
        .t_s
        .iter()
        .zip(&series.rtt_ms)
        .map(|(t, d)| t * 1e3 + d.expect("nothing is lost"))
        .collect();
    assert_eq!(arrivals.len(), 20_000);
    assert!(arrivals.windows(2).all(|w| w[1] >= w[0] - 1e-6));
    assert!(
        series
            .rtt_ms
            .iter()
            .flatten()
            .all(|d| (50.0 - 1e-6..=90.0 + 1e-6).contains(d))
    );
    // Nothing overtakes, so TCP sees no loss where there is none.
    assert_eq!(r.flows[0].retransmissions, 0);
    assert!((r.flows[0].goodput_mbit - 3e6 * 8.0 / 20.0 / 1e6).abs() < 1e-9);
}

// ------------------------------------------------------------------------ edges

/// Ten segments back to back after the bare acknowledgement of the SYN-ACK: that is being sent, and they need room
/// for ten.
#[test]
fn the_queue_at_an_edge_holds_its_limit() {
    for (limit, lost) in [(10, 0), (9, 1), (4, 6)] {
        let r = record(&long_path(json!({
            "edge_rate": "1mbit", "edge_limit": limit, "tcp": {"initial_window": 10, "delayed_ack": false},
            "duration": "3s", "downloads": [file(json!({"bytes": 14_480, "gap": "3000s"}))],
        })));
        let d = &r.downloads[0];
        assert_eq!(
            (d.completed, d.retransmissions, d.data_dropped),
            (1, lost, 0),
            "{limit}"
        );
    }
}

// ------------------------------------------------------------------------ metrics

/// A path that holds 25 packets on the way and 25 in the queue: a slow start without threshold overshoots it.
fn slow_files(save: bool, more: Value) -> Record {
    record(&with(
        &json!({"duration": "300s", "lead": "0s", "up": "1mbit", "down": "1mbit", "rtt": "300ms", "qdisc_up": "pfifo limit 25",
                "start_jitter": "0s", "tcp": {"initial_window": 3, "save_metrics": save, "variant": "linux-3.14"},
                "downloads": [file(json!({"bytes": 1_700_000, "gap": "1s"}))]}),
        more,
    ))
}

/// The window of a path of 50 packets is halved to some 25 at each loss: that is what a file leaves to the next,
/// whose slow start then ends before the queue is full.
#[test]
fn a_file_begins_with_the_threshold_that_the_last_one_left() {
    let (forgotten, remembered) = (slow_files(false, json!({})), slow_files(true, json!({})));
    assert!(
        same(completions(&forgotten)[0], completions(&remembered)[0]),
        "nothing is known at first"
    );
    let per_file = |r: &Record| r.downloads[0].data_dropped as f64 / r.downloads[0].completed as f64;
    assert!(
        per_file(&remembered) < 0.5 * per_file(&forgotten),
        "{} and {}",
        per_file(&remembered),
        per_file(&forgotten)
    );
    let slowest = |r: &Record| completions(r)[1..].iter().copied().fold(0.0, f64::max);
    assert!(slowest(&remembered) < slowest(&forgotten));
}

/// Addresses are of hosts, not of connections: who sends to another place, or back, knows nothing.
#[test]
fn what_is_known_is_of_one_way_of_one_path() {
    let download = |name: &str, direction: &str, rtt: &str, start: &str| {
        file(
            json!({"name": name, "bytes": 1_700_000, "gap": "3000s", "direction": direction, "rtt": rtt, "start": start}),
        )
    };
    let drops = |direction: &str, rtt: &str| {
        let first = download("first", "up", "300ms", "0s");
        let second = download("second", direction, rtt, "60s");
        let more = json!({"duration": "120s", "qdisc_down": "pfifo limit 25", "downloads": [first, second]});
        let r = slow_files(true, more);
        assert_eq!(r.downloads[1].completed, 1);
        r.downloads[1].data_dropped
    };
    let known = drops("up", "300ms");
    assert!(known < 10, "{known}");
    for (direction, rtt) in [("down", "300ms"), ("up", "301ms")] {
        let unknown = drops(direction, rtt);
        assert!(unknown > 20, "{unknown} {direction} {rtt}");
    }
}

/// A flow that has ended leaves its threshold to those that start after it, and downloads use it.
#[test]
fn flows_remember_too() {
    let with_flow = |save: bool| {
        let more = json!({
            "duration": "120s",
            "flows": [{"name": "first", "direction": "up", "bytes": 1_700_000, "congestion_control": "reno"},
                      {"name": "second", "direction": "up", "bytes": 1_700_000, "congestion_control": "reno", "start": "60s"}],
            "downloads": [],
        });
        let r = slow_files(save, more);
        [r.flows[0].data_dropped, r.flows[1].data_dropped]
    };
    let (forgotten, remembered) = (with_flow(false), with_flow(true));
    assert_eq!(forgotten[0], remembered[0]);
    assert!(remembered[1] < forgotten[1] / 2, "{remembered:?} and {forgotten:?}");
}

// ------------------------------------------------------------------------ records

#[test]
fn what_a_record_says_of_slow_long_links_is_absent_from_any_other() {
    let r = record(&rrul(1, json!({"duration": "2s"})));
    let json: Value = serde_json::from_str(&r.to_json()).expect("a record is JSON");
    assert_eq!(
        json["flows"][0]["sojourn_ms"].as_object().map(serde_json::Map::len),
        Some(1)
    );
    for (part, key) in [
        (&json, "downloads"),
        (&json["summary"], "fct_ms"),
        (&json["flows"][0], "writes"),
        (&json["probes"][0], "sojourn_ms"),
        (&json["bottleneck"]["up"], "utilisation"),
        (&json["bottleneck"]["up"], "lost"),
        (&json["scenario"], "downloads"),
        (&json["scenario"], "edge_limit"),
        (&json["scenario"], "loss_up"),
        (&json["scenario"], "jitter_down"),
        (&json["scenario"]["flows"][0], "write"),
    ] {
        assert!(part.is_object() && part.get(key).is_none(), "{key}");
    }
}

/// A full link: 1 Mbit/s in 20 s, and a queue of ten frames of 12.112 ms each.
#[test]
fn waiting_and_utilisation_are_told_of_a_full_link() {
    let s = json!({
        "duration": "60s", "up": "1mbit", "down": "1mbit", "rtt": "20ms", "qdisc_up": "pfifo limit 10", "burst_up": "1514b",
        "flows": [{"name": "bulk", "direction": "up"}], "downloads": [file(json!({"bytes": 50_000}))],
        "probes": [{"name": "ping", "kind": "icmp"}, {"name": "voip", "kind": "voip", "direction": "down"}],
    });
    let r = record(&s);
    let full = 10.0 * 1514.0 * 8.0 / 1e6 * 1e3;
    assert!(r.bottleneck.up.utilisation.is_some_and(|u| u > 0.98 && u < 1.001));
    assert!(r.bottleneck.down.utilisation.is_some_and(|u| u > 0.08 && u < 0.2));
    let (flow, file) = (&r.flows[0].sojourn_ms, &r.downloads[0].sojourn_ms);
    let ping = r.probes[0].sojourn_ms.as_ref().expect("a probe's");
    for one in [flow, file, ping] {
        assert!(
            one.mean.unwrap() > 0.4 * full
                && one
                    .max
                    .flatten()
                    .is_some_and(|max| max <= full + 1e-6 && max > 0.8 * full),
            "{one:?}"
        );
    }
    // The voice goes the other way, where only acknowledgements are.
    let voip = r.probes[1].sojourn_ms.as_ref().expect("a probe's");
    assert!(voip.mean.unwrap() < 2.0, "{voip:?}");
    assert_eq!(comparable(&r), comparable(&record(&r.scenario)));
}

/// The link sends 10 Mbit/s of frames of 1514 bytes with 1448 of payload: 9.564 Mbit/s. Two flows share it for 4 of
/// 10 s, and one has it for the rest. A flow of 2 Mbit/s for 2 s of 10 carries 0.4 Mbit/s.
#[test]
fn a_flow_that_stops_leaves_the_link_to_the_other() {
    let links = json!({"duration": "10s", "up": "10mbit", "down": "10mbit", "rtt": "20ms", "qdisc_up": "fq_codel",
                       "qdisc_down": "fq_codel", "flows": [
        {"name": "leaves", "direction": "down", "stop": "4s"},
        {"name": "stays", "direction": "down"},
        {"name": "paced", "direction": "up", "rate": "2mbit", "start": "1s", "stop": "3s"},
        {"name": "udp", "direction": "up", "protocol": "udp", "rate": "1mbit", "stop": "2s"},
    ]});
    let r = record(&links);
    let goodput = |i: usize| r.flows[i].goodput_mbit;
    let link = 9.564;
    for (i, want, tolerance) in [
        (0, 0.5 * 0.4 * link, 0.06),
        (1, 0.5 * 0.4 * link + 0.6 * link, 0.03),
        (2, 0.4, 0.01),
        (3, 0.2, 0.01),
    ] {
        let found = goodput(i);
        assert!((found / want - 1.0).abs() < tolerance, "{i}: {found} instead of {want}");
    }
}
