//! Vectors worked by hand from the draft's formulas.

use super::*;

/// A connection whose acknowledgements a test gives, one a segment.
#[derive(Debug)]
struct Flow {
    control: LedbatPlusPlus,
    window: Window,
    /// Segments acknowledged, and sent.
    una: u64,
    nxt: u64,
    now: Time,
}

impl Flow {
    /// With a base of so many milliseconds.
    fn new(base_ms: u64) -> Self {
        let mut flow = Self {
            control: LedbatPlusPlus::new(&(), Variant::Linux61),
            window: Window {
                cwnd: LEAST,
                ssthresh: Threshold::Unbounded,
                credit: 0,
            },
            una: 0,
            nxt: u64::from(LEAST),
            now: Time::ZERO,
        };
        flow.control.delays.sample(Duration::from_millis(base_ms), flow.now);
        flow
    }

    /// In congestion avoidance for ever.
    fn steady(base_ms: u64, cwnd: u32) -> Self {
        let mut flow = Self::new(base_ms);
        flow.control.phase = Phase::Steady {
            until: Time::from_nanos(u64::MAX),
        };
        flow.window.cwnd = cwnd;
        flow.window.leave_slow_start();
        flow
    }

    /// Four samples with so much queuing delay over the base, that no earlier one counts.
    fn queue(&mut self, queued_ms: u64) {
        let rtt = self.control.delays.base().expect("a base") + Duration::from_millis(queued_ms);
        for _ in 0..4 {
            self.control.delays.sample(rtt, self.now);
        }
    }

    /// `n` acknowledgements of a segment each. What the window lets go is sent after each.
    fn acks(&mut self, n: u64) {
        for _ in 0..n {
            self.una += 1;
            let ack = Ack {
                now: self.now,
                acked: 1,
                una: self.una,
                nxt: self.nxt,
                rtt: None,
                mss: 1448,
                ece: false,
                marked: crate::cc::Marked::default(),
                pacing_rate: None,
            };
            self.control.grow(&ack, &mut self.window);
            self.nxt = self.nxt.max(self.una + u64::from(self.window.cwnd));
        }
    }
}

/// Draft section 4.2: 1 / min(16, ceil(120 ms / base)).
#[test]
fn the_gain_is_smaller_on_short_paths() {
    for (base_ms, divisor) in [
        (1, 16),
        (7, 16),
        (8, 15),
        (20, 6),
        (50, 3),
        (60, 2),
        (119, 2),
        (120, 1),
        (500, 1),
    ] {
        assert_eq!(Flow::new(base_ms).control.gain_divisor(), divisor, "{base_ms} ms");
    }
}

/// A base of 50 ms: a third of a segment for each one acknowledged. From 2, 24 of them make 8 more.
#[test]
fn slow_start_grows_by_the_gain() {
    let mut flow = Flow::new(50);
    flow.acks(24);
    assert!((9..=10).contains(&flow.window.cwnd), "{}", flow.window.cwnd);
    let mut reno = Flow::new(120);
    reno.acks(24);
    assert_eq!(reno.window.cwnd, 26);
}

/// Draft section 4.1: three quarters of 60 ms are not more than 45, and 46 are.
#[test]
fn the_first_slow_start_ends_beyond_three_quarters_of_the_target() {
    let mut flow = Flow::new(120);
    flow.queue(45);
    flow.acks(10);
    assert_eq!((flow.window.cwnd, flow.window.ssthresh), (12, Threshold::Unbounded));
    flow.queue(46);
    flow.acks(1);
    assert_eq!((flow.window.cwnd, flow.window.ssthresh), (12, Threshold::Segments(12)));
}

/// Draft section 4.3 with W = 100 and a base of 120 ms, whose gain is 1. At the target a window acknowledged adds 1. At
/// 66 ms it changes by 1 - 100 (66/60 - 1) = -9, and at 84 ms by 1 - 40 = -39. At 90 ms the formula says 1 - 50 = -49,
/// and at 300 ms the bound of half.
#[test]
fn above_the_target_the_window_shrinks_by_the_share_of_the_excess() {
    for (queued_ms, expected) in [(0, 1), (60, 1), (66, -9), (84, -39), (90, -49), (91, -50), (300, -50)] {
        let mut flow = Flow::steady(120, 100);
        flow.queue(queued_ms);
        let queued = flow.control.delays.queuing().expect("samples");
        let change = 100 * flow.control.change(1, queued, 100);
        let segments = change as f64 / SEGMENT as f64;
        assert!(
            (segments - f64::from(expected)).abs() < 1e-6,
            "{queued_ms} ms: {segments}"
        );
    }
}

/// What shrinks stays out of slow start, and is two segments at least.
#[test]
fn a_window_that_shrinks_is_at_least_two_segments_and_does_not_grow_back_by_slow_start() {
    let mut flow = Flow::steady(120, 40);
    flow.queue(120);
    flow.acks(40);
    assert!((20..=21).contains(&flow.window.cwnd), "{}", flow.window.cwnd);
    assert!(!flow.window.in_slow_start());
    flow.acks(400);
    assert_eq!(flow.window.cwnd, 2);
    flow.queue(0);
    flow.acks(2);
    assert_eq!(
        flow.window.cwnd, 3,
        "a gain of 1 adds one segment for a window acknowledged"
    );
    flow.acks(2);
    assert_eq!(flow.window.cwnd, 3, "and for one of three it takes three");
}

/// Draft section 4.4, with a base of 120 ms. Slow start has made 12 of 2 with ten segments acknowledged; the eleventh
/// ends it, when 22 are sent. The 22nd ends the first round trip, when 33 are sent, and the window is 13 by then. The
/// 33rd ends the second: the first slowdown begins. 45 are sent, and the 45th ends the first round trip at two segments.
/// 46 are sent then. With the 46th slow start begins, whose eleven segments make 13 of 2. If all that has taken 0.7 s,
/// the next slowdown begins 6.3 s later.
#[test]
fn slowdowns_come_two_round_trips_after_slow_start_and_nine_times_their_length_later() {
    let mut flow = Flow::new(120);
    flow.acks(10);
    flow.queue(50);
    flow.acks(1);
    assert_eq!((flow.window.cwnd, flow.nxt), (12, 23));
    flow.acks(11);
    assert!(
        matches!(flow.control.phase, Phase::Settle(Rounds { left: 1, end: 33 })),
        "{flow:?}"
    );
    flow.acks(10);
    assert_eq!(flow.window.cwnd, 13);
    assert!(matches!(flow.control.phase, Phase::Settle(Rounds { left: 1, .. })));
    flow.acks(1);
    assert!(matches!(flow.control.phase, Phase::Frozen { .. }));
    assert_eq!((flow.window.cwnd, flow.window.ssthresh), (2, Threshold::Segments(13)));
    flow.queue(0);
    flow.now += Duration::from_millis(500);
    flow.acks(12);
    assert!(
        matches!(
            flow.control.phase,
            Phase::Frozen {
                rounds: Rounds { left: 1, end: 46 },
                ..
            }
        ),
        "{flow:?}"
    );
    assert_eq!(flow.window.cwnd, 2);
    flow.acks(1);
    assert!(matches!(flow.control.phase, Phase::Regrow { .. }));
    assert_eq!(flow.window.cwnd, 3);
    flow.acks(10);
    assert_eq!(flow.window.cwnd, 13);
    flow.now += Duration::from_millis(200);
    flow.acks(1);
    let Phase::Steady { until } = flow.control.phase else {
        panic!("{flow:?}");
    };
    assert_eq!(until, Time::from_nanos(7_000_000_000));
    flow.now = Time::from_nanos(6_999_999_999);
    flow.acks(1);
    assert_eq!(flow.window.cwnd, 13);
    flow.now = until;
    flow.acks(1);
    assert_eq!(flow.window.cwnd, 2);
}

/// A loss halves the window, and in the frozen part of a slowdown that to which it grows back.
#[test]
fn a_loss_halves_the_window_that_was() {
    let mut flow = Flow::steady(120, 100);
    assert_eq!(flow.control.reduce(&flow.window), 50);
    flow.now = Time::from_nanos(u64::MAX);
    flow.acks(1);
    assert_eq!(flow.window.cwnd, 2);
    assert_eq!(flow.control.reduce(&flow.window), 50);
}
