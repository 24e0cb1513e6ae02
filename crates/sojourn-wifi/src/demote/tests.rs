//! Which queues are demoted, and what becomes of their packets.

use crate::queues::{WifiQueues, WifiQueuesParams};
use crate::test_packet::{Drops, TestPacket, ms, tid};
use crate::{NodeId, PeerTid, Tid};
use sojourn_qdisc::{Backlog, CodelParams};
use sojourn_units::{Bytes, Duration};

struct Bench {
    q: WifiQueues<TestPacket>,
    drops: Drops,
    next: u64,
}

const VOICE: PeerTid = of(6);
const BEST_EFFORT: PeerTid = of(0);

const fn of(value: u8) -> PeerTid {
    match Tid::new(value) {
        Some(tid) => PeerTid { peer: 0, tid },
        None => panic!(),
    }
}

impl Bench {
    fn new() -> Self {
        let params = WifiQueuesParams {
            queues: 1024,
            limit: 8192,
            memory: Bytes::new(16 << 20),
            quantum: 300,
            // Never drops here.
            codel: CodelParams {
                target: Duration::from_secs(100),
                ..CodelParams::DEFAULT
            },
        };
        let mut q = WifiQueues::new(params, &[NodeId::of_station(0), NodeId::of_station(1)]);
        q.set_demotion(Duration::from_millis(20));
        Self {
            q,
            drops: Vec::new(),
            next: 0,
        }
    }

    /// Queues `n` packets as voice.
    fn put(&mut self, flow: u32, size: u64, n: u64, at: u64) {
        for _ in 0..n {
            let packet = TestPacket::new(self.next, size, flow).with_tid(6);
            self.next += 1;
            let to = self.q.admit(&packet, VOICE, ms(at));
            self.q.enqueue(packet, to, ms(at), &mut self.drops);
        }
    }

    fn take(&mut self, from: PeerTid, at: u64) -> Option<u64> {
        Some(self.q.dequeue(from, ms(at), &mut self.drops)?.packet.id)
    }

    fn packets(&self, of: PeerTid) -> u64 {
        self.q.backlog(of).packets
    }
}

#[test]
fn a_queue_that_waits_too_long_goes_over_with_all_that_is_in_it_in_order() {
    let mut b = Bench::new();
    b.put(1, 1514, 5, 0);
    assert_eq!(b.take(VOICE, 20), Some(0), "20 ms are not more than 20 ms");
    assert_eq!(b.q.take_demoted(), None);
    assert_eq!(b.take(VOICE, 21), Some(1));
    assert_eq!(b.q.take_demoted(), Some(0), "the scheduler is told");
    assert_eq!(b.q.backlog(VOICE), Backlog::default());
    let moved = Backlog {
        packets: 3,
        bytes: Bytes::new(3 * 1514),
    };
    assert_eq!(b.q.backlog(BEST_EFFORT), moved);
    b.put(1, 1514, 2, 22);
    assert_eq!(b.packets(VOICE), 0, "what comes later joins it");
    let order: Vec<_> = std::iter::from_fn(|| b.take(BEST_EFFORT, 23)).collect();
    assert_eq!(order, [2, 3, 4, 5, 6]);
    assert_eq!(b.q.demoted(0), 1);
    assert_eq!(b.q.stats(BEST_EFFORT).collisions, 0);
}

#[test]
fn small_packets_that_wait_stay_voice() {
    let mut b = Bench::new();
    b.put(1, 214, 8, 0);
    assert_eq!(b.take(VOICE, 500), Some(0));
    assert_eq!(
        (b.packets(VOICE), b.packets(BEST_EFFORT)),
        (7, 0),
        "7 x 214 bytes are no full frame"
    );
    b.put(1, 214, 1, 500);
    b.take(VOICE, 501);
    assert_eq!((b.packets(VOICE), b.q.demoted(0)), (7, 0));
}

#[test]
fn other_flows_stay_voice() {
    let mut b = Bench::new();
    b.put(1, 1514, 5, 0);
    b.take(VOICE, 30);
    b.put(2, 214, 1, 31);
    assert_eq!((b.packets(VOICE), b.packets(BEST_EFFORT)), (1, 4));
}

#[test]
fn a_queue_is_admitted_again_when_it_is_empty_and_has_rested_for_a_second() {
    let mut b = Bench::new();
    b.put(1, 1514, 5, 0);
    b.take(VOICE, 30);
    while b.take(BEST_EFFORT, 30).is_some() {}
    // The last packet that waited long with a full frame behind it left at 30 ms.
    b.put(1, 1514, 1, 1029);
    assert_eq!(b.packets(BEST_EFFORT), 1);
    b.put(1, 1514, 1, 1031);
    assert_eq!(
        b.packets(BEST_EFFORT),
        2,
        "not while it has packets there: they would overtake each other"
    );
    while b.take(BEST_EFFORT, 1031).is_some() {}
    b.put(1, 1514, 1, 1031);
    assert_eq!((b.packets(VOICE), b.packets(BEST_EFFORT)), (1, 0));
}

#[test]
fn waiting_on_as_best_effort_renews_it() {
    let mut b = Bench::new();
    b.put(1, 1514, 5, 0);
    b.take(VOICE, 30);
    b.take(BEST_EFFORT, 900);
    while b.take(BEST_EFFORT, 910).is_some() {}
    b.put(1, 1514, 1, 1800);
    assert_eq!(b.packets(BEST_EFFORT), 1, "until 1900 ms");
}

#[test]
fn another_station_on_the_same_queue_is_not_demoted() {
    let mut b = Bench::new();
    b.put(1, 1514, 5, 0);
    b.take(VOICE, 30);
    let other = PeerTid { peer: 1, tid: tid(6) };
    assert_eq!(b.q.admit(&TestPacket::new(9, 1514, 1), other, ms(31)), other);
}
