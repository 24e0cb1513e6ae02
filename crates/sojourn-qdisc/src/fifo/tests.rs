use crate::testing::{TestPacket, bench, ms};
use crate::{Backlog, DropReason, Fifo, FifoLimit, Qdisc};
use sojourn_units::{Bytes, Duration};

#[test]
fn pfifo_counts_packets_and_bfifo_bytes() {
    let mut b = bench("pfifo limit 2");
    b.put_many(ms(0), 3, 9000, 0);
    assert_eq!(b.dropped(), [2]);
    let mut b = bench("bfifo limit 3000");
    b.put_many(ms(0), 2, 1400, 0);
    // 2800 + 201 would exceed the limit, 2800 + 200 fits it exactly.
    b.put(ms(0), 201, 0);
    b.put(ms(0), 200, 0);
    assert_eq!(b.dropped(), [2]);
    assert_eq!((b.packets(), b.q.backlog().bytes.get()), (3, 3000));
}

#[test]
fn packets_leave_in_order_with_their_sojourn() {
    let mut b = bench("pfifo");
    for t in 0..3 {
        b.put(ms(t), 100, 7 - t as u32);
    }
    let left: Vec<(u64, Duration)> = (0..3)
        .map(|t| b.take(ms(10 + t)).unwrap())
        .map(|d| (d.packet.id, d.sojourn))
        .collect();
    assert_eq!(
        left,
        [
            (0, Duration::from_millis(10)),
            (1, Duration::from_millis(10)),
            (2, Duration::from_millis(10))
        ]
    );
    assert_eq!(b.get(ms(20)), None);
    assert_eq!((b.q.stats().sent_packets, b.q.stats().sent_bytes), (3, 300));
}

#[test]
fn pfifo_fast_serves_the_highest_band_first() {
    let mut b = bench("pfifo_fast");
    for band in [2, 1, 0, 1] {
        b.put_packet(
            ms(0),
            TestPacket {
                band,
                ..TestPacket::new(0, 100, 0)
            },
        );
    }
    assert_eq!(
        (0..5).map(|_| b.get(ms(1))).collect::<Vec<_>>(),
        [Some(2), Some(1), Some(3), Some(0), None]
    );
}

#[test]
fn bands_share_the_limit_only_in_old_kernels() {
    for (text, refused) in [("pfifo_fast limit 2", 1), ("pfifo_fast limit 2 variant linux-3.14", 3)] {
        let mut b = bench(text);
        for band in [1, 1, 1, 0, 2] {
            b.put_packet(
                ms(0),
                TestPacket {
                    band,
                    ..TestPacket::new(0, 100, 0)
                },
            );
        }
        assert_eq!(b.q.stats().drops[DropReason::QueueLimit.index()], refused, "{text}");
    }
}

/// Offers and takes: how many of `offered` a band takes in after each of `departures` packets have left one by one.
fn taken_in(text: &str, departures: usize) -> Vec<usize> {
    let mut b = bench(text);
    b.put_many(ms(0), 100, 100, 0);
    (0..departures)
        .map(|_| {
            assert!(b.get(ms(1)).is_some());
            let before = b.packets();
            b.put_many(ms(1), 100, 100, 0);
            (b.packets() - before) as usize
        })
        .collect()
}

#[test]
fn a_full_ring_takes_packets_16_at_a_time() {
    // Of 40 places 16 are cleared when 16 packets have left, again 16, and the last 8 at the end of the ring.
    let mut expected = vec![0; 56];
    for (after, places) in [(16, 16), (32, 16), (40, 8), (56, 16)] {
        expected[after - 1] = places;
    }
    assert_eq!(taken_in("pfifo_fast limit 40", 56), expected);
    // Two batches do not fit into 31 places, and lists and `pfifo` have none.
    for text in [
        "pfifo_fast limit 31",
        "pfifo_fast limit 40 variant linux-3.14",
        "pfifo limit 40",
    ] {
        assert_eq!(taken_in(text, 56), [1; 56], "{text}");
    }
}

#[test]
fn places_that_were_left_do_not_come_back_when_a_ring_is_empty() {
    let mut b = bench("pfifo_fast limit 40");
    b.put_many(ms(0), 15, 100, 0);
    for _ in 0..15 {
        b.get(ms(1));
    }
    b.put_many(ms(2), 40, 100, 0);
    assert_eq!(b.packets(), 25);
}

#[test]
fn passing_an_empty_queue_is_arriving_and_departing() {
    let mut through = Fifo::<TestPacket>::new(FifoLimit::Bytes(Bytes::new(1000))).unwrap();
    let mut drops = Vec::new();
    assert!(through.lets_pass(Bytes::new(1000)));
    through.passed(Bytes::new(1000));
    assert!(!through.lets_pass(Bytes::new(1001)), "more than the limit");
    let stats = through.stats();
    assert_eq!((stats.arrived, stats.sent_packets, stats.sent_bytes), (1, 1, 1000));
    assert_eq!(through.backlog(), Backlog::default());
    through.enqueue(TestPacket::new(0, 1, 0), ms(0), &mut drops);
    assert!(!through.lets_pass(Bytes::new(1)), "another is before it");
}

/// `tc -s -j qdisc` gives a FIFO no counters of its own.
#[test]
fn it_has_no_counters_beyond_the_common_ones() {
    assert_eq!(bench("pfifo limit 3").q.extra_stats(), []);
}
