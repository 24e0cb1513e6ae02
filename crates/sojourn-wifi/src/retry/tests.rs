//! The Block Ack window, by hand.

use super::*;
use crate::NodeId;
use crate::test_packet::{TestPacket, ms, tid};
use sojourn_units::Bytes;

fn frame(sequence: u16) -> Frame<TestPacket> {
    Frame {
        packet: TestPacket::new(u64::from(sequence), 1000, 0),
        peer: NodeId(1),
        tid: tid(0),
        size: Bytes::new(1000),
        enqueued: ms(0),
        dequeued: ms(0),
        sequence,
        transmissions: 1,
        pending: Duration::ZERO,
    }
}

fn started(n: u16) -> Originator<TestPacket> {
    let mut o = Originator::default();
    for sequence in 0..n {
        assert_eq!(o.assign(), sequence);
    }
    o
}

#[test]
fn the_window_is_64_from_the_oldest_unsettled_frame() {
    let mut o = started(63);
    assert!(o.window_is_open());
    o.assign();
    assert!(!o.window_is_open());
    for sequence in 1..64 {
        o.acknowledged(sequence);
    }
    assert_eq!(o.advance(), None);
    assert!(!o.window_is_open(), "frame 0 is still out");
    o.acknowledged(0);
    assert_eq!(o.advance(), None);
    assert_eq!((o.start, o.next), (64, 64));
}

#[test]
fn a_frame_given_up_moves_the_window_and_is_announced_when_it_does() {
    let mut o = started(4);
    o.give_up(2);
    o.acknowledged(3);
    assert_eq!(o.advance(), None, "frames 0 and 1 may still arrive");
    o.acknowledged(0);
    assert_eq!(o.advance(), None);
    o.acknowledged(1);
    assert_eq!(o.advance(), Some(4));
    assert_eq!(o.assign(), 4);
    o.give_up(4);
    assert_eq!(o.advance(), Some(5));
    assert_eq!(o.advance(), None, "once");
}

#[test]
fn retries_are_in_the_order_of_sequence_numbers_across_the_wrap() {
    let mut o = Originator::default();
    for _ in 0..4094 {
        let sequence = o.assign();
        o.acknowledged(sequence);
        o.advance();
    }
    let out: Vec<u16> = (0..6).map(|_| o.assign()).collect();
    assert_eq!(out, [4094, 4095, 0, 1, 2, 3]);
    for sequence in [0, 3, 4095, 4094, 2] {
        o.retry(frame(sequence));
    }
    let order: Vec<u16> = std::iter::from_fn(|| o.take_retry()).map(|f| f.sequence).collect();
    assert_eq!(order, [4094, 4095, 0, 2, 3]);
}

#[test]
fn all_64_frames_can_be_settled_at_once() {
    let mut o = started(64);
    for sequence in 0..64 {
        o.give_up(sequence);
    }
    assert_eq!(o.advance(), Some(64));
    assert_eq!((o.settled, o.given_up), (0, 0));
}
