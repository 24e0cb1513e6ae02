//! The sending side as a whole: what the paper says of it, one fact a test.

use super::*;
use crate::Scheme;
use crate::test_packet::{Drops, TestPacket, ms, rate, tid};
use crate::{Frame, Tid};
use sojourn_qdisc::{DropReason, QdiscSpec};
use sojourn_units::Bytes;

mod properties;

const BE: AccessCategory = AccessCategory::BestEffort;
const VO: AccessCategory = AccessCategory::Voice;
/// Two fast stations and a slow one, as in seed 002 section 3.2.
const RATES: [&str; 3] = ["ht mcs 15 sgi", "ht mcs 15 sgi", "ht mcs 0 sgi"];

/// A transmitter, what came of it, and the time.
pub(super) struct Bench {
    pub(super) t: Transmitter<TestPacket>,
    pub(super) drops: Drops,
    pub(super) arrived: Vec<Frame<TestPacket>>,
    pub(super) now: Time,
    pub(super) next_id: u64,
}

pub(super) fn node(station: u16) -> NodeId {
    NodeId::of_station(station)
}

impl Bench {
    pub(super) fn new(spec: &NodeSpec, peers: &[PeerSpec]) -> Self {
        Self {
            t: Transmitter::new(spec, peers, Band::Ghz5, 1, "ap").unwrap(),
            drops: Vec::new(),
            arrived: Vec::new(),
            now: ms(0),
            next_id: 0,
        }
    }

    fn of(scheme: Scheme) -> Self {
        let spec = NodeSpec {
            scheme,
            ..NodeSpec::ACCESS_POINT
        };
        let peers = RATES
            .iter()
            .zip(0..)
            .map(|(text, i)| PeerSpec::new(node(i), rate(text)));
        Self::new(&spec, &peers.collect::<Vec<_>>())
    }

    /// Enqueues `n` packets of 1514 bytes; each station and TID is a flow of its own.
    pub(super) fn put(&mut self, station: u16, tid: u8, n: u64) {
        for _ in 0..n {
            let packet = TestPacket::new(self.next_id, 1514, u32::from(station) * 8 + u32::from(tid)).with_tid(tid);
            self.next_id += 1;
            self.t.enqueue(node(station), packet, self.now, &mut self.drops);
        }
    }

    /// Sends the head of the category; `lost` are the frames of it that do not arrive.
    pub(super) fn send(&mut self, category: AccessCategory, lost: &[usize]) -> Completion {
        let head = self.t.head(category).unwrap();
        let airtime = head.airtime;
        let received = lost.iter().fold(u64::MAX, |all, i| all & !(1 << i));
        self.now += airtime;
        self.t.completed(
            category,
            received,
            airtime,
            self.now,
            &mut self.arrived,
            &mut self.drops,
        )
    }

    fn head_sequences(&self, category: AccessCategory) -> Vec<u16> {
        self.t
            .head(category)
            .unwrap()
            .frames
            .iter()
            .map(|f| f.sequence)
            .collect()
    }
}

#[test]
fn hardware_queue_holds_two() {
    for scheme in Scheme::ALL {
        let mut b = Bench::of(scheme);
        b.put(0, 0, 1);
        assert_eq!(b.t.hardware_queue(BE), 1);
        b.put(0, 0, 1);
        b.put(1, 0, 70);
        assert_eq!(b.t.hardware_queue(BE), 2, "{}", scheme.name());
        for _ in 0..3 {
            b.send(BE, &[]);
            assert!(b.t.hardware_queue(BE) <= 2);
        }
        assert_eq!(b.t.hardware_queue(VO), 0, "each category has its own");
    }
}

#[test]
fn aggregates_never_mix_tids() {
    for scheme in Scheme::ALL {
        let mut b = Bench::of(scheme);
        for _ in 0..20 {
            b.put(0, 0, 1);
            b.put(0, 3, 1);
            b.put(1, 0, 1);
        }
        let mut seen = Vec::new();
        while let Some(head) = b.t.head(BE) {
            assert!(head.frames.iter().all(|f| (f.peer, f.tid) == (head.peer, head.tid)));
            seen.push((head.peer, head.tid));
            b.send(BE, &[]);
        }
        assert_eq!(b.arrived.len(), 60);
        for key in [(node(0), tid(0)), (node(0), tid(3)), (node(1), tid(0))] {
            assert!(seen.contains(&key), "{}: {key:?}", scheme.name());
        }
    }
}

#[test]
fn the_two_tids_of_a_category_take_turns() {
    let mut b = Bench::of(Scheme::Airtime);
    b.put(0, 0, 200);
    b.put(0, 3, 200);
    b.send(BE, &[]);
    b.send(BE, &[]);
    let tids: Vec<u8> = (0..6)
        .map(|_| {
            let tid = b.t.head(BE).unwrap().tid.value();
            b.send(BE, &[]);
            tid
        })
        .collect();
    assert_eq!(tids, [0, 3, 0, 3, 0, 3].map(|t| if tids[0] == 0 { t } else { 3 - t }));
}

#[test]
fn retries_go_first() {
    for scheme in Scheme::ALL {
        let mut b = Bench::of(scheme);
        b.put(0, 0, 100);
        // The first two aggregates were built from the first two packets.
        assert_eq!((b.head_sequences(BE), b.t.hardware_queue(BE)), (vec![0], 2));
        b.send(BE, &[]);
        b.send(BE, &[]);
        let lost = b.send(BE, &[0, 5]);
        assert_eq!((lost.retried, lost.given_up, lost.window_start), (2, 0, None));
        // The aggregate that was built already goes before them: the receiver sees a gap.
        assert!(b.head_sequences(BE)[0] > 7);
        b.send(BE, &[]);
        assert_eq!(b.head_sequences(BE)[..2], [2, 7], "{}", scheme.name());
        assert_eq!(b.t.head(BE).unwrap().frames[0].transmissions, 1);
    }
}

#[test]
fn a_frame_64_ahead_of_the_oldest_waits() {
    let spec = NodeSpec {
        retries: 200,
        ..NodeSpec::ACCESS_POINT
    };
    let mut b = Bench::new(&spec, &[PeerSpec::new(node(0), rate("ht mcs 15 sgi"))]);
    b.put(0, 0, 200);
    let mut highest = 0;
    for _ in 0..20 {
        highest = highest.max(*b.head_sequences(BE).last().unwrap());
        // Frame 0 never arrives.
        let lost = b.head_sequences(BE).first() == Some(&0);
        b.send(BE, if lost { &[0] } else { &[] });
    }
    assert_eq!((highest, b.arrived.len()), (63, 63));
    assert_eq!(
        (b.head_sequences(BE), b.t.hardware_queue(BE)),
        (vec![0], 1),
        "it is alone until it arrives"
    );
    b.send(BE, &[]);
    assert_eq!(b.head_sequences(BE)[0], 64);
}

#[test]
fn a_frame_is_given_up_after_so_many_transmissions_and_the_window_moves() {
    let spec = NodeSpec {
        retries: 3,
        ..NodeSpec::ACCESS_POINT
    };
    let mut b = Bench::new(&spec, &[PeerSpec::new(node(0), rate("ht mcs 15 sgi"))]);
    b.put(0, 0, 1);
    for _ in 0..2 {
        let completion = b.send(BE, &[0]);
        assert_eq!((completion.retried, completion.window_start), (1, None));
    }
    let last = b.send(BE, &[0]);
    assert_eq!((last.given_up, last.window_start), (1, Some(1)));
    let (peer, drop) = b.drops[0];
    assert_eq!(
        (peer, drop.reason, drop.packet.id),
        (node(0), DropReason::RetryLimit, 0)
    );
    assert_eq!(drop.sojourn, b.now.since(ms(0)));
    let stats = b.t.peer_stats(node(0));
    assert_eq!(
        (stats.transmissions, stats.retries, stats.given_up, stats.aggregates),
        (3, 2, 1, 3)
    );
    assert_eq!((b.t.packets(), b.t.head(BE).is_none()), (0, true));
}

#[test]
fn voice_is_not_aggregated() {
    for scheme in Scheme::ALL {
        let mut b = Bench::of(scheme);
        b.put(0, 6, 10);
        b.put(0, 7, 10);
        b.put(0, 5, 10);
        let mut n = 0;
        while let Some(head) = b.t.head(VO) {
            assert!(head.single && head.frames.len() == 1);
            b.send(VO, &[]);
            n += 1;
        }
        assert_eq!(n, 20);
        b.send(AccessCategory::Video, &[]);
        b.send(AccessCategory::Video, &[]);
        assert_eq!(b.t.head(AccessCategory::Video).unwrap().frames.len(), 8, "video is");
    }
}

#[test]
fn a_voice_frame_is_sent_again_before_any_other_at_the_new_rate() {
    let mut b = Bench::of(Scheme::Airtime);
    b.put(0, 6, 3);
    b.send(VO, &[0]);
    assert_eq!((b.head_sequences(VO), b.t.hardware_queue(VO)), (vec![0], 2));
    b.t.set_rate(node(0), rate("ht mcs 0"));
    b.send(VO, &[0]);
    let head = b.t.head(VO).unwrap();
    assert_eq!((head.rate, head.frames[0].transmissions), (rate("ht mcs 0"), 2));
    for _ in 0..3 {
        b.send(VO, &[]);
    }
    assert_eq!(b.arrived.iter().map(|f| f.packet.id).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn the_driver_holds_123_frames_and_the_discipline_the_rest() {
    for scheme in [Scheme::Fifo, Scheme::FqCodel] {
        let mut b = Bench::of(scheme);
        b.put(2, 0, 200);
        let held = |b: &Bench| {
            let built: usize = b.t.sender.hardware[BE.index()].iter().map(|a| a.frames.len()).sum();
            let above = b.t.qdisc_backlog(BE).unwrap().packets;
            (b.t.tid_backlog(node(2), tid(0)).packets + built as u64, above)
        };
        assert_eq!(held(&b), (123, 77));
        // A fast station finds the driver full of the slow one's frames.
        b.put(0, 0, 5);
        assert_eq!((b.t.tid_backlog(node(0), tid(0)).packets, held(&b)), (0, (123, 82)));
        // A frame that is to be sent again still counts.
        b.send(BE, &[0]);
        assert_eq!(held(&b).0 + 1, 123);
        assert_eq!(b.t.packets(), 205);
    }
}

#[test]
fn what_takes_the_places_of_those_that_left_misses_the_turn() {
    let spec = NodeSpec {
        scheme: Scheme::Fifo,
        driver_frames: 4,
        ..NodeSpec::ACCESS_POINT
    };
    let mut b = Bench::new(&spec, &[PeerSpec::new(node(0), rate("ht mcs 7"))]);
    // Two go to the hardware as they come, two wait in the driver, the fifth above it.
    b.put(0, 0, 5);
    b.send(BE, &[]);
    let built: Vec<usize> = b.t.sender.hardware[BE.index()].iter().map(|a| a.frames.len()).collect();
    assert_eq!((built, b.t.tid_backlog(node(0), tid(0)).packets), (vec![1, 2], 1));
    assert_eq!(b.t.qdisc_backlog(BE).unwrap().packets, 0);
}

#[test]
fn the_discipline_drops_for_the_peer_that_the_packet_was_for() {
    let spec = NodeSpec {
        scheme: Scheme::Fifo,
        qdisc: QdiscSpec::parse("pfifo limit 10", None).ok(),
        driver_frames: 5,
        ..NodeSpec::ACCESS_POINT
    };
    let mut b = Bench::new(
        &spec,
        &[
            PeerSpec::new(node(0), rate("ht mcs 0")),
            PeerSpec::new(node(1), rate("ht mcs 0")),
        ],
    );
    b.put(0, 0, 15);
    b.put(1, 0, 2);
    b.put(1, 5, 2);
    assert_eq!(
        b.drops.iter().map(|(n, d)| (*n, d.packet.id)).collect::<Vec<_>>(),
        [(node(1), 15), (node(1), 16)]
    );
    assert_eq!(
        (
            b.t.tid_stats(node(1), tid(0)).overlimit,
            b.t.tid_stats(node(0), tid(0)).overlimit
        ),
        (2, 0)
    );
}

/// With equal turns the airtime goes by the length of an aggregate; with Algorithm 3 it is equal.
#[test]
fn turns_by_aggregates_favour_the_slow_and_turns_by_airtime_nobody() {
    let airtimes = RATES.map(|text| {
        let frames = if text.contains("15") { 32 } else { 2 };
        rate(text).exchange(Bytes::new(1544 * frames - 2), crate::Response::BlockAck, Band::Ghz5)
    });
    let total: f64 = airtimes.iter().map(|a| a.as_secs_f64()).sum();
    for (scheme, shares) in [
        (Scheme::FqMac, airtimes.map(|a| a.as_secs_f64() / total)),
        (Scheme::Airtime, [1.0 / 3.0; 3]),
    ] {
        let mut b = Bench::of(scheme);
        while b.now < ms(20_000) {
            for station in 0..3 {
                while b.t.tid_backlog(node(station), tid(0)).packets < 100 {
                    b.put(station, 0, 1);
                }
            }
            b.send(BE, &[]);
            b.drops.clear();
            b.arrived.clear();
        }
        let used: f64 = (0..3).map(|s| b.t.peer_stats(node(s)).airtime_tx.as_secs_f64()).sum();
        for (station, share) in (0..3).zip(shares) {
            let own = b.t.peer_stats(node(station)).airtime_tx.as_secs_f64() / used;
            assert!(
                (own / share - 1.0).abs() < 0.01,
                "{} {station}: {own}, not {share}",
                scheme.name()
            );
        }
    }
}

#[test]
fn what_is_received_is_charged_by_option() {
    for charged in [true, false] {
        let spec = NodeSpec {
            airtime_rx: charged,
            airtime_tx: !charged,
            ..NodeSpec::ACCESS_POINT
        };
        let mut b = Bench::new(&spec, &[PeerSpec::new(node(0), rate("ht mcs 7"))]);
        b.t.on_receive(node(0), BE, Duration::from_micros(100), b.now);
        let after_rx = if charged { 200_000 } else { 300_000 };
        assert_eq!(b.t.credit(node(0), BE), Some(after_rx));
        b.put(0, 0, 1);
        let airtime = b.t.head(BE).unwrap().airtime;
        b.send(BE, &[]);
        let after_tx = if charged {
            after_rx
        } else {
            after_rx - airtime.as_nanos().cast_signed()
        };
        assert_eq!(b.t.credit(node(0), BE), Some(after_tx));
        let stats = b.t.peer_stats(node(0));
        assert_eq!(
            (stats.airtime_rx, stats.airtime_tx),
            (Duration::from_micros(100), airtime),
            "counted anyway"
        );
        b.t.begin();
        assert_eq!(b.t.peer_stats(node(0)), PeerStats::default());
    }
}

#[test]
fn frames_tell_when_they_came_and_when_they_were_built() {
    for scheme in Scheme::ALL {
        let mut b = Bench::of(scheme);
        b.now = ms(3);
        b.put(2, 0, 1);
        b.put(2, 0, 5);
        let built = b.send(BE, &[]);
        assert_eq!(
            (built.arrived, b.arrived[0].enqueued, b.arrived[0].dequeued),
            (1, ms(3), ms(3))
        );
        let at = b.now;
        b.send(BE, &[]);
        b.send(BE, &[]);
        let times: Vec<_> = b.arrived.iter().map(|f| (f.enqueued, f.dequeued)).collect();
        assert_eq!(
            times[1..],
            [(ms(3), ms(3)), (ms(3), at), (ms(3), at)],
            "{}",
            scheme.name()
        );
    }
}

#[test]
fn peers_must_be_some_and_differ() {
    let new = |peers: &[PeerSpec]| {
        Transmitter::<TestPacket>::new(&NodeSpec::ACCESS_POINT, peers, Band::Ghz5, 1, "ap")
            .unwrap_err()
            .to_string()
    };
    let peer = PeerSpec::new(node(0), rate("ht mcs 7"));
    assert_eq!(new(&[]), "ap.peers is 0, but must be 1 to 4096");
    assert_eq!(
        new(&[peer, peer]),
        "ap.peers is node 1 twice, but must be each node once"
    );
    assert_eq!(
        new(&[PeerSpec { weight: 0, ..peer }]),
        "ap.weight is 0, but must be 1 to 65535"
    );
}
