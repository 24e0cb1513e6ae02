use crate::testing::{TestPacket, bench, ms};
use crate::{DropReason, Qdisc};
use sojourn_units::{Duration, Time};

/// Fills the queue at 0 and takes one packet a millisecond from `from`; answers the times (ms) at which drops fell.
fn drop_times(text: &str, packets: u64, from: u64, to: u64) -> Vec<u64> {
    let mut b = bench(text);
    b.put_many(ms(0), packets, 1000, 0);
    let mut times = Vec::new();
    for t in from..to {
        b.get(ms(t));
        times.extend(b.dropped().iter().map(|_| t));
    }
    times
}

#[test]
fn rfc_drops_at_interval_over_square_root_of_count() {
    // First above target at 5 ms (first dequeue), so the first drop is due at 105; then 100/sqrt(1) = 100 later,
    // 100/sqrt(2) = 70.71, 100/sqrt(3) = 57.74, 50, 44.72.
    // 205; 275.71 -> first call at 276; 333.45 -> 334; 383.45 -> 384; 428.17 -> 429.
    assert_eq!(
        drop_times("codel variant rfc8289", 600, 5, 430),
        [105, 205, 276, 334, 384, 429]
    );
}

#[test]
fn linux_drops_strictly_later_than_the_interval() {
    // first_above = 105 ms: not later than it at 105, so the first drop falls at 106. The first gap is
    // 100 ms * 65535/65536 = 99.998 ms: 205.998, so 206.
    // Newton from 0xffff at count 2: x' = x/2 (3 - 2 x^2) = 0.49997; at count 3: x/2 (3 - 3 x^2) = 0.5625 - so 50.0 and
    // 56.2 ms: 255.99 -> 256, 312.2 -> 313.
    assert_eq!(drop_times("codel", 600, 5, 314), [106, 206, 256, 313]);
}

#[test]
fn no_drop_while_at_most_one_mtu_is_left() {
    let mut b = bench("codel limit 1000 target 5ms interval 100ms");
    for t in 0..2000 {
        // Always one full packet behind the one that leaves: 1514 bytes left, not above one MTU.
        b.put(ms(t * 50), 1514, 0);
        if t > 0 {
            b.get(ms(t * 50));
        }
    }
    assert_eq!(b.q.stats().dropped(), 0);
    // With one byte more behind it, the same delays end in drops.
    let mut b = bench("codel limit 1000 target 5ms interval 100ms");
    for t in 0..200 {
        b.put(ms(t * 50), 1515, 0);
        if t > 0 {
            b.get(ms(t * 50));
        }
    }
    assert!(b.q.stats().drops[DropReason::Congestion.index()] > 0);
}

#[test]
fn old_linux_compares_the_backlog_with_the_largest_packet_seen() {
    // 300-byte packets, two left behind: 600 > 300 in 3.14, but 600 <= 1514 now.
    for (text, drops) in [("codel variant linux-3.14", true), ("codel", false)] {
        let mut b = bench(text);
        b.put(ms(0), 300, 0);
        b.put(ms(0), 300, 0);
        for t in 1..100 {
            b.put(ms(t * 20), 300, 0);
            b.get(ms(t * 20));
        }
        assert_eq!(b.q.stats().dropped() > 0, drops, "{text}");
    }
}

#[test]
fn the_victim_is_the_head_and_its_successor_departs() {
    let mut b = bench("codel variant rfc8289");
    b.put_many(ms(0), 10, 1000, 0);
    assert_eq!(b.get(ms(10)), Some(0));
    assert_eq!(b.get(ms(110)), Some(2));
    assert_eq!(b.drops[0].sojourn, Duration::from_millis(110));
    assert_eq!(b.drops[0].reason, DropReason::Congestion);
    assert_eq!(b.dropped(), [1]);
}

#[test]
fn a_delay_below_target_leaves_the_dropping_state() {
    let mut b = bench("codel");
    b.put_many(ms(0), 4, 1000, 0);
    b.get(ms(10));
    b.get(ms(111));
    assert!((b.extra("dropping") - 1.0).abs() < 0.5);
    // As Linux tells it: microseconds from now to the next drop, which is one interval of 100 ms after the first,
    // by an inverse square root of 16 bits.
    assert!(
        (b.extra("drop_next") - 100_000.0).abs() < 2.0,
        "{}",
        b.extra("drop_next")
    );
    b.put_many(ms(111), 3, 1000, 0);
    b.get(ms(112));
    b.get(ms(113));
    assert!(b.extra("dropping").abs() < 0.5);
}

#[test]
fn dropping_resumes_with_the_count_it_had_grown_by() {
    // An episode with 4 drops (count 4, lastcount 1): delta 3. Re-entry within 16 intervals starts at count 3 (RFC 8289
    // section 5.4), later at 1.
    for (pause, count) in [(300, 3.0), (3000, 1.0)] {
        let mut b = bench("codel variant rfc8289");
        b.put_many(ms(0), 400, 1000, 0);
        let mut t = 5;
        while b.q.stats().dropped() < 4 {
            b.get(ms(t));
            t += 1;
        }
        while b.get(ms(t)).is_some() {}
        b.get(ms(t));
        let again = t + pause;
        b.put_many(ms(again), 10, 1000, 0);
        b.get(ms(again + 10));
        b.get(ms(again + 110));
        assert_eq!(
            (b.extra("count"), b.extra("drop_state_entries")),
            (count, 2.0),
            "{pause}"
        );
    }
}

#[test]
fn ns2_resumes_with_one_less() {
    let mut b = bench("codel variant ns2");
    b.put_many(ms(0), 400, 1000, 0);
    let mut t = 5;
    while b.q.stats().dropped() < 4 {
        b.get(ms(t));
        t += 1;
    }
    while b.get(ms(t)).is_some() {}
    b.put_many(ms(t), 10, 1000, 0);
    b.get(ms(t + 10));
    b.get(ms(t + 110));
    assert_eq!((b.extra("count"), b.extra("lastcount")), (3.0, 3.0));
}

#[test]
fn ecn_capable_packets_are_marked_and_leave() {
    let mut b = bench("codel ecn");
    for _ in 0..10 {
        b.put_packet(
            ms(0),
            TestPacket {
                ecn: sojourn_units::Ecn::Ect0,
                ..TestPacket::new(0, 1000, 0)
            },
        );
    }
    b.get(ms(10));
    let d = b.take(ms(111)).unwrap();
    assert!(d.marked && d.packet.ecn == sojourn_units::Ecn::Ce && d.packet.id == 1);
    assert_eq!((b.q.stats().marks, b.q.stats().dropped()), (1, 0));
}

#[test]
fn ce_threshold_marks_every_late_packet() {
    let mut b = bench("codel ce_threshold 1ms");
    for t in 0..4 {
        b.put_packet(
            ms(t),
            TestPacket {
                ecn: sojourn_units::Ecn::Ect0,
                ..TestPacket::new(0, 100, 0)
            },
        );
    }
    let marked: Vec<bool> = (0..4).map(|_| b.take(ms(3)).unwrap().marked).collect();
    assert_eq!(marked, [true, true, false, false]);
    assert_eq!((b.q.stats().marks, b.extra("ce_mark")), (2, 2.0));
}

#[test]
fn arrivals_beyond_the_limit_are_refused() {
    let mut b = bench("codel limit 3");
    b.put_many(ms(0), 5, 1000, 0);
    assert_eq!(
        b.drops.iter().map(|d| d.reason).collect::<Vec<_>>(),
        [DropReason::QueueLimit; 2]
    );
    assert_eq!(b.dropped(), [3, 4]);
    assert!((b.extra("drop_overlimit") - 2.0).abs() < 0.5);
}

#[test]
fn a_peeked_packet_is_still_in_the_backlog_and_its_sojourn_goes_on() {
    let mut b = bench("codel limit 2");
    b.put_many(ms(0), 2, 700, 0);
    assert_eq!(b.q.peek(ms(1), &mut b.drops).map(sojourn_units::Bytes::get), Some(700));
    assert_eq!(
        (b.packets(), b.q.backlog().bytes.get(), b.q.stats().sent_packets),
        (2, 1400, 0)
    );
    b.put(ms(1), 700, 0);
    assert_eq!(b.dropped(), [2], "the held packet counts against the limit");
    let d = b.take(Time::from_millis(9)).unwrap();
    assert_eq!((d.packet.id, d.sojourn), (0, Duration::from_millis(9)));
    assert_eq!(b.packets(), 1);
}

#[test]
fn ns2_drops_a_first_packet_that_is_late_itself() {
    // Nothing was below target before it. Where the first is taken in time, or the queue was asked while empty, an
    // interval is waited for as by the RFC.
    let mut b = bench("codel variant ns2");
    b.put_many(ms(0), 10, 1000, 0);
    assert_eq!((b.get(ms(5)), b.dropped()), (Some(1), vec![0]));
    for first in [Some(0), None] {
        let mut b = bench("codel variant ns2");
        if first.is_none() {
            b.get(ms(0));
        }
        b.put_many(ms(0), 10, 1000, 0);
        assert_eq!(b.get(ms(if first.is_some() { 4 } else { 5 })), Some(0));
        b.get(ms(10));
        assert!(b.drops.is_empty());
    }
}
