//! Code points on wires, against what a strict priority does: `pfifo_fast` serves a band only while those above it are
//! empty.

use crate::common::{FRAME, record, with};
use serde_json::{Value, json};

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
