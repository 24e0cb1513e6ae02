//! Defaults, and what is refused.

use super::*;
use crate::test_packet::rate;

fn refusal(change: impl FnOnce(&mut NodeSpec)) -> String {
    let mut spec = NodeSpec::ACCESS_POINT;
    change(&mut spec);
    spec.validate("wifi").unwrap_err().to_string()
}

#[test]
fn defaults_are_valid() {
    for scheme in Scheme::ALL {
        for node in [NodeSpec::ACCESS_POINT, NodeSpec::STATION] {
            let spec = NodeSpec { scheme, ..node };
            assert_eq!(spec.validate("wifi"), Ok(()));
            assert_eq!(spec.above_driver().is_some(), scheme.has_qdisc());
        }
        assert_eq!(Scheme::from_name(scheme.name()), Some(scheme));
    }
    assert_eq!(Scheme::from_name("cake"), None);
}

#[test]
fn each_option_has_a_rule_and_the_error_says_it() {
    type Change = fn(&mut NodeSpec);
    let cases: [(Change, &str); 14] = [
        (
            |s| s.driver_frames = 0,
            "wifi.driver_frames is 0, but must be 1 to 65536",
        ),
        (
            |s| s.hardware_queue = 0,
            "wifi.hardware_queue is 0, but must be 1 to 64",
        ),
        (
            |s| s.aggregate_frames = 65,
            "wifi.aggregate_frames is 65, but must be 1 to 64 (the Block Ack window)",
        ),
        (|s| s.retries = 0, "wifi.retries is 0, but must be 1 to 255"),
        (|s| s.queues = 0, "wifi.queues is 0, but must be 1 to 65536"),
        (|s| s.limit = 0, "wifi.limit is 0, but must be 1 to 16777216"),
        (
            |s| s.memory = Bytes::new(2303),
            "wifi.memory is 2303, but must be 2304b (one full frame) to 4294967295b",
        ),
        (|s| s.quantum = 0, "wifi.quantum is 0, but must be 1 to 1048576"),
        (
            |s| s.aggregate_time = Duration::ZERO,
            "wifi.aggregate_time is 0s, but must be 1ns to 5.484ms (the longest PPDU)",
        ),
        (
            |s| s.aggregate_time = Duration::from_millis(6),
            "wifi.aggregate_time is 6ms, but must be 1ns to 5.484ms (the longest PPDU)",
        ),
        (
            |s| s.airtime_quantum = Duration::from_nanos(10),
            "wifi.airtime_quantum is 10ns, but must be 1us to 1s",
        ),
        (
            |s| s.codel_target = Duration::ZERO,
            "wifi.codel_target is 0s, but must be 1ns to 4294.967295s (32 bits of microseconds)",
        ),
        (
            |s| s.qdisc = QdiscSpec::parse("pfifo limit 5", None).ok(),
            "wifi.qdisc is \"pfifo limit 5\", but must be left out with the scheme airtime, which has none",
        ),
        (
            |s| {
                s.scheme = Scheme::Fifo;
                s.qdisc = QdiscSpec::parse("tbf rate 1mbit burst 2000b limit 3000b", None).ok();
            },
            "wifi.qdisc is \"tbf rate 1mbit burst 2000 limit 3000\", but must be a discipline that never makes a packet wait for tokens",
        ),
    ];
    for (change, message) in cases {
        assert_eq!(refusal(change), message);
    }
}

#[test]
fn a_weight_of_zero_is_refused() {
    let mut peer = PeerSpec::new(NodeId(1), rate("ht mcs 7"));
    assert_eq!(peer.validate("wifi.stations[0]"), Ok(()));
    peer.weight = 0;
    let error = peer.validate("wifi.stations[0]").unwrap_err();
    assert_eq!(
        error.to_string(),
        "wifi.stations[0].weight is 0, but must be 1 to 65535"
    );
}

#[test]
fn slow_stations_get_gentle_codel_only_by_option() {
    let spec = NodeSpec::ACCESS_POINT;
    assert_eq!(spec.codel(true), spec.codel(false));
    let spec = NodeSpec {
        slow_station_codel: true,
        ..spec
    };
    let (slow, fast) = (spec.codel(true), spec.codel(false));
    let times = |c: CodelParams| (c.target.as_millis(), c.interval.as_millis(), c.ecn);
    assert_eq!((times(slow), times(fast)), ((50, 300, false), (20, 100, true)));
}
