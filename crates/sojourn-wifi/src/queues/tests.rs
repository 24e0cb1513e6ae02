//! Algorithms 1 and 2: examples worked by hand, and what holds for any sequence of packets.

use super::*;
use crate::test_packet::{Drops, TestPacket, ms, tid};
use proptest::prelude::*;

const PARAMS: WifiQueuesParams = WifiQueuesParams {
    queues: 16,
    limit: 1000,
    memory: Bytes::new(16 << 20),
    quantum: 300,
    codel: CodelParams {
        target: sojourn_units::Duration::from_millis(20),
        interval: sojourn_units::Duration::from_millis(100),
        ecn: true,
        mtu: Bytes::new(0),
        ..CodelParams::DEFAULT
    },
};

struct Bench {
    q: WifiQueues<TestPacket>,
    drops: Drops,
    next_id: u64,
}

fn of(peer: u16, value: u8) -> PeerTid {
    PeerTid { peer, tid: tid(value) }
}

impl Bench {
    fn new(params: WifiQueuesParams) -> Self {
        let nodes: Vec<NodeId> = (0..3).map(NodeId::of_station).collect();
        Self {
            q: WifiQueues::new(params, &nodes),
            drops: Vec::new(),
            next_id: 0,
        }
    }

    /// Enqueues `n` packets for a TID; answers the id of the first.
    fn put(&mut self, to: PeerTid, now: Time, n: u64, size: u64, flow: u32) -> u64 {
        let first = self.next_id;
        for id in first..first + n {
            self.q
                .enqueue(TestPacket::new(id, size, flow), to, now, &mut self.drops);
        }
        self.next_id += n;
        first
    }

    fn get(&mut self, from: PeerTid, now: Time) -> Option<u64> {
        self.q
            .dequeue(from, now, &mut self.drops)
            .map(|queued| queued.packet.id)
    }

    fn deficits(&self, queues: [usize; 2]) -> [i64; 2] {
        queues.map(|i| self.q.queues[i].deficit)
    }

    fn dropped(&mut self) -> Vec<(NodeId, u64)> {
        self.drops
            .drain(..)
            .map(|(node, drop)| (node, drop.packet.id))
            .collect()
    }
}

/// Two flows of one TID: three packets of 1000 bytes in queue 1, two of 100 in queue 2, quantum 300.
#[test]
fn algorithms_1_and_2_worked_by_hand() {
    let (mut b, a, now) = (Bench::new(PARAMS), of(0, 0), ms(1));
    b.put(a, now, 3, 1000, 1);
    b.put(a, now, 2, 100, 2);
    assert_eq!(b.deficits([1, 2]), [300, 300], "both are new");

    assert_eq!(b.get(a, now), Some(0), "queue 1 came first");
    assert_eq!(b.deficits([1, 2]), [-700, 300]);
    assert_eq!(
        b.get(a, now),
        Some(3),
        "queue 1 gets a quantum and becomes old; queue 2 is still new"
    );
    assert_eq!(b.deficits([1, 2]), [-400, 200]);
    assert_eq!(b.get(a, now), Some(4));
    assert_eq!(b.deficits([1, 2]), [-400, 100]);
    // Queue 2 is empty and becomes old behind queue 1. Queue 1: -100, behind queue 2. Queue 2: positive and empty, off
    // the list. Queue 1: 200, sends 1000.
    assert_eq!(b.get(a, now), Some(1));
    assert_eq!(b.deficits([1, 2]), [-800, 100]);
    assert_eq!((b.q.queues[1].tid, b.q.queues[2].tid), (Some(0), None));
    // -500, -200, 100, sends 1000.
    assert_eq!(b.get(a, now), Some(2));
    assert_eq!(b.deficits([1, 2]), [-900, 100]);
    // -600, -300, 0 which is not positive, 300, empty, off the list.
    assert_eq!(b.get(a, now), None);
    assert_eq!(b.deficits([1, 2]), [300, 100]);
    assert_eq!((b.q.queues[1].tid, b.q.queues[1].active), (None, false));
    assert_eq!((b.q.packets(), b.q.memory()), (0, 0));

    b.put(a, now, 1, 1000, 1);
    assert_eq!(b.deficits([1, 2]), [300, 100], "activation sets the deficit anew");
}

#[test]
fn a_hash_collision_between_tids_goes_to_the_overflow_queue() {
    let (mut b, a, c, now) = (Bench::new(PARAMS), of(0, 0), of(1, 5), ms(1));
    b.put(a, now, 1, 500, 7);
    let second = b.put(c, now, 2, 500, 7);
    b.put(c, now, 1, 500, 7 + 16);
    let overflow = 16 + c.index();
    assert_eq!(
        (b.q.queues[7].tid, b.q.queues[overflow].tid),
        (Some(0), Some(c.index() as u32))
    );
    assert_eq!((b.q.stats(a).collisions, b.q.stats(c).collisions), (0, 3));
    assert_eq!(b.q.backlog(c).packets, 3);
    assert_eq!(
        [b.get(a, now), b.get(a, now)],
        [Some(0), None],
        "each TID has its own packets"
    );
    assert_eq!(
        [b.get(c, now), b.get(c, now), b.get(c, now)],
        [second, second + 1, second + 2].map(Some)
    );
    // The first TID has let go of queue 7.
    b.put(c, now, 1, 500, 7);
    assert_eq!(
        (b.q.queues[7].tid, b.q.stats(c).collisions),
        (Some(c.index() as u32), 3)
    );
}

#[test]
fn two_flows_of_one_tid_may_share_a_queue() {
    let (mut b, a, now) = (Bench::new(PARAMS), of(0, 0), ms(1));
    b.put(a, now, 1, 500, 7);
    b.put(a, now, 1, 500, 7 + 16);
    assert_eq!((b.q.stats(a).collisions, b.q.stats(a).new_flows), (0, 1));
    assert_eq!([b.get(a, now), b.get(a, now)], [Some(0), Some(1)]);
}

#[test]
fn the_overflow_queue_takes_its_turn_like_any_other() {
    let (mut b, a, c, now) = (Bench::new(PARAMS), of(0, 0), of(1, 0), ms(1));
    b.put(a, now, 1, 300, 7);
    let own = b.put(c, now, 2, 300, 1);
    let overflow = b.put(c, now, 2, 300, 7);
    let order: Vec<u64> = std::iter::from_fn(|| b.get(c, now)).collect();
    assert_eq!(order, [own, overflow, own + 1, overflow + 1]);
}

#[test]
fn a_flow_that_starts_goes_before_one_that_has_sent_its_quantum() {
    let (mut b, a, now) = (Bench::new(PARAMS), of(0, 0), ms(1));
    b.put(a, now, 20, 1000, 1);
    b.put(a, now, 20, 1000, 2);
    for _ in 0..6 {
        b.get(a, now);
    }
    let sparse = b.put(a, now, 1, 100, 3);
    assert_eq!(b.get(a, now), Some(sparse));
}

#[test]
fn the_globally_longest_queue_is_dropped_from() {
    let params = WifiQueuesParams { limit: 10, ..PARAMS };
    let (mut b, now) = (Bench::new(params), ms(1));
    let long = b.put(of(2, 1), now, 7, 1000, 1);
    b.put(of(0, 0), now, 3, 1000, 2);
    let late = b.put(of(1, 6), ms(4), 1, 100, 3);
    let drop = b.drops[0].1;
    assert_eq!((drop.reason, drop.sojourn.as_millis()), (DropReason::QueueLimit, 3));
    assert_eq!(
        b.dropped(),
        [(NodeId::of_station(2), long)],
        "another station's, from the head"
    );
    assert_eq!(b.get(of(1, 6), ms(4)), Some(late), "the arrival is in");
    assert_eq!(b.get(of(2, 1), ms(4)), Some(long + 1));
    assert_eq!((b.q.stats(of(2, 1)).overlimit, b.q.stats(of(1, 6)).overlimit), (1, 0));
    assert_eq!(b.q.packets(), 8);
}

#[test]
fn a_flood_cannot_lock_out_another_flow() {
    let params = WifiQueuesParams { limit: 100, ..PARAMS };
    let (mut b, now) = (Bench::new(params), ms(1));
    for _ in 0..50 {
        b.put(of(0, 0), now, 40, 1000, 1);
        b.put(of(1, 0), now, 1, 1000, 2);
    }
    assert!(b.dropped().iter().all(|&(node, _)| node == NodeId::of_station(0)));
    assert_eq!((b.q.backlog(of(0, 0)).packets, b.q.backlog(of(1, 0)).packets), (50, 50));
}

#[test]
fn memory_is_limited_too_and_a_large_packet_may_cost_several_small_ones() {
    // 100 bytes cost 512 + 256 = 768 bytes of memory, 1514 cost 2048 + 256 = 2304.
    let params = WifiQueuesParams {
        memory: Bytes::new(4 * 768 + 100),
        ..PARAMS
    };
    let (mut b, a, now) = (Bench::new(params), of(0, 0), ms(1));
    b.put(a, now, 4, 100, 1);
    assert_eq!(b.q.memory(), 3072);
    b.put(a, now, 1, 1514, 2);
    assert!(b.drops.iter().all(|(_, drop)| drop.reason == DropReason::MemoryLimit));
    assert_eq!(b.dropped().iter().map(|d| d.1).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(b.q.memory(), 768 + 2304);
}

#[test]
fn codel_judges_each_queue_and_spares_its_last_packet() {
    let (mut b, a, now) = (Bench::new(PARAMS), of(0, 0), ms(1));
    b.put(a, now, 5, 1000, 1);
    b.put(a, ms(122), 1, 1000, 2);
    assert_eq!(b.get(a, ms(21)), Some(0), "at target for the first time");
    assert_eq!(b.get(a, ms(122)), Some(5), "queue 2, which is new, has no delay");
    assert_eq!(
        b.get(a, ms(122)),
        Some(2),
        "above target for more than an interval: 1 is dropped"
    );
    assert_eq!(b.dropped(), [(NodeId::of_station(0), 1)]);
    assert_eq!((b.q.stats(a).drops, b.q.stats(a).overlimit), (1, 0));
    // The next drop is due after interval / sqrt(1).
    assert_eq!(b.get(a, ms(500)), Some(4), "3 is dropped, 4 is the last of its queue");
    assert_eq!(b.dropped(), [(NodeId::of_station(0), 3)]);
}

#[test]
fn codel_marks_what_can_be_marked() {
    let (mut b, a) = (Bench::new(PARAMS), of(0, 0));
    for id in 0..4 {
        let packet = TestPacket {
            ecn: sojourn_units::Ecn::Ect0,
            ..TestPacket::new(id, 1000, 1)
        };
        b.q.enqueue(packet, a, ms(0), &mut b.drops);
    }
    assert_eq!([b.get(a, ms(20)), b.get(a, ms(121))], [Some(0), Some(1)]);
    assert_eq!((b.q.stats(a).marks, b.drops.len()), (1, 0));
    let gentle = CodelParams {
        ecn: false,
        ..PARAMS.codel
    };
    b.q.set_codel(0, gentle);
    assert_eq!(b.get(a, ms(500)), Some(3), "2 is dropped where marking is off");
}

#[test]
fn counters_start_over() {
    let (mut b, a, now) = (Bench::new(PARAMS), of(0, 0), ms(1));
    b.put(a, now, 2, 1000, 1);
    b.get(a, now);
    let one = TidStats {
        new_flows: 1,
        tx_bytes: 1000,
        tx_packets: 1,
        ..TidStats::default()
    };
    assert_eq!(b.q.stats(a), one);
    b.q.begin();
    assert_eq!((b.q.stats(a), b.q.backlog(a).packets), (TidStats::default(), 1));
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Put { peer: u16, tid: u8, flow: u32, size: u64 },
    Get { peer: u16, tid: u8 },
}

fn step(flows: u32) -> impl Strategy<Value = (u64, Step)> {
    let tids = prop::sample::select(vec![0_u8, 3, 5, 6]);
    let put = (0_u16..3, tids.clone(), 0..flows, 60_u64..1515).prop_map(|(peer, tid, flow, size)| Step::Put {
        peer,
        tid,
        flow,
        size,
    });
    let get = (0_u16..3, tids).prop_map(|(peer, tid)| Step::Get { peer, tid });
    (0_u64..8, prop_oneof![3 => put, 2 => get])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_leaves_once_by_its_own_tid_and_limits_hold(steps in prop::collection::vec(step(40), 1..500)) {
        let params = WifiQueuesParams { limit: 30, memory: Bytes::new(40_000), ..PARAMS };
        let (mut b, mut now, mut out) = (Bench::new(params), 0, 0);
        let mut owner = Vec::new();
        for (after, step) in steps {
            now += after;
            match step {
                Step::Put { peer, tid, flow, size } => {
                    owner.push(of(peer, tid));
                    b.put(of(peer, tid), ms(now), 1, size, flow);
                }
                Step::Get { peer, tid } => {
                    if let Some(id) = b.get(of(peer, tid), ms(now)) {
                        prop_assert_eq!(owner[id as usize], of(peer, tid));
                        out += 1;
                    } else {
                        prop_assert_eq!(b.q.backlog(of(peer, tid)).packets, 0);
                    }
                }
            }
            let gone = out + b.drops.len() as u64;
            prop_assert_eq!(b.next_id, gone + b.q.packets());
            prop_assert!(b.q.packets() <= 30 && b.q.memory() <= 40_000);
            let all = || (0..3).flat_map(|peer| (0..8).map(move |t| of(peer, t)));
            prop_assert_eq!(all().map(|t| b.q.backlog(t).packets).sum::<u64>(), b.q.packets());
            let dropped: u64 = all().map(|t| b.q.stats(t)).map(|s| s.drops + s.overlimit).sum();
            prop_assert_eq!(dropped, b.drops.len() as u64);
        }
        for (node, drop) in &b.drops {
            prop_assert_eq!(NodeId::of_station(owner[drop.packet.id as usize].peer), *node);
        }
    }

    /// Without collisions; with them a flow can pass from the overflow queue to a shared one and overtake itself.
    #[test]
    fn a_flow_stays_in_order(steps in prop::collection::vec(step(4), 1..500)) {
        let params = WifiQueuesParams { limit: 30, queues: 4096, ..PARAMS };
        let (mut b, mut now) = (Bench::new(params), 0);
        let mut last = vec![None; 4096];
        for (after, step) in steps {
            now += after;
            match step {
                Step::Put { peer, tid, flow, size } => {
                    b.put(of(peer, tid), ms(now), 1, size, (u32::from(peer) * 8 + u32::from(tid)) * 4 + flow);
                }
                Step::Get { peer, tid } => {
                    if let Some(queued) = b.q.dequeue(of(peer, tid), ms(now), &mut b.drops) {
                        let last = &mut last[queued.packet.flow as usize];
                        prop_assert!(*last < Some(queued.packet.id));
                        *last = Some(queued.packet.id);
                    }
                }
            }
        }
    }
}
