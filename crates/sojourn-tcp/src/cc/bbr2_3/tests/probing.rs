//! Probes for a higher rate, what they find out, and the waits between them.

use super::*;

/// The cycle: down until no more is in flight than the pipe holds, cruise, a round trip of refill, and up until three
/// round trips brought no growth.
#[test]
fn a_probe_fills_the_pipe_and_goes_on_until_the_rate_no_longer_grows() {
    let mut path = full();
    path.step(100, RTT, 101);
    assert_eq!(
        (path.mode(), path.state().pacing_gain),
        (Mode::ProbeBw(Phase::Down), 232)
    );
    path.step(100, RTT, 0);
    assert_eq!(
        (path.mode(), path.state().pacing_gain),
        (Mode::ProbeBw(Phase::Cruise), 256)
    );
    let (begun, wait) = (path.state().phase_us, path.state().probe_wait_us);
    assert!((2_000_000..3_000_000).contains(&wait), "{wait}");
    while path.mode() == Mode::ProbeBw(Phase::Cruise) {
        path.step(100, RTT, 0);
    }
    // The first acknowledgement after the wait.
    let waited = micros(path.now) - begun;
    assert!(waited > wait && waited <= wait + RTT.as_micros(), "{waited} {wait}");
    assert_eq!(
        (path.mode(), path.state().pacing_gain),
        (Mode::ProbeBw(Phase::Refill), 256)
    );
    path.step(100, RTT, 100);
    assert_eq!((path.mode(), path.state().pacing_gain), (Mode::ProbeBw(Phase::Up), 320));
    for segments in [110, 110] {
        path.step(segments, RTT, 125);
        assert_eq!(path.mode(), Mode::ProbeBw(Phase::Up));
    }
    path.step(110, RTT, 125);
    assert_eq!(path.mode(), Mode::ProbeBw(Phase::Down));
    // A round trip later the cycle before is forgotten, another one later the rate of before the probe.
    assert!(path.state().max_bw.get() > FULL_BW);
}

/// Draft section 5.3.3.8: a flow whose pipe holds fewer than 63 segments probes after as many round trips, as Reno
/// does. (20 are 21, because rate and product are rounded up.)
#[test]
fn a_small_pipe_is_probed_as_often_as_reno_would() {
    for (segments, rounds) in [(20, 21), (40, 41), (80, 63)] {
        let short = Duration::from_millis(10);
        let mut path = Rounds::new();
        path.rtt = Some(short);
        for _ in 0..6 {
            path.step(segments, short, 10);
        }
        path.step(segments, short, 0);
        assert_eq!(path.mode(), Mode::ProbeBw(Phase::Cruise));
        let before = path.state().rounds_since_probe;
        let mut n = before;
        while path.mode() == Mode::ProbeBw(Phase::Cruise) {
            path.step(segments, short, 0);
            n += 1;
        }
        assert_eq!((path.mode(), n), (Mode::ProbeBw(Phase::Refill), rounds));
    }
}

#[test]
fn waits_are_drawn_between_two_and_three_seconds() {
    let (mut rounds, mut waits) = ([0; 2], Vec::new());
    for seed in 0..500 {
        let (mut bbr, _) = fresh::<Third>(seed);
        bbr.0.begin_down(Time::from_secs(1));
        rounds[bbr.0.rounds_since_probe as usize] += 1;
        waits.push(bbr.0.probe_wait_us);
    }
    assert!(rounds.iter().all(|&n| n > 200), "{rounds:?}");
    waits.sort_unstable();
    assert!(waits[0] >= 2_000_000 && waits[0] < 2_020_000 && waits[499] < 3_000_000 && waits[499] > 2_980_000);
    assert!((2_450_000..2_550_000).contains(&waits[250]), "{}", waits[250]);
}

/// Draft section 5.5.10.2: the bound is what was in flight where the losses crossed the threshold, and 0.7 of the
/// target at least. Only the first time in a probe.
#[test]
fn too_many_losses_in_a_probe_bound_what_is_in_flight() {
    // 150 in flight, of which 750 >> 8 = 2 may be lost. Of those before the last (149 x 5 + 255) >> 8 = 3 may be, so
    // that of the fourth nothing fits.
    let mut path = in_phase(Phase::Up);
    path.lose(Some(150), 2);
    assert_eq!(
        (path.mode(), path.state().inflight_longterm),
        (Mode::ProbeBw(Phase::Up), None)
    );
    path.lose(Some(150), 4);
    assert_eq!(path.state().inflight_longterm, Some(149));
    assert_eq!(path.mode(), Mode::ProbeBw(Phase::Down));
    path.lose(Some(120), 9);
    assert_eq!(path.state().inflight_longterm, Some(149), "once in a probe");
    // Few were in flight: the target is the pipe, 101, and two for the probe: 103 x 180 >> 8 = 72.
    let mut path = in_phase(Phase::Up);
    path.lose(Some(20), 1);
    assert_eq!(path.state().inflight_longterm, Some(72));
    // A flow that the application limits has not probed.
    let mut path = in_phase(Phase::Up);
    let lost = LostSegment {
        now: path.now,
        tx_in_flight: Some(20),
        lost: 1,
        app_limited: true,
        delivered_in_all: path.delivered,
    };
    path.bbr.on_segment_lost(&lost, &path.window.clone());
    assert_eq!(
        (path.mode(), path.state().inflight_longterm),
        (Mode::ProbeBw(Phase::Down), None)
    );
}

/// A tail loss probe tells of one loss; what was in flight with it is what was delivered of late, and one.
#[test]
fn a_loss_that_a_tail_probe_repaired_counts_as_one() {
    let mut path = in_phase(Phase::Up);
    // One of 101 is no more than 505 >> 8 = 1.
    path.lose(None, 1);
    assert_eq!(path.mode(), Mode::ProbeBw(Phase::Up));
    path.state().latest.inflight = 40;
    path.lose(None, 1);
    assert_eq!(
        path.state().inflight_longterm,
        Some(72),
        "the target again, for 41 are fewer"
    );
}

/// While it cruises the flow leaves 0.15 of the bound: 149 - (149 x 38 >> 8) = 127; one and four are the least.
#[test]
fn cruising_leaves_headroom_below_the_bound() {
    let mut path = full();
    let s = path.state();
    for (bound, left) in [(149, 127), (10, 9), (4, 4), (1, 4)] {
        s.inflight_longterm = Some(bound);
        assert_eq!(s.with_headroom(), Some(left), "{bound}");
    }
    s.inflight_longterm = Some(149);
    for (mode, cap) in [
        (Mode::StartUp, 1000),
        (Mode::Drain, 1000),
        (Mode::ProbeBw(Phase::Down), 149),
        (Mode::ProbeBw(Phase::Cruise), 127),
        (Mode::ProbeBw(Phase::Refill), 149),
        (Mode::ProbeBw(Phase::Up), 149),
        (Mode::ProbeRtt, 127),
    ] {
        s.mode = mode;
        assert_eq!(s.bound(1000), cap, "{mode:?}");
    }
    s.short_term.inflight = Some(50);
    assert_eq!(s.bound(1000), 50);
    s.short_term.inflight = Some(1);
    assert_eq!(s.bound(1000), 4);
}

/// The bound grows by 1, 2, 4, 8 a round trip while the window keeps the flow from sending more.
#[test]
fn a_probe_raises_the_bound_by_twice_as_much_each_round_trip() {
    let mut path = in_phase(Phase::Up);
    path.state().inflight_longterm = Some(120);
    path.window.cwnd = 120;
    path.next.sender.window_limited = true;
    path.state().begin_refill(0);
    path.step(120, RTT, 119);
    assert_eq!(path.mode(), Mode::ProbeBw(Phase::Up));
    let mut seen = Vec::new();
    for _ in 0..4 {
        let cwnd = path.window.cwnd;
        path.step(cwnd, RTT, cwnd - 1);
        seen.push(path.state().inflight_longterm.expect("a bound"));
        // An acknowledgement within the round trip: the bound limits the rate, so that the pipe is not full.
        path.delivered -= 1;
        path.step(0, RTT / 2, cwnd);
        path.delivered += 1;
    }
    let steps: Vec<u32> = seen.windows(2).map(|w| w[1] - w[0]).collect();
    assert_eq!(seen[0], 121);
    assert_eq!(steps, [2, 4, 8]);
    // And it does not where the window is not what limits.
    path.next.sender.window_limited = false;
    let before = path.state().inflight_longterm;
    path.step(100, RTT, 50);
    assert_eq!(path.state().inflight_longterm, before);
}

/// Draft section 5.3.3.6: after a probe that was too much, the next one ends where that was, and if nothing was lost of
/// it, another follows at once.
#[test]
fn a_probe_after_one_that_was_too_much_is_short_and_is_followed_by_another() {
    let mut path = in_phase(Phase::Up);
    path.lose(Some(150), 9);
    assert_eq!(path.state().inflight_longterm, Some(149));
    while path.mode() != Mode::ProbeBw(Phase::Up) {
        path.step(100, RTT, 0);
    }
    // Three more are to leave.
    path.step(100, RTT, 45);
    assert_eq!(path.mode(), Mode::ProbeBw(Phase::Up), "148 of 149");
    path.step(100, RTT, 46);
    assert_eq!(path.mode(), Mode::ProbeBw(Phase::Down));
    path.step(100, RTT, 100);
    assert_eq!(path.mode(), Mode::ProbeBw(Phase::Refill));
}

/// Draft section 5.5.10.3: max(latest, 0.7 x bound) for rate and volume, once a round trip; none while the flow probes.
#[test]
fn losses_between_probes_reduce_the_bounds_of_the_short_term() {
    let mut path = in_phase(Phase::Cruise);
    path.window.cwnd = 200;
    path.state().latest = Latest::default();
    path.lose(Some(100), 1);
    path.next.losses = 1;
    // 60 of 40 ms: less than 0.7 of 100.
    path.step(60, RTT, 40);
    path.next.losses = 0;
    let reduced = (FULL_BW * 180) >> 8;
    assert_eq!(path.state().short_term.bw, Some(reduced));
    // 200 x 180 >> 8 = 140.
    assert_eq!((path.state().short_term.inflight, path.window.cwnd), (Some(140), 140));
    assert_eq!(path.state().bandwidth(), reduced);
    // Another round trip with losses, in which 90 are delivered: more than 0.7 of 70 and less than that of 140.
    path.lose(Some(100), 1);
    path.step(90, RTT, 40);
    let of_90 = (90_u64 << 24).div_ceil(40_000);
    assert_eq!(
        path.state().short_term,
        ShortTerm {
            bw: Some(of_90),
            inflight: Some(98)
        }
    );
    // The next probe forgets them.
    path.state().begin_refill(0);
    assert_eq!(path.state().bandwidth(), FULL_BW);
    path.lose(Some(100), 1);
    path.step(60, RTT, 40);
    assert_eq!(path.state().short_term, ShortTerm::default());
}
