mod budget;
mod credit;
mod watchman;

use super::*;
use crate::{Estimate, FlowKey};
use proptest::prelude::*;
use sojourn_units::{Bytes, Rate};
use std::net::{Ipv4Addr, SocketAddr};

fn plan(id: u64, toward: IpAddr, packets: u32, reason: Reason) -> FlushPlan {
    FlushPlan {
        id: FlushId(id),
        flow: FlowKey {
            src: SocketAddr::from(([198, 51, 100, 1], 80)),
            dst: SocketAddr::new(toward, 50_000),
        },
        toward,
        packets,
        size: Bytes::new(1500),
        reason,
        estimate: Estimate {
            throughput: Rate::from_mbit(8),
            base: Duration::from_millis(50),
            rtt: Duration::from_millis(100),
            max_rtt: Duration::from_millis(150),
            bdp: Bytes::new(150_000),
        },
    }
}

fn forced(id: u64, toward: &str, packets: u32) -> FlushPlan {
    plan(id, address(toward), packets, Reason::Forced)
}

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn settings() -> GateSettings {
    GateSettings {
        active: true,
        allow: vec![
            "192.0.2.0/24".parse().expect("a prefix"),
            "2001:db8::/32".parse().expect("a prefix"),
        ],
        ..GateSettings::default()
    }
}

/// Judges a plan for which enough was acknowledged.
fn judge(gate: &mut Gate, plan: &FlushPlan, ms: u64) -> Answer {
    let now = Time::from_millis(ms);
    if let Some(missing) = length(plan).checked_sub(gate.credit.left(plan.toward, now)) {
        gate.acknowledged(plan.flow, missing, now);
    }
    gate.judge(plan, now, now)
}

fn no(because: Refusal) -> Answer {
    Answer::Refused {
        because,
        otherwise: None,
    }
}

/// 100 packets of 64 bytes count as 150 kB, the path's product; 101 of them are too many where one product is the
/// most, and a top-up counts likewise.
#[test]
fn a_small_packet_is_charged_as_a_full_one() {
    let mut gate = Gate::new(GateSettings {
        bdp_thousandths: 1000,
        ..settings()
    });
    let small = |packets, reason, id| FlushPlan {
        size: Bytes::new(64),
        ..plan(id, address("192.0.2.7"), packets, reason)
    };
    let of = |reason, id, packets| small(packets, reason, id);
    let refused = no(Refusal::BdpMultiple(151_500, 150_000));
    assert_eq!(judge(&mut gate, &of(Reason::Forced, 0, 101), 0), refused);
    assert_eq!(judge(&mut gate, &of(Reason::Forced, 1, 100), 0), Answer::Allowed);
    assert_eq!(gate.budget_left(), 3_000_000 - 150_000);
    let top_up = Reason::TopUp { of: FlushId(1) };
    assert_eq!(judge(&mut gate, &of(top_up, 2, 1), 5), refused);
}

#[test]
fn it_is_passive_unless_told_otherwise_and_says_what_it_would_have_said() {
    let mut gate = Gate::new(GateSettings {
        active: false,
        ..settings()
    });
    let refused = |otherwise| Answer::Refused {
        because: Refusal::Passive,
        otherwise,
    };
    assert_eq!(judge(&mut gate, &forced(0, "192.0.2.7", 10), 0), refused(None));
    let foreign = forced(1, "198.51.100.7", 10);
    assert_eq!(judge(&mut gate, &foreign, 0), refused(Some(Refusal::NotAllowed)));
    assert_eq!(gate.budget_left(), settings().bytes_per_minute);
    gate.set(settings());
    gate.set_killed(true);
    let killed = Answer::Refused {
        because: Refusal::Killed,
        otherwise: None,
    };
    assert_eq!(judge(&mut gate, &forced(2, "192.0.2.7", 10), 0), killed);
    gate.set_killed(false);
    assert_eq!(judge(&mut gate, &forced(3, "192.0.2.7", 10), 0), Answer::Allowed);
}

#[test]
fn only_unicast_addresses_of_the_list_pass() {
    let allow = |text: &str| vec![text.parse().expect("a prefix")];
    let passes = |list: &str, to: &str| permitted(address(to), &allow(list));
    assert_eq!(passes("192.0.2.0/24", "192.0.2.254"), Ok(()));
    assert_eq!(passes("192.0.2.4/31", "192.0.2.5"), Ok(()));
    assert_eq!(passes("192.0.2.5/32", "192.0.2.5"), Ok(()));
    assert_eq!(passes("2001:db8::/32", "2001:db8::1"), Ok(()));
    for to in ["192.0.3.1", "192.0.2.255", "192.0.2.0", "2001:db8::1", "10.0.0.1"] {
        assert_eq!(passes("192.0.2.0/24", to), Err(Refusal::NotAllowed), "{to}");
    }
    assert_eq!(passes("2001:db8::/32", "192.0.2.1"), Err(Refusal::NotAllowed));
    for to in [
        "224.0.0.1",
        "255.255.255.255",
        "0.0.0.0",
        "0.1.2.3",
        "ff02::1",
        "::",
        "::ffff:192.0.2.1",
    ] {
        for list in ["224.0.0.0/4", "0.0.0.0/0", "::/0"] {
            assert_eq!(passes(list, to), Err(Refusal::NotUnicast), "{to}");
        }
    }
    assert_eq!(permitted(address("192.0.2.1"), &[]), Err(Refusal::NotAllowed));
}

#[test]
fn each_bound_refuses_with_its_numbers() {
    let mut gate = Gate::new(settings());
    // 2 x 150,000 bytes are what the path may get.
    assert_eq!(
        judge(&mut gate, &forced(0, "192.0.2.1", 201), 0),
        no(Refusal::BdpMultiple(301_500, 300_000))
    );
    let mut large = forced(1, "192.0.2.1", 401);
    large.estimate.bdp = Bytes::new(u64::MAX);
    assert_eq!(
        judge(&mut gate, &large, 0),
        no(Refusal::BytesPerFlush(601_500, 600_000))
    );
    let mut slow = forced(2, "192.0.2.1", 1);
    slow.estimate.max_rtt = Duration::from_secs(6);
    assert_eq!(
        judge(&mut gate, &slow, 0),
        no(Refusal::Rtt(6_000_000_000, 5_000_000_000))
    );
    for (packets, size) in [(0, 1500), (1, 47), (1, 65_536)] {
        let mut bad = forced(3, "192.0.2.1", packets);
        bad.size = Bytes::new(size);
        assert_eq!(judge(&mut gate, &bad, 0), no(Refusal::BadPlan));
    }
    let late = forced(4, "192.0.2.1", 1);
    let answer = gate.judge(&late, Time::from_millis(0), Time::from_millis(501));
    assert_eq!(answer, no(Refusal::Stale));
    // Ten flushes of 200 packets are the minute's 3,000,000 bytes.
    for n in 0..10 {
        let to = format!("192.0.2.{}", n + 10);
        assert_eq!(judge(&mut gate, &forced(5 + n, &to, 200), 1000 + n), Answer::Allowed);
    }
    assert_eq!(
        judge(&mut gate, &forced(20, "192.0.2.1", 1), 2000),
        no(Refusal::Budget(1500, 0))
    );
    assert_eq!(
        judge(&mut gate, &forced(21, "192.0.2.1", 1), 60_900),
        no(Refusal::Budget(1500, 0))
    );
    assert_eq!(judge(&mut gate, &forced(22, "192.0.2.1", 200), 61_200), Answer::Allowed);
}

#[test]
fn the_cool_down_doubles_while_flushes_do_not_help() {
    let mut gate = Gate::new(settings());
    let to = address("192.0.2.1");
    let mut now = 0;
    for pause in [1000, 2000, 4000, 8000] {
        assert_eq!(judge(&mut gate, &forced(now, "192.0.2.1", 1), now), Answer::Allowed);
        gate.effect(to, false);
        let last = now + 2 * pause - 1;
        assert_eq!(
            judge(&mut gate, &forced(now, "192.0.2.1", 1), last),
            no(Refusal::CoolDown(1_000_000))
        );
        // Others are not concerned.
        assert_eq!(judge(&mut gate, &forced(now, "192.0.2.2", 1), last), Answer::Allowed);
        now = last + 1;
    }
    assert_eq!(judge(&mut gate, &forced(90, "192.0.2.1", 1), now), Answer::Allowed);
    gate.effect(to, true);
    assert_eq!(
        judge(&mut gate, &forced(91, "192.0.2.1", 1), now + 999),
        no(Refusal::CoolDown(1_000_000))
    );
    assert_eq!(
        judge(&mut gate, &forced(92, "192.0.2.1", 1), now + 1000),
        Answer::Allowed
    );
}

#[test]
fn top_ups_belong_to_a_flush_and_to_its_bounds() {
    let mut gate = Gate::new(settings());
    let to = address("192.0.2.1");
    let top_up = |of, packets| plan(of + 1, to, packets, Reason::TopUp { of: FlushId(of) });
    assert_eq!(judge(&mut gate, &top_up(0, 2), 0), no(Refusal::NoFlush));
    assert_eq!(judge(&mut gate, &forced(0, "192.0.2.1", 190), 0), Answer::Allowed);
    assert_eq!(judge(&mut gate, &top_up(0, 10), 50), Answer::Allowed);
    assert_eq!(
        judge(&mut gate, &top_up(0, 1), 60),
        no(Refusal::BdpMultiple(301_500, 300_000))
    );
    assert_eq!(judge(&mut gate, &top_up(7, 1), 60), no(Refusal::NoFlush));
    assert_eq!(judge(&mut gate, &top_up(0, 1), 5001), no(Refusal::NoFlush));
    assert_eq!(judge(&mut gate, &forced(8, "192.0.2.1", 1), 5002), Answer::Allowed);
    gate.forget_flushes();
    assert_eq!(judge(&mut gate, &top_up(8, 1), 5003), no(Refusal::NoFlush));
}

#[test]
fn a_new_configuration_gives_no_new_budget() {
    let mut gate = Gate::new(settings());
    assert_eq!(judge(&mut gate, &forced(0, "192.0.2.1", 200), 0), Answer::Allowed);
    gate.set(GateSettings {
        bytes_per_minute: 300_000,
        bytes_per_flush: 300_000,
        ..settings()
    });
    assert_eq!(
        judge(&mut gate, &forced(1, "192.0.2.2", 1), 0),
        no(Refusal::Budget(1500, 0))
    );
    assert_eq!(
        judge(&mut gate, &forced(2, "192.0.2.1", 1), 10),
        no(Refusal::CoolDown(990_000_000))
    );
}

#[test]
fn destinations_are_remembered_in_bounded_memory() {
    let mut gate = Gate::new(GateSettings {
        allow: vec!["10.0.0.0/8".parse().expect("a prefix")],
        bytes_per_minute: MOST_BYTES_PER_MINUTE,
        max_cool_down: Duration::from_secs(1),
        ..settings()
    });
    let at = |n: u32| IpAddr::V4(Ipv4Addr::from(0x0A00_0001 + n));
    let mut allowed = 0;
    for n in 0..100_000 {
        let plan = plan(n, at(n as u32), 1, Reason::Forced);
        if n < DESTINATIONS as u64 {
            gate.acknowledged(plan.flow, 1500, Time::ZERO);
        }
        allowed += usize::from(gate.judge(&plan, Time::ZERO, Time::ZERO) == Answer::Allowed);
    }
    assert_eq!(allowed, DESTINATIONS);
    assert_eq!(
        judge(&mut gate, &plan(1, at(200_000), 1, Reason::Forced), 2000),
        no(Refusal::Destinations)
    );
    assert_eq!(
        judge(&mut gate, &plan(2, at(200_000), 1, Reason::Forced), 2001),
        Answer::Allowed
    );
    assert_eq!(gate.destinations.len(), 1);
    assert!(gate.budget.entries() <= 602);
}

#[test]
fn each_refusal_has_its_name_and_numbers() {
    let all = [
        (Refusal::Passive, "passive", None),
        (Refusal::Killed, "killed", None),
        (Refusal::Stale, "stale", None),
        (Refusal::NotUnicast, "not_unicast", None),
        (Refusal::NotAllowed, "not_allowed", None),
        (Refusal::SourceNotAllowed, "source_not_allowed", None),
        (Refusal::BadPlan, "bad_plan", None),
        (Refusal::BytesPerFlush(7, 5), "bytes_per_flush", Some((7, 5))),
        (Refusal::BdpMultiple(7, 5), "bdp_multiple", Some((7, 5))),
        (Refusal::Rtt(7, 5), "max_rtt", Some((7, 5))),
        (Refusal::Unacknowledged(7, 5), "unacknowledged", Some((7, 5))),
        (Refusal::CoolDown(7), "cool_down", Some((7, 0))),
        (Refusal::Budget(7, 5), "bytes_per_minute", Some((7, 5))),
        (Refusal::Destinations, "destinations", None),
        (Refusal::NoFlush, "no_flush", None),
    ];
    for (refusal, name, numbers) in all {
        assert_eq!((refusal.name(), refusal.numbers()), (name, numbers));
    }
}

#[test]
fn the_widest_gate_is_active_and_has_every_bound_at_its_end() {
    let allow = settings().allow;
    let widest = GateSettings::widest(allow.clone());
    let expected = GateSettings {
        active: true,
        allow,
        from: Vec::new(),
        bytes_per_minute: 1_000_000_000,
        bytes_per_flush: 16_000_000,
        bdp_thousandths: 4000,
        max_rtt: Duration::from_secs(60),
        cool_down: Duration::from_millis(100),
        max_cool_down: Duration::from_millis(100),
    };
    assert_eq!(widest, expected);
}

/// A top-up is bounded by what the path was measured to hold when its flush was granted, whatever its own plan says.
#[test]
fn a_top_up_is_bounded_by_its_own_flush() {
    let mut gate = Gate::new(settings());
    assert_eq!(judge(&mut gate, &forced(0, "192.0.2.1", 100), 0), Answer::Allowed);
    let mut top_up = plan(1, address("192.0.2.1"), 101, Reason::TopUp { of: FlushId(0) });
    top_up.estimate.bdp = Bytes::new(1_000_000);
    assert_eq!(judge(&mut gate, &top_up, 1), no(Refusal::BdpMultiple(301_500, 300_000)));
    top_up.packets = 100;
    assert_eq!(judge(&mut gate, &top_up, 1), Answer::Allowed);
    // What its own plan says counts, too, if that is less.
    let mut small = plan(3, address("192.0.2.2"), 100, Reason::Forced);
    assert_eq!(judge(&mut gate, &small, 1), Answer::Allowed);
    small = plan(4, address("192.0.2.2"), 1, Reason::TopUp { of: FlushId(3) });
    small.estimate.bdp = Bytes::new(75_000);
    assert_eq!(judge(&mut gate, &small, 1), no(Refusal::BdpMultiple(151_500, 150_000)));
}

#[test]
fn bounds_are_the_last_values_that_pass() {
    let mut gate = Gate::new(settings());
    let mut edge = forced(0, "192.0.2.1", 1);
    edge.estimate.max_rtt = settings().max_rtt;
    gate.acknowledged(edge.flow, 1500, at(0));
    assert_eq!(gate.judge(&edge, at(0), Time::ZERO + STALE), Answer::Allowed);
    // The cool-down is over at its end, and top-ups end with the longest RTT.
    assert_eq!(
        judge(&mut gate, &forced(1, "192.0.2.1", 1), 1499),
        no(Refusal::CoolDown(1_000_000))
    );
    let top_up = plan(2, address("192.0.2.1"), 1, Reason::TopUp { of: FlushId(0) });
    assert_eq!(judge(&mut gate, &top_up, 5500), Answer::Allowed);
    assert_eq!(judge(&mut gate, &top_up, 5501), no(Refusal::NoFlush));
    let mut whole = forced(3, "192.0.2.2", 400);
    whole.estimate.bdp = Bytes::new(1_000_000);
    assert_eq!(judge(&mut gate, &whole, 5600), Answer::Allowed);
}

const fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// What an adversary can make the core and the clock say.
#[derive(Clone, Debug)]
struct Lie {
    flow: u32,
    packets: u32,
    size: u64,
    bdp: u64,
    max_rtt_ns: u64,
    reason: u8,
    of: u64,
    step_ms: i64,
    lag_ms: u64,
    effect: Option<bool>,
    /// Bytes that a flow towards a neighbour's or the same destination was acknowledged.
    earned: u64,
    resets: bool,
}

fn lie() -> impl Strategy<Value = Lie> {
    let sizes = prop_oneof![4 => Just(1500_u64), 1 => 0_u64..70_000, 1 => Just(u64::MAX)];
    let steps =
        prop_oneof![6 => 0_i64..3_000, 1 => -100_000_i64..100_000, 1 => Just(i64::MAX / 2), 1 => Just(i64::MIN / 2)];
    let bdps = prop_oneof![3 => 0_u64..1_000_000, 1 => any::<u64>()];
    let rtts = prop_oneof![4 => 0_u64..6_000_000_000, 1 => any::<u64>()];
    (
        (
            0_u32..100_000,
            prop_oneof![4 => 0_u32..500, 1 => any::<u32>()],
            sizes,
            bdps,
            rtts,
        ),
        (
            any::<u8>(),
            0_u64..50,
            steps,
            0_u64..700,
            prop::option::of(any::<bool>()),
            prop_oneof![2 => Just(0_u64), 3 => 0_u64..400_000],
            prop::bool::weighted(0.03),
        ),
    )
        .prop_map(
            |((flow, packets, size, bdp, max_rtt_ns), (reason, of, step_ms, lag_ms, effect, earned, resets))| Lie {
                flow,
                packets,
                size,
                bdp,
                max_rtt_ns,
                reason,
                of,
                step_ms,
                lag_ms,
                effect,
                earned,
                resets,
            },
        )
}

/// Half of the flows lead into the list.
fn destination(flow: u32) -> IpAddr {
    match flow % 4 {
        0 => Ipv4Addr::from(0xC000_0200 + flow % 256).into(),
        1 => std::net::Ipv6Addr::from(0x2001_0DB8_u128 << 96 | u128::from(flow)).into(),
        2 => Ipv4Addr::from(flow.wrapping_mul(0x9E37_79B9)).into(),
        _ => Ipv4Addr::from(0xC000_0300 + flow % 256).into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_it_is_told_nothing_passes_beyond_its_bounds(
        active: bool, lies in prop::collection::vec(lie(), 1..200), minute in 0_u64..2_000_000, kill_at in prop::option::of(0_usize..200),
    ) {
        let settings = GateSettings {
            active,
            bytes_per_minute: minute,
            bytes_per_flush: (minute / 2).min(200_000),
            ..settings()
        };
        let mut gate = Gate::new(settings.clone());
        // By the time as it is told, made not to go back.
        let (mut told, mut latest) = (1_i64 << 40, Time::ZERO);
        let mut passed: Vec<(Time, u64)> = Vec::new();
        let mut last: BTreeMap<IpAddr, Time> = BTreeMap::new();
        // What each destination has acknowledged, less what it was sent.
        let mut earned: BTreeMap<IpAddr, u64> = BTreeMap::new();
        for (n, lie) in lies.iter().enumerate() {
            if kill_at == Some(n) {
                gate.set_killed(true);
            }
            told = told.saturating_add(lie.step_ms).max(0);
            let now = Time::from_nanos((told as u64).saturating_mul(1_000_000));
            latest = latest.max(now);
            let toward = destination(lie.flow);
            let reason = match lie.reason % 3 {
                0 => Reason::Forced,
                1 => Reason::TopUp { of: FlushId(lie.of) },
                _ => Reason::Threshold { least: Duration::MAX, trigger: Duration::ZERO },
            };
            let mut plan = plan(n as u64 % 50, toward, lie.packets, reason);
            plan.size = Bytes::new(lie.size);
            plan.estimate.bdp = Bytes::new(lie.bdp);
            plan.estimate.max_rtt = Duration::from_nanos(lie.max_rtt_ns);
            gate.acknowledged(plan.flow, lie.earned, now);
            *earned.entry(toward).or_default() += lie.earned;
            if lie.resets {
                gate.reset(plan.flow, now);
            }
            let answer = gate.judge(&plan, now - Duration::from_millis(lie.lag_ms), now);
            if let Some(helped) = lie.effect {
                gate.effect(destination(lie.flow / 2), helped);
            }
            if answer != Answer::Allowed {
                continue;
            }
            prop_assert!(active && kill_at.is_none_or(|k| n < k), "something passes a closed gate");
            let bytes = u64::from(lie.packets) * lie.size;
            let inside = |net: &IpNet| net.contains(&toward);
            prop_assert!(settings.allow.iter().any(inside), "{toward} is not in the list");
            prop_assert!(bytes > 0 && bytes <= settings.bytes_per_flush);
            prop_assert!(u128::from(bytes) <= u128::from(lie.bdp) * 2, "more than the path was measured to hold");
            prop_assert!(lie.max_rtt_ns <= settings.max_rtt.as_nanos());
            let left = earned[&toward].checked_sub(bytes);
            prop_assert!(left.is_some(), "{bytes} bytes pass for {} that were acknowledged", earned[&toward]);
            earned.insert(toward, left.unwrap_or_default());
            passed.push((latest, bytes));
            let minute_ago = |t: Time| latest.since(t) < Duration::from_secs(60);
            let sum: u64 = passed.iter().filter(|(t, _)| minute_ago(*t)).map(|(_, b)| b).sum();
            prop_assert!(sum <= minute, "{sum} bytes in 60 seconds");
            if !matches!(reason, Reason::TopUp { .. })
                && let Some(before) = last.insert(toward, latest)
            {
                prop_assert!(latest.since(before) >= settings.cool_down, "flushed twice within the cool-down");
            }
        }
    }

    #[test]
    fn a_budget_is_kept_in_any_sixty_seconds(
        limit in 0_u64..10_000, spendings in prop::collection::vec((0_u64..20_000, 0_u64..3_000), 1..300),
    ) {
        let mut budget = Budget::new(limit);
        let (mut ms, mut spent) = (0, Vec::new());
        for (pause, wanted) in spendings {
            ms += pause;
            let now = Time::from_millis(ms);
            let left = budget.left(now);
            if wanted <= left {
                budget.spend(wanted, now);
                spent.push((ms, wanted));
            }
            let sum: u64 = spent.iter().filter(|(t, _)| ms - t < 60_000).map(|(_, b)| b).sum();
            prop_assert!(sum <= limit);
            // Not needlessly small either: what is older than a cell more than the minute counts no longer.
            let older: u64 = spent.iter().filter(|(t, _)| ms - t < 60_100).map(|(_, b)| b).sum();
            prop_assert!(budget.left(now) >= limit - older.min(limit));
            prop_assert!(budget.entries() <= 602);
        }
    }
}
