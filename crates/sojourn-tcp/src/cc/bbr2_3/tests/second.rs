//! What version 2 does otherwise, worked by hand from `tcp_bbr2.c`.

use super::*;

fn gains<G: Generation>(path: &Rounds<G>) -> (u64, u64) {
    (path.bbr.0.pacing_gain, path.bbr.0.window_gain)
}

/// (10 << 24) / 40,000 us = 4194; 4194 x 1448 x 739 >> 8; times 990,000 >> 24. Ten segments in 40 ms are 362,000
/// bytes/s; 2.885 x 0.99 times that is 1,033,927, and the kernel's gain is 739/256 = 2.887.
#[test]
fn the_first_rate_has_the_gain_of_two_over_ln_two() {
    let by_hand = (((((10_u64 << 24) / 40_000) * 1448 * 739) >> 8) * 990_000) >> 24;
    assert_eq!(fresh::<Second>(1).0.pacing_rate(), Some(by_hand));
    assert_eq!(fresh::<SecondL4s>(1).0.pacing_rate(), Some(by_hand));
    assert!((1_033_000..1_036_000).contains(&by_hand), "{by_hand}");
}

/// Of pacing and of the window: 2.885 in start-up, and so much for the window while its queue is drained.
#[test]
fn gains_are_those_of_the_mode() {
    fn of<G: Generation>() -> Vec<(u64, u64)> {
        let mut path = started::<G>();
        let mut seen = vec![gains(&Rounds::<G>::of()), gains(&path)];
        for mode in [
            Mode::ProbeBw(Phase::Down),
            Mode::ProbeBw(Phase::Cruise),
            Mode::ProbeBw(Phase::Refill),
            Mode::ProbeBw(Phase::Up),
            Mode::ProbeRtt,
        ] {
            path.state().mode = mode;
            path.state().set_gains();
            seen.push(gains(&path));
        }
        seen
    }
    let rest = |down, up| {
        let two = [
            (739, 739),
            (88, 739),
            (down, 512),
            (256, 512),
            (256, 512),
            (320, up),
            (256, 256),
        ];
        two.to_vec()
    };
    assert_eq!(of::<Second>(), rest(192, 512));
    assert_eq!(of::<SecondL4s>(), rest(232, 576));
}

/// `bbr_check_full_bw_reached`: once a round trip the largest rate is compared. Version 3 and L4STeam's compare each
/// sample.
#[test]
fn start_up_of_googles_looks_for_growth_once_a_round_trip() {
    fn bw_after_a_sample_within_the_round_trip<G: Generation>() -> u64 {
        let mut path = Rounds::<G>::of();
        for segments in [10, 20, 40] {
            path.step(segments, RTT, 200);
        }
        path.delivered -= 1;
        path.step(60, RTT, 200);
        path.state().full.bw
    }
    let of = |segments: u64| (segments << 24).div_ceil(40_000);
    assert_eq!(bw_after_a_sample_within_the_round_trip::<Second>(), of(40));
    assert_eq!(bw_after_a_sample_within_the_round_trip::<SecondL4s>(), of(60));
    assert_eq!(bw_after_a_sample_within_the_round_trip::<Third>(), of(60));
    // Three round trips without growth by a quarter end it.
    let mut path = Rounds::<Second>::of();
    for segments in [10, 20, 40, 80, 100, 124, 124] {
        path.step(segments, RTT, 200);
        assert_eq!(path.mode(), Mode::StartUp);
    }
    path.step(124, RTT, 300);
    assert_eq!(path.mode(), Mode::Drain);
}

/// Eight acknowledgements with losses, where version 3 has six. The bound is what the pipe holds, 161; version 3 allows
/// the 320 that were delivered of late.
#[test]
fn start_up_ends_by_eight_losses() {
    fn bound<G: Generation>(events: u32) -> Option<u32> {
        let mut path = Rounds::<G>::of();
        for segments in [10, 20, 40, 80] {
            path.step(segments, RTT, 80);
        }
        path.lose(Some(80), 1);
        path.next.losses = 1;
        path.next.sender.state = CaState::Recovery;
        path.next.lost = 9;
        for _ in 0..events {
            path.delivered -= 1;
            path.step(1, Duration::from_millis(1), 200);
            assert_eq!(path.mode(), Mode::StartUp);
        }
        path.next.losses = 0;
        path.step(320, RTT * 2, 200);
        path.state().inflight_longterm
    }
    assert_eq!([5, 6, 7, 8].map(bound::<Second>), [None, None, None, Some(161)]);
    assert_eq!([5, 6, 7, 8].map(bound::<SecondL4s>), [None, None, None, Some(161)]);
    assert_eq!(
        [5, 6, 7, 8].map(bound::<Third>),
        [None, Some(320), Some(320), Some(320)]
    );
}

/// A probe lasts for longer than the least round trip, and until 1.25 pipes are in flight: 126 with both roundings, and
/// two for the probe. Three more are to leave, for a send of 1.25 x 3.58 MB/s has three.
#[test]
fn a_probe_ends_once_a_quarter_of_the_pipe_is_queued() {
    let mut path = in_phase_of::<Second>(Phase::Up);
    path.step(100, RTT, 100);
    assert_eq!(
        path.mode(),
        Mode::ProbeBw(Phase::Up),
        "one round trip is not longer than one"
    );
    let moment = Duration::from_millis(1);
    path.step(1, moment, 123);
    assert_eq!(path.mode(), Mode::ProbeBw(Phase::Up), "127 of 128");
    path.step(1, moment, 124);
    assert_eq!(path.mode(), Mode::ProbeBw(Phase::Down));
    assert_eq!(gains(&path), (192, 512));
    // It goes on as long as the queue is short, whether or not the rate grows.
    let mut path = in_phase_of::<Second>(Phase::Up);
    for _ in 0..10 {
        path.step(100, RTT, 20);
        assert_eq!(path.mode(), Mode::ProbeBw(Phase::Up));
    }
}

/// What was acknowledged towards the next step of the bound is forgotten once the window does not limit the flow.
#[test]
fn the_steps_of_the_bound_begin_anew() {
    fn credit<G: Generation>() -> u32 {
        let mut path = in_phase_of::<G>(Phase::Up);
        let s = path.state();
        s.inflight_longterm = Some(120);
        (s.up_acked, s.up_acked_per_step) = (7, 50);
        path.delivered -= 1;
        path.step(1, Duration::from_millis(1), 10);
        path.state().up_acked
    }
    assert_eq!((credit::<Second>(), credit::<Third>()), (0, 7));
}

/// `bbr2_check_time_to_probe_bw`: the gain of a probe after marks is zero, so that there is none.
#[test]
fn no_probe_follows_when_marks_cease() {
    fn probes<G: Generation>() -> bool {
        let mut path = in_phase_of::<G>(Phase::Cruise);
        let s = path.state();
        s.marks.eligible = true;
        s.ecn_in_cycle = true;
        path.step(10, RTT, 10);
        path.mode() != Mode::ProbeBw(Phase::Cruise)
    }
    assert_eq!(
        [probes::<Second>(), probes::<SecondL4s>(), probes::<Third>()],
        [false, false, true]
    );
}

/// google's default is 5 ms, and zero is no bound. L4STeam's has none, and needs no `ecn_low` either.
#[test]
fn marks_are_answered_on_paths_as_short_as_is_set() {
    fn answers<G: Generation>(bound: Duration, us: u64) -> bool {
        let params = LaterBbrParams {
            ecn_max_rtt: bound,
            ..LaterBbrParams::default()
        };
        let mut bbr = LaterBbr::<G>::new(&params, Variant::Linux61);
        bbr.0.min_rtt.us = us;
        bbr.0.has_cause(false)
    }
    let usual = LaterBbrParams::default().ecn_max_rtt;
    assert_eq!(usual, Duration::from_millis(5));
    assert!(answers::<Second>(usual, 5_000) && !answers::<Second>(usual, 5_001));
    assert!(answers::<Second>(Duration::from_millis(20), 20_000));
    assert!(answers::<Second>(Duration::ZERO, 300_000));
    assert!(answers::<SecondL4s>(usual, 300_000));
    assert!(!answers::<Third>(Duration::ZERO, 1_000), "no ecn_low");
}

/// A round trip with marks leaves 1 - alpha / 3 of the window, and the rate as it is. Seven round trips without a mark
/// leave an alpha of 240, 225, 210, 196, 183, 171, 160 of 256. All marked: (240 x 160 >> 8) + 16 = 166, and 256 - (166 x
/// 85 >> 8) = 201.
#[test]
fn marks_reduce_the_volume_by_a_third_of_their_share() {
    let mut path = Rounds::<SecondL4s>::of();
    for _ in 0..7 {
        path.step(100, RTT, 100);
    }
    path.state().mode = Mode::ProbeBw(Phase::Cruise);
    path.state().phase_us = micros(path.now);
    path.state().probe_wait_us = 2_000_000;
    path.state().rounds_since_probe = 0;
    path.window.cwnd = 200;
    path.next.ece = true;
    path.next.delivered_ce = 100;
    path.next.marked = Marked { packets: 100, bytes: 0 };
    path.step(100, RTT, 0);
    assert_eq!(path.state().short_term.bw, None);
    let left = path.state().short_term.inflight.expect("a bound");
    assert_eq!(left, (200 * path.state().marks.cut(256)) >> 8);
    assert_eq!(path.state().marks.cut(256), 201);
}

#[test]
fn a_loss_that_a_tail_probe_repaired_is_not_told() {
    let mut path = in_phase_of::<Second>(Phase::Up);
    path.lose(None, 5);
    assert_eq!(path.mode(), Mode::ProbeBw(Phase::Up));
    assert!(!path.state().loss_in_round);
}

/// `bbr2_undo_cwnd` restores the bounds that `bbr2_ssthresh` has saved, and not the mode.
#[test]
fn losses_that_were_none_give_the_bounds_back_and_not_the_mode() {
    let mut path = in_phase_of::<Second>(Phase::Up);
    path.state().inflight_longterm = Some(400);
    path.bbr.reduce(&path.window.clone());
    path.lose(Some(150), 9);
    let after = (Mode::ProbeBw(Phase::Down), Some(149));
    assert_eq!((path.mode(), path.state().inflight_longterm), after);
    path.bbr.on_undone();
    let undone = (Mode::ProbeBw(Phase::Down), Some(400));
    assert_eq!((path.mode(), path.state().inflight_longterm), undone);
}

/// A round trip as short as the least renews it, so that a path with an empty queue is never probed for one.
#[test]
fn an_equal_round_trip_puts_the_probe_off() {
    fn dips<G: Generation>() -> bool {
        let mut path = full_of::<G>();
        (0..150).any(|_| {
            path.step(100, RTT, 20);
            path.mode() == Mode::ProbeRtt
        })
    }
    assert_eq!(
        [dips::<Second>(), dips::<SecondL4s>(), dips::<Third>()],
        [false, false, true]
    );
}

/// `bbr_min_tso_segs`: one segment below 1.2 Mbit/s.
#[test]
fn a_slow_flow_sends_single_segments() {
    fn least<G: Generation>(rate: u64) -> u32 {
        let mut path = full_of::<G>();
        path.state().pacing_rate = rate;
        path.state().send_quantum()
    }
    assert_eq!([149_999, 150_000].map(least::<Second>), [1, 2]);
    assert_eq!([149_999, 150_000].map(least::<Third>), [2, 2]);
}
