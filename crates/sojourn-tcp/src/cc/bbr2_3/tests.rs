//! Worked by hand from the draft and from `tcp_bbr.c`.

use super::constants::{BETA, DRAIN_GAIN, ECN_FACTOR, HEADROOM, LOSS_THRESHOLD, UP_GAIN};
use super::version::WINDOW_GAIN;
use super::*;
use crate::cc::{Marked, SenderView, Threshold};
use sojourn_units::Time;

mod probing;
mod second;

const MSS: u16 = 1448;
/// Round trip of the handshake.
const RTT: Duration = Duration::from_millis(40);
/// 100 segments in 40 ms, as the kernel keeps it: (100 << 24) / 40,000, rounded up. Times 40,000 us, rounded up again,
/// it is a pipe of 101.
const FULL_BW: u64 = (100_u64 << 24).div_ceil(40_000);

/// 1000/2885 x 256 = 88; 0.7 is 180, 0.15 is 38, 2 % are 5.
#[test]
fn gains_and_thresholds_are_the_kernels_integers() {
    assert_eq!((DRAIN_GAIN, UP_GAIN, WINDOW_GAIN), (88, 320, 512));
    assert_eq!((BETA, HEADROOM, LOSS_THRESHOLD, ECN_FACTOR), (180, 38, 5, 85));
}

fn fresh<G: Generation>(seed: u64) -> (LaterBbr<G>, Window) {
    let params = LaterBbrParams {
        seed,
        ..LaterBbrParams::default()
    };
    let mut bbr = LaterBbr::<G>::new(&params, Variant::Linux61);
    let window = Window {
        cwnd: 10,
        ssthresh: Threshold::Unbounded,
        credit: 0,
    };
    bbr.begin(&Start {
        now: Time::from_secs(1),
        rtt: RTT,
        mss: MSS,
        window,
    });
    (bbr, window)
}

/// A path that is fed by hand: each step is a round trip in which segments are delivered by one acknowledgement.
struct Rounds<G = Third> {
    bbr: LaterBbr<G>,
    window: Window,
    now: Time,
    delivered: u64,
    /// What the next samples say, beside what [`Rounds::step`] is told.
    next: RateSample,
    rtt: Option<Duration>,
}

impl Rounds {
    fn new() -> Self {
        Self::of()
    }
}

impl<G: Generation> Rounds<G> {
    fn of() -> Self {
        let (bbr, window) = fresh(7);
        Self {
            bbr,
            window,
            now: Time::from_secs(1),
            delivered: 0,
            next: RateSample::default(),
            rtt: Some(RTT),
        }
    }

    /// `segments` are delivered within `interval`, and `flight` stay in flight, as many as when they were sent.
    fn step(&mut self, segments: u32, interval: Duration, flight: u32) {
        self.now += interval;
        let prior_delivered = self.delivered;
        self.delivered += u64::from(segments);
        let ack = Ack {
            now: self.now,
            acked: segments,
            una: 1,
            nxt: 1,
            rtt: self.rtt,
            mss: MSS,
            ece: self.next.ece,
            marked: self.next.marked,
            pacing_rate: None,
        };
        let sample = RateSample {
            prior_delivered,
            delivered: u64::from(segments),
            interval: Some(interval),
            delivered_in_all: self.delivered,
            newly_delivered: segments,
            flight_before: flight + segments,
            flight,
            tx_in_flight: flight,
            sender: SenderView {
                delivered_at: self.now,
                departs: self.now,
                pacing_shift: 10,
                ..self.next.sender
            },
            ..self.next
        };
        self.bbr.on_sample(&ack, &sample, &mut self.window);
    }

    /// A segment is lost that was sent with so much in flight; so many were since then.
    fn lose(&mut self, tx_in_flight: Option<u32>, lost: u32) {
        let lost = LostSegment {
            now: self.now,
            tx_in_flight,
            lost,
            app_limited: false,
            delivered_in_all: self.delivered,
        };
        self.bbr.on_segment_lost(&lost, &self.window);
    }

    fn state(&mut self) -> &mut State {
        &mut self.bbr.0
    }

    fn mode(&self) -> Mode {
        self.bbr.0.mode
    }
}

/// Start-up at 100 segments a round trip, three of them without growth.
fn started<G: Generation>() -> Rounds<G> {
    let mut path = Rounds::of();
    for segments in [10, 20, 40, 80, 100, 100, 100, 100] {
        path.step(segments, RTT, 200);
    }
    path
}

/// A path that is full at 100 segments a round trip, and drained.
fn full() -> Rounds {
    full_of()
}

fn full_of<G: Generation>() -> Rounds<G> {
    let mut path = started();
    path.step(100, RTT, 100);
    assert_eq!(path.mode(), Mode::ProbeBw(Phase::Down));
    path
}

/// The same in another phase.
fn in_phase(phase: Phase) -> Rounds {
    in_phase_of(phase)
}

fn in_phase_of<G: Generation>(phase: Phase) -> Rounds<G> {
    let mut path = full_of();
    let limit = path.now + Duration::from_secs(4);
    while path.mode() != Mode::ProbeBw(phase) {
        path.step(100, RTT, 0);
        assert!(path.now < limit, "{:?}", path.mode());
    }
    path
}

/// (10 << 24) / 40,000 us = 4194; 4194 x 1448 x 710 >> 8; times 990,000 >> 24. Ten segments in 40 ms are 362,000
/// bytes/s; 2.77 x 0.99 times that is 992,713, and the kernel's gain is 710/256 = 2.773.
#[test]
fn the_first_rate_is_the_initial_window_a_round_trip_times_the_gain_of_start_up() {
    let (bbr, _) = fresh::<Third>(1);
    let by_hand = (((((10_u64 << 24) / 40_000) * 1448 * 710) >> 8) * 990_000) >> 24;
    assert_eq!(bbr.pacing_rate(), Some(by_hand));
    assert!((992_000..994_500).contains(&by_hand), "{by_hand}");
}

/// Draft section 5.3.1.2: three round trips in which the rate grew by less than a quarter. 100 are a quarter more than
/// 80.
#[test]
fn start_up_ends_after_three_round_trips_without_growth() {
    let mut path = Rounds::new();
    for segments in [10, 20, 40, 80, 100, 124, 124] {
        path.step(segments, RTT, 200);
        assert_eq!((path.mode(), path.state().pacing_gain), (Mode::StartUp, 710));
    }
    let rate = path.bbr.pacing_rate();
    path.step(124, RTT, 300);
    assert_eq!((path.mode(), path.state().pacing_gain), (Mode::Drain, 88));
    assert!(path.bbr.pacing_rate() < rate);
    assert_eq!(path.window.ssthresh, Threshold::Segments(125), "what the pipe holds");
    path.step(100, RTT, 126);
    assert_eq!(path.mode(), Mode::Drain);
    path.step(1, RTT, 125);
    assert_eq!(path.mode(), Mode::ProbeBw(Phase::Down));
}

/// A sample that the application limits tells nothing of a full pipe, and the rate is none of the path unless it is
/// larger.
#[test]
fn samples_that_the_application_limits_only_raise_the_rate() {
    let mut path = Rounds::new();
    path.next.app_limited = true;
    for _ in 0..10 {
        path.step(10, RTT, 10);
    }
    assert_eq!(path.mode(), Mode::StartUp);
    let mut path = full();
    assert_eq!(path.state().max_bw.get(), FULL_BW);
    path.next.app_limited = true;
    path.step(50, RTT, 50);
    assert_eq!(path.state().max_bw.get(), FULL_BW);
    path.step(150, RTT, 50);
    assert!(path.state().max_bw.get() > FULL_BW);
}

/// Draft section 5.3.1.3: in recovery, at the end of a round trip in which six acknowledgements told of losses, and
/// with more than 2 % lost. The bound is what the pipe holds, 161 with both roundings, or what was delivered in the
/// round trip.
#[test]
fn start_up_ends_by_losses() {
    // Acknowledgements with losses, the state, lost in 200, and whether that ends start-up.
    for (events, state, lost, ends) in [
        (6, CaState::Recovery, 4, true),
        (5, CaState::Recovery, 4, false),
        (6, CaState::Disorder, 4, false),
        (6, CaState::Recovery, 3, false),
    ] {
        let mut path = Rounds::new();
        for segments in [10, 20, 40, 80] {
            path.step(segments, RTT, 80);
        }
        path.lose(Some(80), 1);
        path.next.losses = 1;
        path.next.sender.state = state;
        path.next.lost = lost;
        // The round trip that began with the loss is not over before 160 of what follows it are acknowledged.
        let end = path.delivered;
        for event in 1..=events {
            path.delivered -= 1;
            path.step(1, Duration::from_millis(1), 200);
            assert_eq!((path.mode(), path.delivered), (Mode::StartUp, end), "{event}");
        }
        path.next.losses = 0;
        path.step(160, RTT, 200);
        let longterm = path.state().inflight_longterm;
        assert_eq!(path.mode() != Mode::StartUp, ends, "{events} {state:?} {lost}");
        assert_eq!(longterm, ends.then_some(161), "{events} {state:?} {lost}");
    }
}

/// 3,620,000 bytes/s >> 10 are 3535 bytes, and 40 ms are 78 times 512 us: two segments of 1448. Of 1 ms, which is once
/// 512 us, 32 KiB more: (3535 + 32,768) / 1448 = 25.
#[test]
fn a_send_is_larger_on_a_short_path() {
    let mut path = full();
    let s = path.state();
    s.pacing_rate = 3_620_000;
    assert_eq!(s.send_quantum(), 2);
    s.min_rtt.us = 1_000;
    assert_eq!(s.send_quantum(), 25);
    // Never more than the kernel builds: 65,215 bytes.
    s.pacing_rate = 1 << 40;
    assert_eq!(s.send_quantum(), 45);
    // A window has room for three of them, and two segments more in the phase that probes.
    assert_eq!(s.inflight(FULL_BW, GAIN_UNIT), 135);
    s.mode = Mode::ProbeBw(Phase::Up);
    assert_eq!(s.inflight(FULL_BW, GAIN_UNIT), 137);
}

/// Draft section 5.3.4: five seconds after the last least round trip, half of the pipe is in flight for 200 ms and a
/// round trip; then the window is what it was, and the flow cruises.
#[test]
fn the_least_round_trip_is_probed_for_after_five_seconds() {
    let mut path = full();
    path.rtt = Some(RTT + Duration::from_millis(1));
    let measured = Time::from_secs(1);
    while path.mode() != Mode::ProbeRtt {
        path.step(100, RTT, 100);
        assert!(path.now < measured + Duration::from_secs(6));
    }
    let after = path.now.since(measured);
    assert!(
        after > Duration::from_secs(5) && after <= Duration::from_secs(5) + RTT,
        "{after:?}"
    );
    assert!(path.bbr.is_app_limited());
    assert_eq!((path.window.cwnd, path.state().pacing_gain), (51, 256));
    let saved = path.state().prior_window;
    assert!(saved >= 200, "{saved}");
    // 52 are too many.
    path.step(49, RTT, 52);
    assert_eq!(path.state().probe_rtt_done, None);
    path.rtt = Some(RTT);
    path.step(10, RTT, 51);
    let drained = path.now;
    while path.mode() == Mode::ProbeRtt {
        path.step(50, RTT, 50);
    }
    // In ticks it must be more than 200 ms: the sixth round trip.
    assert_eq!(path.now.since(drained), RTT * 6);
    assert_eq!(path.mode(), Mode::ProbeBw(Phase::Cruise));
    assert!(path.window.cwnd >= saved.min(200), "{}", path.window.cwnd);
}

/// The least round trip is the least of ten seconds, so that one probe may fail to find it.
#[test]
fn a_longer_path_is_believed_after_ten_seconds() {
    let mut path = full();
    let longer = Duration::from_millis(60);
    path.rtt = Some(longer);
    let measured = Time::from_secs(1);
    while path.state().min_rtt.us == 40_000 {
        path.step(50, longer, 20);
        assert!(path.now < measured + Duration::from_secs(12));
    }
    assert_eq!(path.state().min_rtt.us, 60_000);
    let after = path.now.since(measured);
    assert!(
        after > Duration::from_secs(10) && after <= Duration::from_secs(10) + longer,
        "{after:?}"
    );
}

/// Draft section 5.5.11: the bounds are those of before, and the flow is back in start-up, or probes again.
#[test]
fn losses_that_were_none_are_undone() {
    let mut path = Rounds::new();
    for segments in [10, 20, 40, 80] {
        path.step(segments, RTT, 200);
    }
    path.bbr.reduce(&path.window.clone());
    let saved = path.window.cwnd;
    path.lose(Some(80), 1);
    path.next.sender.state = CaState::Recovery;
    (path.next.losses, path.next.lost) = (1, 50);
    for _ in 0..6 {
        path.delivered -= 1;
        path.step(1, Duration::from_millis(1), 200);
    }
    path.step(160, RTT, 200);
    assert!(path.mode() != Mode::StartUp && path.state().inflight_longterm.is_some());
    path.bbr.on_undone();
    path.window.cwnd = 5;
    (path.next.losses, path.next.lost) = (0, 0);
    path.next.sender.state = CaState::Open;
    path.step(100, RTT, 100);
    assert_eq!((path.mode(), path.state().inflight_longterm), (Mode::StartUp, None));
    assert!(path.window.cwnd >= saved, "{} {saved}", path.window.cwnd);

    let mut path = in_phase(Phase::Up);
    path.state().inflight_longterm = Some(400);
    path.lose(Some(150), 9);
    assert_eq!(
        (path.mode(), path.state().inflight_longterm),
        (Mode::ProbeBw(Phase::Down), Some(149))
    );
    path.bbr.on_undone();
    assert_eq!(
        (path.mode(), path.state().inflight_longterm),
        (Mode::ProbeBw(Phase::Refill), Some(400))
    );
    // Nothing is left to undo.
    path.bbr.on_undone();
    assert_eq!(path.mode(), Mode::ProbeBw(Phase::Refill));
}

/// A time-out takes the window; the first acknowledgement after it gives it back, within what is known to be safe.
#[test]
fn a_timeout_is_forgotten_once_it_is_repaired() {
    let mut path = in_phase(Phase::Cruise);
    path.window.cwnd = 180;
    path.bbr.reduce(&path.window.clone());
    path.bbr.on_loss(&RateSample::default());
    assert_eq!(path.state().short_term.inflight, Some(180));
    path.window.cwnd = 1;
    path.next.sender.state = CaState::Loss;
    path.step(1, RTT, 1);
    assert_eq!(path.window.cwnd, 4);
    path.next.sender.state = CaState::Open;
    path.step(1, RTT, 3);
    assert_eq!(path.window.cwnd, 181);
    // With so small a window Reno would have probed at once.
    assert_eq!(path.mode(), Mode::ProbeBw(Phase::Up));
}

#[test]
fn a_restart_from_silence_is_paced_at_the_estimate_and_probes_for_no_round_trip() {
    let mut path = in_phase(Phase::Up);
    let restart = Restart {
        now: path.now + Duration::from_secs(20),
        delivered_at: path.now,
        app_limited: true,
        nxt: 0,
    };
    path.bbr.on_sends_again(&restart, &mut path.window);
    let s = path.state();
    assert_eq!(s.pacing_rate, bytes_a_second(s.mss, s.bandwidth(), GAIN_UNIT));
    path.now += Duration::from_secs(20);
    path.rtt = Some(RTT + Duration::from_micros(9));
    path.step(10, RTT, 10);
    assert!(path.mode() != Mode::ProbeRtt);
    assert_eq!(path.state().min_rtt.us, 40_009, "the filter had expired");
}

/// On a path of 4 ms that marks at a shallow threshold a round trip with marks leaves 1 - alpha / 3 of the window.
/// Alpha begins as the whole: 240 of it are left, and 16/256 of the share of marks are added.
#[test]
fn marks_reduce_the_volume_and_not_the_rate() {
    let short = Duration::from_millis(4);
    let marked = |ecn_low, all: u32| {
        let mut path = Rounds::new();
        path.rtt = Some(short);
        for _ in 0..6 {
            path.step(100, short, 100);
        }
        path.step(100, short, 0);
        assert_eq!(path.mode(), Mode::ProbeBw(Phase::Cruise));
        path.window.cwnd = 200;
        path.next.sender.ecn_low = ecn_low;
        path.next.ece = true;
        path.next.delivered_ce = u64::from(all);
        path.next.marked = Marked { packets: all, bytes: 0 };
        path.step(100, short, 0);
        (path.state().short_term.inflight, path.state().short_term.bw)
    };
    assert_eq!(marked(false, 100), (None, None), "the path may mark late");
    // Seven round trips without a mark and one with: all of them count, for the flow is eligible from now on.
    let share = (100_u64 << 8) / 800;
    let alpha = 240 + ((16 * share) >> 8);
    let left = 256 - ((alpha * 85) >> 8);
    assert_eq!(marked(true, 100), (Some(((200 * left) >> 8) as u32), None));
}

/// After marks without losses the next probe comes as soon as the marks have ceased, and begins with half of the bound.
#[test]
fn the_flow_probes_again_once_marks_cease() {
    let mut path = in_phase(Phase::Cruise);
    let s = path.state();
    s.marks.eligible = true;
    s.ecn_in_cycle = true;
    s.inflight_longterm = Some(150);
    path.next.sender.state = CaState::Cwr;
    path.step(100, RTT, 0);
    assert_eq!(path.mode(), Mode::ProbeBw(Phase::Cruise));
    path.next.sender.state = CaState::Open;
    path.step(100, RTT, 0);
    // Half of 150 is 75, and 2^6 is the power of two below.
    assert_eq!((path.mode(), path.state().up_rounds), (Mode::ProbeBw(Phase::Refill), 6));
}
