//! A scalable control has AccECN and ECT(1), or nothing of both.
//!
//! Sources: RFC 9331 sections 4.1 to 4.3; RFC 9768; the flags of L4STeam's `tcp_prague.c`.

use crate::net::{Dir, Fate, Net, params};
use sojourn_tcp::cc::Algorithm;
use sojourn_tcp::{EcnMode, Endpoint, Flags, Segment, TcpParams};
use sojourn_units::{Duration, Ecn, Time};

fn transfer(p: &TcpParams) -> Net {
    let mut net = Net::new(p, |s| {
        if s.dir == Dir::Data && s.nth == 30 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    net.write(100);
    while net.client.sender().bytes_pending() > 0 {
        assert!(net.step(Time::from_secs(60)), "the transfer hangs at {}", net.now);
    }
    net
}

/// The handshake, data, what is sent again, and acknowledgements (draft-ietf-tcpm-generalized-ecn).
#[test]
fn all_that_a_scalable_control_sends_has_ect1() {
    for control in [Algorithm::Prague, Algorithm::Bbr2L4s] {
        let net = transfer(&params(control));
        assert_eq!(
            (net.client.ecn(), net.server.ecn()),
            (EcnMode::Accurate, EcnMode::Accurate)
        );
        assert!(net.client.sender().stats().retransmissions > 0);
        for sent in &net.log {
            assert_eq!(sent.segment.flags.ecn(), Ecn::Ect1, "{control}: {sent:?}");
        }
    }
}

/// The same without a scalable control: ECT(0) after the handshake.
#[test]
fn cubic_with_accecn_has_ect0() {
    let p = TcpParams {
        ecn: EcnMode::Accurate,
        ..params(Algorithm::Cubic)
    };
    let net = transfer(&p);
    let data = net.log.iter().filter(|s| s.data.is_some());
    assert!(data.clone().count() >= 100);
    for sent in data {
        assert_eq!(sent.segment.flags.ecn(), Ecn::Ect0, "{sent:?}");
    }
}

/// RFC 9331 section 4.2: without accurate feedback nothing has ECT(1). The peer has classic ECN, or none.
#[test]
fn without_accurate_feedback_prague_is_reno_without_ecn() {
    for answer in [Flags::ECE, Flags::NONE] {
        let mut client = Endpoint::client(&params(Algorithm::Prague)).expect("valid parameters");
        client.connect(Time::ZERO);
        let syn = client.poll_transmit(Time::ZERO).expect("a SYN");
        assert_eq!(syn.flags.ecn(), Ecn::Ect1);
        let now = Time::ZERO + Duration::from_millis(20);
        let syn_ack = Segment {
            flags: Flags::SYN | Flags::ACK | answer,
            ack: 1,
            window: 65_535,
            ts_val: 1,
            ..Segment::default()
        };
        client.on_segment(&syn_ack, now);
        assert_eq!(client.ecn(), EcnMode::Off);
        client.write(1 << 20);
        let mut data = 0;
        while let Some(segment) = client.poll_transmit(now) {
            assert_eq!(segment.flags.ecn(), Ecn::NotEct, "{segment:?}");
            data += u32::from(segment.len > 0);
        }
        // Ten segments leave at once: Reno is not paced, and the eleventh waits for the window.
        assert_eq!(data, 10);
        // Five acknowledged in slow start: ten more.
        let ack = Segment {
            flags: Flags::ACK,
            seq: 1,
            ack: 1 + 5 * 1448,
            window: 65_535,
            ts_val: 2,
            ts_ecr: 20,
            ..Segment::default()
        };
        let later = now + Duration::from_millis(20);
        client.on_segment(&ack, later);
        assert_eq!(client.sender().cwnd(), 15);
    }
}

/// BBR version 2 needs no marks: without AccECN it goes on, paced, and without ECN. Source: L4STeam's `bbr2_init`.
#[test]
fn without_accurate_feedback_bbr2_goes_on_without_ecn() {
    let mut client = Endpoint::client(&params(Algorithm::Bbr2L4s)).expect("valid parameters");
    client.connect(Time::ZERO);
    let syn = client.poll_transmit(Time::ZERO).expect("a SYN");
    assert_eq!(syn.flags.ecn(), Ecn::Ect1);
    let now = Time::ZERO + Duration::from_millis(20);
    let syn_ack = Segment {
        flags: Flags::SYN | Flags::ACK | Flags::ECE,
        ack: 1,
        window: 65_535,
        ts_val: 1,
        ..Segment::default()
    };
    client.on_segment(&syn_ack, now);
    assert_eq!(client.ecn(), EcnMode::Off);
    client.write(1 << 20);
    while let Some(segment) = client.poll_transmit(now) {
        assert_eq!(segment.flags.ecn(), Ecn::NotEct, "{segment:?}");
    }
    // Five are acknowledged: the window, which steers itself, is fifteen, and what may be sent waits for its time.
    let ack = Segment {
        flags: Flags::ACK,
        seq: 1,
        ack: 1 + 5 * 1448,
        window: 65_535,
        ts_val: 2,
        ts_ecr: 20,
        ..Segment::default()
    };
    let later = now + Duration::from_millis(20);
    client.on_segment(&ack, later);
    assert_eq!(client.sender().cwnd(), 15);
    let mut sent = 0;
    while client.poll_transmit(later).is_some() {
        sent += 1;
    }
    assert!(sent < 10, "{sent} of ten leave at once");
}
