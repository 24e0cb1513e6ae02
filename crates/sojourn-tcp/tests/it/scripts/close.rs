//! Closing: RFC 9293 section 3.6 and section 3.10.7.4.

use crate::net::{Dir, Fate, MSS, Net, params};
use sojourn_tcp::cc::Algorithm::{Cubic, Reno};
use sojourn_tcp::{ConnectionState as S, Endpoint, Flags, Segment};
use sojourn_units::{Duration, Time};

/// Two established endpoints, A and B.
fn pair(now: Time) -> (Endpoint, Endpoint) {
    let (mut a, mut b) = (
        Endpoint::client(&params(Reno)).expect("valid parameters"),
        Endpoint::server(&params(Reno)).expect("valid parameters"),
    );
    a.connect(now);
    for _ in 0..2 {
        exchange(&mut a, &mut b, now);
        exchange(&mut b, &mut a, now);
    }
    assert_eq!((a.state(), b.state()), (S::Established, S::Established));
    (a, b)
}

/// Hands over what `from` sends, and answers it.
fn exchange(from: &mut Endpoint, to: &mut Endpoint, now: Time) -> Vec<Segment> {
    let sent: Vec<Segment> = std::iter::from_fn(|| from.poll_transmit(now)).collect();
    for segment in &sent {
        to.on_segment(segment, now);
    }
    sent
}

/// What the figures print of a segment: SEQ, ACK, whether FIN.
fn facts(sent: &[Segment]) -> Vec<(u64, u64, bool)> {
    sent.iter().map(|s| (s.seq, s.ack, s.flags.has(Flags::FIN))).collect()
}

/// Both ends have sent nothing before, so the figure's 100 and 300 are 1 and 1 here.
#[test]
fn a_normal_close_is_that_of_figure_12() {
    let now = Time::from_millis(1);
    let (mut a, mut b) = pair(now);
    a.close();
    assert_eq!(a.state(), S::FinWait1);
    assert_eq!(facts(&exchange(&mut a, &mut b, now)), [(1, 1, true)]);
    assert_eq!(b.state(), S::CloseWait);
    // Its application may close soon. As long as nothing was received, that is waited for until the next tick only.
    assert_eq!(facts(&exchange(&mut b, &mut a, now)), []);
    let now = b.timeout().expect("an acknowledgement is due");
    assert_eq!(now, Time::from_millis(2));
    b.on_timeout(now);
    assert_eq!(facts(&exchange(&mut b, &mut a, now)), [(1, 2, false)]);
    assert_eq!(a.state(), S::FinWait2);
    b.close();
    assert_eq!(b.state(), S::LastAck);
    assert_eq!(facts(&exchange(&mut b, &mut a, now)), [(1, 2, true)]);
    assert_eq!(a.state(), S::TimeWait);
    assert_eq!(facts(&exchange(&mut a, &mut b, now)), [(2, 2, false)]);
    assert_eq!((a.state(), b.state()), (S::TimeWait, S::Closed));
    assert_eq!((a.timeout(), b.timeout()), (None, None));
}

#[test]
fn a_simultaneous_close_is_that_of_figure_13() {
    let now = Time::from_millis(1);
    let (mut a, mut b) = pair(now);
    a.close();
    b.close();
    let from_a = a.poll_transmit(now).expect("its FIN");
    let from_b = b.poll_transmit(now).expect("its FIN");
    assert_eq!(facts(&[from_a, from_b]), [(1, 1, true), (1, 1, true)]);
    b.on_segment(&from_a, now);
    a.on_segment(&from_b, now);
    assert_eq!((a.state(), b.state()), (S::Closing, S::Closing));
    let (from_a, from_b) = (
        a.poll_transmit(now).expect("an ACK"),
        b.poll_transmit(now).expect("an ACK"),
    );
    assert_eq!(facts(&[from_a, from_b]), [(2, 2, false), (2, 2, false)]);
    b.on_segment(&from_a, now);
    a.on_segment(&from_b, now);
    assert_eq!((a.state(), b.state()), (S::TimeWait, S::TimeWait));
}

#[test]
fn the_end_that_has_closed_still_receives() {
    let now = Time::from_millis(1);
    let (mut a, mut b) = pair(now);
    a.close();
    exchange(&mut a, &mut b, now);
    b.write(3 * MSS);
    for _ in 0..3 {
        exchange(&mut b, &mut a, now);
        exchange(&mut a, &mut b, now);
    }
    assert_eq!((a.state(), b.state()), (S::FinWait2, S::CloseWait));
    assert_eq!(a.receiver().bytes_in_order(), 3 * MSS);
    assert_eq!(b.sender().bytes_acked(), 3 * MSS);
}

/// RFC 9293 section 3.10.7.4, TIME-WAIT: acknowledge a repeated FIN.
#[test]
fn a_repeated_fin_is_acknowledged_in_time_wait() {
    let now = Time::from_millis(1);
    let (mut a, mut b) = pair(now);
    a.close();
    exchange(&mut a, &mut b, now);
    b.close();
    exchange(&mut b, &mut a, now);
    // The last ACK is lost.
    assert_eq!(
        facts(&std::iter::from_fn(|| a.poll_transmit(now)).collect::<Vec<_>>()),
        [(2, 2, false)]
    );
    let later = now + Duration::from_secs(2);
    b.on_timeout(later);
    assert_eq!(facts(&exchange(&mut b, &mut a, later)), [(1, 2, true)]);
    assert_eq!(facts(&exchange(&mut a, &mut b, later)), [(2, 2, false)]);
    assert_eq!(b.state(), S::Closed);
    // And after that it says no more.
    b.on_segment(
        &Segment {
            seq: 2,
            ack: 2,
            flags: Flags::FIN | Flags::ACK,
            ..Segment::default()
        },
        later,
    );
    assert_eq!(b.poll_transmit(later), None);
}

#[test]
fn the_fin_rides_on_the_last_segment_also_on_a_full_one() {
    for bytes in [5 * MSS, 4 * MSS + 1, 4 * MSS - 1] {
        let mut net = Net::new(&params(Cubic), |_| Fate::Deliver);
        net.client.write(bytes);
        net.close();
        net.run_until(Time::from_secs(5));
        let fins: Vec<_> = net
            .log
            .iter()
            .filter(|s| s.dir == Dir::Data && s.segment.flags.has(Flags::FIN))
            .collect();
        assert_eq!(fins.len(), 1, "{bytes}");
        assert_eq!(fins[0].segment.seq + u64::from(fins[0].segment.len), 1 + bytes);
        assert!(fins[0].segment.len > 0 && u64::from(fins[0].segment.len) <= MSS);
        assert_eq!(net.server.receiver().bytes_in_order(), bytes);
        assert_eq!((net.client.state(), net.server.state()), (S::TimeWait, S::Closed));
    }
}

/// A FIN alone, lost, is sent again by the time-out or the loss probe: within the 1 s that the smallest RTO of 200
/// ms, the RTT of 50 ms and the delayed ACK allowance of 200 ms leave.
#[test]
fn a_lost_fin_is_sent_again() {
    let mut net = Net::new(&params(Cubic), |s| {
        if s.dir == Dir::Data && s.segment.flags.has(Flags::FIN) && s.at < Time::from_millis(1100) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    net.write(10);
    net.run_until(Time::from_secs(1));
    net.close();
    assert!(net.log.last().expect("the FIN").segment.flags.has(Flags::FIN));
    net.run_until(Time::from_secs(3));
    assert_eq!((net.client.state(), net.server.state()), (S::TimeWait, S::Closed));
    let fins: Vec<u64> = net
        .log
        .iter()
        .filter(|s| s.dir == Dir::Data && s.segment.flags.has(Flags::FIN))
        .map(|s| s.at.as_nanos() / 1_000_000)
        .collect();
    assert_eq!(fins.len(), 2, "{fins:?}");
    assert!(fins[1] <= 2000, "{fins:?}");
}

/// RFC 9293 section 3.10.4: in SYN-SENT a close would give the connection up; here it is queued.
#[test]
fn a_close_before_the_handshake_is_queued_behind_the_data() {
    let mut net = Net::new(&params(Cubic), |_| Fate::Deliver);
    assert_eq!(net.client.state(), S::SynSent);
    net.client.write(100);
    net.close();
    assert_eq!(net.client.state(), S::SynSent);
    net.run_until(Time::from_secs(2));
    assert_eq!(net.server.receiver().bytes_in_order(), 100);
    assert_eq!(net.client.state(), S::TimeWait);
}

/// RFC 9293 section 3.10.7.4, CLOSE-WAIT: text after a FIN should not occur; it is ignored.
#[test]
fn data_beyond_a_fin_is_ignored() {
    let now = Time::from_millis(1);
    let (mut a, mut b) = pair(now);
    a.close();
    exchange(&mut a, &mut b, now);
    let text = Segment {
        seq: 2,
        ack: 1,
        len: 100,
        flags: Flags::ACK,
        window: 100,
        ..Segment::default()
    };
    b.on_segment(&text, now);
    assert_eq!(b.receiver().bytes_in_order(), 0);
    assert_eq!(b.state(), S::CloseWait);
}

#[test]
#[should_panic(expected = "closed connection")]
fn writing_after_a_close_is_a_program_error() {
    let (mut a, _) = pair(Time::ZERO);
    a.close();
    a.write(1);
}
