use super::{Rig, acknowledgement, data, key, ms};
use crate::{Event, Eviction, FlowKey, Flusher, FlusherParams, Method, Segment};
use sojourn_units::{Duration, Time};

fn spoofed(n: u32) -> FlowKey {
    let bytes = n.to_be_bytes();
    let [.., high, low] = bytes;
    FlowKey {
        src: (bytes, 1234).into(),
        dst: ([172, 16, high, low], 80).into(),
    }
}

#[test]
fn a_flood_of_flows_stays_within_the_bound_and_leaves_the_busy_flow_alone() {
    for method in [Method::Thesis, Method::Adaptive] {
        let mut rig = Rig::new(FlusherParams {
            method,
            max_flows: 64,
            ..FlusherParams::ADAPTIVE
        });
        rig.stream(&[key(1)], 20, ms(2), ms(50));
        for n in 0..100_000 {
            rig.core.handle_segment(&data(spoofed(n), n, 100), rig.now);
            if n % 32 == 0 {
                rig.stream(&[key(1)], 1, ms(2), ms(50));
            }
            rig.core.poll_event();
        }
        let stats = rig.core.stats();
        assert_eq!(rig.core.flows().count(), 64);
        assert!(rig.core.table.flows.slots() <= 64);
        assert_eq!(stats.flows, 100_001);
        assert_eq!(stats.evicted, 100_001 - 64);
        let busy = rig.core.flows().find(|f| f.key == key(1)).unwrap();
        assert!(busy.samples > 3000, "{}", busy.samples);
        let paths = if method == Method::Adaptive { 64 } else { 0 };
        assert_eq!(rig.core.paths.len(), paths);
    }
}

#[test]
fn a_silent_flow_is_forgotten_after_its_time() {
    let mut rig = Rig::new(FlusherParams {
        flow_timeout: Duration::from_secs(10),
        ..FlusherParams::ADAPTIVE
    });
    rig.stream(&[key(1)], 5, ms(2), ms(50));
    rig.run_to(Time::from_secs(5));
    rig.stream(&[key(2)], 5, ms(2), ms(50));
    rig.events();
    rig.run_to(Time::from_secs(12));
    let gone: Vec<Event> = rig
        .events()
        .into_iter()
        .filter(|e| matches!(e, Event::Evicted { .. }))
        .collect();
    let [
        Event::Evicted {
            at,
            flow,
            cause: Eviction::Idle,
        },
    ] = gone[..]
    else {
        panic!("{gone:?}")
    };
    assert_eq!(flow, key(1));
    assert_eq!(at, Time::from_millis(10_000 + 10 + 50));
    assert_eq!(rig.core.flows().count(), 1);
}

#[test]
fn a_clock_that_steps_back_is_counted_and_gives_no_absurd_rtts() {
    let mut rig = Rig::new(FlusherParams::ADAPTIVE);
    rig.now = Time::from_secs(1000);
    rig.stream(&[key(1)], 50, ms(2), ms(50));
    let mut core = rig.core;
    let seq = core.table.flows.get(0).outstanding.sent_up_to().unwrap();
    let back = Time::from_secs(3);
    core.handle_segment(&data(key(1), seq, 1000), back);
    core.handle_segment(&acknowledgement(key(1), seq), back + ms(10));
    core.handle_segment(&acknowledgement(key(1), seq + 1000), back + ms(51));
    assert_eq!(core.stats().clock_steps, 1);
    let flow = core.flows().next().unwrap();
    assert_eq!(flow.base, Some(ms(50)));
    assert_eq!(flow.max_rtt, Some(ms(51)));
    assert_eq!(flow.last_seen, back + ms(51));
}

#[test]
fn acknowledgements_of_what_was_never_sent_are_counted_and_change_nothing() {
    let mut rig = Rig::new(FlusherParams::ADAPTIVE);
    rig.stream(&[key(1)], 20, ms(2), ms(50));
    let before: Vec<_> = rig.core.flows().collect();
    for n in 0..100 {
        rig.core
            .handle_segment(&acknowledgement(key(1), 1_000_000 + n * 1000), rig.now);
        rig.core.handle_segment(&acknowledgement(key(9), n), rig.now);
    }
    assert_eq!(rig.core.stats().acks_beyond, 100);
    assert_eq!(rig.core.flows().collect::<Vec<_>>(), before);
}

#[test]
fn rtts_of_zero_or_beyond_the_bound_are_counted_and_not_sampled() {
    let mut core = Flusher::new(FlusherParams {
        max_rtt: ms(500),
        ..FlusherParams::AS_DESCRIBED
    })
    .unwrap();
    core.handle_segment(&data(key(1), 0, 100), Time::ZERO);
    core.handle_segment(&acknowledgement(key(1), 100), Time::ZERO);
    core.handle_segment(&data(key(1), 100, 100), Time::ZERO);
    core.handle_segment(&acknowledgement(key(1), 200), Time::from_millis(501));
    core.handle_segment(&data(key(1), 200, 100), Time::from_millis(501));
    core.handle_segment(&acknowledgement(key(1), 300), Time::from_millis(1001));
    assert_eq!((core.stats().absurd_rtts, core.stats().samples), (2, 1));
    assert_eq!(core.flows().next().unwrap().base, Some(ms(500)));
}

#[test]
fn a_reset_forgets_what_is_on_its_way_and_keeps_what_was_learned() {
    let mut rig = Rig::new(FlusherParams::ADAPTIVE);
    rig.stream(&[key(1)], 50, ms(2), ms(50));
    let mut reset = data(key(1).inverted(), 1, 0);
    reset.flags.rst = true;
    rig.core.handle_segment(&reset, rig.now);
    let flow = rig.core.flows().next().unwrap();
    assert_eq!((flow.in_flight, flow.base), (0, Some(ms(50))));
}

#[test]
fn both_ends_of_a_connection_may_send() {
    let mut rig = Rig::new(FlusherParams::AS_DESCRIBED);
    rig.stream(&[key(1), key(1).inverted()], 60, ms(2), ms(50));
    let views: Vec<_> = rig.core.flows().collect();
    assert_eq!(views.len(), 2);
    assert!(views.iter().all(|f| f.base == Some(ms(50)) && f.samples > 30));
}

#[test]
fn events_that_nobody_polls_are_bounded_and_counted() {
    let mut rig = Rig::new(FlusherParams::AS_DESCRIBED);
    for n in 0..70_000 {
        rig.core.handle_segment(&data(spoofed(n), 0, 1), rig.now);
    }
    let lost = rig.core.stats().events_lost;
    assert!(lost > 0);
    assert_eq!(rig.events().len(), 65_536);
    let mut quiet = Flusher::new(FlusherParams::AS_DESCRIBED).unwrap();
    quiet.handle_segment(&data(key(1), 0, 1), Time::ZERO);
    assert_eq!(quiet.poll_event(), None);
}

/// The "land" attack: such a segment would be its own acknowledgement.
#[test]
fn a_segment_from_an_address_to_itself_is_ignored() {
    let mut rig = Rig::new(FlusherParams::AS_DESCRIBED);
    let end = key(5001).src;
    let land = Segment {
        ack: 1001,
        ..data(FlowKey { src: end, dst: end }, 1, 1000)
    };
    rig.core.handle_segment(&land, Time::from_millis(1));
    assert_eq!((rig.core.flows().count(), rig.events()), (0, Vec::new()));
    assert_eq!(rig.core.stats().segments, 1);
}
