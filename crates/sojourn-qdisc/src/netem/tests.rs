use crate::testing::{Bench, TestPacket, bench, ms};
use crate::{AnyQdisc, Qdisc, QdiscSpec, Tbf};
use sojourn_units::{Bytes, Duration, Rate, Time};

/// `netem` as the leaf of a shaper with a bucket of one frame.
fn leaf(rate: Rate, child: &str) -> Bench<Tbf<TestPacket, AnyQdisc<TestPacket>>> {
    let child = QdiscSpec::parse(child, None).unwrap().build(1);
    Bench::new(Tbf::new(rate, Bytes::new(1514), child).unwrap())
}

#[test]
fn a_packet_leaves_a_delay_after_it_came_and_not_a_nanosecond_before() {
    let mut b = bench("netem limit 3 delay 15ms");
    b.put(ms(1), 1514, 0);
    b.put(ms(2), 60, 0);
    assert_eq!(b.q.ready_at(ms(2), &mut Vec::new()), Some(ms(16)));
    assert_eq!(b.take(Time::from_nanos(15_999_999)), None);
    let first = b.take(ms(16)).unwrap();
    assert_eq!((first.packet.id, first.sojourn), (0, Duration::from_millis(15)));
    // The second one's time has not come, however small it is; nobody looks until 40 ms.
    assert_eq!(b.take(ms(16)), None);
    assert_eq!(b.take(ms(40)).unwrap().sojourn, Duration::from_millis(38));
    assert_eq!(b.q.ready_at(ms(40), &mut Vec::new()), None);
}

#[test]
fn the_limit_counts_packets_that_are_only_delayed() {
    let mut b = bench("netem limit 2 delay 15ms");
    b.put_many(ms(0), 3, 100, 0);
    assert_eq!(b.dropped(), [2]);
    // One that a shaper has looked at counts until it is gone.
    assert_eq!(b.q.peek(ms(15), &mut Vec::new()), Some(Bytes::new(100)));
    b.put(ms(15), 100, 0);
    assert_eq!(b.dropped(), [3]);
    assert_eq!(b.get(ms(15)), Some(0));
    b.put(ms(15), 100, 0);
    assert_eq!((b.dropped(), b.packets()), (vec![], 2));
}

/// 5 Mbit/s behind arrivals at 10 Mbit/s, 15 ms of delay, room for 20 packets. A frame takes 2.4224 ms of the link
/// and 1.2112 ms to come. By hand: frame n comes at 1.2112 n and may leave from 15 + 1.2112 n on, so the first leaves
/// at 15 ms and frame n at 15 + 2.4224 n. Before frame n comes n are accepted and floor((1.2112 n - 15) / 2.4224) + 1
/// have left from 15 ms on, so that 20 are held first when n = 28: of 34.0 ms less 15, 7.84 frames' time, 8 have
/// left.
#[test]
fn under_a_shaper_the_buffer_is_smaller_by_what_the_delay_holds() {
    let mut b = leaf(Rate::from_mbit(5), "netem limit 20 delay 15ms");
    let frame = 1_211_200;
    let mut left = Vec::new();
    let mut now = Time::ZERO;
    for n in 0..40 {
        let comes = Time::from_nanos(n * frame);
        while let Some(at) = b.q.ready_at(now, &mut b.drops).filter(|at| *at <= comes) {
            now = at;
            if let Some(id) = b.get(now) {
                left.push((id, now.as_nanos()));
            }
        }
        now = comes;
        b.put(now, 1514, 0);
    }
    assert_eq!(left[..3], [(0, 15_000_000), (1, 17_422_400), (2, 19_844_800)]);
    assert_eq!(b.dropped()[..3], [28, 30, 32]);
}

#[test]
fn a_shaper_sleeps_until_the_delay_is_over() {
    let mut b = leaf(Rate::from_mbit(5), "netem limit 20 delay 15ms");
    b.put(ms(0), 1514, 0);
    assert_eq!(b.q.ready_at(ms(0), &mut b.drops), Some(ms(15)));
    assert_eq!(b.get(ms(14)), None);
    assert_eq!(b.get(ms(15)), Some(0));
    assert_eq!(b.q.ready_at(ms(15), &mut b.drops), None);
}

#[test]
fn without_a_delay_it_is_a_fifo() {
    let (mut one, mut other) = (bench("netem limit 3"), bench("pfifo limit 3"));
    for t in 0..60 {
        for b in [&mut one, &mut other] {
            b.put_many(ms(t), t % 3, 100, 0);
        }
        assert_eq!(one.get(ms(t)), other.get(ms(t)));
    }
    assert_eq!(one.dropped(), other.dropped());
    assert_eq!(one.q.stats(), other.q.stats());
}
