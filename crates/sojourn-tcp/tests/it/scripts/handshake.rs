//! The handshake when its segments are lost: RFC 6298 sections 2.1, 5.5 and 5.7, RFC 5681 section 3.1, and Linux 6.1.
//!
//! Times are worked by hand from the kernel's timer wheel: a time-out of 1 s ends at a multiple of 64 ms, one of 8 s at
//! one of 512 ms, one of 64 s at one of 4096 ms, each the first after the tick that was asked for.

use crate::net::{Dir, Fate, Net, Sent, params};
use sojourn_tcp::cc::Algorithm::Cubic;
use sojourn_tcp::{ConnectionState, Endpoint, Flags, Segment, TcpParams, Variant};
use sojourn_units::{Duration, Time};

fn of(variant: Variant) -> TcpParams {
    TcpParams {
        variant,
        ..params(Cubic)
    }
}

/// Drops the first `data` segments of the client and the first `acks` of the server.
fn losing(data: u64, acks: u64) -> impl FnMut(&Sent) -> Fate {
    move |s| {
        let lost = match s.dir {
            Dir::Data => data,
            Dir::Ack => acks,
        };
        if s.nth < lost { Fate::Drop } else { Fate::Deliver }
    }
}

/// When SYNs went out, in whole milliseconds after the first at 1 ms.
fn syns(net: &Net, dir: Dir) -> Vec<u64> {
    let is_syn = |s: &&Sent| s.dir == dir && s.segment.flags.has(Flags::SYN);
    net.log
        .iter()
        .filter(is_syn)
        .map(|s| s.at.since(Time::from_millis(1)).as_millis())
        .collect()
}

/// Data segments that went out at the instant of the first.
fn first_burst(net: &Net) -> usize {
    let first = net.sendings(0)[0];
    net.log.iter().filter(|s| s.data.is_some() && s.at == first).count()
}

/// The time-outs of 1 and 2 s end in ticks 1024 (after 1 + 1000) and 3072 (after 1024 + 2000). A lost SYN leaves a
/// window of one segment.
#[test]
fn a_lost_syn_is_repeated_after_1_s_and_3_s() {
    let mut net = Net::new(&params(Cubic), losing(2, 0));
    net.write(1);
    net.finish();
    assert_eq!(syns(&net, Dir::Data), [0, 1023, 3071]);
    assert_eq!(
        (net.client.syn_retransmissions(), net.server.syn_retransmissions()),
        (2, 0)
    );
    assert!(net.client.is_established() && net.server.is_established());
    assert_eq!(first_burst(&Net::transfer(&params(Cubic), 10, losing(2, 0))), 1);
    let exact = Net::transfer(&of(Variant::Linux314), 10, losing(2, 0));
    assert_eq!((syns(&exact, Dir::Data), first_burst(&exact)), (vec![0, 1000, 3000], 1));
}

/// Linux gives up after `tcp_syn_retries` (6).
#[test]
fn a_client_gives_up_after_six_repeated_syns() {
    let mut net = Net::new(&params(Cubic), |_| Fate::Drop);
    net.run_until(Time::from_secs(600));
    assert_eq!(
        syns(&net, Dir::Data),
        [0, 1023, 3071, 7103, 15_359, 31_743, 63_999],
        "multiples of 64 ms, then of 512 ms, less the 1 ms of the first"
    );
    assert!(!net.client.is_established());
}

/// The server's time-out is due in tick 1088 (after 26 + 1000). The client's SYN of 1024 comes before, asks for the
/// SYN-ACK and starts the time-out anew: the next is due in 2112 (after 1049 + 1000). Source: Linux `tcp_check_req`.
#[test]
fn a_repeated_syn_is_answered_and_starts_the_time_out_of_the_syn_ack_anew() {
    for variant in [Variant::Linux61, Variant::Linux612] {
        let mut net = Net::new(&of(variant), losing(0, 2));
        net.write(1);
        net.finish();
        assert_eq!(syns(&net, Dir::Data), [0, 1023]);
        assert_eq!(syns(&net, Dir::Ack), [25, 1048, 2111]);
        assert_eq!(
            (net.client.syn_retransmissions(), net.server.syn_retransmissions()),
            (1, 1)
        );
    }
}

/// A repeated SYN does not change the timestamp that the SYN-ACK echoes, so the client measures from its first SYN: to
/// 1074 ms, where timestamps count from 1. The server measures from the SYN-ACK that was answered.
#[test]
fn a_lost_syn_ack_counts_in_the_round_trip_of_the_client() {
    let mut net = Net::new(&params(Cubic), losing(0, 1));
    net.run_until(Time::from_millis(1200));
    assert_eq!(syns(&net, Dir::Ack), [25, 1048]);
    let srtt = |end: &Endpoint| end.sender().srtt().expect("the handshake gave a sample").as_millis();
    assert_eq!((srtt(&net.client), srtt(&net.server)), (1073, 50));
    // RFC 6298 section 2.2: three times the first sample.
    assert_eq!(net.client.sender().rto(), Duration::from_millis(3 * 1073));
}

/// Linux 6.1 `tcp_try_undo_spurious_syn`: SYN-ACKs were lost, no SYN was, as the echo of the first tells.
#[test]
fn syn_acks_lost_leave_the_client_its_initial_window() {
    assert_eq!(first_burst(&Net::transfer(&params(Cubic), 10, losing(0, 3))), 10);
    assert_eq!(first_burst(&Net::transfer(&of(Variant::Linux314), 10, losing(0, 6))), 1);
    // The server's SYN-ACKs were lost, and it knows.
    let mut net = Net::new(&params(Cubic), losing(0, 2));
    net.run_until(Time::from_millis(2300));
    assert!(net.server.is_established());
    assert_eq!((net.server.sender().cwnd(), net.client.sender().cwnd()), (1, 10));
    // One that only a SYN asked for is forgiven.
    let mut net = Net::new(&params(Cubic), losing(0, 1));
    net.run_until(Time::from_millis(1200));
    assert!(net.server.is_established());
    assert_eq!(net.server.sender().cwnd(), 10);
}

fn syn(now: Time) -> Segment {
    Segment {
        flags: Flags::SYN,
        window: 100,
        ts_val: (now.as_nanos() / 1_000_000) as u32,
        ..Segment::default()
    }
}

/// Linux `tcp_invalid_ratelimit`: one answer every 500 ms, but the first.
#[test]
fn of_syns_that_come_too_often_one_is_answered() {
    let mut server = Endpoint::server(&params(Cubic)).expect("valid parameters");
    let answered = [26, 27, 28, 526, 527].map(|ms| {
        let now = Time::from_millis(ms);
        server.on_segment(&syn(now), now);
        server.poll_transmit(now).is_some()
    });
    assert_eq!(answered, [true, true, false, false, true]);
}

/// The same once the connection is established. Nothing else is taken from a SYN-ACK that comes again: the next
/// acknowledgement echoes what it would have without. Source: Linux `tcp_validate_incoming`, `tcp_send_challenge_ack`.
#[test]
fn of_syn_acks_that_come_again_too_often_one_is_answered() {
    let mut client = Endpoint::client(&params(Cubic)).expect("valid parameters");
    client.connect(Time::from_millis(1));
    client.poll_transmit(Time::from_millis(1)).expect("a SYN");
    let answers = [51, 52, 53, 551, 552].map(|ms| {
        let now = Time::from_millis(ms);
        let syn_ack = Segment {
            ack: 1,
            flags: Flags::SYN | Flags::ACK,
            ts_ecr: 2,
            ..syn(now)
        };
        client.on_segment(&syn_ack, now);
        client.poll_transmit(now).map(|answer| answer.ts_ecr)
    });
    assert_eq!(answers, [Some(51), Some(51), None, None, Some(51)]);
}

/// Linux `tcp_synack_retries` (5): then the listener has forgotten, and the next SYN is its first.
#[test]
fn a_server_forgets_a_client_after_five_repeated_syn_acks() {
    let mut server = Endpoint::server(&params(Cubic)).expect("valid parameters");
    let mut now = Time::from_millis(26);
    server.on_segment(&syn(now), now);
    let mut sent = Vec::new();
    loop {
        sent.extend(server.poll_transmit(now).map(|_| now.as_nanos() / 1_000_000));
        match server.timeout() {
            Some(at) => now = at,
            None => break,
        }
        server.on_timeout(now);
    }
    assert_eq!(sent, [26, 1088, 3136, 7168, 15_360, 31_744]);
    assert_eq!(
        (now, server.state()),
        (Time::from_millis(64_000), ConnectionState::Listen)
    );
    let late = Time::from_secs(70);
    server.on_segment(&syn(late), late);
    let answer = server.poll_transmit(late).expect("a SYN-ACK");
    assert_eq!(answer.ts_ecr, 70_000);
}
