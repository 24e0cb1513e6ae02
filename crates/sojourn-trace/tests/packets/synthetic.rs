//! The synthetic capture is what its documentation says, and skipped frames are told by name.

use sojourn_trace::{LinkType, Skip, Skipped, Synthetic, segment};
use std::collections::BTreeMap;

const US: u64 = 1000;
const PAYLOAD: u32 = 1448;

#[test]
fn a_synthetic_capture_is_bulk_flows_through_a_queue_that_fills_and_empties() {
    const FLOWS: u32 = 3;
    let frames: Vec<_> = Synthetic::new(FLOWS).take(30_000).collect();
    let begin = frames[0].at_ns;
    assert_eq!(begin, 1_700_000_000_000_000_000);
    let mut sent: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    let (mut data, mut acknowledged) = (0, 0);
    for frame in &frames {
        let at = frame.at_ns - begin;
        let found = segment(LinkType::Ethernet, &frame.bytes, frame.wire).expect("a sound frame");
        if found.payload > 0 {
            assert_eq!((found.payload, found.wire, frame.wire), (PAYLOAD, 1500, 1514));
            let times = sent.entry((found.src, found.dst)).or_default();
            assert_eq!(found.seq, 1 + times.len() as u32 * PAYLOAD);
            // 1514 bytes at 10 Mbit/s are 1211.2 us, and each flow has every third of them.
            let flow = u64::from(found.src.port() - 10_000);
            assert_eq!(at, (times.len() as u64 * u64::from(FLOWS) + flow) * 12_112 * US / 10);
            times.push(at);
            data += 1;
        } else {
            assert_eq!((found.wire, frame.wire), (52, 66));
            let times = &sent[&(found.dst, found.src)];
            let segments = (found.ack - 1) / PAYLOAD;
            assert!((found.ack - 1).is_multiple_of(PAYLOAD) && segments.is_multiple_of(2));
            let from = times[segments as usize - 1];
            // 40 ms, and of 160 ms as much as of ten seconds is over.
            let expected = 40e6 + 160e6 * (from as f64 / 1e10).fract();
            assert!(((at - from) as f64 - expected).abs() < 2.0, "{at} {from}");
            acknowledged += 1;
        }
        assert!(
            found
                .timestamps
                .is_some_and(|(value, echo)| u64::from(value) == at / 1_000_000 && echo == value.wrapping_sub(20))
        );
    }
    assert_eq!(sent.len(), FLOWS as usize);
    assert!(data > 19_000 && data - 2 * acknowledged < 200, "{data} {acknowledged}");
}

#[test]
fn each_flow_of_a_synthetic_capture_has_endpoints_of_its_own() {
    let frames = Synthetic::new(2000).take(2000);
    let flows: std::collections::BTreeSet<_> = frames
        .map(|f| segment(LinkType::Ethernet, &f.bytes, f.wire).expect("a sound frame"))
        .map(|s| (s.src, s.dst))
        .collect();
    assert_eq!(flows.len(), 2000);
    assert!(
        flows
            .iter()
            .all(|(src, dst)| src.ip().to_string() == "10.0.0.1" && dst.port() == 5001)
    );
    let octets: std::collections::BTreeSet<_> = flows.iter().map(|(_, dst)| dst.ip().to_string()).collect();
    assert_eq!(octets.len(), 250);
    assert!(octets.contains("198.51.100.1") && octets.contains("198.51.100.250"));
}

#[test]
fn skipped_frames_are_told_by_their_reasons() {
    let mut skipped = Skipped::default();
    for (n, reason) in Skip::ALL.into_iter().enumerate() {
        for _ in 0..n {
            skipped.count(reason);
        }
    }
    let told = serde_json::to_string(&skipped).expect("JSON");
    // The first reason did not occur.
    let names = "not_ip not_tcp later_fragment cut short vlan_tags ip_version ip_header_length extension_headers \
                 tcp_header_length no_time time_range no_interface custom_block";
    let expected: Vec<String> = names
        .split_whitespace()
        .zip(1..)
        .map(|(name, n)| format!("\"{name}\":{n}"))
        .collect();
    assert_eq!(told, format!("{{{}}}", expected.join(",")));
    assert_eq!(Skip::ALL[0].name(), "link_type");
}
