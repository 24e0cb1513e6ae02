//! Prague beside arithmetic by hand and beside the theory of scalable controls.

use super::*;
use crate::cc::{Marked, SenderView, Threshold};

const MSS: u16 = 1448;

fn window(cwnd: u32) -> Window {
    Window {
        cwnd,
        ssthresh: Threshold::Segments(2),
        credit: 0,
    }
}

/// A path of one RTT on which each segment is acknowledged by itself.
struct Path {
    prague: Prague,
    window: Window,
    now: Time,
    una: u64,
    rtt: Duration,
    state: CaState,
    /// A reduction is over when this is acknowledged.
    high: u64,
}

impl Path {
    fn new(cwnd: u32, rtt: Duration, params: PragueParams) -> Self {
        let mut prague = Prague::new(&params, Variant::Linux61);
        prague.begin(&Start {
            now: Time::ZERO,
            rtt,
            mss: MSS,
            window: window(cwnd),
        });
        Self {
            prague,
            window: window(cwnd),
            now: Time::ZERO,
            una: 0,
            rtt,
            state: CaState::Open,
            high: 0,
        }
    }

    /// An acknowledgement of one segment, which was marked or not.
    fn ack(&mut self, marked: bool) {
        self.una += 1;
        self.now += self.rtt / u64::from(self.window.cwnd.max(1));
        if self.state == CaState::Cwr && self.una > self.high {
            self.state = CaState::Open;
        }
        let nxt = self.una + u64::from(self.window.cwnd);
        if marked && self.state == CaState::Open {
            self.prague.reduce_by_echo(&self.window);
            self.state = CaState::Cwr;
            self.high = nxt;
        }
        let ack = Ack {
            now: self.now,
            acked: 1,
            una: self.una,
            nxt,
            rtt: Some(self.rtt),
            mss: MSS,
            ece: marked,
            marked: Marked {
                packets: u32::from(marked),
                bytes: 0,
            },
            pacing_rate: None,
        };
        let sample = RateSample {
            newly_delivered: 1,
            marked: ack.marked,
            flight: self.window.cwnd,
            sender: SenderView {
                state: self.state,
                may_grow: true,
                srtt: Some(self.rtt),
                min_rtt: Some(self.rtt),
                ..SenderView::default()
            },
            ..RateSample::default()
        };
        self.prague.on_sample(&ack, &sample, &mut self.window);
    }
}

const PLAIN: PragueParams = PragueParams {
    fallback: false,
    rtt: RttControl::None,
    version: PragueVersion::V06,
};

/// A later version.
const fn later(version: PragueVersion) -> PragueParams {
    PragueParams { version, ..PLAIN }
}

/// 100 segments and the whole share: 50 fewer, one for each acknowledgement. The mark itself grows nothing, and the 49
/// acknowledgements after it grow by 49 / 75 of a segment at most.
#[test]
fn the_first_mark_halves_the_window_by_a_segment_for_each_acknowledgement() {
    let mut path = Path::new(100, Duration::from_millis(30), PLAIN);
    path.ack(true);
    assert_eq!(path.window.cwnd, 99);
    for _ in 0..20 {
        path.ack(false);
    }
    assert_eq!(path.window.cwnd, 79);
    for _ in 0..40 {
        path.ack(false);
    }
    assert_eq!(path.window.cwnd, 51);
}

/// Two reductions of the whole share while the window still follows the first: 100 segments become 50 and then 25 where
/// the aim is counted whole. Where the change is counted, the second takes half of the 80 segments that the window has:
/// 100 - 50 - 40 = 10.
#[test]
fn a_second_reduction_takes_from_the_aim_or_from_the_window() {
    for (version, least) in [(PragueVersion::V06Fraction, 25), (PragueVersion::V06, 10)] {
        let mut path = Path::new(100, Duration::from_millis(30), later(version));
        path.prague.reduce_by_marks(&path.window, path.now);
        for _ in 0..20 {
            path.prague.aim.step(&mut path.window);
        }
        assert_eq!(path.window.cwnd, 80);
        path.prague.reduce_by_marks(&path.window, path.now);
        while path.prague.aim.step(&mut path.window) {}
        assert_eq!(path.window.cwnd, least, "{version:?}");
    }
}

/// Where the aim is whole, the window is the aim rounded up: 4.1 segments are 5, and half a one is 2, the least window.
/// An aim below two segments is kept, and must first be made up for.
#[test]
fn a_whole_aim_is_rounded_up_and_may_be_below_the_least_window() {
    let mut path = Path::new(4, Duration::from_millis(30), later(PragueVersion::V06Fraction));
    path.prague.aim = Aim::Whole(ONE * 41 / 10);
    assert!(path.prague.aim.step(&mut path.window));
    assert_eq!(path.window.cwnd, 5);
    assert!(!path.prague.aim.step(&mut path.window));
    path.prague.aim = Aim::Whole(ONE / 2);
    while path.prague.aim.step(&mut path.window) {}
    assert_eq!(path.window.cwnd, LEAST);
    // Of an aim of one segment at most, an acknowledgement adds a whole one.
    path.prague.aim.grow(1, ONE, &path.window, false);
    assert_eq!(path.prague.aim, Aim::Whole(ONE * 3 / 2));
    assert!(!path.prague.aim.step(&mut path.window));
}

/// (15 / 16)^n of the share is left after n rounds without marks (draft section 2.3.2, g = 1/16), but before the first
/// mark nothing is known.
#[test]
fn the_share_decays_by_a_sixteenth_a_round_once_a_mark_was_seen() {
    let mut path = Path::new(50, Duration::from_millis(30), PLAIN);
    for _ in 0..500 {
        path.ack(false);
    }
    assert_eq!(path.prague.alpha, ONE << SHIFT);
    path.prague.saw_marks = true;
    let (end, mut rounds) = (path.prague.end, 0);
    let mut last = end;
    while rounds < 10 {
        path.ack(false);
        if path.prague.end != last {
            (last, rounds) = (path.prague.end, rounds + 1);
        }
    }
    let left = path.prague.alpha as f64 / (ONE << SHIFT) as f64;
    assert!((left - (15.0_f64 / 16.0).powi(10)).abs() < 1e-5, "{left}");
}

/// With marks at random of probability p, m = p W of them come in a round. Growth is of what is not marked, 1 - p a
/// round. A reduction costs half of p W; one is begun by a mark, lasts a round, and the next begins with the mark after
/// it, so that there are 1 / (1 + 1 / m) in a round. They balance where m^2 = 2 (1 - p) (m + 1). For a small p that is 1 +
/// sqrt 3 = 2.73. Without the pause it would be the 2 of RFC 9332 appendix A.
#[test]
fn marks_of_a_round_are_two_at_any_probability() {
    for (p, seed) in [(0.01_f64, 1_u64), (0.02, 2), (0.05, 3)] {
        let mut path = Path::new((2.0 / p) as u32, Duration::from_millis(30), PLAIN);
        let mut state = seed;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let (mut sum, mut n) = (0.0, 0.0);
        for k in 0..600_000 {
            path.ack(random() < p);
            if k >= 100_000 {
                // By rounds, not by acknowledgements: each counts for its part of one.
                sum += 1.0;
                n += 1.0 / f64::from(path.window.cwnd);
            }
        }
        let marks = p * sum / n;
        let free = 1.0 - p;
        let theory = free + (free * free + 2.0 * free).sqrt();
        // A tenth for the sawtooth, whose mean is not that of its inverse.
        assert!(
            (marks / theory - 1.0).abs() < 0.1,
            "p {p}: {marks} marks a round, not {theory}"
        );
    }
}

#[test]
fn a_loss_halves_the_window_which_does_not_grow_until_the_end_of_it() {
    let mut path = Path::new(100, Duration::from_millis(30), PLAIN);
    path.prague.reduce(&path.window);
    path.prague.on_lost(&mut path.window);
    path.state = CaState::Recovery;
    for _ in 0..100 {
        path.ack(false);
    }
    assert_eq!(path.window.cwnd, 50);
    path.state = CaState::Open;
    for _ in 0..52 {
        path.ack(false);
    }
    assert_eq!(path.window.cwnd, 51);
}

#[test]
fn a_reduction_for_nothing_is_taken_back() {
    let mut path = Path::new(100, Duration::from_millis(30), PLAIN);
    path.prague.reduce(&path.window);
    path.prague.on_lost(&mut path.window);
    path.state = CaState::Recovery;
    for _ in 0..30 {
        path.ack(false);
    }
    assert_eq!(path.window.cwnd, 70);
    path.prague.on_undone();
    path.state = CaState::Open;
    path.ack(false);
    assert_eq!(path.window.cwnd, 100);
    assert!(matches!(path.prague.aim, Aim::Change(change) if change >= 0));
}

/// 100 packets of 1500 bytes in 30 ms are 5,000,000 bytes/s.
#[test]
fn a_window_leaves_in_a_round_trip() {
    let mut path = Path::new(100, Duration::from_millis(30), PLAIN);
    path.ack(false);
    assert_eq!(path.prague.pacing_rate(), Some(5_000_000));
    let start = Window {
        ssthresh: Threshold::Unbounded,
        ..window(10)
    };
    path.prague.set_pace(path.now, 0, &start);
    assert_eq!(path.prague.pacing_rate(), Some(1_000_000), "twice in slow start");
}

/// After 500 rounds a flow with 10 ms grows by 0.16 of a segment a round.
#[test]
fn growth_is_that_of_25_ms_after_500_rounds() {
    let mut path = Path::new(20, Duration::from_millis(10), PragueParams::default());
    for rounds in [499, 500] {
        path.prague.rounds = rounds;
        path.prague.set_growth();
        let whole = rounds < 500;
        assert_eq!(path.prague.growth == ONE, whole);
    }
    assert_eq!(path.prague.growth, (ONE * 16 + 50) / 100);
    let before = path.window.cwnd;
    for _ in 0..20 * 13 {
        path.ack(false);
    }
    // 13 rounds of 0.16 are 2.
    assert_eq!(path.window.cwnd, before + 2);
}

/// 0.7 begins without a share, and halves the window once at the first mark: 100 segments become 50. A second mark after
/// two rounds without one finds a share of nearly nothing.
#[test]
fn the_first_mark_halves_the_window_of_0_7_and_the_next_hardly_changes_it() {
    let mut path = Path::new(100, Duration::from_millis(30), later(PragueVersion::V07));
    assert_eq!(path.prague.alpha, 0);
    path.ack(true);
    for _ in 0..60 {
        path.ack(false);
    }
    assert_eq!(path.window.cwnd, 51);
    for _ in 0..120 {
        path.ack(false);
    }
    let before = path.window.cwnd;
    path.ack(true);
    for _ in 0..20 {
        path.ack(false);
    }
    assert!(path.window.cwnd + 1 >= before, "{} after {before}", path.window.cwnd);
}

/// At 10 Mbit/s 305 bytes leave in 2^-12 s: 0.6 sends two segments at least, and 0.7 one. At 200 Mbit/s it is four.
#[test]
fn a_train_of_0_7_may_have_one_segment() {
    for (version, least) in [
        (PragueVersion::V06, 2),
        (PragueVersion::V06Fraction, 2),
        (PragueVersion::V07, 1),
    ] {
        let path = Path::new(100, Duration::from_millis(30), later(version));
        assert_eq!(path.prague.longest_train(8, 1_250_000, MSS), least);
        assert_eq!(path.prague.longest_train(8, 25_000_000, MSS), 4);
    }
}

/// A flow of 0.7 with 10 ms, a mark and 4 rounds behind it has 3 segments and then 4: its rate steers. A reduction by the
/// whole share halves the rate and the window with it.
#[test]
fn the_rate_steers_a_small_window_of_0_7() {
    let params = PragueParams {
        version: PragueVersion::V07,
        ..PragueParams::default()
    };
    let mut path = Path::new(3, Duration::from_millis(10), params);
    path.prague.saw_marks = true;
    path.prague.rounds = 4;
    path.ack(false);
    assert!(path.prague.is_steered(&path.window));
    let rate = path.prague.steering.rate;
    // Four packets of 1500 bytes in 10 ms.
    assert!((590_000..610_000).contains(&rate), "{rate}");
    path.prague.alpha = ONE << SHIFT;
    path.prague.reduce_by_marks(&path.window, path.now);
    assert_eq!(path.prague.steering.rate, rate - rate / 2);
    let Aim::Whole(aim) = path.prague.aim else {
        unreachable!("0.7 counts whole")
    };
    // Of 10 ms, that are 0.954 of what a second of 2^20 us says.
    assert!((ONE * 18 / 10..ONE * 2).contains(&aim), "{}", aim as f64 / ONE as f64);
}

/// 0.7 takes a queue that varies by 200 us for a classic one, and 0.6 does not.
#[test]
fn the_detection_of_0_7_takes_any_queue_for_a_classic_one() {
    for (low, classic) in [(false, false), (true, true)] {
        let base = Duration::from_millis(10);
        let mut detector = Detector::new(base, low);
        detector.on_reduction(Some(64));
        for round in 0..400_u64 {
            for k in 0..64 {
                let us = if (round + k / 32) % 2 == 0 { 200 } else { 0 };
                detector.on_rtt(base + Duration::from_micros(us));
            }
            detector.judge(Some(base));
        }
        assert_eq!(detector.least_alpha() > 0, classic);
    }
}
