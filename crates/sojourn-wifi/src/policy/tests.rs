//! Policies over a made-up driver: shares, caps, and who goes first.

use super::*;
use crate::{GroupSpec, NodeId, PhyRate, Policies};
use proptest::prelude::*;
use sojourn_units::{Rate, Stream};
use std::collections::VecDeque;

pub(super) const BE: AccessCategory = AccessCategory::BestEffort;
pub(super) const VO: AccessCategory = AccessCategory::Voice;

/// A hardware queue of two aggregates for each category, over stations with so many aggregates to send.
pub(super) struct Fake {
    pub(super) queue: [VecDeque<u16>; 4],
    pub(super) waiting: Vec<[u64; 4]>,
    pub(super) closed: Option<u16>,
}

impl Fake {
    pub(super) fn new(waiting: &[[u64; 4]]) -> Self {
        Self {
            queue: Default::default(),
            waiting: waiting.to_vec(),
            closed: None,
        }
    }

    /// All with best effort without end.
    pub(super) fn saturated(stations: usize) -> Self {
        Self::new(&vec![[0, 0, u64::MAX, 0]; stations])
    }

    pub(super) fn pop(&mut self, category: AccessCategory) -> Option<u16> {
        self.queue[category.index()].pop_front()
    }
}

impl Driver for Fake {
    fn hardware_queue_is_full(&self, category: AccessCategory) -> bool {
        self.queue[category.index()].len() >= 2
    }
    fn queue_is_empty(&self, station: u16, category: AccessCategory) -> bool {
        self.waiting[usize::from(station)][category.index()] == 0
    }
    fn window_is_closed(&self, station: u16, _: AccessCategory) -> bool {
        self.closed == Some(station)
    }
    fn build_aggregate(&mut self, station: u16, category: AccessCategory) {
        self.waiting[usize::from(station)][category.index()] -= 1;
        self.queue[category.index()].push_back(station);
    }
}

impl SharedDriver for Fake {
    fn shared_queue_is_full(&self) -> bool {
        self.queue.iter().map(VecDeque::len).sum::<usize>() >= 2
    }
}

pub(super) fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

pub(super) fn peer(i: u16, weight: u32, group: Option<u16>) -> PeerSpec {
    let rate = PhyRate::parse("ht mcs 15 20mhz sgi").unwrap();
    PeerSpec {
        weight,
        group,
        ..PeerSpec::new(NodeId::of_station(i), rate)
    }
}

pub(super) fn scheduler(policies: Policies, peers: &[PeerSpec]) -> PolicyScheduler {
    let spec = NodeSpec {
        policies,
        ..NodeSpec::ACCESS_POINT
    };
    PolicyScheduler::new(&spec, peers).unwrap()
}

fn group(weight: u32, cap: Option<f64>) -> GroupSpec {
    GroupSpec {
        name: weight.to_string(),
        weight,
        cap,
    }
}

/// Runs saturated stations whose aggregates take `airtime` (cut short at random to a half at least) for `span`;
/// answers each one's share of that time. The medium rests while there is nothing to send.
fn shares(s: &mut PolicyScheduler, airtime: &[Duration], span: Duration, seed: u64) -> Vec<f64> {
    let mut fake = Fake::saturated(airtime.len());
    let mut stream = Stream::new(seed);
    let mut used = vec![Duration::ZERO; airtime.len()];
    let mut now = Time::ZERO;
    for station in 0..airtime.len() {
        s.wake(station as u16, BE);
    }
    while now < Time::ZERO + span {
        s.schedule(BE, now, &mut fake);
        if let Some(station) = fake.pop(BE) {
            let full = airtime[usize::from(station)].as_nanos();
            let took = Duration::from_nanos(full / 2 + stream.below(full / 2));
            now += took;
            used[usize::from(station)] += took;
            s.charge(station, BE, took);
        } else {
            // All have used up their caps.
            now = s.due().unwrap();
        }
        if s.due().is_some_and(|due| due <= now) {
            s.advance(now);
        }
    }
    used.iter().map(|u| u.as_secs_f64() / now.as_secs_f64()).collect()
}

#[test]
fn nodes_without_policies_have_the_plain_scheduler() {
    let spec = NodeSpec {
        policies: Policies {
            vo_in_aggregate: Some(8),
            demote: Some(us(20_000)),
            ..Policies::NONE
        },
        ..NodeSpec::ACCESS_POINT
    };
    assert!(PolicyScheduler::new(&spec, &[peer(0, 256, None)]).is_none());
}

#[test]
fn a_group_has_the_share_of_one_station() {
    let policies = Policies {
        groups: vec![group(256, None)],
        ..Policies::NONE
    };
    let mut s = scheduler(
        policies,
        &[peer(0, 256, None), peer(1, 256, Some(0)), peer(2, 512, Some(0))],
    );
    let got = shares(&mut s, &[us(2000), us(3000), us(4000)], Duration::from_secs(60), 1);
    for (got, expected) in got.iter().zip([1.0 / 2.0, 1.0 / 6.0, 1.0 / 3.0]) {
        assert!((got / expected - 1.0).abs() < 0.01, "{got}, not {expected}");
    }
}

#[test]
fn a_cap_holds_even_if_nobody_else_wants_the_air() {
    let policies = Policies {
        groups: vec![group(256, Some(0.2))],
        ..Policies::NONE
    };
    let mut s = scheduler(policies, &[peer(0, 256, Some(0)), peer(1, 256, Some(0))]);
    let got = shares(&mut s, &[us(4000), us(1000)], Duration::from_secs(60), 1);
    for share in got {
        assert!((share / 0.1 - 1.0).abs() < 0.01, "{share}");
    }
}

#[test]
fn what_a_capped_group_may_not_use_others_use() {
    let policies = Policies {
        groups: vec![group(2560, Some(0.05))],
        ..Policies::NONE
    };
    let mut s = scheduler(policies, &[peer(0, 256, Some(0)), peer(1, 256, None)]);
    let got = shares(&mut s, &[us(4000), us(1000)], Duration::from_secs(60), 1);
    assert!((got[0] / 0.05 - 1.0).abs() < 0.01, "{got:?}");
    assert!((got[0] + got[1] - 1.0).abs() < 1e-9, "the air never rests: {got:?}");
}

/// Over any time t the bucket lets `cap` (t + 100 ms) through, and two aggregates in the hardware queue more.
#[test]
fn a_cap_bounds_every_window() {
    let policies = Policies {
        groups: vec![group(256, Some(0.1))],
        ..Policies::NONE
    };
    let mut s = scheduler(policies, &[peer(0, 256, Some(0))]);
    let mut fake = Fake::saturated(1);
    s.wake(0, BE);
    let (mut now, mut sent) = (Time::ZERO, Vec::new());
    while now < Time::from_millis(5000) {
        s.schedule(BE, now, &mut fake);
        if fake.pop(BE).is_some() {
            now += us(2000);
            sent.push(now);
            s.charge(0, BE, us(2000));
        } else {
            now = s.due().unwrap();
            s.advance(now);
        }
    }
    assert!(sent.len() > 240, "{}", sent.len());
    for from in 0..sent.len() {
        for to in from..sent.len() {
            let used = 2.0 * (to - from + 1) as f64;
            let time = sent[to].since(sent[from]).as_millis_f64() + 2.0;
            assert!(used <= 0.1 * (time + 100.0) + 4.0 + 1e-6, "{used} ms in {time} ms");
        }
    }
}

#[test]
fn a_group_keeps_its_turn_while_its_station_waits_for_its_window() {
    let policies = Policies {
        groups: vec![group(256, None)],
        ..Policies::NONE
    };
    let mut s = scheduler(policies, &[peer(0, 256, Some(0)), peer(1, 256, None)]);
    let mut fake = Fake::saturated(2);
    s.wake(0, BE);
    s.wake(1, BE);
    fake.closed = Some(0);
    s.schedule(BE, Time::ZERO, &mut fake);
    assert_eq!(fake.pop(BE), None, "it is the group's turn");
    fake.closed = None;
    s.schedule(BE, Time::ZERO, &mut fake);
    assert_eq!(fake.queue[BE.index()], [0, 0]);
}

#[test]
fn late_accounts_let_a_station_go_on_until_they_come() {
    let policies = |delay| Policies {
        accounting_delay: us(delay),
        ..Policies::NONE
    };
    let turns = |delay: u64| {
        let mut s = if delay == 0 {
            scheduler(
                Policies {
                    scheduler: SchedulerKind::Deficit,
                    qos: QosOrder::Fairness,
                    ..Policies::NONE
                },
                &[peer(0, 256, None), peer(1, 256, None)],
            )
        } else {
            scheduler(policies(delay), &[peer(0, 256, None), peer(1, 256, None)])
        };
        let mut fake = Fake::saturated(2);
        s.wake(0, BE);
        s.wake(1, BE);
        let mut now = Time::ZERO;
        let mut order = Vec::new();
        for _ in 0..40 {
            s.schedule(BE, now, &mut fake);
            order.push(fake.pop(BE).unwrap());
            now += us(1000);
            s.charge(*order.last().unwrap(), BE, us(1000));
        }
        order
    };
    let run = |order: &[u16]| order.iter().take_while(|&&station| station == 0).count();
    // With two in the hardware queue, the first turn ends at the first completion: two aggregates.
    assert_eq!(run(&turns(0)), 2);
    // The first charge comes 10 ms after the completion at 1 ms: at 11 ms; until then 11 are sent and one is queued.
    assert_eq!(run(&turns(10_000)), 12);
    let order = turns(10_000);
    assert_eq!(order[12..24], [1; 12], "and the other one does the same");
}

#[test]
fn fairness_first_lets_best_effort_go_before_the_voice_of_a_station_in_debt() {
    let first_after_debt = |qos| {
        let policies = Policies {
            qos,
            scheduler: SchedulerKind::Deficit,
            accounting_delay: Duration::from_nanos(1),
            ..Policies::NONE
        };
        let mut s = scheduler(policies, &[peer(0, 256, None), peer(1, 256, None)]);
        s.charge(0, BE, us(5000));
        s.advance(Time::from_millis(1));
        let mut fake = Fake::new(&[[1, 0, 5, 0], [0, 0, 5, 0]]);
        s.wake(0, VO);
        s.wake(0, BE);
        s.wake(1, BE);
        s.schedule(VO, Time::from_millis(2), &mut fake);
        fake.queue
    };
    let priority = first_after_debt(QosOrder::Priority);
    assert_eq!((priority[VO.index()].len(), priority[BE.index()].len()), (1, 0));
    let fairness = first_after_debt(QosOrder::Fairness);
    assert_eq!(fairness[VO.index()].len(), 0, "its voice waits");
    assert_eq!(fairness[BE.index()], [1, 1]);
}

#[test]
fn fairness_first_sends_the_most_urgent_of_the_station_that_has_the_turn() {
    let policies = Policies {
        qos: QosOrder::Fairness,
        ..Policies::NONE
    };
    let mut s = scheduler(policies, &[peer(0, 256, None)]);
    let mut fake = Fake::new(&[[1, 1, 1, 1]]);
    s.wake(0, BE);
    let mut order = Vec::new();
    loop {
        s.schedule(BE, Time::ZERO, &mut fake);
        let Some(category) = AccessCategory::ALL.into_iter().find(|&c| fake.pop(c).is_some()) else {
            break;
        };
        s.charge(0, category, us(100));
        order.push(category);
    }
    assert_eq!(order, AccessCategory::ALL);
    assert_eq!(s.credit(0, VO), s.credit(0, BE), "one deficit for all");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn shares_of_groups_and_of_their_stations_follow_weights_within_one_percent(
        groups in prop::collection::vec((64_u32..1024, prop::collection::vec((64_u32..1024, 300_u64..4000), 1..4)), 1..4),
        alone in (64_u32..1024, 300_u64..4000),
        seed: u64,
    ) {
        let (mut peers, mut airtime, mut fair) = (Vec::new(), Vec::new(), Vec::new());
        let all = f64::from(groups.iter().map(|g| g.0).sum::<u32>() + alone.0);
        let mut specs = Vec::new();
        for (g, (weight, stations)) in groups.iter().enumerate() {
            specs.push(GroupSpec { name: g.to_string(), weight: *weight, cap: None });
            let within = f64::from(stations.iter().map(|s| s.0).sum::<u32>());
            for (own, time) in stations {
                peers.push(peer(peers.len() as u16, *own, Some(g as u16)));
                airtime.push(us(*time));
                fair.push(f64::from(*weight) / all * f64::from(*own) / within);
            }
        }
        peers.push(peer(peers.len() as u16, alone.0, None));
        airtime.push(us(alone.1));
        fair.push(f64::from(alone.0) / all);
        let least = fair.iter().copied().fold(1.0, f64::min);
        let mut s = scheduler(Policies { groups: specs, ..Policies::NONE }, &peers);
        let got = shares(&mut s, &airtime, Duration::from_secs_f64(4.0 / least), seed);
        for (got, fair) in got.iter().zip(&fair) {
            prop_assert!((got / fair - 1.0).abs() < 0.01, "{got}, not {fair}");
        }
    }

    #[test]
    fn shares_under_credits_follow_weights_within_one_percent(
        stations in prop::collection::vec((32_u32..2048, 300_u64..4000), 2..8), seed: u64,
    ) {
        let all = f64::from(stations.iter().map(|s| s.0).sum::<u32>());
        let peers: Vec<PeerSpec> = stations.iter().zip(0..).map(|(s, i)| peer(i, s.0, None)).collect();
        let airtime: Vec<Duration> = stations.iter().map(|s| us(s.1)).collect();
        let least = f64::from(stations.iter().map(|s| s.0).min().unwrap()) / all;
        let mut s = scheduler(Policies { scheduler: SchedulerKind::Credit, ..Policies::NONE }, &peers);
        let got = shares(&mut s, &airtime, Duration::from_secs_f64(4.0 / least), seed);
        for (got, (weight, _)) in got.iter().zip(&stations) {
            let fair = f64::from(*weight) / all;
            prop_assert!((got / fair - 1.0).abs() < 0.01, "{got}, not {fair}");
        }
    }
}

/// A slow station that gets 6 Mbit/s of what it sends beside three fast ones: for 3 Mbit/s it needs half of the air.
#[test]
fn a_minimum_rate_is_reached_and_half_of_the_air_is_the_bound() {
    for (wanted, expected) in [(1, 1.5), (2, 2.0), (3, 3.0), (5, 3.0)] {
        let mut peers: Vec<PeerSpec> = (0..4).map(|i| peer(i, 256, None)).collect();
        peers[3].min_rate = Some(Rate::from_mbit(wanted));
        let mut s = scheduler(Policies::NONE, &peers);
        let mut fake = Fake::saturated(4);
        for station in 0..4 {
            s.wake(station, BE);
        }
        let (mut now, mut bytes) = (Time::ZERO, 0);
        let (settled, end) = (Time::from_millis(10_000), Time::from_millis(40_000));
        while now < end {
            s.schedule(BE, now, &mut fake);
            let station = fake.pop(BE).unwrap();
            now += us(4000);
            s.charge(station, BE, us(4000));
            if station == 3 {
                s.arrived(3, 3000);
                bytes += if now > settled { 3000 } else { 0 };
            }
        }
        let rate = bytes as f64 * 8.0 / 30e6;
        assert!((rate / expected - 1.0).abs() < 0.03, "{rate} Mbit/s for {wanted}");
    }
}
