//! A link that serves in bursts, against numbers worked by hand.

use crate::common::{FRAME, record, with};
use serde_json::{Value, json};
use sojourn_sim::Record;

/// Voice of 214 bytes each `frame` over an idle link of 10 Mbit/s that serves each `interval`.
fn voice(interval: &str, frame: &str) -> Record {
    let probe = json!({"name": "voip", "kind": "voip", "frame": frame, "codec": "opus"});
    record(&json!({"duration": "20s", "service_interval_up": interval, "probes": [probe]}))
}

/// What UDP of `mbit` sends over a link of `up` that serves each `interval`.
fn flood(up: &str, interval: &str, mbit: f64, more: Value) -> Record {
    let flow = json!({"name": "flood", "protocol": "udp", "direction": "up", "rate": format!("{mbit}mbit")});
    record(&with(
        &json!({"duration": "20s", "up": up, "service_interval_up": interval, "qdisc_up": "pfifo limit 50",
                "flows": [flow]}),
        more,
    ))
}

/// Calls of 20 ms and bursts of 7 ms: the times of arrival meet all 7 remainders of a millisecond alike, so the wait is
/// even in one interval, in steps of a millisecond.
#[test]
fn a_packet_waits_for_the_next_burst_at_most_one_interval() {
    let delay = voice("7ms", "20ms").probes[0].delay_ms.clone().expect("a delay");
    let base = 25.0;
    let mean = delay.mean.unwrap() - base;
    assert!((mean - 3.5).abs() < 0.6, "{delay:?}");
    assert!(
        delay.min.unwrap() >= base - 1e-6 && delay.max.unwrap() <= base + 7.0 + 1e-6,
        "{delay:?}"
    );
    assert!(
        (delay.max.unwrap() - delay.min.unwrap() - 6.0).abs() < 0.02,
        "{delay:?}"
    );
}

/// A link that is asked for too much sends its rate exactly, whether a burst carries many frames or a part of one.
#[test]
fn a_full_link_has_its_rate_whatever_a_burst_carries() {
    for (up, interval, mbit) in [
        ("10mbit", "10ms", 20.0), // 12,500 bytes
        ("10mbit", "1ms", 20.0),  // 1,250 bytes: less than a frame
        ("5mbit", "100us", 20.0), // 62.5 bytes
        ("100mbit", "3ms", 200.0),
    ] {
        let r = flood(up, interval, mbit, json!({}));
        let sent = r.bottleneck.up.bytes as f64 * 8.0 / 20e6;
        let rate: f64 = up.trim_end_matches("mbit").parse().expect("a rate");
        let burst = rate * 1e6 * 0.01 / 8.0;
        // The window may begin or end within a burst, or one frame ahead.
        assert!(
            (sent - rate).abs() * 20e6 / 8.0 <= 2.0 * (burst + FRAME),
            "{up} {interval}: {sent}"
        );
    }
}

/// 8 Mbit/s on a link of 10 come in bursts of 10 ms: nothing is lost, and no frame waits for a second burst, because
/// one carries 12,500 bytes and 10,000 come meanwhile.
#[test]
fn a_link_that_is_not_full_empties_its_queue_in_each_burst() {
    let r = flood("10mbit", "10ms", 8.0, json!({}));
    assert_eq!(r.bottleneck.up.drops.values().sum::<u64>(), 0);
    let sojourn = r.bottleneck.up.sojourn_ms.clone();
    let most = sojourn.max.unwrap();
    assert!(most <= 10.0 + 1e-6 && most > 8.0, "{sojourn:?}");
    assert!((sojourn.mean.unwrap() - 5.0).abs() < 0.5, "{sojourn:?}");
}

/// The other direction is another link.
#[test]
fn each_direction_has_its_own() {
    let probe = |name: &str, direction: &str| json!({"name": name, "kind": "voip", "direction": direction});
    let r = record(&json!({"duration": "5s", "service_interval_down": "10ms",
                           "probes": [probe("up", "up"), probe("down", "down")]}));
    let delay = |i: usize| r.probes[i].delay_ms.clone().expect("a delay");
    assert!(delay(0).max.unwrap() < 25.1, "{:?}", delay(0));
    assert!(delay(1).max.unwrap() <= 35.0 + 1e-6, "{:?}", delay(1));
}

/// A link of a topology serves in bursts as the path does, and its delay has a tick: arrivals are at multiples of both.
#[test]
fn a_link_of_a_topology_has_what_the_path_has() {
    let probe = json!({"name": "voip", "kind": "voip", "frame": "20ms", "codec": "opus"});
    let link = json!({"between": ["a", "b"], "rate": "10mbit", "delay": "25ms", "service_interval": "7ms"});
    let topology = json!({"ends": ["a", "b"], "links": [link]});
    let of = |more: Value| {
        record(&with(&json!({"duration": "20s", "probes": [probe]}), more)).probes[0]
            .delay_ms
            .clone()
    };
    let (path, link) = (
        of(json!({"service_interval_up": "7ms", "service_interval_down": "7ms"})),
        of(json!({"topology": topology})),
    );
    assert_eq!(path.expect("a delay").mean, link.expect("a delay").mean);
    let ticks = json!({"ends": ["a", "b"], "links": [
        {"between": ["a", "b"], "rate": "10mbit", "delay": "25ms", "delay_tick": "10ms"},
    ]});
    let delay = of(json!({"topology": ticks})).expect("a delay");
    // Frames come each 20 ms at one place of a tick: all wait alike for the next multiple of 10 ms.
    assert!(delay.min.unwrap() >= 25.0 && delay.max.unwrap() < 35.2, "{delay:?}");
    assert!(delay.max.unwrap() - delay.min.unwrap() < 1e-6, "{delay:?}");
}
