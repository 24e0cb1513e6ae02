//! When and what the receiver acknowledges: RFC 1122, 5681, 2018, 2883, 7323, and Linux's policy.

use sojourn_tcp::{EcnMode, Endpoint, Flags, Segment, TcpParams, Variant};
use sojourn_units::{Duration, Time};

const MS: Duration = Duration::from_millis(1);
const MSS: u64 = 1448;

/// A server that data segments are handed to, by number.
struct Peer {
    server: Endpoint,
    now: Time,
}

impl Peer {
    fn new(params: &TcpParams) -> Self {
        let mut server = Endpoint::server(params).expect("valid parameters");
        let now = Time::from_millis(1);
        let ecn = match params.ecn {
            EcnMode::Off => Flags::NONE,
            EcnMode::Classic => Flags::ECE | Flags::CWR,
            EcnMode::Accurate => Flags::ECE | Flags::CWR | Flags::AE,
        };
        let syn = Segment {
            flags: Flags::SYN | ecn,
            window: 254,
            ts_val: 1,
            ..Segment::default()
        };
        server.on_segment(&syn, now);
        let syn_ack = server.poll_transmit(now).expect("a SYN-ACK");
        assert!(syn_ack.flags.has(Flags::SYN | Flags::ACK));
        let now = now + MS * 50;
        let ack = Segment {
            seq: 1,
            ack: 1,
            flags: Flags::ACK,
            window: 254,
            ts_val: 2,
            ts_ecr: syn_ack.ts_val,
            ..Segment::default()
        };
        server.on_segment(&ack, now);
        assert!(server.is_established() && server.poll_transmit(now).is_none());
        Self { server, now }
    }

    /// One that is past its quick acknowledgements, with `0..20` received and acknowledged.
    fn settled() -> Self {
        Self::settled_with(&TcpParams::default())
    }

    fn settled_with(params: &TcpParams) -> Self {
        let mut peer = Self::new(params);
        for k in 0..20 {
            peer.data(k, 2);
            peer.wait(MS);
        }
        peer.wait(MS * 40);
        assert_eq!(peer.server.receiver().bytes_in_order(), 20 * MSS);
        peer
    }

    /// Data segment `k` arrives; answers the acknowledgement that goes out at once.
    fn data(&mut self, k: u64, ts_val: u32) -> Option<Segment> {
        self.bytes(1 + k * MSS, MSS as u16, ts_val)
    }

    fn bytes(&mut self, seq: u64, len: u16, ts_val: u32) -> Option<Segment> {
        self.flagged(seq, len, ts_val, Flags::NONE)
    }

    fn flagged(&mut self, seq: u64, len: u16, ts_val: u32, flags: Flags) -> Option<Segment> {
        let segment = Segment {
            seq,
            len,
            ack: 1,
            flags: Flags::ACK | flags,
            window: 254,
            ts_val,
            ..Segment::default()
        };
        self.server.on_segment(&segment, self.now);
        let ack = self.server.poll_transmit(self.now);
        assert!(
            self.server.poll_transmit(self.now).is_none(),
            "one acknowledgement at a time"
        );
        ack
    }

    /// Time passes; answers what goes out, and how long after.
    fn wait(&mut self, time: Duration) -> Option<(Duration, Segment)> {
        let (start, end) = (self.now, self.now + time);
        let mut sent = None;
        while let Some(at) = self.server.timeout().filter(|&at| at <= end) {
            self.server.on_timeout(at);
            while let Some(ack) = self.server.poll_transmit(at) {
                assert!(
                    sent.replace((at.since(start), ack)).is_none(),
                    "one acknowledgement at a time"
                );
            }
        }
        self.now = end;
        sent
    }
}

/// The SACK blocks in segments, relative to the first.
fn blocks(ack: &Segment) -> Vec<(u64, u64)> {
    let number = |offset: i32| (ack.ack.saturating_add_signed(i64::from(offset)) - 1) / MSS;
    ack.sack[..usize::from(ack.sack_count)]
        .iter()
        .map(|b| (number(b.start), number(b.end)))
        .collect()
}

fn number(ack: &Segment) -> u64 {
    (ack.ack - 1) / MSS
}

/// Linux `TCP_MAX_QUICKACKS`: the first sixteen, so that slow start is not held up; then RFC 1122 section 4.2.3.2 and
/// RFC 5681 section 4.2: one for two.
#[test]
fn sixteen_segments_are_acknowledged_each_then_every_second() {
    let mut peer = Peer::new(&TcpParams::default());
    let acked: Vec<u64> = (0..30)
        .filter_map(|k| {
            let ack = peer.data(k, 2);
            peer.wait(MS);
            ack.map(|a| number(&a))
        })
        .collect();
    let expected: Vec<u64> = (1..=16).chain((18..=30).step_by(2)).collect();
    assert_eq!(acked, expected);
}

/// RFC 1122 section 4.2.3.2 allows 500 ms; Linux begins with `TCP_DELACK_MIN`, 40 ms, and its timers go off at the
/// tick after that.
#[test]
fn a_lone_segment_is_acknowledged_after_40_ms() {
    let mut peer = Peer::settled();
    assert_eq!(peer.data(20, 3), None);
    let (after, ack) = peer.wait(MS * 500).expect("a delayed acknowledgement");
    assert!((MS * 40..=MS * 41).contains(&after), "{after:?}");
    assert_eq!(number(&ack), 21);
    // Without delays it is acknowledged at once.
    let mut eager = Peer::new(&TcpParams {
        delayed_ack: false,
        ..TcpParams::default()
    });
    assert!((0..40).all(|k| eager.data(k, 2).is_some()));
}

/// `tcp_measure_rcv_mss` of Linux 6.1.192 heeds PSH on a full segment, that of 5.15.72 does not.
#[test]
fn linux_5_15_does_not_hurry_for_a_full_segment_with_push() {
    let hurries = |variant| {
        let mut peer = Peer::settled_with(&TcpParams {
            variant,
            ..TcpParams::default()
        });
        peer.flagged(1 + 20 * MSS, MSS as u16, 3, Flags::PSH).is_some()
    };
    assert!(hurries(Variant::Linux61) && !hurries(Variant::Linux515));
}

/// L4STeam's Linux 5.15 takes each ECN-capable segment for marks that no acknowledgement has told of. Where nothing waits
/// to be acknowledged, a segment with a newer timestamp is acknowledged at once.
#[test]
fn l4steams_receiver_hurries_for_each_newer_timestamp() {
    let acknowledged = |variant, ecn, flags| {
        let mut peer = Peer::settled_with(&TcpParams {
            variant,
            ecn,
            ..TcpParams::default()
        });
        // With AccECN the first ECT(0) is a change of the codepoint, which is told at once. Without it, segment 20 waits.
        let first = 20 + u64::from(peer.flagged(1 + 20 * MSS, MSS as u16, 3, flags).is_some());
        if first == 20 {
            peer.wait(MS * 50);
        }
        let numbers = [(21, 3), (22, 4), (23, 5), (24, 5), (25, 5), (26, 6)];
        numbers.map(|(k, ts)| peer.flagged(1 + k * MSS, MSS as u16, ts, flags).is_some())
    };
    let pairs = [false, true, false, true, false, true];
    let (accurate, classic) = (EcnMode::Accurate, EcnMode::Classic);
    // 21 has the timestamp of 20, and waits. 22 is the second. 23 and 26 are newer. 24 is not, and 25 is the second.
    let hurried = [false, true, true, false, true, true];
    assert_eq!(acknowledged(Variant::Linux515, accurate, Flags::ECT0), hurried);
    assert_eq!(acknowledged(Variant::Linux61, accurate, Flags::ECT0), pairs);
    assert_eq!(acknowledged(Variant::Linux515, classic, Flags::ECT0), pairs);
    assert_eq!(acknowledged(Variant::Linux515, accurate, Flags::NONE), pairs);
}

/// RFC 5681 section 4.2: above a gap, and when one is filled, at once.
#[test]
fn a_gap_and_its_filling_are_acknowledged_at_once() {
    let mut peer = Peer::settled();
    let above = peer.data(21, 3).expect("a duplicate acknowledgement");
    assert_eq!((number(&above), blocks(&above)), (20, vec![(21, 22)]));
    let filled = peer.data(20, 3).expect("the gap is filled");
    assert_eq!((number(&filled), blocks(&filled)), (22, vec![]));
    // Also if it is so little that it would not be acknowledged otherwise.
    let start = 1 + 22 * MSS;
    assert!(peer.bytes(start + 100, 100, 3).is_some());
    assert_eq!(peer.bytes(start, 100, 3).expect("at once").ack, start + 200);
    assert!(peer.bytes(start + 200, MSS as u16, 3).is_none());
}

/// Linux `tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`: what an application has read to its end is not held back.
#[test]
fn a_short_segment_is_acknowledged_at_once_by_an_end_that_only_listens() {
    let mut peer = Peer::settled();
    let ack = peer.bytes(1 + 20 * MSS, 100, 3).expect("at once");
    assert_eq!(ack.ack, 1 + 20 * MSS + 100);
    // Linux 3.14 is modelled without.
    let mut old = Peer::new(&TcpParams {
        variant: Variant::Linux314,
        ..TcpParams::default()
    });
    for k in 0..20 {
        old.data(k, 2);
        old.wait(MS);
    }
    old.wait(MS * 41);
    assert!(old.bytes(1 + 20 * MSS, 100, 3).is_none());
}

#[test]
fn an_end_that_answers_lets_its_data_carry_the_acknowledgement() {
    let mut peer = Peer::settled();
    peer.bytes(1 + 20 * MSS, 100, 3).expect("at once");
    peer.server.write(200);
    let answer = peer.server.poll_transmit(peer.now).expect("data");
    assert_eq!(answer.len, 200);
    assert!(peer.bytes(1 + 20 * MSS + 100, 100, 3).is_none());
}

/// RFC 2883 section 4: the duplicate is the first block; example 4.2.1 (with the data already acknowledged).
#[test]
fn a_duplicate_is_reported_at_once_in_the_first_block() {
    let mut peer = Peer::settled();
    let below = peer.data(5, 3).expect("at once");
    assert_eq!((number(&below), blocks(&below)), (20, vec![(5, 6)]));
    // Section 4.1.2: a duplicate above the acknowledgement, followed by the block that holds it.
    peer.data(22, 3);
    peer.data(23, 3);
    let inside = peer.data(22, 3).expect("at once");
    assert_eq!((number(&inside), blocks(&inside)), (20, vec![(22, 23), (22, 24)]));
    // It is reported once.
    let next = peer.data(24, 3).expect("above a gap");
    assert_eq!(blocks(&next), [(22, 25)]);
}

/// RFC 2018 section 4: the first block holds the segment that triggered it, the others repeat the most recent; three
/// blocks fit beside a timestamp.
#[test]
fn sack_blocks_begin_with_the_most_recent() {
    let mut peer = Peer::settled();
    assert_eq!(blocks(&peer.data(21, 3).expect("at once")), [(21, 22)]);
    assert_eq!(blocks(&peer.data(25, 3).expect("at once")), [(25, 26), (21, 22)]);
    assert_eq!(
        blocks(&peer.data(23, 3).expect("at once")),
        [(23, 24), (25, 26), (21, 22)]
    );
    let mut compressed = |k| {
        let ack = peer.data(k, 3).or_else(|| peer.wait(MS * 2).map(|(_, ack)| ack));
        blocks(&ack.expect("within 2 ms"))
    };
    assert_eq!(compressed(29), [(29, 30), (23, 24), (25, 26)]);
    assert_eq!(compressed(24), [(23, 26), (29, 30), (21, 22)]);
    assert_eq!(compressed(22), [(21, 26), (29, 30)]);
}

/// Linux 6.1 `tcp_comp_sack_delay_ns` and `tcp_comp_sack_nr`: the first three go out at once, so that no fast
/// retransmit waits; then at most 1 ms, and at most 44 in one.
#[test]
fn sacks_are_compressed_for_at_most_one_millisecond() {
    let mut peer = Peer::settled();
    for k in 21..24 {
        assert!(peer.data(k, 3).is_some(), "{k}");
    }
    assert!(peer.data(24, 3).is_none());
    assert_eq!(peer.wait(MS / 2), None);
    assert!(peer.data(25, 3).is_none());
    let (after, ack) = peer.wait(MS * 5).expect("the compressed one");
    assert_eq!((after, blocks(&ack)), (MS / 2, vec![(21, 26)]));
    // Short segments, so that they fit the window.
    let mut short = |i: u64| peer.bytes(1 + 26 * MSS + i * 100, 100, 3);
    let merged = (0..100_u64).take_while(|&i| short(i).is_none()).count();
    assert_eq!(merged, 44);
}

/// Linux 6.1 `tcp_sack_new_ofo_skb`, worked by hand: where every second segment is lost, each begins a range. Only two
/// ranges are sure to fit into an acknowledgement, so what is held back goes out, as it was, before a third is added.
#[test]
fn an_acknowledgement_is_not_held_back_until_it_cannot_report_all() {
    let mut peer = Peer::settled();
    for k in [21, 23, 25] {
        assert!(peer.data(k, 3).is_some(), "{k}");
    }
    assert!(peer.data(27, 3).is_none(), "held back from the fourth on");
    let before = peer
        .data(29, 3)
        .expect("29 would be the third range beside those of the fourth");
    assert_eq!(blocks(&before), [(27, 28), (25, 26), (23, 24)]);
    assert_eq!(peer.server.poll_transmit(peer.now), None, "29 itself is held back");
    // It grows the first range: nothing is lost by waiting.
    assert!(peer.data(30, 3).is_none());
    // It grows the third.
    let before = peer.data(24, 3).expect("at once");
    assert_eq!(blocks(&before), [(29, 31), (27, 28), (25, 26)]);
    let (after, last) = peer.wait(MS * 2).expect("the timer began with 24");
    assert_eq!((after, blocks(&last)), (MS, vec![(23, 26), (29, 31), (27, 28)]));
}

/// RFC 7323 section 4.3: (A) a delayed acknowledgement echoes the earlier segment; (B) a segment above a gap does not
/// change the echo; (C) the one that fills it does.
#[test]
fn the_timestamp_to_echo_is_that_of_the_segment_that_advances_the_acknowledgement() {
    let mut peer = Peer::settled();
    assert_eq!(peer.data(20, 100), None);
    let delayed = peer.data(21, 105).expect("the second");
    assert_eq!((number(&delayed), delayed.ts_ecr), (22, 100));
    let above = peer.data(23, 110).expect("above a gap");
    assert_eq!((number(&above), above.ts_ecr), (22, 100));
    let filled = peer.data(22, 120).expect("the gap is filled");
    assert_eq!((number(&filled), filled.ts_ecr), (24, 120));
}

/// RFC 7323 section 4.3: an older timestamp is not taken.
#[test]
fn an_older_timestamp_is_not_echoed() {
    let mut peer = Peer::settled();
    peer.data(20, 100);
    assert_eq!(peer.data(21, 100).expect("the second").ts_ecr, 100);
    let duplicate = peer.data(3, 50).expect("a duplicate");
    assert_eq!(duplicate.ts_ecr, 100);
}

/// RFC 9293 section 3.10.7.4: a segment beyond the window is dropped, and an acknowledgement sent.
#[test]
fn data_beyond_the_window_is_refused_with_an_acknowledgement() {
    let mut peer = Peer::settled();
    let first = 1 + 20 * MSS + peer.server.receiver().window();
    let ack = peer.data(first.div_ceil(MSS) + 2, 3).expect("at once");
    assert_eq!((number(&ack), ack.sack_count), (20, 0));
}

/// RFC 3168 section 6.1.3: a mark is echoed at once, so it does not wait for a second segment.
#[test]
fn a_mark_is_acknowledged_at_once() {
    let mut peer = Peer::settled_with(&TcpParams {
        ecn: EcnMode::Classic,
        ..TcpParams::default()
    });
    let marked = Segment {
        seq: 1 + 20 * MSS,
        len: MSS as u16,
        ack: 1,
        flags: Flags::ACK | Flags::ECT0 | Flags::CE,
        window: 254,
        ts_val: 3,
        ..Segment::default()
    };
    peer.server.on_segment(&marked, peer.now);
    let ack = peer.server.poll_transmit(peer.now).expect("at once");
    assert!(ack.flags.has(Flags::ECE));
}
