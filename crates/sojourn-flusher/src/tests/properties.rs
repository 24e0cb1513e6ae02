use super::key;
use crate::{Event, Flags, Flusher, FlusherParams, Method, Reason, Segment};
use proptest::prelude::*;
use sojourn_units::{Duration, Time};

/// What the world may do to a core.
#[derive(Clone, Debug)]
enum Step {
    Segment(Box<Segment>, i64),
    Timeout(i64),
    Poll,
    Done(u64, u32),
    Refused(u64),
}

fn segment() -> impl Strategy<Value = Segment> {
    let seq = prop_oneof![0u32..20_000, any::<u32>(), (u32::MAX - 5000)..=u32::MAX];
    let ack = prop_oneof![0u32..20_000, any::<u32>(), (u32::MAX - 5000)..=u32::MAX];
    let payload = prop_oneof![Just(0u32), Just(1000), 0u32..70_000, any::<u32>()];
    let bits = (
        any::<bool>(),
        prop::bool::weighted(0.05),
        prop::bool::weighted(0.05),
        prop::bool::weighted(0.02),
    );
    (1u16..6, any::<bool>(), seq, ack, payload, bits).prop_map(|(port, back, seq, ack, payload, (a, syn, fin, rst))| {
        let key = if back { key(port).inverted() } else { key(port) };
        Segment {
            src: key.src,
            dst: key.dst,
            seq,
            ack,
            flags: Flags {
                syn,
                fin,
                rst,
                ack: a,
                psh: false,
            },
            payload,
            wire: payload.saturating_add(40),
            window: 1,
            timestamps: None,
            sack: false,
            station: None,
        }
    })
}

/// Differences of time in nanoseconds: usually forward, sometimes back, sometimes absurd.
fn gap() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 0i64..50_000_000, 1 => -20_000_000i64..0, 1 => any::<i64>()]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (segment(), gap()).prop_map(|(s, g)| Step::Segment(Box::new(s), g)),
        1 => gap().prop_map(Step::Timeout),
        3 => Just(Step::Poll),
        1 => (0u64..8, any::<u32>()).prop_map(|(id, n)| Step::Done(id, n)),
        1 => (0u64..8).prop_map(Step::Refused),
    ]
}

/// Parameters under which random traffic triggers flushes.
fn params() -> impl Strategy<Value = FlusherParams> {
    (
        prop_oneof![Just("as_written"), Just("as_described"), Just("adaptive")],
        1u32..5,
        any::<bool>(),
    )
        .prop_map(|(name, samples, eager)| {
            let preset = FlusherParams::named(name).expect("a preset");
            let eager = FlusherParams {
                window_samples: samples,
                windows: 1,
                floor: Duration::ZERO,
                forced_after: eager.then_some(Duration::from_secs(1)),
                throughput_interval: Duration::from_millis(1),
                min_window: 1,
                max_flows: 4,
                max_outstanding: 16,
                max_packets: 500,
                ..preset
            };
            FlusherParams { events: true, ..eager }
        })
}

/// Runs the steps; everything that came out, with the invariants checked on the way.
fn run(params: FlusherParams, steps: &[Step]) -> Result<(Vec<Event>, String), TestCaseError> {
    let mut core = Flusher::new(params).expect("valid parameters");
    let mut now = Time::from_secs(1_000_000_000);
    let mut outstanding = None;
    let mut events = Vec::new();
    for step in steps {
        let mut pass = |gap: i64| {
            let ns = now.as_nanos();
            now = Time::from_nanos(if gap < 0 {
                ns.saturating_sub(gap.unsigned_abs())
            } else {
                ns.saturating_add(gap.unsigned_abs())
            });
            now
        };
        match step {
            Step::Segment(segment, gap) => core.handle_segment(segment, pass(*gap)),
            Step::Timeout(gap) => core.handle_timeout(pass(*gap)),
            Step::Poll => {
                if let Some(plan) = core.poll_flush() {
                    prop_assert!(outstanding.is_none(), "two plans at once");
                    prop_assert!((1..=params.max_packets).contains(&plan.packets));
                    prop_assert_eq!(plan.size, params.packet);
                    prop_assert_eq!(plan.toward, plan.flow.dst.ip());
                    // What Listing 4.7's comment and section 4.5.2 promise; but for the listing itself, and for
                    // top-ups.
                    let bytes = u64::from(plan.packets) * plan.size.get();
                    let bounded = params.clamp == crate::Clamp::Both && !matches!(plan.reason, Reason::TopUp { .. });
                    prop_assert!(!bounded || bytes <= plan.estimate.bdp.get().saturating_mul(2).saturating_add(2));
                    outstanding = Some(plan.id);
                } else if outstanding.is_none() {
                    prop_assert!(core.proposal.is_none());
                }
            }
            // An answer to the plan that is out, or to any other.
            Step::Done(id, sent) => {
                let id = if *id < 6 {
                    outstanding.take().unwrap_or(crate::FlushId(*id))
                } else {
                    crate::FlushId(*id)
                };
                if outstanding == Some(id) {
                    outstanding = None;
                }
                core.flush_done(id, *sent, now);
            }
            Step::Refused(id) => {
                let id = if *id < 6 {
                    outstanding.take().unwrap_or(crate::FlushId(*id))
                } else {
                    crate::FlushId(*id)
                };
                if outstanding == Some(id) {
                    outstanding = None;
                }
                core.flush_refused(id, now);
            }
        }
        while let Some(event) = core.poll_event() {
            events.push(event);
        }
        prop_assert!(core.flows().count() <= params.max_flows as usize);
        prop_assert!(
            core.table
                .flows
                .iter()
                .all(|(_, f)| f.outstanding.remembered() <= params.max_outstanding as usize)
        );
        prop_assert!(core.paths.len() <= params.max_flows as usize);
        prop_assert_eq!(
            core.paths.values().map(|p| p.flows).sum::<u32>(),
            if params.method == Method::Adaptive {
                core.flows().count() as u32
            } else {
                0
            }
        );
        prop_assert!(core.proposal.is_none() || core.outstanding.is_none());
    }
    Ok((
        events,
        format!("{:?} {:?}", core.stats(), core.flows().collect::<Vec<_>>()),
    ))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_the_bounds_hold_and_the_same_calls_give_the_same_events(
        params in params(),
        steps in prop::collection::vec(step(), 0..400),
    ) {
        let first = run(params, &steps)?;
        prop_assert_eq!(first, run(params, &steps)?);
    }

    /// A timer that is served is over: a core never asks to be woken at once for ever.
    #[test]
    fn a_timer_that_is_served_is_replaced_by_a_later_one(
        params in params(),
        steps in prop::collection::vec((segment(), 0i64..50_000_000), 1..200),
    ) {
        let mut core = Flusher::new(params).expect("valid parameters");
        let mut now = Time::ZERO;
        for (segment, gap) in steps {
            now += Duration::from_nanos(gap.unsigned_abs());
            core.handle_segment(&segment, now);
            if let Some(plan) = core.poll_flush() {
                core.flush_done(plan.id, plan.packets, now);
            }
        }
        let mut wakes = 0;
        while let Some(at) = core.poll_timeout() {
            now = now.max(at);
            core.handle_timeout(now);
            if let Some(plan) = core.poll_flush() {
                core.flush_done(plan.id, plan.packets, now);
            }
            prop_assert!(core.poll_timeout().is_none_or(|next| next > now), "asked again for {}", now);
            wakes += 1;
            prop_assert!(wakes < 100, "no end");
        }
    }
}
