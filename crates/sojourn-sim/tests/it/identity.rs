//! Code points on wires, against what a strict priority does: `pfifo_fast` serves a band only while those above it are
//! empty.

use crate::common::{FRAME, record, with};
use serde_json::{Value, json};
use sojourn_sim::Record;

/// A link of 10 Mbit/s under 20 Mbit/s of datagrams of the middle band, with these keys too.
fn flooded(more: Value) -> Value {
    let base = json!({
        "duration": "10s", "lead": "0s", "start_jitter": "0s", "up": "10mbit", "down": "10mbit", "rtt": "20ms",
        "qdisc_up": "pfifo_fast limit 100", "qdisc_down": "pfifo_fast limit 100", "burst_up": "1514b",
        "flows": [{"name": "flood", "direction": "up", "protocol": "udp", "rate": "20mbit"}],
    });
    with(&base, more)
}

/// By the table of tc-prio(8): AF12 (type of service 0x30, whose bits 4 to 1 are 8) is interactive, AF11 (0x28, 4) is
/// bulk, EF (0xb8, 12) and CS5 (0xa0, 0) are in the middle as the flood is.
#[test]
fn a_code_point_chooses_the_band_that_the_kernel_would() {
    let send = 1e3 * FRAME * 8.0 / 10e6;
    for (dscp, band) in [("AF12", 0), ("AF11", 2), ("EF", 1), ("CS5", 1), ("CS0", 1)] {
        let probe = json!({"name": "p", "kind": "isochronous", "direction": "up", "interval": "50ms", "dscp": dscp});
        let r = record(&flooded(json!({"probes": [probe]})));
        let p = &r.probes[0];
        match band {
            0 => {
                // It waits for the frame that is being sent at most; one way takes 10 ms.
                assert_eq!(p.lost, 0, "{dscp}");
                let most = p.delay_ms.as_ref().expect("it was measured").max.unwrap();
                assert!((10.0..=10.0 + send + 1e-6).contains(&most), "{dscp}: {most} ms");
            }
            1 => {
                let median = p.delay_ms.as_ref().expect("it was measured").median.unwrap();
                // The places of a ring are freed 16 at a time, so 84 to 100 packets wait.
                let waits = (median - 10.0) / send;
                assert!((83.0..=101.0).contains(&waits), "{dscp}: {waits} frames");
            }
            // Nothing leaves while the flood lasts. The 100 that the band holds leave after it.
            _ => assert_eq!(p.lost, p.sent - 100, "{dscp}"),
        }
    }
}

/// Flows and web clients are marked in both directions: the answers of an AF12 flow's receiver overtake a flood.
#[test]
fn both_directions_of_a_connection_have_its_code_point() {
    let down = |dscp: &str| {
        let flows = json!([
            {"name": "flood", "direction": "up", "protocol": "udp", "rate": "20mbit"},
            {"name": "file", "direction": "down", "dscp": dscp},
        ]);
        record(&flooded(json!({ "flows": flows }))).summary.goodput_down_mbit
    };
    assert!(down("AF12") > 9.0, "acknowledgements go first");
    assert!(down("AF11") < 0.01, "the SYN-ACK's answer never leaves");
}

/// With nothing to tell apart, a record is that of unmarked traffic.
#[test]
fn hosts_alone_change_nothing_where_no_discipline_looks_at_them() {
    let with_hosts = |client: u64| {
        let flows = json!([{"name": "a", "direction": "up"}, {"name": "b", "direction": "up", "client": client}]);
        let r = record(&flooded(json!({"flows": flows, "qdisc_up": "fq_codel"})));
        serde_json::to_value(&r.summary).expect("a record is plain data")
    };
    assert_eq!(with_hosts(1), with_hosts(2));
}

/// A first link may set all code points to 0; on the second a flood holds the middle band. AF11 has the band below, of
/// which nothing leaves while the flood lasts: once washed it is in the middle, as the flood is.
#[test]
fn a_washed_code_point_stays_so_on_the_links_that_follow() {
    let run = |first: &str| {
        record(&json!({
            "duration": "10s", "lead": "0s", "start_jitter": "0s",
            "topology": {
                "ends": ["left", "right"], "up": "middle-right",
                "links": [
                    {"between": ["left", "middle"], "rate": "100mbit", "delay": "5ms", "qdisc": first},
                    {"between": ["middle", "right"], "rate": "10mbit", "delay": "5ms", "qdisc": "pfifo_fast limit 100"},
                ],
            },
            "flows": [{"name": "flood", "direction": "up", "protocol": "udp", "rate": "20mbit"}],
            "probes": [{"name": "p", "kind": "isochronous", "direction": "up", "interval": "50ms", "dscp": "AF11"}],
        }))
    };
    for keeps in ["cake", "cake besteffort"] {
        let p = &run(keeps).probes[0];
        assert!(p.lost + 100 >= p.sent, "{keeps}: {} of {} are lost", p.lost, p.sent);
    }
    for washes in ["cake wash", "cake besteffort wash"] {
        let r = run(washes);
        let median = r.probes[0].delay_ms.as_ref().expect("it was measured").median.unwrap();
        let waits = (median - 10.0) / (1e3 * FRAME * 8.0 / 10e6);
        assert!((80.0..=101.0).contains(&waits), "{washes}: {waits} frames");
    }
}

/// Where a discipline may stand: before a wire, below a class, on a link of a topology, above the driver of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Wire,
    Class,
    Topology,
    Cell,
}
use Place::{Cell, Class, Topology, Wire};

/// Ten seconds of this traffic through a discipline at a place.
fn through(place: Place, qdisc: &str, traffic: Value) -> Record {
    let time = json!({"duration": "10s", "lead": "0s", "start_jitter": "0s"});
    let keys = match place {
        Wire => json!({"up": "10mbit", "down": "10mbit", "rtt": "20ms", "qdisc_up": qdisc}),
        Class => {
            let below = format!("prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 ; qdisc parent 1:2 {qdisc}");
            json!({"up": "10mbit", "down": "10mbit", "rtt": "20ms", "qdisc_up": below})
        }
        Topology => json!({"topology": {
            "ends": ["left", "right"], "up": "middle-right",
            "links": [
                {"between": ["left", "middle"], "rate": "100mbit", "delay": "5ms"},
                {"between": ["middle", "right"], "rate": "10mbit", "delay": "5ms", "qdisc": qdisc},
            ],
        }}),
        Cell => {
            let station = json!({"name": "s", "rate": "ht mcs 0 20mhz sgi", "scheme": "fifo", "qdisc": qdisc, "driver_frames": 8});
            json!({"up": "1gbit", "down": "1gbit", "rtt": "1ms", "qdisc_up": "pfifo limit 1000",
                   "qdisc_down": "pfifo limit 1000", "wifi": {"scheme": "fifo", "stations": [station]}})
        }
    };
    record(&with(&with(&time, keys), traffic))
}

/// The median delay of marked datagrams beside a flood of code point 0, and how many are lost.
fn beside_a_flood(place: Place, qdisc: &str, dscp: &str) -> (f64, u64) {
    let r = through(
        place,
        qdisc,
        json!({
            "flows": [{"name": "flood", "direction": "up", "protocol": "udp", "rate": "20mbit"}],
            "probes": [{"name": "p", "kind": "isochronous", "direction": "up", "interval": "50ms", "dscp": dscp}],
        }),
    );
    let p = &r.probes[0];
    let delay = p.delay_ms.as_ref().and_then(|delay| delay.median);
    (delay.unwrap_or(f64::INFINITY), p.lost as u64)
}

/// What chooses a queue by the code point, or by the priority that follows from it: marked datagrams overtake the
/// flood, or stand behind it.
///
/// A router makes priority 6 (band 0) of AF12. In a cell the priority is the traffic identifier, 3 for AF31, which is in
/// band 2 of the default map and in the access category of the flood. Sources: tc-prio(8); `cfg80211_classify8021d`.
#[test]
fn disciplines_see_code_points_wherever_they_stand() {
    const MAP: &str = "priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1";
    let drr = "drr ; class parent 1: classid 1:1 drr ; class parent 1: classid 1:2 drr \
               ; filter parent 1: dscp AF31 flowid 1:1 ; filter parent 1: dscp CS0 flowid 1:2";
    let htb = "htb default 2 ; class parent 1: classid 1:1 htb rate 5mbit ceil 10mbit \
               ; class parent 1: classid 1:2 htb rate 5mbit ceil 10mbit ; filter parent 1: dscp AF31 flowid 1:1";
    let ets = format!("ets bands 3 strict 3 {MAP}");
    let filter = "prio ; filter parent 1: dscp AF31 flowid 1:1";
    let rows: [(&str, &str, bool, &[Place]); 10] = [
        ("pfifo_fast limit 100", "AF12", true, &[Wire, Class, Topology]),
        ("pfifo_fast limit 100", "AF31", false, &[Cell]),
        ("prio", "AF12", true, &[Wire, Topology]),
        ("prio", "AF31", false, &[Cell]),
        (filter, "AF31", true, &[Wire, Topology, Cell]),
        (&ets, "AF12", true, &[Wire, Topology]),
        (&ets, "AF31", false, &[Cell]),
        (drr, "AF31", true, &[Wire, Topology, Cell]),
        (htb, "AF31", true, &[Wire, Topology]),
        ("cake flowblind diffserv4", "EF", true, &[Wire, Class, Topology]),
    ];
    for (qdisc, dscp, overtakes, places) in rows {
        for &place in places {
            let (plain, marked) = (beside_a_flood(place, qdisc, "CS0"), beside_a_flood(place, qdisc, dscp));
            if overtakes {
                assert!(
                    marked.0 < plain.0 / 2.0,
                    "{qdisc} at {place:?}: {marked:?} beside {plain:?}"
                );
            } else {
                assert!(
                    marked.0 > plain.0 * 2.0,
                    "{qdisc} at {place:?}: {marked:?} beside {plain:?}"
                );
            }
        }
    }
}

/// The bands of `fq` share as their weights, 9 : 3 : 1: of two floods one is in band 0 or 2, the other in band 1.
/// Source: Linux 6.12 `sch_fq.c`, `FQ_PRIO2BAND` and `fq_weights`.
#[test]
fn the_bands_of_fq_share_by_weight_wherever_it_stands() {
    for (place, dscp, ratio) in [
        (Wire, "AF12", 3.0),
        (Class, "AF12", 3.0),
        (Topology, "AF12", 3.0),
        (Cell, "AF31", 1.0 / 3.0),
    ] {
        let flood = |name: &str, dscp: &str| json!({"name": name, "direction": "up", "protocol": "udp", "rate": "20mbit", "dscp": dscp});
        let flows = json!({"flows": [flood("marked", dscp), flood("plain", "CS0")]});
        let r = through(place, "fq variant linux-7.3", flows);
        let share = r.flows[0].goodput_mbit / r.flows[1].goodput_mbit;
        assert!(
            (share / ratio - 1.0).abs() < 0.1,
            "{place:?}: {share}, but must be {ratio}"
        );
    }
}

/// The selector of `fq_codel` marks none but the flow whose code point it selects.
#[test]
fn a_selector_sees_the_code_point_wherever_it_stands() {
    let qdisc = "fq_codel ecn ce_threshold 1ms ce_threshold_selector 0x68/0xfc target 1s interval 10s";
    for place in [Wire, Class, Topology, Cell] {
        let marks = |dscp: &str| {
            let flow = json!({"name": "a", "direction": "up", "dscp": dscp});
            let flood = json!({"name": "flood", "direction": "up", "protocol": "udp", "rate": "20mbit"});
            let r = through(place, qdisc, json!({"flows": [flow, flood], "tcp": {"ecn": true}}));
            r.flows[0]
                .ecn
                .as_ref()
                .and_then(|ecn| ecn.delivered_ce)
                .expect("it was counted")
        };
        // AF31 is 26, whose byte is 0x68.
        assert!(marks("AF31") > 0, "{place:?}");
        assert_eq!(marks("CS0"), 0, "{place:?}");
    }
}

/// `cake` shares by hosts, and thins acknowledgements out.
#[test]
fn cake_sees_hosts_and_acknowledgements_wherever_it_stands() {
    for place in [Wire, Class, Topology] {
        let flow = |name: &str, client: u64| json!({"name": name, "direction": "up", "client": client});
        let flows = json!({"flows": [flow("a", 1), flow("b", 2), flow("c", 2), flow("d", 2)]});
        let goodput = through(place, "cake dual-srchost", flows).flows;
        let share = goodput[0].goodput_mbit / goodput.iter().map(|flow| flow.goodput_mbit).sum::<f64>();
        assert!((share - 0.5).abs() < 0.05, "{place:?}: {share}");
        let dropped = |words: &str| {
            let flows = json!([
                {"name": "flood", "direction": "up", "protocol": "udp", "rate": "9mbit"},
                {"name": "file", "direction": "down"},
                {"name": "other", "direction": "up"},
            ]);
            through(place, words, json!({"flows": flows})).flows[1].acks_dropped
        };
        let (plain, filtered) = (dropped("cake flowblind"), dropped("cake flowblind ack-filter"));
        assert!(
            filtered > 3 * plain.max(10),
            "{place:?}: {filtered} and {plain} without a filter"
        );
    }
}
