//! Explicit congestion notification: RFC 3168.

use crate::net::{Dir, Fate, Net, Sent, params};
use sojourn_tcp::cc::Algorithm::{Cubic, Dctcp, Reno};
use sojourn_tcp::{EcnMode, Endpoint, Flags, Segment, TcpParams};
use sojourn_units::{Duration, Time};

fn ecn(algorithm: sojourn_tcp::cc::Algorithm) -> TcpParams {
    TcpParams {
        ecn: EcnMode::Classic,
        ..params(algorithm)
    }
}

/// The thresholds that the sender went through.
fn thresholds(net: &Net) -> Vec<u32> {
    let mut v: Vec<u32> = net.samples.iter().filter_map(|s| s.ssthresh).collect();
    v.dedup();
    v
}

/// Section 6.1.3: every acknowledgement echoes until a segment with CWR arrives; section 6.1.2: that is the first new
/// segment after the reduction, and the window falls as for one loss.
#[test]
fn a_mark_is_echoed_until_cwr_and_reduces_the_window_once() {
    for (algorithm, beta) in [(Cubic, 0.7), (Reno, 0.5)] {
        let net = Net::transfer(&ecn(algorithm), 300, |s| {
            if s.is(60, 0) { Fate::Mark } else { Fate::Deliver }
        });
        assert_eq!(net.client.sender().stats().retransmissions, 0);
        let echoes: Vec<&Sent> = net
            .log
            .iter()
            .filter(|s| s.dir == Dir::Ack && s.segment.flags.has(Flags::ECE) && !s.segment.flags.has(Flags::SYN))
            .collect();
        let cwr: Vec<&Sent> = net
            .log
            .iter()
            .filter(|s| s.data.is_some() && s.segment.flags.has(Flags::CWR))
            .collect();
        assert_eq!(cwr.len(), 1, "one reduction is announced once");
        let announced = cwr[0].data.expect("with new data");
        assert!(echoes.first().is_some_and(|s| s.segment.ack > 60 * 1448));
        assert!(echoes.last().is_some_and(|s| s.segment.ack <= 1 + announced * 1448));
        // From the mark to the announcement, without a pause.
        let all = net.log.iter().filter(|s| s.dir == Dir::Ack && s.at >= echoes[0].at);
        assert!(all.take(echoes.len()).all(|s| s.segment.flags.has(Flags::ECE)));
        assert!(echoes.len() > 10, "{}", echoes.len());
        let before = net
            .samples
            .iter()
            .take_while(|s| s.ssthresh.is_none())
            .last()
            .expect("slow start");
        let after = thresholds(&net);
        assert_eq!(after.len(), 1);
        assert!(
            (f64::from(after[0]) - beta * f64::from(before.cwnd)).abs() < 1.0,
            "{before:?} {after:?}"
        );
    }
}

/// Section 6.1.2: at most one reduction a round trip.
#[test]
fn marks_within_one_round_trip_reduce_the_window_once() {
    let mark = |s: &Sent| {
        if s.data.is_some_and(|k| (60..80).contains(&k)) {
            Fate::Mark
        } else {
            Fate::Deliver
        }
    };
    assert_eq!(thresholds(&Net::transfer(&ecn(Cubic), 300, mark)).len(), 1);
    let later = move |s: &Sent| if s.is(300, 0) { Fate::Mark } else { mark(s) };
    assert_eq!(thresholds(&Net::transfer(&ecn(Cubic), 500, later)).len(), 2);
}

/// Section 6.1.5: a retransmission is not ECN-capable; section 6.1.4: nor is a bare acknowledgement.
#[test]
fn only_new_data_is_ecn_capable() {
    let net = Net::transfer(
        &ecn(Cubic),
        200,
        |s| if s.is(60, 0) { Fate::Drop } else { Fate::Deliver },
    );
    assert_eq!(net.sendings(60).len(), 2);
    for s in &net.log {
        assert_eq!(
            s.segment.flags.has(Flags::ECT0),
            s.data.is_some() && s.attempt == 0,
            "{s:?}"
        );
    }
    let plain = Net::transfer(&params(Cubic), 20, |_| Fate::Deliver);
    assert!(plain.log.iter().all(|s| !s.segment.flags.has(Flags::ECT0)));
}

/// The segment with which the `n`-th handshake transmission of this direction went out, if it was one.
fn handshakes(net: &Net, dir: Dir) -> Vec<Flags> {
    let syns = net
        .log
        .iter()
        .filter(|s| s.dir == dir && s.segment.flags.has(Flags::SYN));
    syns.map(|s| s.segment.flags).collect()
}

fn agreed(net: &Net) -> [bool; 2] {
    [net.client.sender().ecn(), net.server.sender().ecn()]
}

/// Section 6.1.1: a SYN with ECE and CWR asks, a SYN-ACK with ECE alone agrees. Neither is ECN-capable itself.
#[test]
fn both_ends_agree_in_the_handshake() {
    let net = Net::transfer(&ecn(Cubic), 5, |_| Fate::Deliver);
    assert_eq!(handshakes(&net, Dir::Data), [Flags::SYN | Flags::ECE | Flags::CWR]);
    assert_eq!(handshakes(&net, Dir::Ack), [Flags::SYN | Flags::ACK | Flags::ECE]);
    assert_eq!(agreed(&net), [true; 2]);
    assert_eq!(net.client.sender().stats().echoes, 0, "a SYN-ACK echoes nothing");
    let plain = Net::transfer(&params(Cubic), 5, |_| Fate::Deliver);
    assert_eq!(handshakes(&plain, Dir::Data), [Flags::SYN]);
    assert_eq!(handshakes(&plain, Dir::Ack), [Flags::SYN | Flags::ACK]);
    assert_eq!(agreed(&plain), [false; 2]);
}

/// An end that wants ECN does without if the other does not want it.
#[test]
fn one_end_alone_uses_no_ecn() {
    for (client, server) in [(true, false), (false, true)] {
        let with = |wanted| TcpParams {
            ecn: EcnMode::from(wanted),
            ..params(Cubic)
        };
        let mut client = Endpoint::client(&with(client)).expect("valid");
        let mut server = Endpoint::server(&with(server)).expect("valid");
        let now = Time::from_millis(1);
        client.connect(now);
        client.write(10_000);
        let mut sent: Vec<Segment> = Vec::new();
        loop {
            let there = client.poll_transmit(now);
            if let Some(segment) = there {
                server.on_segment(&segment, now);
            }
            let back = server.poll_transmit(now);
            if let Some(segment) = back {
                client.on_segment(&segment, now);
            }
            if there.is_none() && back.is_none() {
                break;
            }
            sent.extend(there.into_iter().chain(back));
        }
        assert!(client.sender().fin_acked() || client.sender().bytes_acked() == 10_000);
        assert!(!client.sender().ecn() && !server.sender().ecn());
        let data = sent.iter().filter(|s| !s.flags.has(Flags::SYN));
        let used = |s: &Segment| s.flags.has(Flags::ECT0) || s.flags.has(Flags::ECE) || s.flags.has(Flags::CWR);
        assert!(data.copied().all(|s| !used(&s)));
    }
}

/// Section 6.1.1.1 and Linux `tcp_ecn_clear_syn`: a SYN that is sent again does not ask for ECN. Linux 3.14 insists.
#[test]
fn a_lost_syn_gives_ecn_up() {
    let lose = |dir: Dir| {
        move |s: &Sent| {
            if s.dir == dir && s.nth == 0 {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        }
    };
    let net = Net::transfer(&ecn(Cubic), 5, lose(Dir::Data));
    assert_eq!(
        handshakes(&net, Dir::Data),
        [Flags::SYN | Flags::ECE | Flags::CWR, Flags::SYN]
    );
    assert_eq!(agreed(&net), [false; 2]);
    assert!(net.log.iter().all(|s| !s.segment.flags.has(Flags::ECT0)));
    let old = TcpParams {
        variant: sojourn_tcp::Variant::Linux314,
        ..ecn(Cubic)
    };
    assert_eq!(agreed(&Net::transfer(&old, 5, lose(Dir::Data))), [true; 2]);
    // The server has heard the first SYN, and its answers agree to that (`tcp_ecn_make_synack`).
    let net = Net::transfer(&ecn(Cubic), 5, lose(Dir::Ack));
    assert_eq!(handshakes(&net, Dir::Data)[1], Flags::SYN);
    assert_eq!(agreed(&net), [true; 2]);
}

/// Section 6.1.2: the receiver hears of every reduction of the window, whatever it was for. Source: Linux
/// `tcp_init_cwnd_reduction`, `tcp_enter_loss`.
#[test]
fn a_reduction_after_a_loss_is_announced_too() {
    let lost = |s: &Sent| if s.is(60, 0) { Fate::Drop } else { Fate::Deliver };
    let announced = |net: &Net| {
        let all = net.log.iter().filter(|s| s.segment.flags.has(Flags::CWR));
        all.filter_map(|s| s.data).collect::<Vec<u64>>()
    };
    let net = Net::transfer(&ecn(Cubic), 300, lost);
    assert_eq!(net.client.sender().stats().recoveries, 1);
    let found = announced(&net);
    assert_eq!(found.len(), 1);
    assert!(found[0] > 60, "with the next new data: {found:?}");
    // Not without ECN.
    assert!(announced(&Net::transfer(&params(Cubic), 300, lost)).is_empty());
    // The whole window is lost: a time-out.
    let net = Net::transfer(&ecn(Cubic), 300, |s| {
        if s.attempt == 0 && s.data.is_some_and(|k| (60..200).contains(&k)) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    assert!(net.client.sender().stats().timeouts > 0);
    assert!(!announced(&net).is_empty());
}

/// RFC 8511 section 3: an echo leaves 0.85 of CUBIC's window and 0.8 of Reno's; a loss 0.7 and a half, as ever.
#[test]
fn with_abe_an_echo_reduces_less_than_a_loss() {
    for (algorithm, echo, loss) in [(Cubic, 0.85, 0.7), (Reno, 0.8, 0.5)] {
        for (fate, beta) in [(Fate::Mark, echo), (Fate::Drop, loss)] {
            let abe = TcpParams {
                abe: true,
                ..ecn(algorithm)
            };
            let net = Net::transfer(&abe, 300, move |s| if s.is(60, 0) { fate } else { Fate::Deliver });
            let before = net
                .samples
                .iter()
                .take_while(|s| s.ssthresh.is_none())
                .last()
                .expect("slow start");
            let after = f64::from(thresholds(&net)[0]);
            assert!(
                (after - beta * f64::from(before.cwnd)).abs() < 1.1,
                "{algorithm} {fate:?}: {before:?} {after}"
            );
        }
    }
}

#[test]
fn marks_echoes_and_reductions_are_counted() {
    let net = Net::transfer(&ecn(Cubic), 300, |s| {
        if s.data.is_some_and(|k| (60..63).contains(&k)) {
            Fate::Mark
        } else {
            Fate::Deliver
        }
    });
    assert_eq!(net.server.receiver().stats().marked, 3);
    let echoes = net
        .log
        .iter()
        .filter(|s| s.dir == Dir::Ack && s.segment.flags.has(Flags::ECE) && !s.segment.flags.has(Flags::SYN))
        .count() as u64;
    let stats = net.client.sender().stats();
    assert_eq!((stats.echoes, stats.ecn_reductions), (echoes, 1));
    // The first echo acknowledges the marked segment and at most one before it; each further one or two segments.
    assert!(
        (echoes..=2 * echoes).contains(&stats.delivered_ce),
        "{echoes} {}",
        stats.delivered_ce
    );
}

/// Source: Linux `__tcp_ecn_check_ce`, `tcp_enter_quickack_mode`: the first mark makes the next two acknowledgements quick, because
/// the sender's window may be small. `tcp_ecn_accept_cwr`: so does CWR for its own.
#[test]
fn a_mark_and_its_answer_are_acknowledged_at_once() {
    let params = ecn(Cubic);
    let mut server = Endpoint::server(&params).expect("valid");
    let mut now = Time::from_millis(1);
    let syn = Segment {
        flags: Flags::SYN | Flags::ECE | Flags::CWR,
        window: 1000,
        ts_val: 1,
        ..Segment::default()
    };
    server.on_segment(&syn, now);
    assert!(server.poll_transmit(now).is_some());
    let mut seq = 1;
    let mut receive = |server: &mut Endpoint, flags: Flags| {
        now += Duration::from_millis(5);
        server.on_timeout(now);
        let late = server.poll_transmit(now);
        let segment = Segment {
            seq,
            ack: 1,
            len: 1448,
            flags: flags | Flags::ACK,
            window: 1000,
            ts_val: 1,
            ..Segment::default()
        };
        seq += 1448;
        server.on_segment(&segment, now);
        let ack = server.poll_transmit(now);
        assert!(late.is_none());
        ack.map(|s| s.flags.has(Flags::ECE))
    };
    // Quick acknowledgements of the beginning.
    while receive(&mut server, Flags::ECT0).is_some() {}
    // One is waiting: the next is the second full segment.
    assert_eq!(receive(&mut server, Flags::ECT0), Some(false));
    assert_eq!(receive(&mut server, Flags::CE), Some(true));
    assert_eq!(receive(&mut server, Flags::CE), Some(true));
    // No more than two.
    assert_eq!(receive(&mut server, Flags::ECT0), None);
    assert_eq!(receive(&mut server, Flags::ECT0), Some(true));
    assert_eq!(receive(&mut server, Flags::ECT0 | Flags::CWR), Some(false));
    assert_eq!(receive(&mut server, Flags::ECT0), None);
    // A segment that takes no marks among others that do is likely a retransmission: two are quick.
    assert_eq!(receive(&mut server, Flags::NONE), Some(false));
    assert_eq!(receive(&mut server, Flags::ECT0), Some(false));
    assert_eq!(receive(&mut server, Flags::ECT0), None);
}

/// RFC 8257 section 3.2: a receiver says of each segment whether it was marked. Where the marks begin or end, what it
/// had not acknowledged yet is acknowledged as it was, before the rest. So the sender counts what was marked exactly:
/// ten of the first hundred.
#[test]
fn a_receiver_of_dctcp_echoes_each_mark_and_nothing_else() {
    let net = Net::transfer(&params(Dctcp), 300, |s| {
        let marked = s.data.is_some_and(|k| (40..50).contains(&k) || k == 61 || k == 70);
        if marked { Fate::Mark } else { Fate::Deliver }
    });
    // What each acknowledgement newly covers, and whether it echoes.
    let mut echoed = Vec::new();
    let mut known = 1;
    for s in net.log.iter().filter(|s| s.dir == Dir::Ack) {
        let segment = &s.segment;
        assert!(segment.flags.has(Flags::ECT0), "an acknowledgement is ECN-capable, too");
        for k in (known - 1) / 1448..segment.ack.saturating_sub(1) / 1448 {
            if segment.flags.has(Flags::ECE) {
                echoed.push(k);
            }
        }
        known = known.max(segment.ack);
    }
    assert_eq!(echoed, (40..50).chain([61, 70]).collect::<Vec<_>>());
    assert!(
        net.log.iter().all(|s| s.segment.flags.has(Flags::ECT0)),
        "SYNs and all data, too"
    );
    assert_eq!(net.client.sender().stats().retransmissions, 0);
}

/// RFC 8257 section 3.3: marks cost half of their share, not half of the window. With the share at first the whole, the
/// first reduction halves; one segment in fifty marked from then on leaves a window of more than nine tenths.
#[test]
fn few_marks_reduce_the_window_of_dctcp_by_little() {
    let net = Net::transfer(&params(Dctcp), 3000, |s| {
        if s.data.is_some_and(|k| k >= 60 && k % 50 == 0) {
            Fate::Mark
        } else {
            Fate::Deliver
        }
    });
    let mut cwnd: Vec<u32> = net.samples.iter().map(|s| s.cwnd).collect();
    cwnd.dedup();
    let falls: Vec<f64> = thresholds(&net)
        .iter()
        .zip(thresholds(&net).iter().skip(1))
        .map(|(a, b)| f64::from(*b) / f64::from(*a))
        .collect();
    assert!(falls.len() > 5, "{falls:?}");
    // The share decays by a sixteenth a window: after 40 windows it is that of the marks.
    assert!(falls[falls.len() - 3..].iter().all(|f| *f > 0.9), "{falls:?}");
    assert_eq!(net.client.sender().stats().retransmissions, 0);
}
