//! What limits a sender: RFC 6928, 9293, 5681, 7661, 2861.

use crate::net::{Fate, MSS, Net, params};
use sojourn_tcp::cc::Algorithm::{Cubic, Reno};
use sojourn_tcp::{Endpoint, Flags, Segment, TcpParams};
use sojourn_units::{Bytes, Duration, Time};

const MS: Duration = Duration::from_millis(1);

/// A client whose peer offers `window` units of 256 bytes, 50 ms after its SYN; it has more to send than that.
pub(crate) fn client(params: &TcpParams, window: u16) -> (Endpoint, Time) {
    let mut client = Endpoint::client(params).expect("valid parameters");
    client.write(1 << 30);
    client.connect(Time::from_millis(1));
    let syn = client.poll_transmit(Time::from_millis(1)).expect("a SYN");
    let now = Time::from_millis(51);
    let syn_ack = Segment {
        ack: 1,
        flags: Flags::SYN | Flags::ACK,
        window,
        ts_val: 1,
        ts_ecr: syn.ts_val,
        ..Segment::default()
    };
    client.on_segment(&syn_ack, now);
    (client, now)
}

pub(crate) fn burst(client: &mut Endpoint, now: Time) -> Vec<Segment> {
    std::iter::from_fn(|| client.poll_transmit(now))
        .filter(|s| s.len > 0)
        .collect()
}

/// RFC 6928 section 2: ten segments; RFC 3390: three of this size.
#[test]
fn the_first_burst_is_the_initial_window() {
    for initial_window in [10, 3] {
        let p = TcpParams {
            initial_window,
            ..TcpParams::default()
        };
        let (mut client, now) = client(&p, 65_535);
        assert_eq!(burst(&mut client, now).len(), initial_window as usize);
        assert_eq!(client.sender().in_flight(), initial_window);
    }
}

/// RFC 9293 section 3.8.6: nothing beyond the right edge. 32 segments of 1448 bytes are 181 units of 256, to the
/// byte.
#[test]
fn the_receivers_window_is_respected_to_the_byte() {
    let p = TcpParams {
        initial_window: 100,
        ..TcpParams::default()
    };
    let (mut full, now) = client(&p, 181);
    let sent = burst(&mut full, now);
    assert_eq!(
        (sent.len(), sent[31].seq + u64::from(sent[31].len)),
        (32, 1 + 181 * 256)
    );
    let (mut short, now) = client(&p, 180);
    assert_eq!(burst(&mut short, now).len(), 31);
    // The edge moves by one unit: one segment more, which now ends at it.
    let update = Segment {
        ack: 1,
        flags: Flags::ACK,
        window: 181,
        ts_val: 2,
        ..Segment::default()
    };
    short.on_segment(&update, now + MS);
    assert_eq!(burst(&mut short, now + MS).len(), 1);
    // RFC 9293: an edge that moves left takes nothing back and admits nothing.
    short.on_segment(&Segment { window: 100, ..update }, now + MS * 2);
    assert_eq!(burst(&mut short, now + MS * 2).len(), 0);
}

/// 23 segments of 1447 bytes are one byte more than 130 units.
#[test]
fn a_segment_that_is_one_byte_too_long_for_the_window_is_not_sent() {
    let p = TcpParams {
        initial_window: 100,
        mss: 1447,
        ..TcpParams::default()
    };
    let (mut client, now) = client(&p, 130);
    assert_eq!(burst(&mut client, now).len(), 22);
}

/// The receiver's limit is the throughput's: a window a round trip.
#[test]
fn a_small_receive_window_limits_what_is_in_flight() {
    let p = TcpParams {
        receive_window: Bytes::new(20_000),
        ..params(Cubic)
    };
    let net = Net::transfer(&p, 500, |_| Fate::Deliver);
    // Half of the buffer, less room for one segment, is 18,552 bytes: 73 units of 256 (rounded up), which hold 12
    // segments. The path would hold 43. Source: Linux `tcp_init_buffer_space`.
    assert_eq!(net.samples.iter().map(|s| s.in_flight).max(), Some(12));
    assert_eq!(net.client.sender().stats().retransmissions, 0);
}

/// RFC 7661's concern, by Linux's rule: in slow start the window grows to at most twice what was ever out, after it
/// not at all unless it is used up.
#[test]
fn a_sender_limited_by_its_application_does_not_grow_its_window() {
    for (segments, most) in [(2, 10), (4, 10), (8, 16)] {
        let mut net = Net::new(&params(Reno), |_| Fate::Deliver);
        net.run_until(Time::from_millis(100));
        for _ in 0..50 {
            net.write(segments);
            net.run_until(net.now + MS * 100);
        }
        let cwnd = net.client.sender().cwnd();
        assert!((10..=most).contains(&cwnd), "{segments} a round trip: {cwnd}");
    }
    let mut net = Net::new(&params(Reno), |_| Fate::Deliver);
    net.write(300);
    net.finish();
    assert!(net.client.sender().cwnd() > 100);
}

/// RFC 2861 section 3.2, Linux `tcp_slow_start_after_idle`: half for each time-out that passed, not below the initial
/// window.
#[test]
fn an_idle_sender_halves_its_window_every_time_out() {
    for (quarter_rtos, halvings) in [(2, 0), (6, 1), (10, 2), (400, 31)] {
        let mut net = Net::new(&params(Reno), |_| Fate::Deliver);
        net.write(150);
        net.finish();
        let cwnd = net.client.sender().cwnd();
        assert!(cwnd > 60, "{cwnd}");
        let last = net.log.iter().rfind(|s| s.data.is_some()).expect("data was sent").at;
        net.run_until(last + net.client.sender().rto() * quarter_rtos / 4);
        net.write(1);
        assert_eq!(
            net.client.sender().cwnd(),
            (cwnd >> halvings).max(10),
            "{quarter_rtos} quarters, from {cwnd}"
        );
        assert_eq!(net.client.sender().ssthresh(), None, "idleness is no congestion");
    }
}

/// RFC 5681 section 3.1: slow start doubles the window each round trip while nothing is lost.
#[test]
fn slow_start_doubles_each_round_trip() {
    let p = TcpParams {
        delayed_ack: false,
        ..params(Reno)
    };
    let (mut sender, mut now) = client(&p, 65_535);
    let (mut acked, mut expected) = (1, 10);
    for round in 0..6 {
        let sent = burst(&mut sender, now);
        assert_eq!(sent.len(), expected, "round {round}");
        now += MS * 50;
        for s in &sent {
            acked += MSS;
            let ack = Segment {
                ack: acked,
                flags: Flags::ACK,
                window: 65_535,
                ts_val: 1,
                ts_ecr: s.ts_val,
                ..Segment::default()
            };
            sender.on_segment(&ack, now);
        }
        expected *= 2;
    }
}
