use super::super::settings::default_burst;
use super::*;
use etherparse::PacketBuilder;
use proptest::prelude::*;
use sojourn_qdisc::{DeliveryTrace, QdiscSpec};
use sojourn_units::{Bytes, Rate};

/// A UDP packet of `size` bytes on the link, from a port of its own for each flow.
fn packet(size: usize, flow: u16) -> Frame {
    let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(flow, 9);
    let mut bytes = Vec::new();
    builder.write(&mut bytes, &vec![0; size - 14 - 28]).unwrap();
    Frame::new(bytes, 14, 1).unwrap()
}

fn settings(rate: Rate, qdisc: &str) -> Settings {
    let qdisc = QdiscSpec::parse(qdisc, Some(rate)).unwrap();
    Settings::new(rate, default_burst(1500, 14), qdisc)
}

fn way(settings: Settings) -> Way {
    Way::new(settings, 1, "up").unwrap()
}

fn us(t: u64) -> Time {
    Time::from_nanos(1000 * t)
}

/// Everything that is due until `now`, microseconds.
fn due(way: &mut Way, now: Time) -> Vec<u64> {
    way.advance(now, &mut ());
    std::iter::from_fn(|| way.due(now))
        .map(|(due, _)| due.as_nanos() / 1000)
        .collect()
}

#[test]
fn packets_leave_at_the_rate_however_late_the_way_is_told_the_time() {
    // 1250 bytes at 10 Mbit/s take 1 ms; the bucket lets the first out at once, and has 264 bytes left, 211.2 us.
    for steps in [1, 7, 1000] {
        let mut way = way(settings(Rate::from_mbit(10), "pfifo limit 100"));
        for _ in 0..5 {
            way.offer(packet(1250, 1), us(0), &mut ());
        }
        let mut times = Vec::new();
        for step in 1..=steps {
            times.extend(due(&mut way, us(10_000 * step / steps)));
        }
        assert_eq!(times, [0, 788, 1788, 2788, 3788], "told {steps} times");
    }
}

fn traced() -> (DeliveryTrace, Vec<u64>) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/mahimahi/uplink.trace");
    let text = std::fs::read_to_string(file).unwrap();
    let times = text.lines().map(|line| line.parse().unwrap()).collect();
    (DeliveryTrace::open(file).unwrap(), times)
}

#[test]
fn full_frames_leave_when_the_trace_says_however_late_the_way_is_told_the_time() {
    let (trace, times) = traced();
    let period = times[times.len() - 1];
    let rounds = |round: u64| times.iter().map(move |ms| 1000 * (ms + round * period));
    let expected: Vec<u64> = (0..2).flat_map(rounds).collect();
    for steps in [1, 7, 1000] {
        let mut way = way(Settings {
            trace: Some(trace.clone()),
            ..settings(trace.rate(), "pfifo limit 1000")
        });
        for _ in 0..1000 {
            way.offer(packet(1514, 1), us(0), &mut ());
        }
        let mut left = Vec::new();
        for step in 1..=steps {
            left.extend(due(&mut way, us(2000 * period * step / steps)));
        }
        assert_eq!(left, expected, "told {steps} times");
    }
}

#[test]
fn a_link_with_a_trace_keeps_it() {
    let (trace, times) = traced();
    let own = Settings {
        trace: Some(trace.clone()),
        ..settings(trace.rate(), "pfifo limit 1000")
    };
    let refused = own.changed("rate", "5mbit", Bytes::new(1514)).unwrap_err();
    assert!(
        refused.starts_with("rate is \"5mbit\", but must be left alone: "),
        "{refused}"
    );
    let mut way = way(own.clone());
    let other = own.changed("qdisc", "pfifo limit 7", Bytes::new(1514)).unwrap();
    way.set(other, us(0), &mut ()).unwrap();
    for _ in 0..9 {
        way.offer(packet(1514, 1), us(0), &mut ());
    }
    let left = due(&mut way, us(1_000_000));
    assert_eq!(left, times[..7].iter().map(|ms| 1000 * ms).collect::<Vec<_>>());
}

#[test]
fn a_delay_is_added_to_each_packet_and_keeps_the_order() {
    let mut settings = settings(Rate::from_mbit(10), "pfifo limit 100");
    settings.delay = Duration::from_millis(25);
    let mut way = way(settings);
    for _ in 0..3 {
        way.offer(packet(1514, 1), us(0), &mut ());
    }
    assert_eq!(way.next_at(), Some(us(1_211) + Duration::from_nanos(200)));
    assert!(due(&mut way, us(24_999)).is_empty());
    assert_eq!(way.next_at(), Some(us(25_000)));
    assert_eq!(due(&mut way, us(100_000)), [25_000, 26_211, 27_422]);
    assert_eq!(way.next_at(), None);
}

#[test]
fn packets_of_a_path_have_its_delay() {
    let mut settings = settings(Rate::from_mbit(100), "pfifo limit 100");
    settings.delay = Duration::from_millis(10);
    let other: IpAddr = [10, 0, 0, 2].into();
    let mut way = way(settings).with_paths(vec![(other, Duration::from_millis(3))]);
    way.offer(packet(100, 1), us(0), &mut ());
    assert_eq!(due(&mut way, us(20_000)), [3_000]);
}

#[test]
fn loss_takes_its_share_behind_the_shaper() {
    let mut settings = settings(Rate::from_mbit(1000), "pfifo limit 100");
    settings.loss = Share::parse("10%").unwrap();
    let mut way = way(settings);
    let (mut arrived, n) = (0, 20_000);
    for i in 0..n {
        way.offer(packet(100, 1), us(10 * i), &mut ());
        arrived += due(&mut way, us(10 * i + 9)).len() as u64;
    }
    let carried = way.carried();
    assert_eq!((carried.packets, carried.packets - carried.lost), (n, arrived));
    // The standard deviation is 42.
    assert!(carried.lost.abs_diff(2_000) < 200, "{carried:?}");
}

#[test]
fn a_rate_that_is_changed_holds_from_then_on() {
    let slow = settings(Rate::from_mbit(1), "pfifo limit 100");
    let fast = settings(Rate::from_mbit(10), "pfifo limit 100");
    let mut way = way(slow);
    for _ in 0..4 {
        way.offer(packet(1514, 1), us(0), &mut ());
    }
    assert_eq!(due(&mut way, us(12_112)), [0, 12_112]);
    // The bucket is full after a change, as tc has it.
    way.set(fast, us(13_000), &mut ()).unwrap();
    assert_eq!(due(&mut way, us(20_000)), [13_000, 14_211]);
}

#[test]
fn another_discipline_begins_empty_and_the_same_text_changes_nothing() {
    let mut way = way(settings(Rate::from_mbit(1), "pfifo limit 100"));
    for _ in 0..4 {
        way.offer(packet(1514, 1), us(0), &mut ());
    }
    way.set(settings(Rate::from_mbit(1), "pfifo limit 100"), us(100), &mut ())
        .unwrap();
    assert_eq!((way.backlog().packets, way.carried().replaced), (3, 0));
    way.set(settings(Rate::from_mbit(1), "fq_codel"), us(200), &mut ())
        .unwrap();
    assert_eq!((way.backlog().packets, way.carried().replaced), (0, 3));
    way.offer(packet(1514, 1), us(300), &mut ());
    assert_eq!(due(&mut way, us(50_000)), [0, 12_112]);
}

#[test]
fn a_shaper_as_discipline_does_not_stop_the_way() {
    let mut way = way(settings(
        Rate::from_mbit(10),
        "tbf rate 1mbit burst 1514b limit 100000b",
    ));
    for _ in 0..3 {
        way.offer(packet(1514, 1), us(0), &mut ());
    }
    assert_eq!(due(&mut way, us(100_000)), [0, 12_112, 24_224]);
}

/// Counts what passes.
#[derive(Default)]
struct Counting {
    came: u64,
    left: u64,
}

impl Observer for Counting {
    fn came(&mut self, _frame: &Frame, _at: Time) {
        self.came += 1;
    }
    fn left(&mut self, _frame: &Frame, _at: Time) {
        self.left += 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_packet_is_lost_from_sight(
        qdisc in prop::sample::select(vec!["pfifo limit 5", "fq_codel limit 10", "codel", "sfq limit 8", "pie limit 10", "pfifo_fast"]),
        arrivals in prop::collection::vec((0_u64..3_000, 64_usize..1514, 0_u16..4), 1..200),
    ) {
        let mut settings = settings(Rate::from_mbit(2), qdisc);
        settings.delay = Duration::from_millis(5);
        settings.loss = Share::parse("5%").unwrap();
        let mut way = way(settings);
        let (mut now, mut arrived, mut seen) = (0, 0, Counting::default());
        let mut last = Time::ZERO;
        let n = arrivals.len() as u64;
        for (gap, size, flow) in arrivals {
            now += gap;
            way.offer(packet(size, flow), us(now), &mut seen);
            while let Some((due, _)) = way.due(us(now)) {
                prop_assert!(due >= last && due <= us(now));
                (last, arrived) = (due, arrived + 1);
            }
        }
        let (stats, carried) = (way.stats(), way.carried());
        prop_assert_eq!((seen.came, seen.left), (n, carried.packets));
        prop_assert_eq!(stats.arrived, n);
        prop_assert_eq!(stats.sent_packets + stats.dropped() + way.backlog().packets, n);
        prop_assert_eq!(carried.packets, carried.lost + arrived + way.under_way() as u64);
        // Two megabit a second, and a bucket of one packet.
        prop_assert!(carried.bytes <= 250 * now / 1_000 + 1_514, "{} bytes in {now} us", carried.bytes);
    }

    #[test]
    fn the_rate_is_exact_for_any_rate(mbit in 1_u64..1_000, sizes in prop::collection::vec(64_usize..1514, 50..300)) {
        let rate = Rate::from_mbit(mbit);
        let mut way = way(settings(rate, "pfifo limit 1000"));
        let total: u64 = sizes.iter().map(|size| *size as u64).sum();
        for size in &sizes {
            way.offer(packet(*size, 1), us(0), &mut ());
        }
        way.advance(Time::from_secs(100), &mut ());
        let mut last = Time::ZERO;
        while let Some((due, _)) = way.due(Time::from_secs(100)) {
            last = due;
        }
        // All but what the bucket held is sent at the rate; each packet is rounded up to a nanosecond.
        let ideal = rate.time_to_send(Bytes::new(total - 1_514.min(total)));
        let late = last.since(Time::ZERO + ideal);
        prop_assert!(last >= Time::ZERO + ideal && late.as_nanos() <= sizes.len() as u64 + 1, "{late}");
    }
}
