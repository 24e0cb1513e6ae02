//! Bursts of small packets, of the method `adaptive`.

use super::adaptive::{EAGER, GAP, acquainted, causes, flush};
use super::{key, ms};
use crate::{Factor, FlowKey, FlusherParams, Reason, Withheld};
use sojourn_units::{Bytes, Duration};

/// Without the wait for the cost of a burst.
const SMALL: FlusherParams = FlusherParams {
    small_packet: Some(Bytes::new(64)),
    small_duty: Factor::from_thousandths(1000),
    ..EAGER
};

/// At a loss the RTT was 290 ms: 240 ms are a full buffer, 100 packets. 48 ms are taken: 80 places are free.
#[test]
fn a_buffer_that_a_loss_showed_is_filled_with_small_packets() {
    let mut rig = acquainted(SMALL);
    rig.stream(&[key(1)], 200, GAP, ms(98));
    let plan = flush(&mut rig);
    assert_eq!((plan.packets, plan.size), (80 + 1 + 2, Bytes::new(64)));
}

/// Two packets at a time, in 1.618 times what a full packet takes; four times for one flow, eight times for two.
#[test]
fn top_ups_come_at_the_golden_ratio_of_a_packets_time_and_more_for_several_flows() {
    for flows in [1u16, 2] {
        let mut rig = acquainted(FlusherParams { top_ups: 4, ..SMALL });
        let keys: Vec<FlowKey> = (1..=flows).map(key).collect();
        rig.stream(&keys, 400, GAP, ms(50));
        rig.stream(&keys, 200, GAP, ms(98));
        // The first flow to close a window is flushed; by the next time all of them stand in the queue.
        let early = flush(&mut rig);
        rig.core.flush_refused(early.id, rig.now);
        rig.stream(&keys, 200, GAP, ms(98));
        let burst = flush(&mut rig);
        rig.core.flush_done(burst.id, burst.packets, rig.now);
        let mut times = vec![rig.now];
        let until = rig.now + ms(60);
        while rig.now < until {
            rig.run_to(rig.now + Duration::from_micros(10));
            if let Some(plan) = rig.core.poll_flush() {
                assert_eq!((plan.packets, plan.size), (2, Bytes::new(64)));
                assert_eq!(plan.reason, Reason::TopUp { of: burst.id });
                rig.core.flush_done(plan.id, 2, rig.now);
                times.push(rig.now);
            }
        }
        assert_eq!(times.len(), 1 + 4 * usize::from(flows));
        let service = burst.estimate.throughput.time_to_send(Bytes::new(1500));
        let gap = Factor::from_thousandths(1618).of(service);
        let gaps: Vec<Duration> = times.windows(2).map(|w| w[1].since(w[0])).collect();
        let late = Duration::from_micros(10);
        assert!(gaps.iter().all(|g| *g >= gap && *g <= gap + late), "{gap} {gaps:?}");
    }
}

/// 83 packets of 64 bytes take 8.5 ms at 5 Mbit/s: at a hundredth of the time they are earned in 850 ms.
#[test]
fn small_packets_wait_for_their_own_duty() {
    let mut rig = acquainted(FlusherParams {
        small_duty: Factor::from_thousandths(10),
        ..SMALL
    });
    rig.stream(&[key(1)], 400, GAP, ms(98));
    let first = flush(&mut rig);
    rig.core.flush_done(first.id, first.packets, rig.now);
    let done = rig.now;
    rig.stream(&[key(1)], 100, GAP, ms(50));
    rig.events();
    rig.stream(&[key(1)], 2000, GAP, ms(98));
    let second = flush(&mut rig);
    assert_eq!(second.size, Bytes::new(64));
    let waited = rig.now.since(done).as_millis();
    assert!((849..=950).contains(&waited), "{waited}");
    assert!(causes(&mut rig).iter().all(|cause| *cause == Withheld::Cost));
}

/// Eight to ten packets in flight: too few for a burst of full packets, enough for small ones.
#[test]
fn a_flow_with_a_small_window_may_lose_to_small_packets() {
    for (window, flushed) in [(8, true), (11, false)] {
        let mut rig = acquainted(FlusherParams {
            small_window: window,
            ..SMALL
        });
        let slow = ms(10);
        rig.stream(&[key(1)], 300, slow, ms(50));
        rig.stream(&[key(1)], 100, slow, ms(100));
        let plan = rig.core.poll_flush();
        assert_eq!(plan.map(|plan| plan.size), flushed.then(|| Bytes::new(64)));
    }
}

/// Nothing is lost and the queue stands: four small bursts, each larger, then full packets. None of them takes a
/// cool-down that doubles.
#[test]
fn a_buffer_that_counts_bytes_gets_full_packets_after_four_small_bursts() {
    let mut rig = acquainted(SMALL);
    let mut plans = Vec::new();
    let began = rig.now;
    for _ in 0..5 {
        rig.stream(&[key(1)], 3000, GAP, ms(98));
        let plan = flush(&mut rig);
        rig.core.flush_done(plan.id, plan.packets, rig.now);
        plans.push((plan.size.get(), plan.packets));
    }
    assert!(plans[..4].iter().all(|(size, _)| *size == 64), "{plans:?}");
    assert!(plans[..4].windows(2).all(|w| w[1].1 > w[0].1), "{plans:?}");
    assert_eq!(plans[4], (1500, 83));
    assert!(
        rig.now.since(began) < Duration::from_secs(4),
        "{}",
        rig.now.since(began)
    );
}

/// The same segments at the same times give the same plans, be it live or on replay.
#[test]
fn the_same_input_gives_the_same_bursts() {
    let run = || {
        let mut rig = acquainted(FlusherParams { top_ups: 4, ..SMALL });
        let mut plans = Vec::new();
        for n in 0..30 {
            rig.stream(&[key(1), key(2)], 400, GAP, ms(90 + 3 * n));
            while let Some(plan) = rig.core.poll_flush() {
                rig.core.flush_done(plan.id, plan.packets, rig.now);
                plans.push((rig.now, plan));
            }
            if n % 3 == 0 {
                rig.lose(key(1), 20, ms(60));
                rig.run_to(rig.now + ms(70));
            }
        }
        plans
    };
    let plans = run();
    assert!(plans.iter().any(|(_, plan)| plan.size == Bytes::new(64)));
    assert_eq!(plans, run());
}

/// The loss event that the burst causes ends it: no top-ups after it, and its delay is not taken for that of a full
/// buffer.
#[test]
fn a_loss_by_small_packets_ends_their_burst_and_shows_no_full_buffer() {
    let mut rig = acquainted(FlusherParams { top_ups: 4, ..SMALL });
    rig.stream(&[key(1)], 200, GAP, ms(98));
    let burst = flush(&mut rig);
    rig.core.flush_done(burst.id, burst.packets, rig.now);
    rig.send(key(1), ms(98));
    rig.lose(key(1), 20, ms(98));
    rig.run_to(rig.now + ms(20));
    assert_eq!(rig.core.poll_flush(), None);
    let path = &rig.core.paths[&key(1).dst.ip()];
    assert_eq!(path.full(), Some(ms(240)));
}

/// Four flows to one receiver: one burst that nobody noticed is one, and not four, after which the buffer would be
/// taken to count bytes.
#[test]
fn a_burst_teaches_the_path_of_several_flows_once() {
    let mut rig = acquainted(SMALL);
    let keys: Vec<FlowKey> = (1..=4).map(key).collect();
    rig.stream(&keys, 400, GAP, ms(50));
    for _ in 0..4 {
        rig.stream(&keys, 3000, GAP, ms(98));
        let plan = flush(&mut rig);
        assert_eq!(plan.size, Bytes::new(64));
        rig.core.flush_done(plan.id, plan.packets, rig.now);
    }
    rig.stream(&keys, 3000, GAP, ms(98));
    assert_eq!(flush(&mut rig).size, Bytes::new(1500));
}
