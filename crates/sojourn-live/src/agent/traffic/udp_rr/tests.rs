use super::*;
use crate::agent::fake::{Fake, index, load, measured, probe};
use sojourn_bed::Sample;
use sojourn_units::Duration;

const MS: i64 = 1_000_000;

fn start(index: usize, world: &mut Fake) -> UdpRr {
    let kind = ProbeKindScenario::UdpRr(Duration::from_secs(2));
    let mut rr = UdpRr::new(index, &probe(kind, 60, 0), &load()).expect("a valid plan");
    rr.start(world).expect("loopback");
    rr
}

fn finish(index: usize, mut rr: UdpRr) -> Vec<Sample> {
    let mut all = measured();
    rr.finish(&mut all);
    all.probes.swap_remove(index).samples
}

fn sample(sent_ns: i64, delay_ns: Option<u64>) -> Sample {
    Sample { sent_ns, delay_ns }
}

#[test]
fn a_request_follows_each_response_at_once() {
    let i = index(3);
    let mut world = Fake::manual(0, 100 * MS);
    let mut rr = start(i, &mut world);
    assert_eq!(world.entered, [Host::Server, Host::Client(0)]);
    rr.due(SEND, &mut world).expect("a request");
    assert_eq!(world.timers[&SEND], 2_000 * MS);
    for n in 1..4 {
        world.set(n * 7 * MS);
        rr.ready(REQUESTS, &mut world).expect("a request is there");
        rr.ready(RESPONSES, &mut world).expect("a response is there");
        assert_eq!(world.timers[&SEND], n * 7 * MS + 2_000 * MS);
    }
    // The transaction that the end cuts off is no sample.
    rr.window_ends(&mut world).expect("the end");
    assert!(!rr.awaits());
    assert!(world.timers.is_empty());
    let expected: Vec<_> = (0..3).map(|n| sample(n * 7 * MS, Some(7 * MS as u64))).collect();
    assert_eq!(finish(i, rr), expected);
}

#[test]
fn the_response_to_a_request_that_has_timed_out_is_ignored() {
    let i = index(4);
    let mut world = Fake::manual(0, 10_000 * MS);
    let mut rr = start(i, &mut world);
    rr.due(SEND, &mut world).expect("request 0");
    world.set(2_000 * MS);
    rr.due(SEND, &mut world).expect("request 1, after the time-out");
    world.set(2_001 * MS);
    // The server answers both now: that to 0 comes first and changes nothing, that to 1 lets request 2 go.
    rr.ready(REQUESTS, &mut world).expect("two requests are there");
    rr.ready(RESPONSES, &mut world).expect("two responses are there");
    assert_eq!(rr.pending, Some(2));
    world.set(2_002 * MS);
    rr.ready(REQUESTS, &mut world).expect("a request is there");
    rr.ready(RESPONSES, &mut world).expect("a response is there");
    rr.window_ends(&mut world).expect("the end");
    let expected = [
        sample(0, None),
        sample(2_000 * MS, Some(MS as u64)),
        sample(2_001 * MS, Some(MS as u64)),
    ];
    assert_eq!(finish(i, rr), expected);
}

#[test]
fn datagrams_of_strangers_are_neither_answered_nor_counted() {
    let i = index(5);
    let mut world = Fake::manual(0, 100 * MS);
    let mut rr = start(i, &mut world);
    let stranger = UdpSocket::bind(("127.0.0.1", 0)).expect("a socket");
    stranger.set_nonblocking(true).expect("a socket");
    let server = rr.server.as_ref().expect("started").local_addr().expect("bound");
    let ours = |index: u16, length: usize| {
        let mut payload = vec![0; length];
        Stamp {
            index,
            number: 0,
            sent_ns: 0,
        }
        .write(&mut payload);
        payload
    };
    let mine = i as u16;
    for payload in [
        ours(mine + 1, 18),
        ours(mine, 17),
        ours(mine, 19),
        vec![0; 18],
        Vec::new(),
    ] {
        stranger.send_to(&payload, server).expect("loopback");
    }
    rr.ready(REQUESTS, &mut world).expect("five datagrams");
    let mut buffer = [0; 64];
    assert_eq!(
        stranger.recv(&mut buffer).expect_err("no answer").kind(),
        io::ErrorKind::WouldBlock
    );
    // One that is as ours are is sent back.
    stranger.send_to(&ours(mine, 18), server).expect("loopback");
    rr.ready(REQUESTS, &mut world).expect("a datagram");
    assert_eq!(stranger.recv(&mut buffer).expect("an answer"), 18);
    assert_eq!(buffer[..18], ours(mine, 18));
    // The client hears the server alone.
    let client = rr.client.as_ref().expect("started").local_addr().expect("bound");
    rr.due(SEND, &mut world).expect("request 0");
    stranger.send_to(&ours(mine, 18), client).expect("loopback");
    rr.ready(RESPONSES, &mut world).expect("nothing of ours");
    assert_eq!(rr.pending, Some(0));
}

#[test]
fn transactions_on_loopback_take_less_than_the_time_out() {
    let i = index(6);
    let mut world = Fake::real(-20 * MS, 50 * MS);
    let kind = ProbeKindScenario::UdpRr(Duration::from_secs(2));
    let mut rr = UdpRr::new(i, &probe(kind, 1514, -10 * MS), &load()).expect("a valid plan");
    world.run(&mut rr, 0).expect("loopback");
    let samples = finish(i, rr);
    assert!(samples.len() > 20, "{}", samples.len());
    for pair in samples.windows(2) {
        let delay = pair[0].delay_ns.expect("loopback loses nothing");
        let delay = i64::try_from(delay).expect("less than the window");
        assert!(delay > 0 && pair[0].sent_ns + delay <= pair[1].sent_ns, "{pair:?}");
    }
}
