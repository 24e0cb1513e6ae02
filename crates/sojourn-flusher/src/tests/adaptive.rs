use super::{PAYLOAD, Rig, key, ms};
use crate::{Event, FlowKey, FlushPlan, FlusherParams, Reason, Verdict, Withheld};
use sojourn_units::Duration;

/// A packet of 1500 bytes each 2.4 ms: 5 Mbit/s.
pub(super) const GAP: Duration = Duration::from_nanos(2_400_000);
/// Without the wait for the cost of a burst, forced flushes and small packets, which have tests of their own.
pub(super) const EAGER: FlusherParams = FlusherParams {
    duty: crate::Factor::from_thousandths(1000),
    forced_after: None,
    threshold: crate::Factor::from_thousandths(1500),
    floor: ms(15),
    margin: 2,
    top_ups: 0,
    min_window: 12,
    small_packet: None,
    ..FlusherParams::ADAPTIVE
};

pub(super) fn flush(rig: &mut Rig) -> FlushPlan {
    rig.core.poll_flush().expect("a plan")
}

fn verdicts(rig: &mut Rig) -> Vec<Verdict> {
    let verdict = |e| match e {
        Event::Effect { verdict, .. } => Some(verdict),
        _ => None,
    };
    rig.events().into_iter().filter_map(verdict).collect()
}

pub(super) fn causes(rig: &mut Rig) -> Vec<Withheld> {
    let cause = |e| match e {
        Event::Withheld { cause, .. } => Some(cause),
        _ => None,
    };
    rig.events().into_iter().filter_map(cause).collect()
}

/// Two seconds at 50 ms; a loss with a full buffer at 290 ms; then 50 ms again: base and full buffer are known.
pub(super) fn acquainted(params: FlusherParams) -> Rig {
    let mut rig = Rig::new(params);
    rig.stream(&[key(1)], 800, GAP, ms(50));
    rig.stream(&[key(1)], 5, GAP, ms(290));
    let until = rig.now + ms(310);
    rig.run_to(until);
    rig.stream(&[key(1)], 30, GAP, ms(290));
    rig.lose(key(1), 30, ms(50));
    let until = rig.now + ms(300);
    rig.run_to(until);
    rig.stream(&[key(1)], 800, GAP, ms(50));
    rig
}

/// Base 50 ms, threshold 1.5: 75 ms. Windows last one base RTT, so a queue is seen within two.
#[test]
fn a_standing_queue_is_flushed_within_two_base_rtts() {
    let mut rig = Rig::new(EAGER);
    rig.stream(&[key(1)], 800, GAP, ms(50));
    let began = rig.now;
    rig.stream(&[key(1)], 200, GAP, ms(80));
    let plan = flush(&mut rig);
    assert_eq!(
        plan.reason,
        Reason::Threshold {
            least: ms(80),
            trigger: ms(75)
        }
    );
    let seen = rig.now.since(began + ms(80));
    assert!(seen <= ms(100), "{seen}");
}

/// CUBIC or not: a single sample below the trigger within each base RTT, and no queue stands.
#[test]
fn a_queue_that_drains_within_each_base_rtt_is_left_alone() {
    let mut rig = Rig::new(EAGER);
    rig.stream(&[key(1)], 800, GAP, ms(50));
    for _ in 0..100 {
        rig.stream(&[key(1)], 15, GAP, ms(120));
        rig.stream(&[key(1)], 1, GAP, ms(60));
        assert!(rig.core.proposal.is_none());
    }
}

/// Nothing is known of the buffer: one base RTT's worth, 5 Mbit/s x 50 ms / 12 000 = 20, one for rounding, two to
/// overflow.
#[test]
fn the_first_burst_into_an_unknown_buffer_is_one_pipe() {
    let mut rig = Rig::new(EAGER);
    rig.stream(&[key(1)], 800, GAP, ms(50));
    rig.stream(&[key(1)], 200, GAP, ms(80));
    assert_eq!(flush(&mut rig).packets, 20 + 1 + 2);
}

/// At a loss the RTT was 290 ms: a full buffer is 240 ms. Now it is 98: 48 ms are taken. 192 ms at 5 Mbit/s are 80
/// packets.
#[test]
fn a_burst_is_the_free_space_that_the_last_loss_showed_and_a_few_packets() {
    let mut rig = acquainted(EAGER);
    rig.stream(&[key(1)], 200, GAP, ms(98));
    let plan = flush(&mut rig);
    assert_eq!(plan.packets, 80 + 1 + 2);
    assert_eq!(plan.estimate.rtt, ms(290));
    assert_eq!(plan.estimate.base, ms(50));
}

/// 83 packets take 199.2 ms. At a tenth of the time they are earned in 1.992 s after the last burst, and no sooner.
#[test]
fn a_burst_waits_until_its_cost_is_within_the_duty() {
    let mut rig = acquainted(FlusherParams {
        duty: crate::Factor::from_thousandths(100),
        ..EAGER
    });
    rig.stream(&[key(1)], 200, GAP, ms(98));
    let first = flush(&mut rig);
    rig.core.flush_done(first.id, first.packets, rig.now);
    let done = rig.now;
    rig.stream(&[key(1)], 100, GAP, ms(50));
    rig.events();
    rig.stream(&[key(1)], 2000, GAP, ms(98));
    flush(&mut rig);
    let waited = rig.now.since(done).as_micros();
    assert!((1_992_000..2_092_000).contains(&waited), "{waited}");
    assert!(causes(&mut rig).iter().all(|cause| *cause == Withheld::Cost));
}

#[test]
fn a_flow_with_a_small_window_is_left_alone() {
    let mut rig = Rig::new(EAGER);
    let slow = ms(10);
    rig.stream(&[key(1)], 300, slow, ms(50));
    rig.stream(&[key(1)], 100, slow, ms(100));
    assert!(rig.core.proposal.is_none());
    assert!(causes(&mut rig).contains(&Withheld::SmallWindow));
}

/// The RTT of what was sent after the burst falls from 98 to 60 ms.
#[test]
fn a_flush_after_which_the_queue_falls_has_helped() {
    let mut rig = acquainted(EAGER);
    rig.stream(&[key(1)], 200, GAP, ms(98));
    let plan = flush(&mut rig);
    rig.core.flush_done(plan.id, plan.packets, rig.now);
    rig.stream(&[key(1)], 100, GAP, ms(60));
    assert_eq!(verdicts(&mut rig), [Verdict::Helped]);
    assert_eq!((rig.core.stats().helped, rig.core.stats().failed), (1, 0));
}

/// What was sent before the burst says nothing of it.
#[test]
fn samples_of_what_was_sent_before_the_burst_do_not_count() {
    let mut rig = acquainted(EAGER);
    rig.stream(&[key(1)], 200, GAP, ms(98));
    rig.send(key(1), ms(60));
    let plan = flush(&mut rig);
    rig.run_to(rig.now + ms(1));
    rig.core.flush_done(plan.id, plan.packets, rig.now);
    rig.stream(&[key(1)], 40, GAP, ms(98));
    assert_eq!(verdicts(&mut rig), []);
}

/// Nothing lost and the queue stands: after three rounds of a full buffer the burst is known to be too small, and the
/// next one is larger by half of its free space: 23 reached 30 + 30 ms; the buffer holds at least that.
#[test]
fn a_burst_that_nobody_notices_is_followed_by_a_larger_one() {
    let mut rig = Rig::new(EAGER);
    rig.stream(&[key(1)], 800, GAP, ms(50));
    let mut sizes = Vec::new();
    for _ in 0..4 {
        rig.stream(&[key(1)], 3000, GAP, ms(80));
        let plan = flush(&mut rig);
        sizes.push(plan.packets);
        rig.core.flush_done(plan.id, plan.packets, rig.now);
        // The flow's packets stand behind the burst for a while.
        let behind = ms(80) + GAP * u64::from(plan.packets);
        rig.stream(&[key(1)], 5, GAP, behind);
        rig.run_to(rig.now + behind);
    }
    assert!(sizes.windows(2).all(|w| w[1] > w[0]), "{sizes:?}");
    assert!(sizes[3] > 80, "{sizes:?}");
    assert_eq!(verdicts(&mut rig), [Verdict::TooSmall; 3]);
}

/// Losses, and the queue stands: others make it. The pauses between bursts double; after six the path is left alone.
#[test]
fn flushes_that_do_not_help_become_rare_and_stop() {
    let params = FlusherParams {
        max_cool_down: Duration::from_secs(120),
        max_failures: 6,
        ..EAGER
    };
    let mut rig = acquainted(params);
    let mut times = Vec::new();
    for _ in 0..8 {
        rig.stream(&[key(1)], 200_000, GAP, ms(98));
        let plan = flush(&mut rig);
        times.push(rig.now);
        rig.core.flush_done(plan.id, plan.packets, rig.now);
        rig.stream(&[key(1)], 50, GAP, ms(98));
        rig.lose(key(1), 40, ms(100));
        rig.run_to(rig.now + ms(110));
    }
    let pauses: Vec<u64> = times.windows(2).map(|w| w[1].since(w[0]).as_millis()).collect();
    assert!(pauses[..5].windows(2).all(|w| w[1] > w[0] + w[0] / 3), "{pauses:?}");
    assert!(pauses[5] >= 120_000 && pauses[6] >= 120_000, "{pauses:?}");
    assert_eq!(rig.core.stats().failed, 7);
}

/// Four top-ups of two packets, a fifth of the RTT apart: 98 / 5 = 19.6 ms.
#[test]
fn top_ups_are_spread_over_one_rtt_after_the_burst() {
    let mut rig = acquainted(FlusherParams {
        top_ups: 4,
        top_up_packets: 2,
        ..EAGER
    });
    rig.stream(&[key(1)], 200, GAP, ms(98));
    let burst = flush(&mut rig);
    rig.core.flush_done(burst.id, burst.packets, rig.now);
    let mut after = Vec::new();
    let mut last = rig.now;
    while after.len() < 4 {
        rig.stream(&[key(1)], 50, GAP, ms(250));
        let plan = flush(&mut rig);
        assert_eq!((plan.packets, plan.reason), (2, Reason::TopUp { of: burst.id }));
        rig.core.flush_done(plan.id, 2, rig.now);
        after.push(rig.now.since(last));
        last = rig.now;
    }
    assert!(after.iter().all(|gap| *gap >= ms(19) && *gap <= ms(23)), "{after:?}");
    rig.stream(&[key(1)], 100, GAP, ms(250));
    assert!(rig.core.proposal.is_none());
}

#[test]
fn top_ups_end_with_the_first_loss_and_with_the_first_refusal() {
    for refuse in [false, true] {
        let mut rig = acquainted(FlusherParams { top_ups: 4, ..EAGER });
        rig.stream(&[key(1)], 200, GAP, ms(98));
        let burst = flush(&mut rig);
        rig.core.flush_done(burst.id, burst.packets, rig.now);
        if refuse {
            rig.stream(&[key(1)], 50, GAP, ms(250));
            let plan = flush(&mut rig);
            rig.core.flush_refused(plan.id, rig.now);
        } else {
            rig.stream(&[key(1)], 2, GAP, ms(250));
            rig.lose(key(1), 20, ms(250));
        }
        rig.stream(&[key(1)], 80, GAP, ms(250));
        assert!(rig.core.proposal.is_none(), "{refuse}");
    }
}

/// Four flows of 1.25 Mbit/s in the same buffer, to four receivers: the burst is computed with 5 Mbit/s, 20 packets
/// and not 5; and the others wait while it is judged.
#[test]
fn flows_in_the_same_buffer_are_flushed_together_and_one_at_a_time() {
    let keys: Vec<FlowKey> = (1..=4u8)
        .map(|n| FlowKey {
            src: key(1).src,
            dst: ([198, 51, 100, n], 80).into(),
        })
        .collect();
    let mut rig = Rig::new(FlusherParams { min_window: 4, ..EAGER });
    rig.stream(&keys, 300, GAP * 4, ms(50));
    rig.stream(&keys, 30, GAP * 4, ms(70));
    rig.stream(&keys, 100, GAP * 4, ms(80));
    let plan = flush(&mut rig);
    assert!((22..=25).contains(&plan.packets), "{}", plan.packets);
    rig.events();
    rig.core.flush_done(plan.id, plan.packets, rig.now);
    for _ in 0..20 {
        rig.stream(&keys, 1, GAP * 4, ms(80));
        assert!(rig.core.proposal.is_none());
    }
    assert!(causes(&mut rig).contains(&Withheld::Busy));
}

/// A flow that began in a full buffer: its base RTT is 150 ms and no queue is seen. A forced flush after 30 s; the
/// queue falls, and the base RTT is known.
#[test]
fn a_base_rtt_that_was_never_seen_is_found_by_a_forced_flush() {
    let mut rig = Rig::new(FlusherParams {
        forced_after: Some(Duration::from_secs(30)),
        ..EAGER
    });
    rig.stream(&[key(1)], 20_000, GAP, ms(150));
    let plan = flush(&mut rig);
    assert_eq!(plan.reason, Reason::Forced);
    assert!(rig.now.as_nanos() > 30_000_000_000);
    rig.core.flush_done(plan.id, plan.packets, rig.now);
    rig.stream(&[key(1)], 100, GAP, ms(60));
    assert_eq!(verdicts(&mut rig), [Verdict::Helped]);
    rig.stream(&[key(1)], 200, GAP, ms(150));
    assert!(matches!(flush(&mut rig).reason, Reason::Threshold { .. }));
}

/// Where there is nothing to be found, forced flushes come after 30 s, 60 s later, 120 s later.
#[test]
fn forced_flushes_that_find_nothing_become_rarer() {
    let mut rig = Rig::new(FlusherParams {
        forced_after: Some(Duration::from_secs(30)),
        ..EAGER
    });
    let mut times = vec![rig.now];
    for _ in 0..3 {
        rig.stream(&[key(1)], 200_000, GAP, ms(50));
        let plan = flush(&mut rig);
        times.push(rig.now);
        rig.core.flush_done(plan.id, plan.packets, rig.now);
    }
    let pauses: Vec<u64> = times
        .windows(2)
        .map(|w| w[1].since(w[0]).as_nanos() / 1_000_000_000)
        .collect();
    assert_eq!(pauses, [30, 60, 120]);
}

/// A passive flusher proposes at the pace of an active one.
#[test]
fn a_refused_burst_counts_as_made_for_the_duty() {
    let mut rig = acquainted(FlusherParams {
        duty: crate::Factor::from_thousandths(100),
        ..EAGER
    });
    rig.stream(&[key(1)], 200, GAP, ms(98));
    let plan = flush(&mut rig);
    rig.core.flush_refused(plan.id, rig.now);
    let refused = rig.now;
    rig.stream(&[key(1)], 2000, GAP, ms(98));
    flush(&mut rig);
    assert!(rig.now.since(refused) >= ms(1992));
}

#[test]
fn retransmissions_of_a_window_are_one_loss_event() {
    let mut rig = acquainted(EAGER);
    let flow = rig.core.table.flows.find(&key(1)).unwrap();
    let end = rig.core.table.flows.get(flow).outstanding.sent_up_to().unwrap();
    for n in (1..=20).rev() {
        let again = super::data(key(1), end.wrapping_sub(n * PAYLOAD), PAYLOAD);
        rig.core.handle_segment(&again, rig.now);
    }
    let path = &rig.core.paths[&key(1).dst.ip()];
    assert!(path.retransmissions >= 20);
    // The second event: its peak of 50 ms joins the first one's; the largest counts.
    assert_eq!(path.full(), Some(ms(240)));
}

/// A queue in which a flow stands for a second is flushed, whoever was there before.
fn is_flushed(rig: &mut Rig, key: FlowKey) -> bool {
    rig.stream(&[key], 800, GAP, ms(50));
    rig.stream(&[key], 400, GAP, ms(98));
    rig.core.poll_flush().is_some_and(|plan| plan.flow == key)
}

/// The first flow ends while its burst is under way, before anything tells of the effect.
#[test]
fn a_second_flow_is_flushed_after_the_first_one_ended_with_its_flush_unjudged() {
    let mut rig = acquainted(EAGER);
    rig.stream(&[key(1)], 200, GAP, ms(98));
    let plan = flush(&mut rig);
    rig.core.flush_done(plan.id, plan.packets, rig.now);
    let until = rig.now + Duration::from_secs(20);
    rig.run_to(until);
    assert!(is_flushed(&mut rig, key(2)), "{:?}", causes(&mut rig));
}

#[test]
fn a_second_flow_is_flushed_after_the_first_one_ended_in_a_loss() {
    let mut rig = acquainted(EAGER);
    rig.stream(&[key(1)], 30, GAP, ms(98));
    rig.lose(key(1), 20, Duration::from_secs(1000));
    let until = rig.now + Duration::from_secs(5);
    rig.run_to(until);
    assert!(is_flushed(&mut rig, key(2)), "{:?}", causes(&mut rig));
}

/// The same addresses and ports, and a new initial sequence number: whichever it is, the loss of the old connection
/// says nothing of the new one.
#[test]
fn a_connection_by_the_ports_of_one_that_ended_in_a_loss_is_flushed_too() {
    for isn in [0x2000_0000, 0x6000_0000, 0xA000_0000, 0xE000_0000] {
        let mut rig = acquainted(EAGER);
        rig.stream(&[key(1)], 30, GAP, ms(98));
        rig.lose(key(1), 20, Duration::from_secs(1000));
        let until = rig.now + Duration::from_secs(5);
        rig.run_to(until);
        rig.open(key(1), isn, ms(50));
        assert!(is_flushed(&mut rig, key(1)), "{isn:#x}: {:?}", causes(&mut rig));
    }
}
