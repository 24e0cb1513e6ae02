//! The queues inside the MAC: Algorithms 1 and 2 of seed 002.

use crate::demote::Demotion;
use crate::frame::OfPeer;
use crate::longest::Longest;
use crate::round::{Links, Round};
use crate::{FrameSink, NodeId, PeerTid, Tid};
use sojourn_qdisc::{
    Backlog, CodelParams, CodelState, CodelStats, DropReason, Dropped, List, Packet, Queued, Slab, codel_dequeue,
    memory_of,
};
use sojourn_units::{Bytes, Duration, Time};

/// What mac80211 counts for each (station, TID) and shows in debugfs as `aqm`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TidStats {
    /// Times a queue became active: `new-flows`.
    pub new_flows: u64,
    /// Packets that `CoDel` (or the discipline above a driver's FIFO) dropped: `drops`.
    pub drops: u64,
    /// Packets marked with congestion experienced: `marks`.
    pub marks: u64,
    /// Packets dropped because all queues together were full: `overlimit`.
    pub overlimit: u64,
    /// Packets whose queue belonged to another TID: `collisions`.
    pub collisions: u64,
    /// Bytes that left the queues: `tx-bytes`.
    pub tx_bytes: u64,
    /// Packets that left the queues: `tx-packets`.
    pub tx_packets: u64,
}

/// What can be set of [`WifiQueues`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WifiQueuesParams {
    /// Queues that all TIDs share, above zero.
    pub queues: u32,
    /// Packets in all queues at most, above zero.
    pub limit: u32,
    /// Memory of all packets at most.
    pub memory: Bytes,
    /// Bytes that a queue may send in its turn, above zero.
    pub quantum: u32,
    /// `CoDel` of peers that were given no other.
    pub codel: CodelParams,
}

/// One queue.
#[derive(Clone, Debug)]
struct Queue {
    packets: List,
    bytes: u64,
    deficit: i64,
    /// The TID that it belongs to while it is active.
    tid: Option<u32>,
    /// Whether it is on a list of its TID.
    active: bool,
    codel: CodelState,
}

/// One TID.
#[derive(Clone, Debug)]
struct TidQueues {
    new_queues: Round,
    old_queues: Round,
    backlog: Backlog,
    codel: CodelStats,
    stats: TidStats,
}

/// A fixed number of queues that all traffic identifiers of all peers share, and one overflow queue for each of them.
///
/// Source: seed 002 section 3; mac80211 `fq_impl.h`.
#[derive(Clone, Debug)]
pub struct WifiQueues<P> {
    params: WifiQueuesParams,
    peers: Vec<(NodeId, CodelParams)>,
    /// The shared queues, then the overflow queue of each TID.
    queues: Vec<Queue>,
    links: Links,
    tids: Vec<TidQueues>,
    slab: Slab<P>,
    longest: Longest,
    /// Soft admission to voice and video.
    demotion: Option<Demotion>,
    packets: u64,
    memory: u64,
}

impl<P: Packet> WifiQueues<P> {
    /// All queues empty.
    #[must_use]
    pub fn new(params: WifiQueuesParams, peers: &[NodeId]) -> Self {
        let tids = peers.len() * 8;
        let n = params.queues as usize + tids;
        let queue = Queue {
            packets: List::EMPTY,
            bytes: 0,
            deficit: 0,
            tid: None,
            active: false,
            codel: CodelState::new(params.codel.variant),
        };
        let tid = TidQueues {
            new_queues: Round::EMPTY,
            old_queues: Round::EMPTY,
            backlog: Backlog::default(),
            codel: CodelStats::default(),
            stats: TidStats::default(),
        };
        Self {
            params,
            peers: peers.iter().map(|&node| (node, params.codel)).collect(),
            queues: vec![queue; n],
            links: Links::new(n),
            tids: vec![tid; tids],
            slab: Slab::new(),
            longest: Longest::new(n),
            demotion: None,
            packets: 0,
            memory: 0,
        }
    }

    /// `CoDel` for all queues of a peer, from now on.
    pub fn set_codel(&mut self, peer: u16, codel: CodelParams) {
        self.peers[usize::from(peer)].1 = codel;
    }

    /// Algorithm 1: takes `packet` in. Room is made at the head of the longest queue of all.
    ///
    /// Deviation: line 2 is a loop, because with a limit of memory one small packet less may not be room for a large
    /// one. Deviation: with line 12 the queue's deficit is set to the quantum. The listing sets it nowhere; then
    /// line 8 of Algorithm 2 would take each new queue's precedence away before its first packet. Source: RFC
    /// 8290 section 4.2. Deviation: the listing appends after the test, so that the limit is never exceeded;
    /// mac80211 appends first and then drops up to half of the longest queue, 32 packets at most.
    ///
    /// Cost: constant, but for the search at the limit, see `Longest`.
    pub fn enqueue(&mut self, packet: P, tid: PeerTid, now: Time, drops: &mut dyn FrameSink<P>) {
        let tid = tid.index();
        let size = packet.size();
        while let Some(reason) = self.queue_limit_reached(size) {
            let Some(drop_queue) = self.find_longest_queue() else {
                break;
            };
            self.drop_head(drop_queue, reason, now, drops);
        }
        let mut queue = self.hash(&packet);
        if self.queues[queue].tid.is_some_and(|owner| owner as usize != tid) {
            queue = self.params.queues as usize + tid; // tid.overflow_queue
            self.tids[tid].stats.collisions += 1;
        }
        let Self {
            queues, tids, links, ..
        } = self;
        let (q, t) = (&mut queues[queue], &mut tids[tid]);
        q.tid = Some(tid as u32);
        let timestamped = Queued::new(packet, now);
        self.slab.push_back(&mut q.packets, timestamped);
        if !q.active {
            t.new_queues.add(links, queue);
            q.active = true;
            q.deficit = i64::from(self.params.quantum);
            t.stats.new_flows += 1;
        }

        q.bytes += size.get();
        t.backlog.packets += 1;
        t.backlog.bytes += size;
        self.packets += 1;
        self.memory += memory_of(size);
        self.longest.grew(queue, q.bytes);
    }

    /// Algorithm 2: the next packet of `tid`, or `None` if it has none.
    ///
    /// The stored listing has lost its indentation; lines 12 to 21 follow the `if` of line 8, and lines 14 to 19 are
    /// the body of line 13.
    ///
    /// Deviation: none from line 14, but Linux moves an emptied new queue to the old ones only if there are any. The
    /// order of service is the same.
    pub fn dequeue(&mut self, tid: PeerTid, now: Time, drops: &mut dyn FrameSink<P>) -> Option<Queued<P>> {
        loop {
            let t = &mut self.tids[tid.index()];
            let (queue, is_new) = match (t.new_queues.first(), t.old_queues.first()) {
                (Some(queue), _) => (queue, true),
                (None, Some(queue)) => (queue, false),
                (None, None) => return None,
            };
            if self.queues[queue].deficit <= 0 {
                self.queues[queue].deficit += i64::from(self.params.quantum);
                self.move_to_old(tid, is_new);
                continue;
            }
            let Some(packet) = self.codel_dequeue(queue, tid, now, drops) else {
                if is_new {
                    self.move_to_old(tid, is_new);
                } else {
                    self.list_del(tid);
                }
                continue;
            };
            self.queues[queue].deficit -= packet.size.get().cast_signed(); // pkt.length
            if self.demotion.is_some() {
                self.left((queue, is_new), tid, now.since(packet.since), now);
            }
            return Some(packet);
        }
    }

    /// Flows of voice and video whose packets wait for longer than this go on as best effort.
    pub(crate) fn set_demotion(&mut self, after: Duration) {
        let queues = self.queues.len();
        self.demotion = Some(Demotion::new(after, queues, self.peers.len()));
    }

    /// The TID that `packet` is to be queued for, of which its own is `tid`.
    #[inline]
    pub(crate) fn admit(&mut self, packet: &P, tid: PeerTid, now: Time) -> PeerTid {
        let queue = self.hash(packet);
        match &mut self.demotion {
            Some(demotion) => demotion.admit(queue, tid, !self.queues[queue].active, now),
            None => tid,
        }
    }

    /// A peer whose best effort has taken over a queue of voice or video since it was last asked for.
    #[inline]
    pub(crate) fn take_demoted(&mut self) -> Option<u16> {
        self.demotion.as_mut()?.take_woken()
    }

    /// How many queues of a peer went over to best effort.
    pub(crate) fn demoted(&self, peer: u16) -> u64 {
        self.demotion.as_ref().map_or(0, |demotion| demotion.count(peer))
    }

    /// A packet has left the first queue of `tid`: with soft admission the queue may go over to best effort.
    #[cold]
    fn left(&mut self, (queue, is_new): (usize, bool), tid: PeerTid, sojourn: Duration, now: Time) {
        let Some(demotion) = &mut self.demotion else { return };
        // The overflow queue of a TID has packets of many flows.
        let q = &mut self.queues[queue];
        if queue >= self.params.queues as usize || !demotion.left(queue, tid, sojourn, q.bytes, now) {
            return;
        }
        let to = PeerTid {
            tid: Tid::BEST_EFFORT,
            ..tid
        };
        q.tid = Some(to.index() as u32);
        let moved = Backlog {
            packets: self.slab.count(q.packets),
            bytes: Bytes::new(q.bytes),
        };
        let from = &mut self.tids[tid.index()];
        from.backlog.packets -= moved.packets;
        from.backlog.bytes -= moved.bytes;
        if is_new {
            &mut from.new_queues
        } else {
            &mut from.old_queues
        }
        .del_first(&self.links);
        let best_effort = &mut self.tids[to.index()];
        best_effort.backlog.packets += moved.packets;
        best_effort.backlog.bytes += moved.bytes;
        best_effort.old_queues.add(&mut self.links, queue);
    }

    /// Line 2 of Algorithm 1, for a packet of `size`; answers which limit.
    #[inline]
    fn queue_limit_reached(&self, size: Bytes) -> Option<DropReason> {
        if self.packets >= u64::from(self.params.limit) {
            Some(DropReason::QueueLimit)
        } else if self.memory + memory_of(size) > self.params.memory.get() {
            Some(DropReason::MemoryLimit)
        } else {
            None
        }
    }

    /// The queue with the most bytes, over all TIDs; of several the one of lowest number.
    fn find_longest_queue(&mut self) -> Option<usize> {
        let queues = &self.queues;
        self.longest.find(|queue| queues[queue].bytes)
    }

    fn drop_head(&mut self, queue: usize, reason: DropReason, now: Time, drops: &mut dyn FrameSink<P>) {
        let q = &mut self.queues[queue];
        let (Some(queued), Some(tid)) = (self.slab.pop_front(&mut q.packets), q.tid) else {
            return;
        };
        let t = &mut self.tids[tid as usize];
        q.bytes -= queued.size.get();
        t.backlog.packets -= 1;
        t.backlog.bytes -= queued.size;
        t.stats.overlimit += 1;
        self.packets -= 1;
        self.memory -= memory_of(queued.size);
        let drop = Dropped {
            packet: queued.packet,
            reason,
            sojourn: now.since(queued.since),
        };
        drops.dropped(self.peers[tid as usize / 8].0, drop);
    }

    /// The shared queue of a packet. 4096 of them need no division.
    #[inline]
    fn hash(&self, packet: &P) -> usize {
        let (hash, n) = (packet.flow_hash(), self.params.queues);
        let queue = if n.is_power_of_two() { hash & (n - 1) } else { hash % n };
        queue as usize
    }

    #[inline]
    fn move_to_old(&mut self, tid: PeerTid, is_new: bool) {
        let t = &mut self.tids[tid.index()];
        let from = if is_new { &mut t.new_queues } else { &mut t.old_queues };
        let queue = from.del_first(&self.links);
        t.old_queues.add(&mut self.links, queue);
    }

    fn list_del(&mut self, tid: PeerTid) {
        let queue = self.tids[tid.index()].old_queues.del_first(&self.links);
        self.queues[queue].active = false;
        self.queues[queue].tid = None;
    }

    fn codel_dequeue(
        &mut self,
        queue: usize,
        tid: PeerTid,
        now: Time,
        drops: &mut dyn FrameSink<P>,
    ) -> Option<Queued<P>> {
        let (q, t) = (&mut self.queues[queue], &mut self.tids[tid.index()]);
        let (peer, codel) = &self.peers[usize::from(tid.peer)];
        let (slab, packets, memory) = (&mut self.slab, &mut self.packets, &mut self.memory);
        let (list, bytes, backlog) = (&mut q.packets, &mut q.bytes, &mut t.backlog);
        let next = codel_dequeue(
            codel,
            &mut q.codel,
            &mut t.codel,
            now,
            || {
                let queued = slab.pop_front(list)?;
                *bytes -= queued.size.get();
                backlog.packets -= 1;
                backlog.bytes -= queued.size;
                *packets -= 1;
                *memory -= memory_of(queued.size);
                Some((queued, Bytes::new(*bytes)))
            },
            &mut OfPeer {
                peer: *peer,
                sink: drops,
            },
        );
        let (queued, _) = next?;
        t.stats.tx_packets += 1;
        t.stats.tx_bytes += queued.size.get();
        Some(queued)
    }

    /// What a TID has queued.
    #[must_use]
    pub fn backlog(&self, tid: PeerTid) -> Backlog {
        self.tids[tid.index()].backlog
    }

    /// Packets in all queues.
    #[must_use]
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// Memory of all packets, bytes.
    #[must_use]
    pub const fn memory(&self) -> u64 {
        self.memory
    }

    /// The counters of a TID.
    #[must_use]
    pub fn stats(&self, tid: PeerTid) -> TidStats {
        let t = &self.tids[tid.index()];
        TidStats {
            drops: t.codel.drops,
            marks: t.codel.marked,
            ..t.stats
        }
    }

    /// Counters start over.
    pub fn begin(&mut self) {
        for t in &mut self.tids {
            t.stats = TidStats::default();
            (t.codel.drops, t.codel.marked) = (0, 0);
        }
        if let Some(demotion) = &mut self.demotion {
            demotion.begin();
        }
    }
}

#[cfg(test)]
mod tests;
