//! What stood between the queue discipline and the hardware before 2016: the driver's own queues.

use crate::{AccessCategory, FrameSink, NodeId, PeerTid, TidStats};
use sojourn_qdisc::{
    AckFacts, AnyQdisc, Backlog, DropReason, DropSink, Dropped, List, Packet, Qdisc as _, QdiscSpec, Queued, Slab,
};
use sojourn_units::{Bytes, Ecn, Rate, Stream, Time};

/// A packet on its way through the discipline.
#[derive(Clone, Copy, Debug)]
struct Addressed<P> {
    packet: P,
    to: PeerTid,
    arrived: Time,
}

impl<P: Packet> Packet for Addressed<P> {
    fn size(&self) -> Bytes {
        self.packet.size()
    }
    fn flow_hash(&self) -> u32 {
        self.packet.flow_hash()
    }
    fn ecn(&self) -> Ecn {
        self.packet.ecn()
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        self.packet.set_ecn(ecn);
    }
    fn mark_ce(&mut self) -> bool {
        self.packet.mark_ce()
    }
    fn band(&self) -> u8 {
        self.packet.band()
    }
    fn dscp(&self) -> u8 {
        self.packet.dscp()
    }
    fn source(&self) -> u32 {
        self.packet.source()
    }
    fn destination(&self) -> u32 {
        self.packet.destination()
    }
    fn set_dscp(&mut self, dscp: u8) {
        self.packet.set_dscp(dscp);
    }
    fn ack(&self) -> Option<AckFacts> {
        self.packet.ack()
    }
    fn priority(&self) -> u8 {
        self.packet.priority()
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.packet.pacing_rate()
    }
    fn not_before(&self) -> Option<Time> {
        self.packet.not_before()
    }
}

/// One TID's FIFO in the driver, and its books.
#[derive(Clone, Debug)]
struct Fifo {
    packets: List,
    backlog: Backlog,
    stats: TidStats,
}

/// A queue discipline for each access category, as Linux's `mq` has them, and below it one FIFO for each traffic
/// identifier of each peer, in the driver.
///
/// The discipline of an access category hands packets down as long as the driver has fewer than its limit of that
/// category, those in the hardware queue and those to be sent again included; a frame counts until it has arrived or
/// is given up. So the driver keeps a standing queue that no discipline sees, in which the frames of a slow station
/// displace those of the others.
///
/// Source: ath9k before Linux 4.11 (`txq->pending_frames`, `ATH_MAX_QDEPTH`); iwlwifi.
///
/// Deviation: ath9k stops the discipline when the limit is exceeded, one frame later.
#[derive(Clone, Debug)]
pub(crate) struct DriverFifo<P> {
    qdiscs: [AnyQdisc<Addressed<P>>; 4],
    peers: Vec<NodeId>,
    /// By [`PeerTid::index`].
    fifos: Vec<Fifo>,
    slab: Slab<P>,
    /// Frames in the driver, by access category.
    pending: [u32; 4],
    limit: u32,
}

/// Books a discipline's drops, and passes them on.
struct Books<'a, P> {
    peers: &'a [NodeId],
    fifos: &'a mut [Fifo],
    sink: &'a mut dyn FrameSink<P>,
}

impl<P> DropSink<Addressed<P>> for Books<'_, P> {
    fn dropped(&mut self, drop: Dropped<Addressed<P>>) {
        let Addressed { packet, to, .. } = drop.packet;
        let stats = &mut self.fifos[to.index()].stats;
        if drop.reason == DropReason::Congestion {
            stats.drops += 1;
        } else {
            stats.overlimit += 1;
        }
        let drop = Dropped {
            packet,
            reason: drop.reason,
            sojourn: drop.sojourn,
        };
        self.sink.dropped(self.peers[usize::from(to.peer)], drop);
    }
}

impl<P: Packet> DriverFifo<P> {
    /// All queues empty. Disciplines that draw random numbers do so from streams of `seed` named after `name`.
    pub(crate) fn new(qdisc: &QdiscSpec, limit: u32, peers: &[NodeId], seed: u64, name: &str) -> Self {
        let fifo = Fifo {
            packets: List::EMPTY,
            backlog: Backlog::default(),
            stats: TidStats::default(),
        };
        let build = |category: AccessCategory| {
            qdisc.build(Stream::derive_seed(seed, &format!("{name} {} qdisc", category.name())))
        };
        Self {
            qdiscs: AccessCategory::ALL.map(build),
            peers: peers.to_vec(),
            fifos: vec![fifo; peers.len() * 8],
            slab: Slab::new(),
            pending: [0; 4],
            limit,
        }
    }

    /// Takes a packet into the discipline, from where [`DriverFifo::hand_down`] takes it.
    pub(crate) fn enqueue(&mut self, packet: P, to: PeerTid, now: Time, drops: &mut dyn FrameSink<P>) {
        let addressed = Addressed {
            packet,
            to,
            arrived: now,
        };
        let Self {
            qdiscs, peers, fifos, ..
        } = self;
        let mut books = Books {
            peers,
            fifos,
            sink: drops,
        };
        qdiscs[to.tid.access_category().index()].enqueue(addressed, now, &mut books);
    }

    /// So many frames of the category have left the driver: it has room for others.
    pub(crate) fn completed(&mut self, category: AccessCategory, frames: u32) {
        self.pending[category.index()] -= frames;
    }

    /// The discipline of `category` hands the driver one packet, if that has room. Answers for which peer.
    pub(crate) fn hand_down(
        &mut self,
        category: AccessCategory,
        now: Time,
        drops: &mut dyn FrameSink<P>,
    ) -> Option<u16> {
        let Self {
            qdiscs,
            peers,
            fifos,
            slab,
            pending,
            limit,
        } = self;
        let pending = &mut pending[category.index()];
        if *pending >= *limit {
            return None;
        }
        let mut books = Books {
            peers,
            fifos,
            sink: drops,
        };
        let departure = qdiscs[category.index()].dequeue(now, &mut books)?;
        let Addressed { packet, to, arrived } = departure.packet;
        let queued = Queued::new(packet, arrived);
        let fifo = &mut fifos[to.index()];
        fifo.backlog.packets += 1;
        fifo.backlog.bytes += queued.size;
        fifo.stats.marks += u64::from(departure.marked);
        slab.push_back(&mut fifo.packets, queued);
        *pending += 1;
        Some(to.peer)
    }

    /// The oldest packet of a TID in the driver. It still counts there.
    pub(crate) fn dequeue(&mut self, from: PeerTid) -> Option<Queued<P>> {
        let fifo = &mut self.fifos[from.index()];
        let queued = self.slab.pop_front(&mut fifo.packets)?;
        fifo.backlog.packets -= 1;
        fifo.backlog.bytes -= queued.size;
        fifo.stats.tx_packets += 1;
        fifo.stats.tx_bytes += queued.size.get();
        Some(queued)
    }

    /// What a TID has queued in the driver.
    pub(crate) fn backlog(&self, of: PeerTid) -> Backlog {
        self.fifos[of.index()].backlog
    }

    /// The counters of a TID. `overlimit` counts packets that the full discipline dropped, `drops` those that its
    /// algorithm did.
    pub(crate) fn stats(&self, of: PeerTid) -> TidStats {
        self.fifos[of.index()].stats
    }

    /// Packets in the disciplines and in the driver's FIFOs.
    pub(crate) fn packets(&self) -> u64 {
        let above: u64 = self.qdiscs.iter().map(|q| q.backlog().packets).sum();
        above + self.fifos.iter().map(|f| f.backlog.packets).sum::<u64>()
    }

    /// What the discipline of an access category holds.
    pub(crate) fn qdisc_backlog(&self, category: AccessCategory) -> Backlog {
        self.qdiscs[category.index()].backlog()
    }

    /// Counters start over.
    pub(crate) fn begin(&mut self) {
        for fifo in &mut self.fifos {
            fifo.stats = TidStats::default();
        }
    }
}
