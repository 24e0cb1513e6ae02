//! What our own endpoints never send each other, and others may: closed windows, acknowledgements that cannot be,
//! segments that overlap.

use super::window::{burst, client};
use sojourn_tcp::{Endpoint, Flags, Segment, TcpParams};
use sojourn_units::{Duration, Time};

const MS: Duration = Duration::from_millis(1);

fn ack(number: u64, window: u16) -> Segment {
    Segment {
        seq: 1,
        ack: number,
        flags: Flags::ACK,
        window,
        ts_val: 2,
        ..Segment::default()
    }
}

/// All that it sends, at the times of its timers, until `end`.
fn sent_until(endpoint: &mut Endpoint, end: Time) -> Vec<(u64, Segment)> {
    let mut sent = Vec::new();
    while let Some(due) = endpoint.timeout().filter(|due| *due <= end) {
        endpoint.on_timeout(due);
        sent.extend(std::iter::from_fn(|| endpoint.poll_transmit(due)).map(|s| (due.as_nanos() / 1_000_000, s)));
    }
    sent
}

/// RFC 9293 section 3.8.6.1. The round trip is 50 ms, so the time-out is 250 ms; timers of so long are late by up to 8,
/// 64 and 64 ms.
#[test]
fn a_closed_window_is_probed_ever_more_seldom_until_it_opens() {
    let (mut client, now) = client(&TcpParams::default(), 400);
    let end = burst(&mut client, now)
        .last()
        .map(|s| s.seq + u64::from(s.len))
        .expect("data");
    client.on_segment(&ack(end, 0), now + MS * 50);
    assert_eq!(burst(&mut client, now + MS * 50).len(), 0, "the window has shrunk");
    let probes = sent_until(&mut client, Time::from_secs(2));
    assert!(probes.iter().all(|(_, probe)| (probe.seq, probe.len) == (end - 1, 0)));
    let times: Vec<u64> = probes.iter().map(|probe| probe.0 - 101).collect();
    assert_eq!(times.len(), 3, "{times:?}");
    assert!((250..=259).contains(&times[0]), "{times:?}");
    assert!((500..=570).contains(&(times[1] - times[0])), "{times:?}");
    assert!((1000..=1070).contains(&(times[2] - times[1])), "{times:?}");
    assert_eq!(
        (client.sender().unanswered_window_probes(), client.sender().backoff()),
        (3, 3)
    );
    let later = Time::from_secs(2);
    client.on_segment(&ack(end, 400), later);
    assert!(!burst(&mut client, later).is_empty());
    assert_eq!(
        (client.sender().unanswered_window_probes(), client.sender().backoff()),
        (0, 0)
    );
}

/// RFC 9293 section 3.8.6.2.1: after a time-out a window smaller than a segment is used.
#[test]
fn a_window_smaller_than_a_segment_gets_what_it_admits() {
    let (mut client, now) = client(&TcpParams::default(), 2);
    assert!(burst(&mut client, now).is_empty());
    let sent = sent_until(&mut client, Time::from_millis(320));
    let sent: Vec<_> = sent.iter().filter(|s| s.1.len > 0).collect();
    assert_eq!((sent[0].1.seq, sent[0].1.len), (1, 512));
}

/// RFC 9293 section 3.10.7.4, RFC 5961 section 5.2: one is answered in 500 ms.
#[test]
fn an_acknowledgement_of_data_never_sent_is_answered_and_nothing_is_taken_from_it() {
    let (mut client, now) = client(&TcpParams::default(), 400);
    burst(&mut client, now);
    let wrong = Segment {
        len: 100,
        ..ack(1 << 20, 400)
    };
    for (after, answers) in [(1, 1), (2, 0), (502, 1)] {
        client.on_segment(&wrong, now + MS * after);
        let sent: Vec<_> = std::iter::from_fn(|| client.poll_transmit(now + MS * after)).collect();
        assert_eq!(sent.len(), answers, "{after} ms");
        assert!(sent.iter().all(|s| (s.len, s.ack) == (0, 1)), "{after} ms");
    }
    assert_eq!(client.receiver().bytes_in_order(), 0);
    assert_eq!(client.sender().bytes_acked(), 0);
}

/// RFC 9293 section 3.10.7.4: "if the ACK bit is off, drop the segment".
#[test]
fn a_segment_without_acknowledgement_is_dropped() {
    let (mut client, now) = client(&TcpParams::default(), 400);
    let bare = Segment {
        len: 100,
        flags: Flags::NONE,
        ..ack(0, 400)
    };
    client.on_segment(&bare, now);
    assert_eq!(client.receiver().bytes_in_order(), 0);
}

/// RFC 2883 section 4.2.1.
#[test]
fn what_a_segment_repeats_of_what_lies_above_it_is_reported() {
    let (mut client, now) = client(&TcpParams::default(), 400);
    std::iter::from_fn(|| client.poll_transmit(now)).for_each(drop);
    let data = |seq, len| Segment {
        seq,
        len,
        ..ack(1, 400)
    };
    client.on_segment(&data(1001, 1000), now);
    std::iter::from_fn(|| client.poll_transmit(now)).for_each(drop);
    client.on_segment(&data(1, 1500), now);
    let answer = client.poll_transmit(now).expect("an acknowledgement");
    let block = answer.sack[0];
    assert_eq!((answer.ack, answer.sack_count), (2001, 1));
    assert_eq!((block.start, block.end), (-1000, -500));
}

/// RFC 9293 section 3.5.2: what belongs to no connection is answered by a reset, by those that send resets.
#[test]
fn a_stray_acknowledgement_is_reset_only_where_resets_are_sent() {
    for resets in [false, true] {
        let params = TcpParams {
            resets,
            ..TcpParams::default()
        };
        let mut server = Endpoint::server(&params).expect("valid parameters");
        let now = Time::from_millis(1);
        server.on_segment(&ack(77, 400), now);
        let answer = server.poll_transmit(now).map(|s| (s.seq, s.flags));
        assert_eq!(answer, resets.then_some((77, Flags::RST)));
    }
}

/// RFC 5961 section 3.2.
#[test]
fn only_a_reset_with_the_next_number_is_believed() {
    let reset = |seq| Segment {
        seq,
        flags: Flags::RST,
        ..Segment::default()
    };
    let (mut client, now) = client(&TcpParams::default(), 400);
    burst(&mut client, now);
    client.on_segment(&reset(1 << 20), now);
    assert_eq!(client.poll_transmit(now), None);
    client.on_segment(&reset(1001), now);
    assert_eq!(client.poll_transmit(now).map(|s| (s.len, s.ack)), Some((0, 1)));
    assert!(client.is_established());
    client.on_segment(&reset(1), now);
    assert!(!client.is_established());
    assert_eq!((client.poll_transmit(now), client.timeout()), (None, None));
}
