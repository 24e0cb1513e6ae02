//! Worked by hand from `tcp_bbr.c`, and what theory says of a flow alone on a path.

use super::*;
use crate::cc::SenderView;

const MSS: u16 = 1448;
/// Round trip of the handshake.
const RTT: Duration = Duration::from_millis(40);

fn fresh(seed: u64) -> (Bbr, Window) {
    let mut bbr = Bbr::new(&BbrParams { seed }, Variant::Linux61);
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

/// A path that is fed by hand: each step is a round trip in which `segments` are delivered.
struct Rounds {
    bbr: Bbr,
    window: Window,
    now: Time,
    delivered: u64,
    lost: u64,
    state: CaState,
    app_limited: bool,
}

impl Rounds {
    fn new() -> Self {
        let (bbr, window) = fresh(7);
        Self {
            bbr,
            window,
            now: Time::from_secs(1),
            delivered: 0,
            lost: 0,
            state: CaState::Open,
            app_limited: false,
        }
    }

    /// `segments` are delivered within `interval` by one acknowledgement, `losses` with it; so many stay in flight.
    fn step(&mut self, segments: u32, interval: Duration, losses: u32, flight: u32) {
        self.now += interval;
        let prior_delivered = self.delivered;
        self.delivered += u64::from(segments);
        self.lost += u64::from(losses);
        let ack = Ack {
            now: self.now,
            acked: segments,
            una: 1,
            nxt: 1,
            rtt: Some(interval),
            mss: MSS,
            ece: false,
            marked: crate::cc::Marked::default(),
            pacing_rate: None,
        };
        let sample = RateSample {
            prior_delivered,
            delivered: u64::from(segments),
            interval: Some(interval),
            app_limited: self.app_limited,
            delivered_in_all: self.delivered,
            newly_delivered: segments,
            losses,
            flight_before: flight + segments,
            flight,
            sender: SenderView {
                state: self.state,
                lost_in_all: self.lost,
                delivered_at: self.now,
                departs: self.now,
                pacing_shift: 10,
                ..SenderView::default()
            },
            ..RateSample::default()
        };
        self.bbr.on_sample(&ack, &sample, &mut self.window);
    }

    fn mode(&self) -> Mode {
        self.bbr.0.mode
    }
}

/// 256 x 2885 / 1000 + 1 = 739, 256 x 1000 / 2885 = 88, and 320, 192, 256 in the cycle.
#[test]
fn gains_are_the_kernels_integers() {
    assert_eq!((HIGH_GAIN, DRAIN_GAIN, WINDOW_GAIN), (739, 88, 512));
    assert_eq!(CYCLE, [320, 192, 256, 256, 256, 256, 256, 256]);
}

/// (10 << 24) / 40,000 us = 4194; 4194 x 1448 x 739 >> 8 = 17,530,723; times 990,000 >> 24 = 1,034,467 bytes/s. Ten
/// segments in 40 ms are 362,000 bytes/s; 2.887 x 0.99 times that is 1,034,560.
#[test]
fn the_first_rate_is_the_initial_window_a_round_trip_times_the_high_gain() {
    let (bbr, _) = fresh(1);
    let by_hand = (((((10_u64 << 24) / 40_000) * 1448 * 739) >> 8) * 990_000) >> 24;
    assert_eq!(bbr.pacing_rate(), Some(by_hand));
    assert!((1_034_000..1_034_600).contains(&by_hand), "{by_hand}");
}

/// 100 segments in 40 ms: (100 << 24) / 40,000 = 41,943 and 41,943 x 40,000 / 2^24 = 99.9993, rounded up 100. The rate
/// is 41,943 x 1448 x 0.99 x 10^6 / 2^24 = 3,583,813 bytes/s. A send is 3,583,813 >> 10 = 3499 bytes: two segments,
/// so that the budget is 6.
#[test]
fn the_product_of_bandwidth_and_delay_is_rounded_up_and_has_room_for_three_sends() {
    let mut path = Rounds::new();
    path.bbr.0.bw.sample(10, 1, (100 << 24) / 40_000);
    path.bbr.0.full = true;
    let s = &mut path.bbr.0;
    s.pace(s.bandwidth(), GAIN_UNIT);
    assert_eq!(s.pacing_rate, ((41_943 * 1448) * 990_000) >> 24);
    assert_eq!(s.bdp(41_943, GAIN_UNIT), 100);
    assert_eq!(s.bdp(41_943, 320), 125);
    assert_eq!(s.send_quantum(10), 2);
    // A radio's device holds eight times as much: 19 segments. Below 1.2 Mbit/s a send is one segment.
    assert_eq!(s.send_quantum(7), 19);
    assert_eq!(
        s.with_budget(
            100,
            &RateSample {
                sender: SenderView {
                    pacing_shift: 10,
                    ..SenderView::default()
                },
                ..RateSample::default()
            }
        ),
        106
    );
    s.pacing_rate = 149_999;
    assert_eq!(s.send_quantum(10), 1);
    s.pacing_rate = 150_000;
    assert_eq!(s.send_quantum(10), 2);
    // 45 segments are the most: 65,215 bytes.
    s.pacing_rate = 1 << 40;
    assert_eq!(s.send_quantum(10), 45);
}

/// The bandwidth must grow by a quarter in three round trips; then the pipe is full, and drained with a gain of 88/256.
#[test]
fn start_up_ends_after_three_round_trips_without_growth_and_the_drain_when_the_queue_is_gone() {
    let mut path = Rounds::new();
    for segments in [10, 20, 40, 80, 100] {
        path.step(segments, RTT, 0, 2 * segments);
        assert_eq!((path.mode(), path.bbr.0.pacing_gain), (Mode::StartUp, HIGH_GAIN));
    }
    // 100 are 125 % of 80: that was growth still. Now there is none.
    for _ in 0..2 {
        path.step(100, RTT, 0, 250);
        assert_eq!(path.mode(), Mode::StartUp);
    }
    let rate = path.bbr.pacing_rate();
    path.step(100, RTT, 0, 250);
    assert_eq!((path.mode(), path.bbr.0.pacing_gain), (Mode::Drain, DRAIN_GAIN));
    assert!(path.bbr.pacing_rate() < rate);
    // The threshold tells what the pipe holds: 100, and three sends at the rate of start-up: 10 MB/s >> 10 are 10,102
    // bytes, 6 segments.
    assert_eq!(path.window.ssthresh, Threshold::Segments(118));
    path.step(100, RTT, 0, 150);
    assert_eq!(path.mode(), Mode::Drain);
    // 100 and three sends of two.
    path.step(44, RTT, 0, 106);
    assert_eq!(path.mode(), Mode::ProbeBw);
}

/// A path that is full, at 100 segments a round trip.
fn full() -> Rounds {
    let mut path = Rounds::new();
    for segments in [10, 20, 40, 80, 100, 100, 100, 100] {
        path.step(segments, RTT, 0, 2 * segments);
    }
    path.step(100, RTT, 0, 100);
    assert_eq!(path.mode(), Mode::ProbeBw);
    path
}

/// A phase lasts longer than the least round trip; that of 5/4 until 125 % are in flight, that of 3/4 at most until the
/// queue is drained.
#[test]
fn the_cycle_has_eight_phases_and_begins_in_any_but_that_of_three_quarters() {
    let mut begun = [false; 8];
    for seed in 0..200 {
        let (mut bbr, _) = fresh(seed);
        bbr.0.begin_probe_bw(0);
        begun[bbr.0.phase] = true;
    }
    assert_eq!(begun, [true, false, true, true, true, true, true, true]);
    let mut path = full();
    path.bbr.0.phase = 2;
    let longer = RTT + Duration::from_micros(1);
    let mut seen = Vec::new();
    for _ in 0..16 {
        // As many as 125 % and the budget: 125 + 6, rounded up to 132, and two more.
        path.step(100, longer, 0, 34);
        seen.push(path.bbr.0.pacing_gain);
    }
    let cycle = [
        256, 256, 256, 256, 256, 320, 192, 256, 256, 256, 256, 256, 256, 320, 192, 256,
    ];
    assert_eq!(seen, cycle);
    // With less in flight the probe goes on, until something is lost.
    path.bbr.0.phase = 0;
    path.bbr.0.set_gains();
    for _ in 0..5 {
        path.step(100, longer, 0, 30);
        assert_eq!(path.bbr.0.phase, 0);
    }
    path.step(100, longer, 1, 30);
    assert_eq!(path.bbr.0.phase, 1);
    // Drained in half a round trip: 106 are left.
    path.step(50, longer / 2, 0, 56);
    assert_eq!(path.bbr.0.phase, 2);
}

/// The least round trip is ten seconds old: four segments for 200 ms and a round trip, then the window is what it was.
#[test]
fn the_least_round_trip_is_probed_for_after_ten_seconds() {
    let mut path = full();
    let longer = RTT + Duration::from_micros(1);
    let before = path.now;
    while path.mode() != Mode::ProbeRtt {
        path.step(100, longer, 0, 100);
        assert!(path.now < before + Duration::from_secs(11));
    }
    assert!(path.now.since(before) > Duration::from_millis(9_500));
    assert!(path.bbr.is_app_limited());
    assert_eq!((path.window.cwnd, path.bbr.0.pacing_gain), (4, GAIN_UNIT));
    let saved = path.bbr.0.prior_window;
    assert!(saved >= 200, "{saved}");
    path.step(96, longer, 0, 4);
    let drained = path.now;
    while path.mode() == Mode::ProbeRtt {
        path.step(4, longer, 0, 4);
        assert!(path.window.cwnd == 4 || path.mode() == Mode::ProbeBw);
    }
    // The kernel's clock of 1 ms must be past 200 ms: the fifth round trip ends within the tick, so it takes a sixth.
    assert_eq!(path.now.since(drained), longer * 6);
    assert!(path.window.cwnd >= saved.min(206), "{}", path.window.cwnd);
    assert_eq!(path.bbr.0.mode, Mode::ProbeBw);
}

/// Packet conservation for a round trip, then slow start towards the target, then the window of before.
#[test]
fn recovery_conserves_packets_for_a_round_trip_and_restores_the_window_after() {
    let mut path = full();
    path.window.cwnd = 200;
    path.bbr.reduce(&path.window.clone());
    path.state = CaState::Recovery;
    // 5 delivered, 3 lost, 90 in flight: 95.
    let round_end = path.delivered + 5;
    path.step(5, RTT, 3, 90);
    assert_eq!((path.window.cwnd, path.bbr.0.round_end), (95, round_end));
    // The same round trip: what was delivered counts once more, but no more than that.
    path.delivered -= 1;
    path.step(1, Duration::from_micros(40_001), 0, 92);
    assert!(path.bbr.0.conserves);
    assert_eq!(path.window.cwnd, 95);
    // The next round trip: one more for each delivered.
    path.step(10, RTT, 0, 85);
    assert_eq!(path.window.cwnd, 105);
    path.state = CaState::Open;
    path.step(10, RTT, 0, 85);
    // Restored to 200; the target is 2 x 100 and 6, and what was acknowledged at once.
    assert!((200..=220).contains(&path.window.cwnd), "{}", path.window.cwnd);
}

/// A time-out forgets how full the pipe was; a false one the policer, too.
#[test]
fn a_timeout_ends_the_round_and_undoing_it_looks_for_the_full_pipe_again() {
    let mut path = Rounds::new();
    for segments in [10, 20, 40, 80, 100, 100, 100] {
        path.step(segments, RTT, 0, 2 * segments);
    }
    assert_eq!(path.bbr.0.full_rounds, 2);
    path.bbr.on_loss(&RateSample {
        losses: 1,
        ..RateSample::default()
    });
    assert_eq!((path.bbr.0.full_bw, path.bbr.0.recovery), (0, CaState::Loss));
    path.bbr.on_undone();
    path.step(100, RTT, 0, 100);
    assert_eq!((path.bbr.0.full_rounds, path.mode()), (0, Mode::StartUp));
}

#[test]
fn a_restart_from_silence_is_paced_at_the_estimate_and_probes_for_no_round_trip() {
    let mut path = full();
    path.bbr.0.phase = 0;
    let restart = Restart {
        now: path.now + Duration::from_secs(20),
        delivered_at: path.now,
        app_limited: true,
        nxt: 0,
    };
    path.bbr.on_sends_again(&restart, &mut path.window);
    let s = &path.bbr.0;
    assert_eq!(
        path.bbr.pacing_rate(),
        Some(super::bytes_a_second(s.mss, s.bandwidth(), GAIN_UNIT))
    );
    path.now += Duration::from_secs(20);
    path.step(10, RTT + Duration::from_micros(9), 0, 10);
    assert_eq!(path.mode(), Mode::ProbeBw);
    // The filter had expired, so that this round trip is the least one.
    assert_eq!(path.bbr.0.min_rtt_us, 40_009);
}

#[test]
fn samples_that_the_application_limits_only_raise_the_bandwidth() {
    let mut path = full();
    path.app_limited = true;
    let before = path.bbr.0.bandwidth();
    path.step(50, RTT, 0, 100);
    assert_eq!(path.bbr.0.bandwidth(), before);
    path.step(150, RTT, 0, 100);
    assert_eq!(path.bbr.0.bandwidth(), (150 << 24) / 40_000);
}
