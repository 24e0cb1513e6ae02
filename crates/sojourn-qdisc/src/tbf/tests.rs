use super::*;
use crate::testing::{Bench, TestPacket, bench, ms};
use crate::{AnyQdisc, QdiscSpec};

fn shaped(rate: Rate, burst: u64, child: &str) -> Bench<Tbf<TestPacket, AnyQdisc<TestPacket>>> {
    let child = QdiscSpec::parse(child, None).unwrap().build(1);
    Bench::new(Tbf::new(rate, Bytes::new(burst), child).unwrap())
}

/// Lets packets leave as soon as they may; answers when each left, ns.
fn departures<Q: Qdisc<TestPacket>>(b: &mut Bench<Q>, mut now: Time) -> Vec<u64> {
    let mut times = Vec::new();
    while let Some(at) = b.q.ready_at(now, &mut b.drops) {
        now = at;
        assert!(b.get(now).is_some(), "ready at {now}, but nothing left");
        times.push(now.as_nanos());
    }
    times
}

#[test]
fn departures_are_a_frames_time_apart_after_the_burst() {
    let mut b = bench("tbf rate 10mbit burst 3028 limit 100000");
    b.put_many(ms(0), 5, 1514, 0);
    // 1514 bytes at 10 Mbit/s take 1.2112 ms; two frames are in the bucket.
    assert_eq!(departures(&mut b, ms(0)), [0, 0, 1_211_200, 2_422_400, 3_633_600]);
}

#[test]
fn a_rate_that_does_not_divide_is_never_exceeded() {
    // 7 bit/s: a byte takes 8e9/7 ns = 1142857142.86, rounded up per packet.
    let mut b = shaped(Rate::from_bps(7), 10, "pfifo");
    b.put_many(ms(0), 2, 10, 0);
    assert_eq!(departures(&mut b, ms(0)), [0, 11_428_571_429]);
}

#[test]
fn one_nanosecond_early_is_too_early() {
    let mut b = bench("tbf rate 1mbit burst 1514 limit 100000");
    b.put_many(ms(0), 2, 1514, 0);
    assert_eq!(b.get(ms(0)), Some(0));
    assert_eq!(b.get(Time::from_nanos(12_111_999)), None);
    assert_eq!(b.get(Time::from_nanos(12_112_000)), Some(1));
    assert_eq!(b.q.stats().overlimits, 1);
}

#[test]
fn tokens_do_not_grow_beyond_the_burst() {
    let mut b = bench("tbf rate 10mbit burst 2000 limit 100000");
    b.put_many(ms(5_000), 3, 1000, 0);
    assert_eq!(
        departures(&mut b, ms(5_000)),
        [5_000_000_000, 5_000_000_000, 5_000_800_000]
    );
}

#[test]
fn a_packet_larger_than_the_burst_is_refused() {
    let mut b = bench("tbf rate 10mbit burst 1514 limit 100000");
    b.put(ms(0), 1515, 0);
    assert_eq!((b.dropped(), b.packets(), b.q.stats().dropped()), (vec![0], 0, 1));
}

#[test]
fn codel_under_a_shaper_judges_a_packet_when_it_becomes_the_next() {
    // Source: Linux qdisc_peek_dequeued. After the burst the next packet is taken out of CoDel at once, sojourn 0 as
    // CoDel sees it, and held; its own sojourn ends when it leaves.
    let mut b = shaped(Rate::from_mbit(1), 1514, "codel");
    b.put_many(ms(0), 3, 1514, 0);
    assert_eq!(b.get(ms(0)), Some(0));
    assert_eq!(b.q.ready_at(ms(0), &mut b.drops), Some(Time::from_nanos(12_112_000)));
    assert_eq!(b.packets(), 2, "the held packet is still in the backlog");
    assert!(b.extra("ldelay").abs() < 1e-9);
    let d = b.take(Time::from_nanos(12_112_000)).unwrap();
    assert_eq!((d.packet.id, d.sojourn.as_nanos()), (1, 12_112_000));
}

#[test]
fn a_packet_held_by_fq_codel_goes_before_a_new_flow() {
    let mut b = shaped(Rate::from_mbit(1), 1514, "fq_codel");
    b.put_many(ms(0), 3, 1514, 1);
    assert_eq!(b.get(ms(0)), Some(0));
    assert!(b.q.ready_at(ms(0), &mut b.drops).is_some());
    let sparse = b.put(ms(1), 100, 2);
    // Packet 1 was taken out when packet 0 left; only then comes the new flow.
    assert_eq!(b.get(ms(13)), Some(1));
    assert_eq!(b.get(ms(14)), Some(sparse));
}

#[test]
fn red_under_a_shaper_never_learns_that_it_was_idle() {
    // Its average therefore does not decay while nothing is queued: peek finds nothing and dequeue is not called.
    let red = "red limit 400000 min 12500 max 37500 avpkt 1000 burst 20 bandwidth 10mbit";
    let mut b = shaped(Rate::from_mbit(10), 3028, red);
    b.put_many(ms(0), 10, 1000, 0);
    departures(&mut b, ms(0));
    let before = b.extra("qavg");
    b.put(ms(60_000), 1000, 0);
    // One sample of an empty queue at weight 1/16, where a minute of idle time would have left nothing.
    assert!(before > 1000.0 && b.extra("qavg") > before * 0.93);
    // Without the shaper the same minute empties it.
    let mut alone = bench(red);
    alone.put_many(ms(0), 10, 1000, 0);
    while alone.get(ms(1)).is_some() {}
    alone.put(ms(60_000), 1000, 0);
    assert!(alone.extra("qavg") < 1.0);
}

#[test]
fn a_new_rate_holds_from_the_next_packet_and_the_queue_stays() {
    let mut b = bench("tbf rate 1mbit burst 1514 limit 100000");
    b.put_many(ms(0), 3, 1514, 0);
    assert_eq!(b.get(ms(0)), Some(0));
    let AnyQdisc::Tbf(tbf) = &mut b.q else { panic!("no tbf") };
    tbf.set_rate(Rate::from_mbit(10), Bytes::new(1514)).unwrap();
    // The bucket is full, as after `tc qdisc change`; the next frame needs 1.2112 ms.
    assert_eq!(departures(&mut b, ms(1)), [1_000_000, 2_211_200]);
    let AnyQdisc::Tbf(tbf) = &mut b.q else { panic!("no tbf") };
    assert!(tbf.set_rate(Rate::from_bps(1), Bytes::new(1 << 31)).is_err());
}

#[test]
fn another_discipline_begins_empty_and_the_old_one_is_handed_back() {
    let mut b = shaped(Rate::from_mbit(1), 1514, "pfifo");
    b.put_many(ms(0), 3, 1514, 0);
    let old = b.q.replace_child(QdiscSpec::parse("fq_codel", None).unwrap().build(1));
    assert_eq!((old.backlog().packets, b.q.backlog().packets), (3, 0));
    assert_eq!(b.q.ready_at(ms(1), &mut b.drops), None);
}

#[test]
fn a_bucket_holds_at_most_what_a_day_fills() {
    // 1 kbit/s sends 10,800,000 bytes in 86,400 s.
    let params = |burst| TbfParams {
        rate: Rate::from_bps(1000),
        burst: Bytes::new(burst),
        limit: Bytes::new(1),
    };
    assert!(params(10_800_000).validate().is_ok());
    let error = params(10_800_001).validate().unwrap_err().to_string();
    assert!(error.contains("at most what 1kbit sends in a day"), "{error}");
}

/// What has left: which packet, when, and how long it waited.
#[derive(Debug, Default)]
struct Left {
    now: Time,
    packets: Vec<(u64, Time, Duration)>,
    dropped: Vec<u64>,
}

impl DropSink<TestPacket> for Left {
    fn dropped(&mut self, drop: crate::Dropped<TestPacket>) {
        self.dropped.push(drop.packet.id);
    }
}

impl Outlet<TestPacket> for Left {
    fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    fn departs(&mut self, departure: Departure<TestPacket>) {
        self.packets.push((departure.packet.id, self.now, departure.sojourn));
    }
}

/// Asks for one packet after the other, as the times come: until when the next is not there.
fn by_steps(shaper: &mut Tbf<TestPacket, AnyQdisc<TestPacket>>, mut at: Time, until: Time, left: &mut Left) -> Time {
    while at <= until {
        left.set_now(at);
        match shaper.next(at, left) {
            Next::Departs(departure) => left.departs(departure),
            Next::At(then) => at = then,
            Next::Idle => at = Time::MAX,
        }
    }
    at
}

/// A shaper that serves in one go and lets packets pass does what one does that is asked step by step. Arrivals come
/// alone and in bursts; the rates take a whole number of nanoseconds for a byte, and not.
#[test]
fn to_serve_in_one_go_and_to_let_pass_is_to_ask_step_by_step() {
    let mut rng = sojourn_units::Stream::new(11);
    let mut passed = 0;
    for child in [
        "pfifo limit 20",
        "bfifo limit 9000",
        "codel limit 30 target 1ms interval 10ms",
        "codel variant linux-3.14 target 1ms interval 10ms",
        "codel variant rfc8289 target 1ms interval 10ms",
        "codel variant ns2 target 1ms interval 10ms",
        "fq_codel flows 4 quantum 300 target 1ms interval 10ms noecn",
        "fq_codel flows 4 limit 12 target 1ms interval 10ms memory_limit 20000b",
        "fq_codel variant linux-3.14 flows 3 target 1ms interval 10ms",
        "pie",
        "cake bandwidth 9mbit",
        "fq",
        "netem delay 1ms limit 20",
    ] {
        for rate in [Rate::from_mbit(10), Rate::from_bps(7_300_001)] {
            let new = || shaped(rate, 3028, child).q;
            let (mut quick, mut slow) = (new(), new());
            let (mut ours, mut theirs) = (Left::default(), Left::default());
            let (mut due, mut now) = ([Time::MAX; 2], Time::ZERO);
            for id in 0..6000 {
                let gap = if rng.below(3) == 0 {
                    0
                } else {
                    rng.below(1 << 22) >> rng.below(3)
                };
                now += Duration::from_nanos(gap);
                let packet = TestPacket::new(id, 40 + rng.below(1475), rng.below(6) as u32);
                due[0] = quick.serve_any(due[0], now, &mut ours);
                due[1] = by_steps(&mut slow, due[1], now, &mut theirs);
                assert_eq!(due[0], due[1], "{child}");
                if quick.pass(&packet, now) {
                    passed += 1;
                    ours.packets.push((id, now, Duration::ZERO));
                } else {
                    quick.enqueue(packet, now, &mut ours);
                }
                slow.enqueue(packet, now, &mut theirs);
                if due[1] == Time::MAX || slow.child().overtakes() {
                    due[0] = quick.serve_any(now, now, &mut ours);
                    due[1] = by_steps(&mut slow, now, now, &mut theirs);
                }
                assert_eq!(ours.packets.len(), theirs.packets.len(), "{child} at {now}");
            }
            assert!(
                ours.packets == theirs.packets && ours.dropped == theirs.dropped,
                "{child}"
            );
            assert_eq!(quick.stats(), slow.stats(), "{child}");
            assert_eq!(quick.extra_stats(), slow.extra_stats(), "{child}");
        }
    }
    assert!(passed > 5000, "{passed}");
}
