//! Round-trip times from two captures, worked out by hand.

use crate::frames::{ethernet, ipv4, ipv6, tcp};
use proptest::prelude::*;
use sojourn_trace::pairs::{CONVERSATIONS, Pair, PairReport, PairSettings, packet_pairs};
use sojourn_trace::{LinkType, Protocol, Reader, Skip, TraceError, Writer, identity};

const MS: u64 = 1_000_000;
const START: u64 = 1_700_000_000_000_000_000;
const SNAP: u32 = 65_535;

/// A frame from one host to the other or, if `back`, the other way; `number` is its IP identification and sequence
/// number.
fn frame(back: bool, number: u16) -> Vec<u8> {
    let mut segment = tcp(0x10, &[], 0);
    segment[4..8].copy_from_slice(&u32::from(number).to_be_bytes());
    if back {
        let (source, destination) = segment.split_at_mut(2);
        source.swap_with_slice(&mut destination[..2]);
    }
    let mut packet = ipv4(6, &[], 0x4000, &segment);
    packet[4..6].copy_from_slice(&number.to_be_bytes());
    if back {
        let (source, destination) = packet[12..20].split_at_mut(4);
        source.swap_with_slice(destination);
    }
    ethernet(&[0x0800], &packet)
}

/// Changes what routers and network cards change: addresses of the link, type of service, time to live, checksums.
fn travelled(mut frame: Vec<u8>) -> Vec<u8> {
    frame[..12].fill(0xEE);
    frame[15] ^= 3;
    frame[22] -= 5;
    frame[24] ^= 0x55;
    frame[14 + 20 + 16] ^= 0xAA;
    frame
}

fn capture(frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), LinkType::Ethernet, SNAP).expect("memory");
    for (at, frame) in frames {
        writer.write(*at, frame.len() as u32, frame).expect("memory");
    }
    writer.into_inner()
}

fn measure(a: &[u8], b: &[u8], settings: &PairSettings) -> (Vec<Pair>, PairReport) {
    let mut pairs = Vec::new();
    let report = packet_pairs(&|| Reader::new(a), &|| Reader::new(b), settings, |pair| {
        pairs.push(pair);
    });
    (pairs, report.expect("both are captures"))
}

/// A is at `START`; B's clock is an hour behind. Milliseconds.
fn at_a(ms: u64) -> u64 {
    START + ms * MS
}
fn at_b(ms: u64) -> u64 {
    START + ms * MS - 3_600_000 * MS
}

/// Two packets there at 0 and 2 which take 30 and 40; one back at 142, which takes 25: 40 + 25, and not the 100 at B.
/// One more back at once has no packet of its own.
fn by_hand() -> (Vec<u8>, Vec<u8>) {
    let a = [
        (at_a(0), frame(false, 1)),
        (at_a(2), frame(false, 2)),
        (at_a(167), frame(true, 3)),
        (at_a(168), frame(true, 4)),
    ];
    let b = [
        (at_b(30), travelled(frame(false, 1))),
        (at_b(42), travelled(frame(false, 2))),
        (at_b(142), travelled(frame(true, 3))),
        (at_b(143), travelled(frame(true, 4))),
    ];
    (capture(&a), capture(&b))
}

#[test]
fn a_round_trip_is_the_time_of_both_on_their_way_whatever_the_clocks_say() {
    let (a, b) = by_hand();
    let (pairs, report) = measure(&a, &b, &PairSettings::default());
    let [pair] = pairs[..] else { panic!("{pairs:?}") };
    assert_eq!((pair.rtt_ns, pair.gap_ns, pair.at_ns), (65 * MS, 100 * MS, at_a(167)));
    assert_eq!((report.pairs, report.unpaired), (1, 1));
    // 192.0.2.1 is on A's side, and is the lower of the two.
    assert_eq!(report.conversations[0].low_is_near, Some(true));
    assert_eq!(report.conversations[0].matched, [2, 2]);
    let offset = report.offset_ns.expect("there are common packets");
    assert!(
        (offset + 3_600_000 * i128::from(MS)).abs() <= 40 * i128::from(MS),
        "{offset}"
    );
}

/// From the other point: there with 3 at 142 and 4 at 143 (B's side), back with nothing after it.
#[test]
fn seen_from_the_other_point_the_roles_are_changed() {
    let (a, b) = by_hand();
    let (pairs, report) = measure(&b, &a, &PairSettings::default());
    assert_eq!(pairs, []);
    assert_eq!(report.conversations[0].low_is_near, Some(false));
    // What came back before anything went there is not counted: which way is there was not known then.
    assert_eq!(report.unpaired, 0);
}

#[test]
fn what_is_in_one_capture_only_is_told_by_its_reason() {
    let a = [
        (at_a(0), frame(false, 1)),
        (at_a(10), frame(false, 2)),
        (at_a(40), frame(true, 9)),
        // B has ended.
        (at_a(5_000), frame(false, 3)),
    ];
    let b = [
        // A has not begun.
        (at_b(0) - 9_000 * MS, frame(true, 7)),
        (at_b(15), frame(false, 1)),
        (at_b(20), frame(true, 9)),
        (at_b(400), frame(true, 8)),
    ];
    let (pairs, report) = measure(&capture(&a), &capture(&b), &PairSettings::default());
    assert_eq!(pairs.iter().map(|p| p.rtt_ns).collect::<Vec<_>>(), [35 * MS]);
    let [a, b] = &report.sides;
    assert_eq!((a.matched, a.missing, a.outside), (2, 1, 1));
    assert_eq!((b.matched, b.missing, b.outside), (2, 1, 1));
    for side in &report.sides {
        let known = side.matched + side.missing + side.outside + side.ambiguous + side.duplicates;
        assert_eq!(side.packets, known);
    }
}

#[test]
fn a_packet_that_was_sent_twice_is_not_used_and_one_that_was_copied_on_the_way_is() {
    let first = [
        (at_a(0), frame(false, 1)),
        (at_a(20), frame(true, 2)),
        // Sent twice: the first of them is lost, so that B has the second only.
        (at_a(30), frame(false, 3)),
        (at_a(230), frame(false, 3)),
        (at_a(260), frame(true, 4)),
        // Copied on the way: B has two.
        (at_a(300), frame(false, 5)),
        (at_a(330), frame(true, 6)),
    ];
    let second = [
        (at_b(10), frame(false, 1)),
        (at_b(10), frame(true, 2)),
        (at_b(240), frame(false, 3)),
        (at_b(250), frame(true, 4)),
        (at_b(312), frame(false, 5)),
        (at_b(313), frame(false, 5)),
        (at_b(320), frame(true, 6)),
    ];
    let (pairs, report) = measure(&capture(&first), &capture(&second), &PairSettings::default());
    // 20; for 4 there is nothing; 330 - 300 - 8.
    assert_eq!(pairs.iter().map(|p| p.rtt_ns / MS).collect::<Vec<_>>(), [20, 22]);
    let counts = report.sides.each_ref().map(|s| (s.ambiguous, s.duplicates));
    assert_eq!(counts, [(2, 0), (1, 1)]);
    assert_eq!((report.unpaired, report.negative), (1, 0));
}

/// Frames of more conversations than are told apart, of none, and of none that is selected, each counted once in each
/// capture.
#[test]
fn each_frame_is_counted_for_what_became_of_it() {
    const MORE: usize = 3;
    let of = |n: u32| {
        let mut one = frame(false, 1);
        // 10.x.x.x to 198.51.100.2.
        one[14 + 12..14 + 16].copy_from_slice(&(0x0A00_0000 + n).to_be_bytes());
        one
    };
    let crowd = (0..(CONVERSATIONS + MORE) as u32).map(|n| (at_a(u64::from(n)), of(n)));
    let late = at_a(1_000_000);
    let mut elsewhere = frame(false, 7);
    elsewhere[14 + 19] = 9;
    let others = [(late, vec![0; 60]), (late, elsewhere.clone()), (late, elsewhere)];
    let file = capture(&crowd.chain(others).collect::<Vec<_>>());
    let settings = PairSettings {
        hosts: vec!["198.51.100.2".parse().expect("an address")],
        ..PairSettings::default()
    };
    let (_, report) = measure(&file, &file, &settings);
    for side in &report.sides {
        assert_eq!(side.frames as usize, CONVERSATIONS + MORE + 3);
        assert_eq!(
            (side.skipped.total(), side.unselected, side.crowded as usize),
            (1, 2, MORE)
        );
        assert_eq!(side.packets as usize, CONVERSATIONS);
    }
}

#[test]
fn what_lies_too_far_apart_at_the_second_point_is_no_pair() {
    let settings = PairSettings {
        gap_ns: 99 * MS,
        ..PairSettings::default()
    };
    let (a, b) = by_hand();
    let (pairs, report) = measure(&a, &b, &settings);
    assert_eq!((pairs.len(), report.apart), (0, 1));
    let settings = PairSettings {
        gap_ns: 100 * MS,
        ..PairSettings::default()
    };
    let (pairs, report) = measure(&a, &b, &settings);
    assert_eq!((pairs.len(), report.apart), (1, 0));
}

#[test]
fn each_packet_back_without_one_there_is_counted() {
    let back = |n: u16, ms: u64| ((at_a(ms + 25), frame(true, n)), (at_b(ms), travelled(frame(true, n))));
    let (more_a, more_b): (Vec<_>, Vec<_>) = (3..10).map(|n| back(n, 142 + u64::from(n))).unzip();
    let a = [vec![(at_a(0), frame(false, 1))], more_a].concat();
    let b = [vec![(at_b(30), travelled(frame(false, 1)))], more_b].concat();
    let (pairs, report) = measure(&capture(&a), &capture(&b), &PairSettings::default());
    assert_eq!(pairs.iter().map(|p| p.rtt_ns / MS).collect::<Vec<_>>(), [55]);
    assert_eq!((report.unpaired, report.apart, report.negative), (6, 0, 0));
}

#[test]
fn only_the_flows_that_were_asked_for_are_measured() {
    let (a, b) = by_hand();
    let host = |text: &str| text.parse().expect("an address");
    for (settings, expected) in [
        (
            PairSettings {
                hosts: vec![host("192.0.2.1"), host("198.51.100.2")],
                ..PairSettings::default()
            },
            1,
        ),
        (
            PairSettings {
                hosts: vec![host("192.0.2.2")],
                ..PairSettings::default()
            },
            0,
        ),
        (
            PairSettings {
                ports: vec![443, 50_000],
                ..PairSettings::default()
            },
            1,
        ),
        (
            PairSettings {
                ports: vec![443, 444],
                ..PairSettings::default()
            },
            0,
        ),
        (
            PairSettings {
                protocol: Some(Protocol::Tcp),
                ..PairSettings::default()
            },
            1,
        ),
        (
            PairSettings {
                protocol: Some(Protocol::Udp),
                ..PairSettings::default()
            },
            0,
        ),
    ] {
        let (pairs, report) = measure(&a, &b, &settings);
        assert_eq!(pairs.len(), expected, "{settings:?}");
        let unselected = if expected == 1 { 0 } else { 4 };
        assert_eq!(report.sides.each_ref().map(|s| s.unselected), [unselected; 2]);
    }
}

/// A's first 200,000 packets, more than are compared at the beginning, are from before B's capture.
#[test]
fn a_capture_that_began_long_before_the_other_is_searched() {
    let old = (0..200_000_u32).map(|n| {
        let mut old = frame(false, n as u16);
        // Another acknowledgement number for each.
        old[14 + 20 + 8..14 + 20 + 12].copy_from_slice(&(n + 7_000_000).to_be_bytes());
        (at_a(0) - u64::from(200_000 - n) * MS, old)
    });
    let (_, b) = by_hand();
    let new = [
        (at_a(0), frame(false, 1)),
        (at_a(2), frame(false, 2)),
        (at_a(167), frame(true, 3)),
        (at_a(168), frame(true, 4)),
    ];
    let a = capture(&old.chain(new).collect::<Vec<_>>());
    for turned in [false, true] {
        let (one, other) = if turned { (&b, &a) } else { (&a, &b) };
        let (pairs, report) = measure(one, other, &PairSettings::default());
        assert_eq!(
            pairs.iter().map(|p| p.rtt_ns / MS).collect::<Vec<_>>(),
            if turned { vec![] } else { vec![65] }
        );
        assert_eq!(report.sides[usize::from(turned)].outside, 200_000);
        assert_eq!(report.sides[0].matched, 4);
    }
}

#[test]
fn the_key_holds_what_stays_and_leaves_out_what_changes() {
    let key = |frame: &[u8]| {
        identity(LinkType::Ethernet, frame, frame.len() as u32)
            .expect("a packet")
            .key
    };
    let sent = frame(false, 7);
    assert_eq!(key(&sent), key(&travelled(sent.clone())));
    assert_eq!(
        identity(LinkType::Raw, &sent[14..], 40).expect("a packet").key,
        key(&sent)
    );
    // Identification, addresses, ports, sequence and acknowledgement number, flags, window, urgent pointer.
    for at in [18, 19, 26, 33, 34, 37, 38, 41, 42, 45, 47, 48, 49, 52, 53] {
        let mut other = sent.clone();
        other[at] ^= 1;
        assert_ne!(key(&other), key(&sent), "byte {at}");
    }
    // Options too, as far as the length goes; of 60 bytes of payload no byte, but their number.
    let with = |options: &[u8], payload| ethernet(&[0x0800], &ipv4(6, &[], 0, &tcp(0x10, options, payload)));
    let stamps = crate::frames::TIMESTAMPS;
    let mut later = stamps;
    later[7] += 1;
    assert_ne!(key(&with(&stamps, 60)), key(&with(&later, 60)));
    assert_ne!(key(&with(&stamps, 60)), key(&with(&stamps, 61)));
    let whole = with(&stamps, 60);
    let cut = identity(LinkType::Ethernet, &whole[..14 + 20 + 32], whole.len() as u32).expect("its header is there");
    assert_eq!(cut.key, key(&whole));
    assert_eq!(
        identity(LinkType::Ethernet, &whole[..60], whole.len() as u32),
        Err(Skip::Cut)
    );
}

#[test]
fn datagrams_and_echoes_are_told_apart_and_fragments_left_out() {
    let read = |frame: &[u8]| identity(LinkType::Ethernet, frame, frame.len() as u32);
    let udp = |payload: &[u8]| {
        let mut bytes = vec![0x10, 0x00, 0x00, 0x35, 0, (8 + payload.len()) as u8, 0, 0];
        bytes.extend(payload);
        ethernet(&[0x0800], &ipv4(17, &[], 0, &bytes))
    };
    let (one, other) = (read(&udp(b"number 1")), read(&udp(b"number 2")));
    let (one, other) = (one.expect("a datagram"), other.expect("a datagram"));
    assert_ne!(one.key, other.key);
    assert_eq!(one.conversation, other.conversation);
    assert_eq!(
        (one.conversation.protocol, one.conversation.low.port()),
        (Protocol::Udp, 4096)
    );
    let echo = |kind: u8, number: u8| {
        let message = [kind, 0, 0xBE, 0xEF, 0x12, 0x34, 0, number, 1, 2, 3];
        ethernet(&[0x0800], &ipv4(1, &[], 0, &message))
    };
    let (request, reply) = (
        read(&echo(8, 1)).expect("a request"),
        read(&echo(0, 1)).expect("a reply"),
    );
    assert_ne!(request.key, reply.key);
    assert_eq!(request.conversation.low.port(), 0x1234);
    assert_eq!(read(&echo(3, 1)), Err(Skip::NotTcp));
    let six = ethernet(&[0x86DD], &ipv6(58, &[128, 0, 0, 0, 0, 7, 0, 1, 9]));
    assert_eq!(read(&six).expect("a request").conversation.protocol, Protocol::Icmp);
    let fragment = ethernet(&[0x0800], &ipv4(6, &[], 0x2000, &tcp(0x10, &[], 8)));
    assert_eq!(read(&fragment), Err(Skip::LaterFragment));
}

#[test]
fn a_damaged_capture_is_used_up_to_there_and_what_is_none_is_refused() {
    let (a, b) = by_hand();
    let (pairs, report) = measure(&a, &b[..b.len() - 3], &PairSettings::default());
    assert_eq!(pairs.len(), 1);
    assert_eq!(report.sides[1].damage, Some(TraceError::EndsEarly { records: 3 }));
    let nothing = packet_pairs(
        &|| Reader::new(&a[..]),
        &|| Reader::new(&b"no capture at all, but text"[..]),
        &PairSettings::default(),
        |_| {},
    );
    assert_eq!(nothing.map(|r| r.pairs), Err((1, TraceError::NoCapture)));
}

/// Packets in both, at the second point later by what is drawn.
fn journeys() -> impl Strategy<Value = Vec<(bool, u64, u64)>> {
    prop::collection::vec((any::<bool>(), 0..50 * MS, 1..200 * MS), 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Of any journeys, each pair is what a plain search through all packets finds.
    #[test]
    fn pairs_are_those_of_a_plain_search(journeys in journeys(), offset in 0..1_000_000 * MS) {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let mut now = START;
        for (n, &(back, pause, way)) in journeys.iter().enumerate() {
            now += pause;
            let made = frame(back, n as u16);
            let (left, arrived) = (now, now + way);
            let (at_a, at_b) = if back { (arrived, left) } else { (left, arrived) };
            a.push((at_a, n, made.clone()));
            b.push((at_b + offset, n, made));
        }
        // At B in the order in which they are taken there.
        let mut order: Vec<(u64, u64, usize)> = b.iter().map(|&(at, n, _)| (at, a[n].0.min(at - offset), n)).collect();
        order.sort_unstable();
        let mut expected = Vec::new();
        let mut there: Option<(u64, u64)> = None;
        let both_ways = journeys.iter().any(|j| j.0) && journeys.iter().any(|j| !j.0);
        for (at_b, _, n) in order {
            if !journeys[n].0 {
                there = Some((a[n].0, at_b));
            } else if let Some((left, came)) = there.take() && both_ways {
                expected.push(a[n].0 - left - (at_b - came));
            }
        }
        let sorted = |mut all: Vec<(u64, usize, Vec<u8>)>| {
            all.sort_by_key(|&(at, n, _)| (at, n));
            capture(&all.into_iter().map(|(at, _, frame)| (at, frame)).collect::<Vec<_>>())
        };
        let settings = PairSettings { gap_ns: 1_000_000 * MS, ..PairSettings::default() };
        let (found, report) = measure(&sorted(a), &sorted(b), &settings);
        let found: Vec<u64> = found.iter().map(|p| p.rtt_ns).collect();
        prop_assert_eq!(report.sides[0].matched, journeys.len() as u64);
        // Before both directions were seen nobody knows which is which; no pair can be complete before.
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn nothing_panics_on_captures_of_chance(
        a in prop::collection::vec(any::<u8>(), 0..600),
        cut in 0..400_usize,
        flip in prop::collection::vec((0..1000_usize, any::<u8>()), 0..20),
    ) {
        let (_, sound) = by_hand();
        let mut damaged = sound.clone();
        for (at, value) in flip {
            let at = at % damaged.len();
            damaged[at] = value;
        }
        damaged.truncate(damaged.len().saturating_sub(cut).max(24));
        for (one, other) in [(&sound, &damaged), (&damaged, &sound), (&a, &damaged), (&damaged, &damaged)] {
            let _ = packet_pairs(&|| Reader::new(&one[..]), &|| Reader::new(&other[..]), &PairSettings::default(), |_| {});
        }
    }
}
