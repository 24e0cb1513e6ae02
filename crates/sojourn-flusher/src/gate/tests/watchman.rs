//! What the core tells reaches the gate; where the core does not judge, the samples do.

use super::*;

const TO: &str = "192.0.2.7";

fn flow() -> FlowKey {
    forced(0, TO, 1).flow
}

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// A plan because of 80 ms, towards a path whose largest RTT is 150 ms.
fn threshold(id: u64) -> FlushPlan {
    let (least, trigger) = (Duration::from_millis(80), Duration::from_millis(70));
    plan(id, address(TO), 10, Reason::Threshold { least, trigger })
}

fn watchman(method: Method) -> Watchman {
    let mut one = Watchman::new(settings(), method);
    one.event(&Event::Acknowledged {
        at: at(0),
        flow: flow(),
        bytes: 1_000_000,
    });
    one
}

fn sample(ms: u64, rtt_ms: u64) -> Event {
    let raw = Duration::from_millis(rtt_ms);
    Event::Sample {
        at: at(ms),
        flow: flow(),
        raw,
        smoothed: raw,
        throughput: None,
    }
}

fn effect(id: u64, verdict: Verdict) -> Event {
    Event::Effect {
        at: at(2),
        id: FlushId(id),
        verdict,
        before: Duration::from_millis(80),
        after: None,
        retransmissions: 0,
    }
}

/// How long the gate leaves the destination alone after a flush at 0, as a plan at `ms` is told.
fn pause(watchman: &mut Watchman, ms: u64) -> Duration {
    match watchman.judge(&threshold(99), at(ms), at(ms)) {
        Answer::Refused {
            because: Refusal::CoolDown(ns),
            ..
        } => Duration::from_nanos(ns) + Duration::from_millis(ms),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_acknowledged_is_credit_until_a_reset() {
    let mut one = Watchman::new(settings(), Method::Adaptive);
    let told = |bytes| Event::Acknowledged {
        at: at(0),
        flow: flow(),
        bytes,
    };
    one.event(&told(4000));
    one.event(&told(500));
    assert_eq!(one.gate.credit_left(address(TO)), 4500);
    one.event(&Event::Reset {
        at: at(1),
        flow: flow(),
    });
    assert_eq!(one.gate.credit_left(address(TO)), 0);
}

#[test]
fn a_verdict_of_the_core_decides_how_long_the_pause_is() {
    let once = settings().cool_down;
    let cases = [
        (Verdict::Helped, once),
        (Verdict::Unknown, once),
        (Verdict::TooSmall, once.saturating_mul(2)),
        (Verdict::Useless, once.saturating_mul(2)),
    ];
    for (verdict, expected) in cases {
        let mut one = watchman(Method::Adaptive);
        assert_eq!(one.judge(&threshold(5), at(0), at(0)), Answer::Allowed);
        one.event(&effect(4, verdict));
        assert_eq!(pause(&mut one, 500), once, "of no flush: {verdict:?}");
        one.event(&effect(5, verdict));
        assert_eq!(pause(&mut one, 500), expected, "{verdict:?}");
    }
}

/// Against 80 ms an RTT of 70 is down by an eighth, once the burst itself is past: after the largest RTT, 150 ms.
#[test]
fn of_the_thesis_a_flush_has_helped_if_the_rtt_came_down_by_an_eighth_after_the_burst() {
    let once = settings().cool_down;
    let after_it = once.as_nanos() / 1_000_000;
    let cases: [(&[Event], bool); 6] = [
        (&[sample(150, 70)], true),
        (&[sample(150, 71)], false),
        (&[sample(149, 10)], false),
        (&[sample(160, 90), sample(170, 60)], true),
        (&[sample(160, 60), sample(170, 90)], true),
        (&[], false),
    ];
    for (samples, helped) in cases {
        let mut one = watchman(Method::Thesis);
        assert_eq!(one.judge(&threshold(1), at(0), at(0)), Answer::Allowed);
        for event in samples {
            one.event(event);
        }
        // The next plan is judged by the effect of the last: it is in time if that helped.
        let next = one.judge(&threshold(2), at(after_it), at(after_it));
        assert_eq!(next == Answer::Allowed, helped, "{samples:?}: {next:?}");
    }
}

#[test]
fn only_a_plan_for_the_flushed_flow_asks_for_the_effect_and_a_forced_flush_has_none() {
    let after_it = settings().cool_down.as_nanos() / 1_000_000;
    let mut one = watchman(Method::Thesis);
    assert_eq!(one.judge(&threshold(1), at(0), at(0)), Answer::Allowed);
    let mut other = threshold(2);
    other.flow.src = SocketAddr::from(([198, 51, 100, 1], 81));
    assert_eq!(one.judge(&other, at(after_it), at(after_it)), Answer::Allowed);

    let mut one = watchman(Method::Thesis);
    assert_eq!(one.judge(&forced(1, TO, 10), at(0), at(0)), Answer::Allowed);
    assert_eq!(one.judge(&threshold(2), at(after_it), at(after_it)), Answer::Allowed);
}

#[test]
fn a_method_that_judges_itself_is_not_judged_by_samples() {
    let after_it = settings().cool_down.as_nanos() / 1_000_000;
    let mut one = watchman(Method::Adaptive);
    assert_eq!(one.judge(&threshold(1), at(0), at(0)), Answer::Allowed);
    assert_eq!(one.judge(&threshold(2), at(after_it), at(after_it)), Answer::Allowed);
}

/// Begun anew of the other method, the flushes before are forgotten: no top-up is theirs, no verdict either.
#[test]
fn begun_anew_it_judges_by_the_new_method_alone() {
    let after_it = settings().cool_down.as_nanos() / 1_000_000;
    for (before, after, second) in [
        (Method::Adaptive, Method::Thesis, false),
        (Method::Thesis, Method::Adaptive, true),
    ] {
        let mut one = watchman(before);
        assert_eq!(one.judge(&threshold(1), at(0), at(0)), Answer::Allowed);
        one.begin_anew(after);
        let top_up = plan(2, address(TO), 1, Reason::TopUp { of: FlushId(1) });
        assert_eq!(one.judge(&top_up, at(1), at(1)), no(Refusal::NoFlush));
        one.event(&effect(1, Verdict::Useless));
        assert_eq!(pause(&mut one, 2), settings().cool_down);
        // The first flush of the new core, without a sample after it, has not helped by the thesis.
        assert_eq!(one.judge(&threshold(0), at(after_it), at(after_it)), Answer::Allowed);
        let next = one.judge(&threshold(1), at(2 * after_it), at(2 * after_it));
        assert_eq!(next == Answer::Allowed, second, "{next:?}");
    }
}

/// The last 1024 flushes are known.
#[test]
fn the_effect_of_a_flush_long_ago_is_forgotten() {
    let mut effects = super::super::effect::Effects::new(false);
    for id in 0..1025 {
        effects.sent(&threshold(id), at(id));
    }
    assert_eq!(effects.toward(FlushId(0)), None);
    assert_eq!(effects.toward(FlushId(1)), Some(address(TO)));
    assert_eq!(effects.toward(FlushId(1024)), Some(address(TO)));
}

/// Where the samples judge, the last flush towards each of 1024 destinations is known; of more, the least address
/// goes.
#[test]
fn effects_of_more_destinations_than_are_remembered_are_not_judged() {
    let mut effects = super::super::effect::Effects::new(true);
    let toward = |n: u32| {
        let mut one = threshold(u64::from(n));
        one.toward = IpAddr::V4(Ipv4Addr::from(0xC000_0200 + n));
        one
    };
    for n in 0..1025 {
        effects.sent(&toward(n), at(0));
    }
    assert_eq!(effects.verdict(&toward(0)), None);
    for n in 1..1025 {
        assert_eq!(effects.verdict(&toward(n)), Some(false), "{n}");
    }
    assert_eq!(effects.verdict(&toward(1)), None, "it was judged already");
}
