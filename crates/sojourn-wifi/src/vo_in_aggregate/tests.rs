//! Who rides, in which order, and what is left behind.

use crate::test_packet::{Drops, TestPacket, ms, rate};
use crate::{AccessCategory, Band, Frame, NodeId, NodeSpec, PeerSpec, Policies, Transmitter};
use sojourn_units::Duration;

const BE: AccessCategory = AccessCategory::BestEffort;
const VO: AccessCategory = AccessCategory::Voice;

struct Bench {
    t: Transmitter<TestPacket>,
    drops: Drops,
    arrived: Vec<Frame<TestPacket>>,
}

impl Bench {
    fn new(text: &str, most: u32) -> Self {
        Self::holding(text, most, 0)
    }

    fn holding(text: &str, most: u32, hold: u32) -> Self {
        let spec = NodeSpec {
            policies: Policies {
                vo_in_aggregate: Some(most),
                vo_hold: hold,
                ..Policies::NONE
            },
            ..NodeSpec::ACCESS_POINT
        };
        let peers = [0, 1].map(|i| PeerSpec::new(NodeId::of_station(i), rate(text)));
        Self {
            t: Transmitter::new(&spec, &peers, Band::Ghz5, 1, "ap").unwrap(),
            drops: Vec::new(),
            arrived: Vec::new(),
        }
    }

    fn put(&mut self, station: u16, tid: u8, size: u64, ids: std::ops::Range<u64>) {
        for id in ids {
            let packet = TestPacket::new(id, size, u32::from(station) * 8 + u32::from(tid)).with_tid(tid);
            self.t
                .enqueue(NodeId::of_station(station), packet, ms(0), &mut self.drops);
        }
    }

    fn send(&mut self, category: AccessCategory, received: u64) {
        let airtime = self.t.head(category).unwrap().airtime;
        self.t
            .completed(category, received, airtime, ms(1), &mut self.arrived, &mut self.drops);
    }

    fn head(&self, category: AccessCategory) -> Vec<u64> {
        let head = self.t.head(category);
        head.map_or(Vec::new(), |a| a.frames.iter().map(|f| f.packet.id).collect())
    }
}

#[test]
fn queued_voice_rides_at_the_head() {
    let mut b = Bench::new("ht mcs 15 sgi", 2);
    // The first two of each category go to the hardware alone.
    b.put(0, 0, 1514, 0..12);
    b.put(0, 6, 214, 100..105);
    b.send(BE, 1);
    assert_eq!(b.head(BE), [1]);
    b.send(BE, 1);
    assert_eq!(b.head(BE), [102, 103, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    let head = b.t.head(BE).unwrap();
    assert!(head.frames.iter().all(|f| f.tid == head.tid && head.tid.value() == 0));
    let numbers: Vec<u16> = head.frames.iter().map(|f| f.sequence).collect();
    assert_eq!(numbers, (2..14).collect::<Vec<u16>>(), "numbered as best effort");
    assert_eq!(b.t.peer_stats(NodeId::of_station(0)).voice_in_aggregates, 2);
    b.send(VO, 1);
    b.send(VO, 1);
    assert_eq!(b.head(VO), [104], "the rest goes as voice");
}

#[test]
fn frames_to_be_sent_again_go_before_it() {
    let mut b = Bench::new("ht mcs 15 sgi", 8);
    b.put(0, 0, 1514, 0..4);
    b.send(BE, 1);
    b.put(0, 6, 214, 100..103);
    b.send(BE, 0);
    // 2 and 3 were built when 0 was complete.
    assert_eq!(b.head(BE), [2, 3]);
    b.send(BE, 3);
    assert_eq!(b.head(BE), [1, 102]);
}

#[test]
fn voice_of_others_does_not_ride() {
    let mut b = Bench::new("ht mcs 15 sgi", 8);
    b.put(0, 0, 1514, 0..4);
    b.put(1, 6, 214, 100..104);
    b.send(BE, 1);
    b.send(BE, 1);
    assert_eq!(b.head(BE), [2, 3]);
}

/// At 7.2 Mbit/s 4 ms are 3.6 kB: two full frames, or one of them and six of voice.
#[test]
fn what_finds_no_room_is_not_lost_and_keeps_its_order() {
    let mut b = Bench::new("ht mcs 0 sgi", 64);
    b.put(0, 0, 1514, 0..40);
    b.put(0, 6, 1000, 100..120);
    let mut on_air = 0;
    while b.t.head(BE).is_some() || b.t.head(VO).is_some() {
        let category = if b.t.head(VO).is_some() && on_air % 3 == 0 {
            VO
        } else {
            BE
        };
        let category = if b.t.head(category).is_some() {
            category
        } else if category == VO {
            BE
        } else {
            VO
        };
        assert!(b.t.head(category).unwrap().airtime < Duration::from_micros(4200));
        b.send(category, u64::MAX);
        on_air += 1;
        let total = b.t.packets() as usize + b.arrived.len();
        assert_eq!((total, b.drops.len()), (60, 0));
    }
    let ids = |voice: bool| {
        b.arrived
            .iter()
            .map(|f| f.packet.id)
            .filter(move |id| (*id >= 100) == voice)
    };
    assert_eq!(ids(false).collect::<Vec<_>>(), (0..40).collect::<Vec<_>>());
    let mut voice: Vec<u64> = ids(true).collect();
    voice.sort_unstable();
    assert_eq!(voice, (100..120).collect::<Vec<_>>());
    assert!(b.t.peer_stats(NodeId::of_station(0)).voice_in_aggregates > 5);
}

#[test]
fn nothing_rides_at_a_rate_without_aggregates() {
    let mut b = Bench::new("ofdm 54mbit", 8);
    b.put(0, 0, 1514, 0..4);
    b.put(0, 6, 214, 100..104);
    b.send(BE, 1);
    b.send(BE, 1);
    assert_eq!(b.head(BE), [2]);
}

#[test]
fn held_voice_waits_for_an_aggregate_and_goes_by_itself_when_it_is_too_much() {
    let mut b = Bench::holding("ht mcs 15 sgi", 8, 1);
    b.put(0, 6, 214, 100..101);
    assert_eq!(b.head(VO), [100], "nothing else is queued: it does not wait");
    b.send(VO, 1);
    b.put(0, 0, 1514, 0..40);
    b.put(0, 6, 214, 101..102);
    assert_eq!(b.head(VO), [0; 0], "it waits");
    b.send(BE, 1);
    b.send(BE, 1);
    assert_eq!(b.head(BE)[..2], [101, 2]);
    b.put(0, 6, 214, 102..104);
    assert_eq!(b.head(VO), [102], "two are too much");
}

#[test]
fn held_voice_goes_when_there_is_no_aggregate_to_wait_for() {
    let mut b = Bench::holding("ht mcs 15 sgi", 1, 2);
    b.put(0, 0, 1514, 0..3);
    b.put(0, 6, 214, 100..102);
    assert_eq!(b.head(VO), [0; 0]);
    // 2 is built with one voice frame; best effort has nothing more.
    b.send(BE, 1);
    assert_eq!(b.head(VO), [101]);
    b.send(BE, 1);
    assert_eq!(b.head(BE), [100, 2]);
    assert_eq!(b.t.packets(), 3);
}
