//! Streams of games.

use crate::common::record;
use serde_json::{Value, json};

/// A stream of 50 packets a second in a run of 40 s, on a path of 20 ms whose queue holds ten packets.
fn game(flood_start: &str) -> sojourn_sim::record::GameRecord {
    let flood = json!({"name": "f", "protocol": "udp", "direction": "up", "rate": "2mbit", "start": flood_start});
    let plain: Value = json!({
        "duration": "40s", "up": "1mbit", "rtt": "20ms", "qdisc_up": "pfifo limit 10", "start_jitter": "0s",
        "flows": [flood],
        "games": [{"name": "g", "direction": "up", "per_second": 50, "size": 100}],
    });
    record(&plain).games.into_iter().next().expect("a game")
}

/// By hand: a full queue holds ten frames of 1514 bytes, or of a game's 100, and sends one of them in 12.112 ms or 0.8 ms.
#[test]
fn percentiles_are_those_of_an_empty_and_of_a_full_queue() {
    let late = game("38s");
    assert_eq!(late.sent, 2000);
    assert!(
        late.lost > 20,
        "a queue that is full at least half of the time: {}",
        late.lost
    );
    assert!((late.base_delay_ms - 10.0).abs() < 1e-9, "{}", late.base_delay_ms);
    let median = late.delay_ms.median.expect("packets came");
    assert!((median - 10.0).abs() < 0.01, "{median}");
    let p999 = late.delay_p999_ms.expect("more than a thousand packets came");
    let full = 10.0 + 10.0 * 12.112;
    assert!((full - 25.0..full + 13.0).contains(&p999), "{p999}");
    let (p99, most) = (late.delay_ms.p99.expect("some"), late.delay_ms.max.expect("some"));
    assert!(p99 <= p999 && p999 <= most, "{p99} {p999} {most}");
}

#[test]
fn fewer_than_a_thousand_packets_have_no_such_percentile() {
    let lossy = json!({
        "duration": "40s", "loss_up": 0.6,
        "games": [{"name": "g", "direction": "up"}, {"name": "h", "direction": "down"}],
    });
    let games = record(&lossy).games;
    assert_eq!(games.iter().map(|game| game.sent).collect::<Vec<_>>(), [1200, 1200]);
    assert_eq!((games[0].delay_p999_ms, games[1].lost), (None, 0));
    assert!(games[1].delay_p999_ms.is_some() && games[0].delay_ms.count < 600);
}
