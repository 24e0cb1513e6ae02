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

#[test]
fn passing_an_empty_queue_is_arriving_and_departing() {
    let mut through = Fifo::<TestPacket>::new(FifoLimit::Bytes(Bytes::new(1000))).unwrap();
    let mut drops = Vec::new();
    assert!(through.pass(Bytes::new(1000)));
    assert!(!through.pass(Bytes::new(1001)), "more than the limit");
    let stats = through.stats();
    assert_eq!((stats.arrived, stats.sent_packets, stats.sent_bytes), (1, 1, 1000));
    assert_eq!(through.backlog(), Backlog::default());
    through.enqueue(TestPacket::new(0, 1, 0), ms(0), &mut drops);
    assert!(!through.pass(Bytes::new(1)), "another is before it");
    assert_eq!(through.stats().arrived, 2);
}
