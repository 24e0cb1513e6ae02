use super::*;
use crate::Flags;

const KARN: Retransmissions = Retransmissions::Karn;
const NEWEST: Retransmissions = Retransmissions::NewestCopy;
const END: SampleOf = SampleOf::AcknowledgedEnd;

fn segment(seq: u32, payload: u32) -> Segment {
    Segment {
        src: "192.0.2.1:5001".parse().unwrap(),
        dst: "198.51.100.1:80".parse().unwrap(),
        seq,
        ack: 0,
        flags: Flags {
            ack: true,
            ..Flags::default()
        },
        payload,
        wire: payload + 52,
        window: 1000,
        timestamps: None,
        sack: false,
        station: None,
    }
}

fn acknowledgement(ack: u32) -> Segment {
    Segment { ack, ..segment(0, 0) }
}

/// One flow that sends segments of 1000 bytes: sequence number, and when, in milliseconds.
struct Sender(Outstanding, Retransmissions, SampleOf);

impl Sender {
    fn new(policy: Retransmissions) -> Self {
        Self(Outstanding::default(), policy, END)
    }
    fn send(&mut self, seq: u32, at: u64) -> Sent {
        self.0
            .on_data(&segment(seq, 1000), Time::from_millis(at), 0, self.1, 100)
    }
    fn ack(&mut self, ack: u32, at: u64) -> Acked {
        self.0
            .on_ack(&acknowledgement(ack), Time::from_millis(at), 0, self.1, self.2)
    }
    /// The RTT in milliseconds.
    fn rtt(&mut self, ack: u32, at: u64) -> Option<u64> {
        match self.ack(ack, at) {
            Acked::New(covered) => covered.rtt.map(Duration::as_millis),
            other => panic!("{other:?}"),
        }
    }
}

/// Section 4.3's example: 1 to 6 are sent, 3 is acknowledged; 1 to 3 are deleted and the RTT is that of 3.
#[test]
fn an_acknowledgement_deletes_all_before_it_and_the_youngest_gives_the_rtt() {
    let mut sender = Sender::new(NEWEST);
    for n in 1..=6 {
        assert_eq!(sender.send(n * 1000, u64::from(n)), Sent::New);
    }
    let Acked::New(covered) = sender.ack(4000, 53) else {
        panic!("new")
    };
    assert_eq!(covered.rtt, Some(Duration::from_millis(50)));
    assert_eq!((covered.payload, covered.wire), (3000, 3156));
    assert_eq!((covered.youngest_payload, covered.youngest_wire), (1000, 1052));
    assert_eq!(sender.0.remembered(), 3);
    assert_eq!(sender.0.in_flight(), 3000);
}

/// Section 4.3: a packet that is sent again gets the new time; Karn's rule takes no sample of it.
#[test]
fn of_a_segment_sent_twice_the_newest_copy_counts_or_none() {
    for (policy, expected) in [(NEWEST, Some(30)), (KARN, None)] {
        let mut sender = Sender::new(policy);
        sender.send(0, 0);
        assert_eq!(sender.send(0, 200), Sent::Again);
        assert_eq!(sender.rtt(1000, 230), expected);
    }
}

/// Section 4.8 wonders about RTTs that are too high. The first of three is lost and sent again at 300 ms; the third,
/// which arrived long before, is what the acknowledgement at 350 ms ends with. Matched with it, the RTT seems to be
/// 348 ms; matched with what was sent last, the retransmission, it is 50 ms. Karn's rule takes neither.
#[test]
fn an_acknowledgement_that_fills_a_hole_gives_a_spike_unless_it_is_matched_with_what_filled_it() {
    let last = SampleOf::LastSent;
    for (policy, sample_of, expected) in [
        (NEWEST, END, Some(348)),
        (NEWEST, last, Some(50)),
        (KARN, END, None),
        (KARN, last, None),
    ] {
        let mut sender = Sender(Outstanding::default(), policy, sample_of);
        for (seq, at) in [(0, 0), (1000, 1), (2000, 2)] {
            sender.send(seq, at);
        }
        assert_eq!(sender.send(0, 300), Sent::Again);
        assert_eq!(sender.rtt(3000, 350), expected);
    }
}

/// Section 4.3's example has no loss: 3 of 1 to 3 was sent last, and both readings take it. An acknowledgement in the
/// middle of a segment has no corresponding packet, whatever was sent last before it.
#[test]
fn without_a_loss_what_was_sent_last_is_what_the_acknowledgement_ends_with() {
    for sample_of in [END, SampleOf::LastSent] {
        let mut sender = Sender(Outstanding::default(), NEWEST, sample_of);
        for n in 1..=6 {
            sender.send(n * 1000, u64::from(n));
        }
        assert_eq!(sender.rtt(4000, 53), Some(50));
        assert_eq!(sender.rtt(5500, 60), None);
    }
}

#[test]
fn what_was_never_sent_cannot_be_acknowledged() {
    let mut sender = Sender::new(KARN);
    assert_eq!(sender.ack(5, 0), Acked::Unknown);
    sender.send(0, 0);
    assert_eq!(sender.ack(1001, 1), Acked::Beyond);
    assert_eq!(sender.ack(1 << 31, 1), Acked::Old);
    assert_eq!(sender.rtt(1000, 20), Some(20));
}

#[test]
fn an_acknowledgement_played_again_tells_nothing() {
    let mut sender = Sender::new(KARN);
    sender.send(0, 0);
    sender.send(1000, 1);
    sender.rtt(1000, 20);
    assert_eq!(sender.ack(1000, 21), Acked::Duplicate);
    sender.rtt(2000, 22);
    assert_eq!(sender.ack(1000, 23), Acked::Old);
}

#[test]
fn sequence_numbers_wrap_at_two_to_the_32() {
    let mut sender = Sender::new(KARN);
    let start = u32::MAX - 2499;
    for n in 0..5u32 {
        assert_eq!(sender.send(start.wrapping_add(n * 1000), u64::from(n)), Sent::New);
    }
    assert_eq!(sender.0.in_flight(), 5000);
    assert_eq!(sender.rtt(500, 42), Some(40));
    assert_eq!(sender.rtt(2500, 64), Some(60));
    assert_eq!(sender.0.in_flight(), 0);
}

#[test]
fn syn_and_fin_count_one_each() {
    let mut flow = Outstanding::default();
    let syn = Segment {
        flags: Flags {
            syn: true,
            ..Flags::default()
        },
        ..segment(999, 0)
    };
    flow.on_data(&syn, Time::ZERO, 0, KARN, 100);
    let Acked::New(covered) = flow.on_ack(&acknowledgement(1000), Time::from_millis(10), 0, KARN, END) else {
        panic!("new")
    };
    assert_eq!(covered.rtt, Some(Duration::from_millis(10)));
    let fin = Segment {
        flags: Flags {
            fin: true,
            ack: true,
            ..Flags::default()
        },
        ..segment(1000, 500)
    };
    flow.on_data(&fin, Time::from_millis(11), 0, KARN, 100);
    assert_eq!(flow.in_flight(), 501);
    let Acked::New(covered) = flow.on_ack(&acknowledgement(1501), Time::from_millis(31), 0, KARN, END) else {
        panic!("new")
    };
    assert_eq!(covered.rtt, Some(Duration::from_millis(20)));
}

#[test]
fn a_new_connection_on_the_same_ports_begins_anew_and_a_syn_sent_again_does_not() {
    let mut sender = Sender::new(KARN);
    sender.send(0, 0);
    let syn = Segment {
        flags: Flags {
            syn: true,
            ..Flags::default()
        },
        ..segment(700_000, 0)
    };
    assert_eq!(sender.0.on_data(&syn, Time::from_millis(5), 0, KARN, 100), Sent::Anew);
    assert_eq!(sender.0.in_flight(), 1);
    assert_eq!(sender.0.on_data(&syn, Time::from_millis(6), 0, KARN, 100), Sent::Again);
    assert_eq!(sender.0.in_flight(), 1);
}

#[test]
fn an_acknowledgement_inside_a_segment_moves_on_without_a_sample() {
    let mut sender = Sender::new(KARN);
    sender.send(0, 0);
    sender.send(1000, 1);
    assert_eq!(sender.rtt(1500, 20), None);
    assert_eq!(sender.0.in_flight(), 500);
    assert_eq!(sender.rtt(2000, 31), Some(30));
}

#[test]
fn memory_stays_within_the_bound_and_room_is_made_by_acknowledgements() {
    let mut flow = Outstanding::default();
    for n in 0..50u32 {
        let sent = flow.on_data(&segment(n * 1000, 1000), Time::from_millis(u64::from(n)), 0, KARN, 16);
        assert_eq!(sent, if n < 16 { Sent::New } else { Sent::Untracked });
    }
    assert_eq!(flow.remembered(), 16);
    assert_eq!((flow.in_flight(), flow.captured_in_flight()), (50_000, 16_000));
    let Acked::New(covered) = flow.on_ack(&acknowledgement(16_000), Time::from_millis(100), 0, KARN, END) else {
        panic!("new")
    };
    assert_eq!(covered.rtt, Some(Duration::from_millis(85)));
    assert_eq!(
        flow.on_data(&segment(50_000, 1000), Time::from_millis(101), 0, KARN, 16),
        Sent::New
    );
}

#[test]
fn a_sequence_number_far_away_begins_the_flow_anew() {
    let mut sender = Sender::new(KARN);
    sender.send(0, 0);
    assert_eq!(sender.send(0x6000_0000, 1), Sent::Resync);
    assert_eq!(sender.rtt(0x6000_0000 + 1000, 21), Some(20));
}

/// The network swapped two before they were captured: the later one is new all the same, and no loss.
#[test]
fn data_captured_out_of_order_is_no_retransmission() {
    let mut sender = Sender::new(KARN);
    sender.send(0, 0);
    sender.send(2000, 1);
    assert_eq!(sender.send(1000, 2), Sent::New);
    assert_eq!(sender.rtt(1000, 20), Some(20));
    assert_eq!(sender.rtt(3000, 25), None);
}

#[test]
fn what_was_on_its_way_when_the_clock_stepped_gives_no_sample() {
    let mut flow = Outstanding::default();
    flow.on_data(&segment(0, 1000), Time::from_millis(1), 0, NEWEST, 16);
    let Acked::New(covered) = flow.on_ack(&acknowledgement(1000), Time::from_millis(2), 1, NEWEST, END) else {
        panic!("new")
    };
    assert_eq!((covered.rtt, covered.payload), (None, 1000));
}

#[test]
fn a_sequence_number_far_ahead_is_no_data_in_flight() {
    let mut sender = Sender::new(KARN);
    sender.send(0, 0);
    sender
        .0
        .on_data(&segment(800_000, 1), Time::from_millis(1), 0, KARN, 100);
    assert_eq!((sender.0.in_flight(), sender.0.captured_in_flight()), (800_001, 1001));
    sender.ack(1000, 20);
    assert_eq!(sender.0.captured_in_flight(), 1);
    // What is acknowledged inside a segment is not in flight any more.
    sender.send(800_001, 21);
    sender.ack(800_500, 30);
    assert_eq!(sender.0.captured_in_flight(), 501);
}

#[test]
fn packets_are_answered_by_another_station_than_the_one_that_sent_them() {
    let (here, there) = (Some([1; 8]), Some([2; 8]));
    for (sent, answered, bytes) in [
        (here, there, 1052),
        (here, here, 0),
        (None, here, 1052),
        (here, None, 1052),
        (None, None, 1052),
    ] {
        let mut flow = Outstanding::default();
        let data = Segment {
            station: sent,
            ..segment(0, 1000)
        };
        flow.on_data(&data, Time::ZERO, 0, KARN, 16);
        let ack = Segment {
            station: answered,
            ..acknowledgement(1000)
        };
        let Acked::New(covered) = flow.on_ack(&ack, Time::from_millis(10), 0, KARN, END) else {
            panic!("new")
        };
        assert_eq!((covered.answered, covered.wire), (bytes, 1052), "{sent:?} {answered:?}");
    }
}

/// The largest window there is, 2^30 bytes, ahead of what was acknowledged and behind what was sent.
#[test]
fn farther_than_a_window_is_another_connection() {
    const WINDOW: u32 = 1 << 30;
    let sent = |acknowledged: bool, end: u32| {
        let mut sender = Sender::new(KARN);
        sender.send(0, 0);
        if acknowledged {
            sender.ack(1000, 1);
        }
        sender.send(end.wrapping_sub(1000), 2)
    };
    for (acknowledged, end, expected) in [
        (true, 1000 + WINDOW, Sent::New),
        (true, 1000 + WINDOW + 1, Sent::Resync),
        (false, WINDOW, Sent::New),
        (false, WINDOW + 1, Sent::Resync),
        (false, 1000 + WINDOW, Sent::Resync),
        (true, 1000_u32.wrapping_sub(WINDOW), Sent::Stale),
        (true, 1000_u32.wrapping_sub(WINDOW + 1), Sent::Resync),
        (true, 1000 + (1 << 31), Sent::Resync),
    ] {
        assert_eq!(sent(acknowledged, end), expected, "{acknowledged} {end}");
    }
}

/// A sender repacks: the end of what was sent comes again together with new data.
#[test]
fn what_overlaps_is_sent_again_in_both_parts() {
    for (policy, first, second) in [(NEWEST, Some(80), Some(90)), (KARN, None, None)] {
        let mut sender = Sender::new(policy);
        sender.send(0, 0);
        assert_eq!(sender.send(500, 20), Sent::Again);
        assert_eq!(sender.rtt(1000, 100), first);
        assert_eq!(sender.rtt(1500, 110), second);
    }
}

#[test]
fn data_captured_out_of_order_is_in_flight() {
    let mut sender = Sender::new(KARN);
    for seq in [0, 2000, 1000] {
        sender.send(seq, 0);
    }
    assert_eq!((sender.0.in_flight(), sender.0.captured_in_flight()), (3000, 3000));
}

#[test]
fn what_is_before_the_acknowledgement_is_acknowledged() {
    let mut sender = Sender::new(KARN);
    assert!(sender.0.acknowledged(7));
    sender.send(0, 0);
    assert!(sender.0.acknowledged(0) && !sender.0.acknowledged(1));
    sender.ack(1000, 1);
    assert!(sender.0.acknowledged(1000) && !sender.0.acknowledged(1001));
}
