use super::*;
use crate::agent::Host;
use crate::agent::fake::{Fake, index, load, measured, probe};
use sojourn_bed::Sample;
use sojourn_scenario::{Codec, Direction, Voice};
use sojourn_sim::Scenario;

const MS: i64 = 1_000_000;

fn every(ns: i64, direction: Direction) -> ProbeKindScenario {
    ProbeKindScenario::Isochronous(direction, Duration::from_nanos(ns as u64))
}

fn voice(frame: i64) -> ProbeKindScenario {
    let voice = Voice {
        codec: Codec::G711,
        frame: Duration::from_nanos(frame as u64),
        bitrate: Codec::G711.bitrate(),
        headers: 40,
    };
    ProbeKindScenario::Voip(Direction::Up, voice)
}

fn new(index: usize, kind: ProbeKindScenario, start_ns: i64) -> OneWay {
    OneWay::new(index, &probe(kind, 214, start_ns), &load()).expect("a valid plan")
}

fn finish(index: usize, mut probe: OneWay) -> Vec<Sample> {
    let mut all = measured();
    probe.finish(&mut all);
    all.probes.swap_remove(index).samples
}

/// Takes the next packet away before the probe sees it.
fn lose(probe: &OneWay) {
    let receiver = probe.receiver.as_ref().expect("started");
    assert_eq!(receiver.recv(&mut [0; 2048]).expect("a packet is there"), 214 - 42);
}

#[test]
fn packets_leave_every_interval_and_go_where_they_should() {
    for (n, direction, hosts) in [
        (7, Direction::Up, [Host::Server, Host::Client(0)]),
        (8, Direction::Down, [Host::Client(0), Host::Server]),
    ] {
        let i = index(n);
        let mut probe = new(i, every(20 * MS, direction), -30 * MS);
        let mut world = Fake::manual(-40 * MS, 50 * MS);
        world.run(&mut probe, 0).expect("loopback");
        assert_eq!(world.entered, hosts);
        // The one that is due at the end of the window is not sent.
        let sent: Vec<_> = finish(i, probe).iter().map(|s| (s.sent_ns / MS, s.delay_ns)).collect();
        assert_eq!(sent, [(-30, Some(0)), (-10, Some(0)), (10, Some(0)), (30, Some(0))]);
    }
}

#[test]
fn delays_on_loopback_are_above_zero_and_below_a_wake_up() {
    let i = index(9);
    let mut probe = new(i, every(5 * MS, Direction::Down), 0);
    let mut world = Fake::real(-5 * MS, 100 * MS);
    world.run(&mut probe, 1000 * MS).expect("loopback");
    let samples = finish(i, probe);
    assert_eq!(samples.len(), 20);
    for sample in samples {
        let delay = sample.delay_ns.expect("loopback loses nothing");
        assert!((100..100 * MS as u64).contains(&delay), "{delay} ns");
    }
}

#[test]
fn a_wake_up_that_is_late_does_not_put_off_those_that_follow() {
    let i = index(10);
    let mut probe = new(i, every(10 * MS, Direction::Up), 0);
    let mut world = Fake::manual(-MS, 100 * MS);
    probe.start(&mut world).expect("loopback");
    world.set(24 * MS);
    for _ in 0..3 {
        probe.due(SEND, &mut world).expect("a packet");
    }
    assert_eq!(world.timers[&SEND], 30 * MS);
    world.set(30 * MS);
    probe.due(SEND, &mut world).expect("a packet");
    let sent: Vec<_> = finish(i, probe).iter().map(|s| s.sent_ns / MS).collect();
    assert_eq!(sent, [24, 24, 24, 30]);
}

/// The oracle is the simulator's record: a Poisson probe of the same name and seed leaves at the same nanoseconds.
#[test]
fn poisson_packets_leave_when_those_of_the_simulator_do() {
    let scenario = Scenario::from_json(
        r#"{"duration": "3s", "lead": "1s", "seed": 42, "up": "10mbit", "down": "10mbit", "rtt": "50ms",
            "flows": [{"name": "bulk", "direction": "up"}],
            "probes": [{"name": "arrivals", "kind": "poisson", "interval": "7ms", "direction": "down"}]}"#,
    )
    .expect("a valid scenario");
    let record = sojourn_sim::run(scenario).expect("it runs");
    let times = &record.series.rtt["arrivals"].t_s;
    let simulated: Vec<i64> = times.iter().map(|t| (t * 1e9).round() as i64).collect();
    assert!(simulated.len() > 400);

    let i = index(11);
    let mut plan = probe(
        ProbeKindScenario::Poisson(Direction::Down, Duration::from_millis(7)),
        214,
        simulated[0],
    );
    plan.spec.name = "arrivals".into();
    let load = LoadPlan { seed: 42, ..load() };
    let mut probe = OneWay::new(i, &plan, &load).expect("a valid plan");
    let mut world = Fake::manual(-1_000 * MS, 3_000 * MS);
    world.run(&mut probe, 0).expect("loopback");
    let samples = finish(i, probe);
    let sent: Vec<i64> = samples.iter().map(|s| s.sent_ns).collect();
    assert_eq!(sent, simulated);
    assert!(samples.iter().all(|s| s.delay_ns == Some(0)));
}

#[test]
fn a_lost_packet_is_waited_for_three_seconds() {
    let i = index(12);
    let mut probe = new(i, every(10 * MS, Direction::Up), 0);
    let mut world = Fake::manual(0, 20 * MS);
    probe.start(&mut world).expect("loopback");
    probe.due(SEND, &mut world).expect("a packet");
    lose(&probe);
    probe.window_ends(&mut world).expect("the end");
    assert!(probe.awaits());
    assert_eq!(world.timers.into_iter().collect::<Vec<_>>(), [(LINGER, 3_020 * MS)]);
    let mut world = Fake::manual(3_020 * MS, 20 * MS);
    probe.due(LINGER, &mut world).expect("a timer");
    assert!(!probe.awaits());
    assert_eq!(finish(i, probe)[0].delay_ns, None);
}

#[test]
fn a_last_word_ends_the_wait_for_voice_and_is_no_sample() {
    let i = index(13);
    let mut probe = new(i, voice(20 * MS), 0);
    let mut world = Fake::manual(0, 40 * MS);
    probe.start(&mut world).expect("loopback");
    probe.due(SEND, &mut world).expect("frame 0");
    lose(&probe);
    world.set(20 * MS);
    probe.due(SEND, &mut world).expect("frame 1");
    // Frame 1 stands in a queue while the window ends and the first last word is sent.
    world.set(40 * MS);
    probe.window_ends(&mut world).expect("the end");
    assert!(probe.awaits());
    assert_eq!(world.timers[&LAST_WORD], 140 * MS);
    assert_eq!(world.timers[&LINGER], 600_040 * MS);
    world.set(140 * MS);
    probe.due(LAST_WORD, &mut world).expect("a last word");
    assert_eq!(world.timers[&LAST_WORD], 240 * MS);
    world.set(150 * MS);
    world.serve(&mut probe, 100).expect("both are there");
    assert!(!probe.awaits());
    assert!(!world.timers.contains_key(&LAST_WORD));
    let samples: Vec<_> = finish(i, probe).iter().map(|s| (s.sent_ns, s.delay_ns)).collect();
    assert_eq!(samples, [(0, None), (20 * MS, Some(130 * MS as u64))]);
}

#[test]
fn voice_without_loss_has_no_last_word() {
    let i = index(14);
    let mut probe = new(i, voice(20 * MS), -10 * MS);
    let mut world = Fake::manual(-10 * MS, 100 * MS);
    world.run(&mut probe, 500 * MS).expect("loopback");
    assert_eq!(probe.last_words, 0);
    assert_eq!(finish(i, probe).len(), 6);
}

#[test]
fn last_words_that_are_lost_are_said_again() {
    let i = index(15);
    let mut probe = new(i, voice(20 * MS), 0);
    let mut world = Fake::manual(0, 40 * MS);
    probe.start(&mut world).expect("loopback");
    probe.due(SEND, &mut world).expect("frame 0");
    lose(&probe);
    probe.window_ends(&mut world).expect("the end");
    world.set(140 * MS);
    probe.due(LAST_WORD, &mut world).expect("a last word");
    lose(&probe);
    assert!(probe.awaits());
    world.set(240 * MS);
    probe.due(LAST_WORD, &mut world).expect("another");
    world.serve(&mut probe, 100).expect("it is there");
    assert!(!probe.awaits());
    assert_eq!(probe.last_words, 2);
}

#[test]
fn plans_that_cannot_be_are_refused_in_one_sentence() {
    let refused = |kind| {
        OneWay::new(0, &probe(kind, 214, 0), &load())
            .expect_err("refused")
            .to_string()
    };
    assert_eq!(refused(voice(0)), "probes[0].frame is 0s, but must be 1 ns to 73 years");
    assert_eq!(
        refused(ProbeKindScenario::UdpRr(Duration::from_nanos(1))),
        "probes[0].kind is not isochronous, poisson or voip"
    );
}
