//! What a scheduler drives: queues, Block Ack windows and hardware queues, and what of them may be sent.

use super::counters::PeerStats;
use super::source::Source;
use crate::aggregate::AggregateLimits;
use crate::aql::Pending;
use crate::defer::Deferral;
use crate::dense::Dense;
use crate::queue_spec::{NodeSpec, PeerSpec};
use crate::retry::Originator;
use crate::retry_age::RetryAge;
use crate::{AccessCategory, Aggregate, Band, Frame, LatencyStats, NodeId, PeerTid, PhyRate, WifiPacket};
use sojourn_units::{Bytes, Rate};
use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) node: NodeId,
    pub(super) limits: AggregateLimits,
    pub(super) stats: PeerStats,
    pub(super) latency: LatencyStats,
    /// By access category: which of its two TIDs has the next turn.
    pub(super) turn: [usize; 4],
}

/// All but the scheduler: what the scheduler drives.
#[derive(Clone, Debug)]
pub(super) struct Sender<P> {
    pub(super) spec: NodeSpec,
    pub(super) band: Band,
    pub(super) peers: Vec<Peer>,
    pub(super) source: Source<P>,
    /// By [`PeerTid::index`].
    pub(super) originators: Vec<Originator<P>>,
    /// By access category: built aggregates, the first one on the air or about to be.
    pub(super) hardware: [VecDeque<Aggregate<P>>; 4],
    /// Vectors of completed aggregates, for the next ones.
    pub(super) spare: Vec<Vec<Frame<P>>>,
    pub(super) pending: Pending,
    /// By access category: peers of which frames wait to be sent (again), in the order in which they began to.
    waiting: [VecDeque<u16>; 4],
    pub(super) deferral: Deferral,
    pub(super) retry_age: RetryAge,
    pub(super) dense: Option<Dense>,
    /// Stations whose voice may wait for an aggregate of another category.
    pub(super) holding: Vec<u16>,
}

impl<P: WifiPacket> Sender<P> {
    /// A sender with nothing queued.
    pub(super) fn new(spec: &NodeSpec, peers: &[PeerSpec], band: Band, seed: u64, name: &str) -> Self {
        let nodes: Vec<NodeId> = peers.iter().map(|p| p.node).collect();
        let peer = |p: &PeerSpec| Peer {
            node: p.node,
            limits: AggregateLimits::new(p.rate, band, spec.aggregate_frames, spec.aggregate_time),
            stats: PeerStats::default(),
            latency: LatencyStats::default(),
            turn: [0; 4],
        };
        let rates = || peers.iter().map(|peer| peer.rate);
        let dense = spec
            .latency
            .dense
            .map(|dense| Dense::new(dense, spec.aggregate_frames, rates(), band));
        let mut sender = Self {
            spec: spec.clone(),
            band,
            peers: peers.iter().map(peer).collect(),
            source: Source::new(spec, &nodes, seed, name),
            originators: peers
                .iter()
                .flat_map(|_| (0..8).map(|_| Originator::default()))
                .collect(),
            hardware: std::array::from_fn(|_| VecDeque::new()),
            spare: Vec::new(),
            pending: Pending::new(spec.latency.aql, spec.variant, peers.len()),
            waiting: std::array::from_fn(|_| VecDeque::new()),
            deferral: Deferral::new(spec.latency.defer, spec.latency.build_time),
            retry_age: RetryAge::new(&spec.latency, peers.len()),
            dense,
            holding: Vec::new(),
        };
        for place in 0..peers.len() {
            sender.choose_codel(place);
        }
        sender
    }

    /// Aggregates to the peer are built at `rate` from now on.
    pub(super) fn set_rate(&mut self, place: usize, rate: PhyRate) {
        let Self {
            spec,
            band,
            peers,
            dense,
            ..
        } = self;
        if peers[place].limits.rate != rate {
            peers[place].limits = AggregateLimits::new(rate, *band, spec.aggregate_frames, spec.aggregate_time);
            if let Some(dense) = dense {
                dense.set_rate(place, rate, *band, spec.aggregate_frames);
            }
            self.choose_codel(place);
        }
    }

    /// Sets the peer's `CoDel` by its rate. Source: `sta_update_codel_params`: slow is below 6 Mbit/s times the
    /// stations.
    fn choose_codel(&mut self, place: usize) {
        let Source::Queues(queues) = &mut self.source else {
            return;
        };
        let threshold = Rate::from_mbit(6 * self.peers.len() as u64);
        let slow = self.peers[place].limits.expected_throughput() < threshold;
        queues.set_codel(place as u16, self.spec.codel(slow));
    }

    /// Voice has come for a station: remembers it if it may have to wait for an aggregate.
    #[inline]
    pub(super) fn hold_voice(&mut self, station: u16, category: AccessCategory) {
        let hold = self.spec.policies.vo_hold > 0 && category == AccessCategory::Voice;
        if hold && !self.holding.contains(&station) {
            self.holding.push(station);
        }
    }

    /// Whether voice waits for the station, for an aggregate or for room.
    pub(super) fn has_voice(&self, station: u16) -> bool {
        tids(station, AccessCategory::Voice).any(|of| self.has_packets(of))
    }

    /// Whether the station's voice waits for an aggregate of another category: it has one to come, and no more voice
    /// than may wait.
    pub(super) fn holds_voice(&self, station: u16) -> bool {
        let policies = &self.spec.policies;
        if policies.vo_hold == 0 || policies.vo_in_aggregate.is_none() {
            return false;
        }
        let Source::Queues(queues) = &self.source else {
            return false;
        };
        let voice = |of: PeerTid| {
            let originator = &self.originators[of.index()];
            queues.backlog(of).packets + u64::from(originator.held.is_some()) + originator.retries() as u64
        };
        let waiting: u64 = tids(station, AccessCategory::Voice).map(voice).sum();
        let others = &AccessCategory::ALL[1..];
        (1..=u64::from(policies.vo_hold)).contains(&waiting)
            && self.peers[usize::from(station)].limits.aggregates()
            && others.iter().any(|&c| tids(station, c).any(|of| self.has_packets(of)))
    }

    /// Whether a TID has frames to be sent again or new packets.
    #[inline]
    pub(super) fn has_packets(&self, of: PeerTid) -> bool {
        let originator = &self.originators[of.index()];
        let backlog = self.source.backlog(of);
        backlog.packets > 0 || originator.retries() > 0 || originator.held.is_some()
    }

    #[inline]
    pub(super) fn window_is_closed(&self, peer: u16, category: AccessCategory) -> bool {
        !tids(peer, category).any(|of| self.can_send(of))
    }

    /// Whether a peer may have more below the queues. Where aggregates are counted, one whose window is closed, or
    /// that would build a short aggregate behind another, lets the others go first.
    #[inline]
    pub(super) fn has_room(&self, peer: u16, category: AccessCategory) -> bool {
        if !self.pending.limits() {
            return true;
        }
        if !self.pending.counts_aggregates() {
            return self.pending.has_room(peer, category);
        }
        let pending = category != AccessCategory::Voice && !self.pending.of(peer, category).is_zero();
        self.pending.has_room(peer, category)
            && tids(peer, category).any(|of| self.can_send(of) && !(pending && self.would_be_short(of)))
    }

    /// Notes a peer of which frames were taken from the queues and wait to be sent (again): limits that count frames
    /// count them.
    #[inline]
    pub(super) fn note_taken(&mut self, peer: u16, category: AccessCategory) {
        if self.pending.limits() && !self.pending.counts_aggregates() && self.has_taken(peer, category) {
            let waiting = &mut self.waiting[category.index()];
            if !waiting.contains(&peer) {
                waiting.push_back(peer);
            }
        }
    }

    fn has_taken(&self, peer: u16, category: AccessCategory) -> bool {
        tids(peer, category).any(|of| {
            let originator = &self.originators[of.index()];
            originator.retries() > 0 || originator.held.is_some()
        })
    }

    /// The first peer of those that were noted that limits hold back though no aggregate of it is in the hardware
    /// queue. It becomes the last.
    pub(super) fn held_back(&mut self, category: AccessCategory) -> Option<u16> {
        let mut waiting = std::mem::take(&mut self.waiting[category.index()]);
        waiting.retain(|&peer| self.has_taken(peer, category));
        let hardware = &self.hardware[category.index()];
        let found = waiting.iter().position(|&peer| {
            let node = self.peers[usize::from(peer)].node;
            !self.pending.has_room(peer, category)
                && !hardware.iter().any(|aggregate| aggregate.peer == node)
                && !self.window_is_closed(peer, category)
        });
        let peer = found.and_then(|place| waiting.remove(place));
        waiting.extend(peer);
        self.waiting[category.index()] = waiting;
        peer
    }

    /// Whether an aggregate of the TID would not be full now.
    fn would_be_short(&self, of: PeerTid) -> bool {
        let originator = &self.originators[of.index()];
        let backlog = self.source.backlog(of);
        let new = backlog.packets.min(u64::from(originator.window()));
        let size = match (backlog.packets, originator.next_retry()) {
            (0, None) => return true,
            (0, Some(retry)) => retry.size,
            (packets, _) => Bytes::new(backlog.bytes.get() / packets),
        };
        let limits = &self.peers[usize::from(of.peer)].limits;
        !limits.filled_by(new + originator.retries() as u64, size)
    }

    #[inline]
    pub(super) fn any_has_room(&self, category: AccessCategory) -> bool {
        !self.pending.limits()
            || !self.pending.counts_aggregates()
            || (0..self.peers.len() as u16).any(|peer| self.has_room(peer, category))
    }

    /// Whether the cell is dense in `category` now.
    #[inline]
    pub(super) fn is_dense(&self, category: AccessCategory) -> bool {
        let stations = (0..self.peers.len() as u16).filter(|&peer| tids(peer, category).any(|of| self.has_packets(of)));
        self.dense.as_ref().is_some_and(|dense| dense.applies(stations))
    }

    /// Whether a TID has any that its Block Ack window allows. A frame to be sent again is always inside.
    #[inline]
    pub(super) fn can_send(&self, of: PeerTid) -> bool {
        let originator = &self.originators[of.index()];
        originator.retries() > 0 || (originator.window_is_open() && self.has_packets(of))
    }
}

/// The traffic identifiers of an access category of a peer.
pub(super) fn tids(peer: u16, category: AccessCategory) -> impl Iterator<Item = PeerTid> {
    category.tids().into_iter().map(move |tid| PeerTid { peer, tid })
}
