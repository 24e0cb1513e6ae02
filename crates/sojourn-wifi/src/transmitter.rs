//! One node's sending side: queues, scheduler, hardware queue, retries.

use crate::aggregate::{AggregateLimits, build};
use crate::aql::Pending;
use crate::defer::Deferral;
use crate::dense::Dense;
use crate::driver_fifo::{DriverFifo, tids_of};
use crate::policy::{PolicyScheduler, SharedDriver};
use crate::queue_spec::{NodeSpec, PeerSpec, Scheme};
use crate::retry::Originator;
use crate::retry_age::RetryAge;
use crate::vo_in_aggregate::Riders;
use crate::{
    AccessCategory, Aggregate, AirtimeScheduler, Band, Driver, Frame, FrameSink, LatencyStats, NodeId, PeerTid,
    PhyRate, QosOrder, RoundRobin, Tid, TidStats, WifiError, WifiPacket, WifiQueues, WifiQueuesParams,
};
use sojourn_qdisc::{Backlog, DropReason, Dropped};
use sojourn_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// What became of the frames of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// For whom they were.
    pub peer: NodeId,
    /// Their traffic identifier.
    pub tid: Tid,
    /// How many arrived.
    pub arrived: u32,
    /// How many will be sent again.
    pub retried: u32,
    /// How many were given up.
    pub given_up: u32,
    /// The start of the Block Ack window, if the receiver must be told by a BlockAckReq: the window has moved over frames that
    /// were given up, for which the receiver would wait.
    pub window_start: Option<u16>,
}

/// What a node counts for each peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerStats {
    /// Airtime of what was sent to it, as the caller reported it at completion.
    pub airtime_tx: Duration,
    /// Airtime of what was received from it.
    pub airtime_rx: Duration,
    /// Aggregates (and single frames) sent to it.
    pub aggregates: u64,
    /// Frames in them: transmissions of MPDUs.
    pub transmissions: u64,
    /// Their packets' sizes.
    pub bytes: Bytes,
    /// Transmissions of frames that had been sent before.
    pub retries: u64,
    /// Frames given up at the limit of transmissions.
    pub given_up: u64,
    /// Voice frames that rode in aggregates of another category.
    pub voice_in_aggregates: u64,
}

#[derive(Clone, Debug)]
struct Peer {
    node: NodeId,
    limits: AggregateLimits,
    stats: PeerStats,
    latency: LatencyStats,
    /// By access category: which of its two TIDs has the next turn.
    turn: [usize; 4],
}

/// Where new frames come from.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one of a node, never moved")]
enum Source<P> {
    Driver(DriverFifo<P>),
    Queues(WifiQueues<P>),
}

#[derive(Clone, Debug)]
enum Scheduler {
    RoundRobin(RoundRobin),
    Airtime(AirtimeScheduler),
    Policy(Box<PolicyScheduler>),
}

impl Scheduler {
    #[inline]
    fn wake(&mut self, peer: u16, category: AccessCategory) {
        match self {
            Self::RoundRobin(round) => round.wake(peer, category),
            Self::Airtime(airtime) => airtime.wake(peer, category),
            Self::Policy(policy) => policy.wake(peer, category),
        }
    }

    #[inline]
    fn charge(&mut self, peer: u16, category: AccessCategory, airtime: Duration) {
        match self {
            Self::RoundRobin(_) => {}
            Self::Airtime(scheduler) => scheduler.charge(peer, category, airtime),
            Self::Policy(policy) => policy.charge(peer, category, airtime),
        }
    }
}

/// All but the scheduler: what the scheduler drives.
#[derive(Clone, Debug)]
struct Sender<P> {
    spec: NodeSpec,
    band: Band,
    peers: Vec<Peer>,
    source: Source<P>,
    /// By [`PeerTid::index`].
    originators: Vec<Originator<P>>,
    /// By access category: built aggregates, the first one on the air or about to be.
    hardware: [VecDeque<Aggregate<P>>; 4],
    /// Vectors of completed aggregates, for the next ones.
    spare: Vec<Vec<Frame<P>>>,
    pending: Pending,
    deferral: Deferral,
    retry_age: RetryAge,
    dense: Option<Dense>,
    /// Stations whose voice may wait for an aggregate of another category.
    holding: Vec<u16>,
}

/// One node's sending side, under one of the four schemes of seed 002 section 3.2.
///
/// Packets come by [`Transmitter::enqueue`]. What is to be sent next in an access category is [`Transmitter::head`]; when it was sent,
/// [`Transmitter::completed`] says what arrived. Nothing here knows of contention.
#[derive(Clone, Debug)]
pub struct Transmitter<P> {
    sender: Sender<P>,
    scheduler: Scheduler,
    /// By number of a node its place among the peers.
    places: Vec<Option<u16>>,
}

impl<P: WifiPacket> Transmitter<P> {
    /// A node with nothing queued. `name` names it: in errors, and for the random streams of its disciplines, derived from `seed`.
    ///
    /// # Errors
    /// [`WifiError`] for an option or a peer that cannot be used.
    pub fn new(spec: &NodeSpec, peers: &[PeerSpec], band: Band, seed: u64, name: &str) -> Result<Self, WifiError> {
        spec.validate(name)?;
        if peers.is_empty() || peers.len() > 4096 {
            return Err(WifiError::new(name, "peers", peers.len().to_string(), "1 to 4096"));
        }
        let mut places = Vec::new();
        for (place, peer) in peers.iter().enumerate() {
            peer.validate(name)?;
            let node = usize::from(peer.node.0);
            if places.len() <= node {
                places.resize(node + 1, None);
            }
            if places[node].replace(place as u16).is_some() {
                return Err(WifiError::new(
                    name,
                    "peers",
                    format!("node {node} twice"),
                    "each node once",
                ));
            }
        }
        let nodes: Vec<NodeId> = peers.iter().map(|p| p.node).collect();
        let source = if let Some(qdisc) = spec.above_driver() {
            Source::Driver(DriverFifo::new(&qdisc, spec.driver_frames, &nodes, seed, name))
        } else {
            let params = WifiQueuesParams {
                queues: spec.queues,
                limit: spec.limit,
                memory: spec.memory,
                quantum: spec.quantum,
                codel: spec.codel(false),
            };
            let mut queues = WifiQueues::new(params, &nodes);
            if let Some(after) = spec.policies.demote {
                queues.set_demotion(after);
            }
            Source::Queues(queues)
        };
        let policy = PolicyScheduler::new(spec, peers).filter(|_| spec.scheme == Scheme::Airtime);
        let scheduler = if let Some(policy) = policy {
            Scheduler::Policy(Box::new(policy))
        } else if spec.scheme == Scheme::Airtime {
            let weights: Vec<u32> = peers.iter().map(|p| p.weight).collect();
            Scheduler::Airtime(AirtimeScheduler::new(spec.airtime_quantum, &weights))
        } else {
            Scheduler::RoundRobin(RoundRobin::new(peers.len()))
        };
        let peer = |p: &PeerSpec| Peer {
            node: p.node,
            limits: AggregateLimits::new(p.rate, band, spec.aggregate_frames, spec.aggregate_time),
            stats: PeerStats::default(),
            latency: LatencyStats::default(),
            turn: [0; 4],
        };
        let dense = spec.latency.dense.map(|dense| Dense::new(dense, spec, peers, band));
        let mut transmitter = Self {
            sender: Sender {
                spec: spec.clone(),
                band,
                peers: peers.iter().map(peer).collect(),
                source,
                originators: peers
                    .iter()
                    .flat_map(|_| (0..8).map(|_| Originator::default()))
                    .collect(),
                hardware: std::array::from_fn(|_| VecDeque::new()),
                spare: Vec::new(),
                pending: Pending::new(spec.latency.aql, peers.len()),
                deferral: Deferral::new(spec.latency.defer, spec.latency.build_time),
                retry_age: RetryAge::new(&spec.latency, peers.len()),
                dense,
                holding: Vec::new(),
            },
            scheduler,
            places,
        };
        for place in 0..peers.len() {
            transmitter.sender.choose_codel(place);
        }
        Ok(transmitter)
    }

    /// Queues a packet for `peer`, with the traffic identifier that it says.
    ///
    /// # Panics
    /// For a peer that was not given to [`Transmitter::new`].
    pub fn enqueue(&mut self, peer: NodeId, packet: P, now: Time, drops: &mut dyn FrameSink<P>) {
        let mut to = PeerTid {
            peer: self.place(peer),
            tid: packet.tid(),
        };
        if let Source::Queues(queues) = &mut self.sender.source {
            to = queues.admit(&packet, to, now);
        }
        let category = to.tid.access_category();
        self.sender.hold_voice(to.peer, category);
        let scheduler = &mut self.scheduler;
        match &mut self.sender.source {
            Source::Driver(driver) => driver.enqueue(packet, to, now, drops, |peer| scheduler.wake(peer, category)),
            Source::Queues(queues) => {
                queues.enqueue(packet, to, now, drops);
                scheduler.wake(to.peer, category);
            }
        }
        self.schedule(category, now, drops);
    }

    /// The front of the hardware queue of `category`: what contends for the medium.
    #[inline]
    #[must_use]
    pub fn head(&self, category: AccessCategory) -> Option<&Aggregate<P>> {
        self.sender.hardware[category.index()].front()
    }

    /// Aggregates in the hardware queue of `category`.
    #[must_use]
    pub fn hardware_queue(&self, category: AccessCategory) -> usize {
        self.sender.hardware[category.index()].len()
    }

    /// The aggregate at the head of `category` begins to be sent. What `defer`, `build_time` and `retry_time` do depends on being told.
    pub fn started(&mut self, category: AccessCategory, now: Time) {
        let sender = &mut self.sender;
        if let Some(head) = sender.hardware[category.index()].front() {
            sender.deferral.started(category, head.airtime, now);
            sender.retry_age.started(category, now);
        }
    }

    /// When [`Transmitter::wake`] must be called; `None` if nothing was put off.
    #[inline]
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        let policy = match &self.scheduler {
            Scheduler::Policy(policy) => policy.due(),
            Scheduler::RoundRobin(_) | Scheduler::Airtime(_) => None,
        };
        match (self.sender.deferral.next(), policy) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Builds what was put off until now.
    pub fn wake(&mut self, now: Time, drops: &mut dyn FrameSink<P>) {
        while let Some(category) = self.sender.deferral.take(now) {
            self.build(category, now, drops);
        }
        if let Scheduler::Policy(policy) = &mut self.scheduler
            && policy.due().is_some_and(|due| due <= now)
        {
            policy.advance(now);
            for category in AccessCategory::ALL {
                self.schedule(category, now, drops);
            }
        }
    }

    /// Whether what happens in one access category can let another build.
    #[inline]
    #[must_use]
    pub fn couples_categories(&self) -> bool {
        let policies = &self.sender.spec.policies;
        let latency = self.sender.pending.limits();
        latency || policies.qos == QosOrder::Fairness || policies.demote.is_some() || policies.vo_hold > 0
    }

    /// The aggregate at the head of `category` was sent and took `airtime`. Bit i of `received` says that its frame i arrived; none
    /// says that there was no answer. Frames that arrived are appended to `arrived` in order; the others are sent again, or
    /// dropped if they were sent as often as may be.
    ///
    /// A frame that failed goes into its TID's retry queue and leads the next aggregate built; one that was built already goes
    /// before it, so the receiver sees gaps. Deviation: voice frames are no part of a Block Ack agreement in Linux, and the hardware
    /// sends one again before any other: here too, so that it stays at the head, at the rate of the moment.
    ///
    /// # Panics
    /// If the hardware queue is empty.
    pub fn completed(
        &mut self,
        category: AccessCategory,
        received: u64,
        airtime: Duration,
        now: Time,
        arrived: &mut Vec<Frame<P>>,
        drops: &mut dyn FrameSink<P>,
    ) -> Completion {
        let sender = &mut self.sender;
        let hardware = &mut sender.hardware[category.index()];
        let mut aggregate = hardware
            .pop_front()
            .expect("only what is in the hardware queue can be sent");
        let (peer, tid) = (aggregate.peer, aggregate.tid);
        let place = self.places[usize::from(peer.0)].expect("aggregates are built for peers only");
        let peer_tid = PeerTid { peer: place, tid };
        sender.pending.remove(place, category, aggregate.airtime);
        sender.deferral.ended(category);
        let Peer { stats, latency, .. } = &mut sender.peers[usize::from(place)];
        let originator = &mut sender.originators[peer_tid.index()];

        stats.airtime_tx += airtime;
        stats.aggregates += 1;
        stats.transmissions += aggregate.frames.len() as u64;
        if sender.spec.airtime_tx {
            self.scheduler.charge(place, category, airtime);
        }
        let mut arrived_bytes = 0;
        let mut completion = Completion {
            peer,
            tid,
            arrived: 0,
            retried: 0,
            given_up: 0,
            window_start: None,
        };
        for (i, mut frame) in aggregate.frames.drain(..).enumerate() {
            stats.bytes += frame.size;
            stats.retries += u64::from(frame.transmissions > 0);
            frame.transmissions += 1;
            if received >> i & 1 == 1 {
                originator.acknowledged(frame.sequence);
                completion.arrived += 1;
                arrived_bytes += frame.size.get();
                arrived.push(frame);
            } else if frame.transmissions >= sender.spec.retries
                || sender.retry_age.expires(&frame, peer_tid, now, latency)
            {
                originator.give_up(frame.sequence);
                completion.given_up += 1;
                let drop = Dropped {
                    packet: frame.packet,
                    reason: DropReason::RetryLimit,
                    sojourn: now.since(frame.enqueued),
                };
                drops.dropped(peer, drop);
            } else {
                completion.retried += 1;
                originator.retry(frame);
            }
        }
        stats.given_up += u64::from(completion.given_up);
        if let Scheduler::Policy(policy) = &mut self.scheduler {
            policy.arrived(place, arrived_bytes);
        }
        completion.window_start = originator.advance();
        if category == AccessCategory::Voice
            && let Some(frame) = originator.take_retry()
        {
            let limits = &sender.peers[usize::from(place)].limits;
            (aggregate.rate, aggregate.airtime) = (limits.rate, limits.single(frame.size));
            aggregate.frames.push(frame);
            sender.pending.add(place, category, aggregate.airtime);
            sender.hardware[category.index()].push_front(aggregate);
        } else {
            sender.spare.push(aggregate.frames);
        }
        let scheduler = &mut self.scheduler;
        if let Source::Driver(driver) = &mut sender.source {
            let gone = completion.arrived + completion.given_up;
            driver.completed(category, gone, now, drops, |peer| scheduler.wake(peer, category));
        }
        if completion.retried > 0 {
            scheduler.wake(place, category);
        }
        if self.couples_categories() {
            for category in AccessCategory::ALL {
                self.schedule(category, now, drops);
            }
        } else {
            self.schedule(category, now, drops);
        }
        completion
    }

    /// Something from `peer` was received and took `airtime`.
    ///
    /// # Panics
    /// For a peer that was not given to [`Transmitter::new`].
    pub fn on_receive(&mut self, peer: NodeId, category: AccessCategory, airtime: Duration) {
        let place = self.place(peer);
        self.sender.peers[usize::from(place)].stats.airtime_rx += airtime;
        if self.sender.spec.airtime_rx {
            self.scheduler.charge(place, category, airtime);
        }
    }

    /// Aggregates to `peer` are built at `rate` from now on; those in the hardware queue stay as they are.
    ///
    /// # Panics
    /// For a peer that was not given to [`Transmitter::new`].
    pub fn set_rate(&mut self, peer: NodeId, rate: PhyRate) {
        let place = usize::from(self.place(peer));
        let Sender {
            spec,
            band,
            peers,
            dense,
            ..
        } = &mut self.sender;
        if peers[place].limits.rate != rate {
            peers[place].limits = AggregateLimits::new(rate, *band, spec.aggregate_frames, spec.aggregate_time);
            if let Some(dense) = dense {
                dense.set_rate(place, rate, *band, spec.aggregate_frames);
            }
            self.sender.choose_codel(place);
        }
    }

    /// Fills the hardware queue of `category`, now or when building is done.
    #[inline]
    fn schedule(&mut self, category: AccessCategory, now: Time, drops: &mut dyn FrameSink<P>) {
        if self.sender.deferral.at_once(category, now) {
            self.build(category, now, drops);
        }
    }

    /// Fills the hardware queue of `category`, and that of best effort with what was demoted meanwhile.
    #[inline]
    fn build(&mut self, category: AccessCategory, now: Time, drops: &mut dyn FrameSink<P>) {
        self.fill(category, now, drops);
        if !self.sender.holding.is_empty() {
            self.let_voice_go(now, drops);
        }
        if self.sender.spec.policies.demote.is_some() {
            while let Some(peer) = self.sender.take_demoted() {
                self.scheduler.wake(peer, AccessCategory::BestEffort);
                self.fill(AccessCategory::BestEffort, now, drops);
            }
        }
    }

    /// Voice that waited for an aggregate and no longer does goes by itself.
    fn let_voice_go(&mut self, now: Time, drops: &mut dyn FrameSink<P>) {
        let mut holding = std::mem::take(&mut self.sender.holding);
        holding.retain(|&station| {
            let held = self.sender.holds_voice(station);
            if !held {
                self.scheduler.wake(station, AccessCategory::Voice);
            }
            held
        });
        self.sender.holding = holding;
        self.fill(AccessCategory::Voice, now, drops);
    }

    /// Fills the hardware queue of `category`.
    #[inline]
    fn fill(&mut self, category: AccessCategory, now: Time, drops: &mut dyn FrameSink<P>) {
        let mut driver = Building {
            room: self.sender.any_has_room(category),
            sender: &mut self.sender,
            now,
            drops,
        };
        match &mut self.scheduler {
            Scheduler::RoundRobin(round) => round.schedule(category, &mut driver),
            Scheduler::Airtime(airtime) => airtime.schedule(category, &mut driver),
            Scheduler::Policy(policy) => policy.schedule(category, now, &mut driver),
        }
    }

    #[inline]
    fn place(&self, peer: NodeId) -> u16 {
        let place = self.places.get(usize::from(peer.0)).copied().flatten();
        place.expect("packets are for peers that the transmitter was told of")
    }

    fn peer_tid(&self, peer: NodeId, tid: Tid) -> PeerTid {
        PeerTid {
            peer: self.place(peer),
            tid,
        }
    }

    /// What was counted for a peer.
    ///
    /// # Panics
    /// Here and below: for a peer that was not given to [`Transmitter::new`].
    #[must_use]
    pub fn peer_stats(&self, peer: NodeId) -> PeerStats {
        self.sender.peers[usize::from(self.place(peer))].stats
    }

    /// What the options of [`crate::LatencySpec`] did to a peer.
    #[must_use]
    pub fn latency_stats(&self, peer: NodeId) -> LatencyStats {
        self.sender.peers[usize::from(self.place(peer))].latency
    }

    /// What was counted for a traffic identifier of a peer.
    #[must_use]
    pub fn tid_stats(&self, peer: NodeId, tid: Tid) -> TidStats {
        let of = self.peer_tid(peer, tid);
        match &self.sender.source {
            Source::Driver(driver) => driver.stats(of),
            Source::Queues(queues) => queues.stats(of),
        }
    }

    /// What a traffic identifier of a peer has queued; under a discipline, what it has in the driver.
    #[must_use]
    pub fn tid_backlog(&self, peer: NodeId, tid: Tid) -> Backlog {
        let of = self.peer_tid(peer, tid);
        match &self.sender.source {
            Source::Driver(driver) => driver.backlog(of),
            Source::Queues(queues) => queues.backlog(of),
        }
    }

    /// What the discipline of an access category holds; `None` under a scheme without one.
    #[must_use]
    pub fn qdisc_backlog(&self, category: AccessCategory) -> Option<Backlog> {
        match &self.sender.source {
            Source::Driver(driver) => Some(driver.qdisc_backlog(category)),
            Source::Queues(_) => None,
        }
    }

    /// The airtime that a peer may still use, in nanoseconds: `deficit` of debugfs. `None` without an airtime scheduler.
    #[must_use]
    pub fn credit(&self, peer: NodeId, category: AccessCategory) -> Option<i64> {
        match &self.scheduler {
            Scheduler::Airtime(scheduler) => Some(scheduler.credit(self.place(peer), category)),
            Scheduler::Policy(policy) => Some(policy.credit(self.place(peer), category)),
            Scheduler::RoundRobin(_) => None,
        }
    }

    /// The weight that a minimum rate gives a peer at the moment; `None` for a peer without one.
    #[must_use]
    pub fn adapted_weight(&self, peer: NodeId) -> Option<u32> {
        match &self.scheduler {
            Scheduler::Policy(policy) => policy.weight(self.place(peer)),
            Scheduler::RoundRobin(_) | Scheduler::Airtime(_) => None,
        }
    }

    /// How many flows to a peer went over from voice or video to best effort.
    #[must_use]
    pub fn demoted(&self, peer: NodeId) -> u64 {
        match &self.sender.source {
            Source::Driver(_) => 0,
            Source::Queues(queues) => queues.demoted(self.place(peer)),
        }
    }

    /// Packets held anywhere: queued, built into aggregates, to be sent again.
    #[must_use]
    pub fn packets(&self) -> u64 {
        let sender = &self.sender;
        let queued = match &sender.source {
            Source::Driver(driver) => driver.packets(),
            Source::Queues(queues) => queues.packets(),
        };
        let waiting = |o: &Originator<P>| o.retries() + usize::from(o.held.is_some());
        let waiting: usize = sender.originators.iter().map(waiting).sum();
        let built: usize = sender.hardware.iter().flatten().map(|a| a.frames.len()).sum();
        queued + (waiting + built) as u64
    }

    /// Counters start over.
    pub fn begin(&mut self) {
        for peer in &mut self.sender.peers {
            peer.stats = PeerStats::default();
            peer.latency = LatencyStats::default();
        }
        match &mut self.sender.source {
            Source::Driver(driver) => driver.begin(),
            Source::Queues(queues) => queues.begin(),
        }
    }
}

impl<P: WifiPacket> Sender<P> {
    /// Sets the peer's `CoDel` by its rate. Source: `sta_update_codel_params`: slow is below 6 Mbit/s times the stations.
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
    fn hold_voice(&mut self, station: u16, category: AccessCategory) {
        let hold = self.spec.policies.vo_hold > 0 && category == AccessCategory::Voice;
        if hold && !self.holding.contains(&station) {
            self.holding.push(station);
        }
    }

    /// Whether the station's voice waits for an aggregate of another category: it has one to come, and no more voice than may wait.
    fn holds_voice(&self, station: u16) -> bool {
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

    fn take_demoted(&mut self) -> Option<u16> {
        match &mut self.source {
            Source::Driver(_) => None,
            Source::Queues(queues) => queues.take_demoted(),
        }
    }

    /// Whether a TID has frames to be sent again or new packets.
    #[inline]
    fn has_packets(&self, of: PeerTid) -> bool {
        let originator = &self.originators[of.index()];
        let backlog = match &self.source {
            Source::Driver(driver) => driver.backlog(of),
            Source::Queues(queues) => queues.backlog(of),
        };
        backlog.packets > 0 || originator.retries() > 0 || originator.held.is_some()
    }

    #[inline]
    fn window_is_closed(&self, peer: u16, category: AccessCategory) -> bool {
        !tids(peer, category).any(|of| self.can_send(of))
    }

    /// Whether a peer may have more below the queues. With limits one whose window is closed, or that would build a short aggregate
    /// behind another, lets the others go first.
    #[inline]
    fn has_room(&self, peer: u16, category: AccessCategory) -> bool {
        if !self.pending.limits() {
            return true;
        }
        let pending = category != AccessCategory::Voice && !self.pending.of(peer, category).is_zero();
        self.pending.has_room(peer, category)
            && tids(peer, category).any(|of| self.can_send(of) && !(pending && self.would_be_short(of)))
    }

    /// Whether an aggregate of the TID would not be full now.
    fn would_be_short(&self, of: PeerTid) -> bool {
        let originator = &self.originators[of.index()];
        let backlog = match &self.source {
            Source::Driver(driver) => driver.backlog(of),
            Source::Queues(queues) => queues.backlog(of),
        };
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
    fn any_has_room(&self, category: AccessCategory) -> bool {
        !self.pending.limits() || (0..self.peers.len() as u16).any(|peer| self.has_room(peer, category))
    }

    /// Whether the cell is dense in `category` now.
    #[inline]
    fn is_dense(&self, category: AccessCategory) -> bool {
        let stations = (0..self.peers.len() as u16).filter(|&peer| tids(peer, category).any(|of| self.has_packets(of)));
        self.dense.as_ref().is_some_and(|dense| dense.applies(stations))
    }

    /// Whether a TID has any that its Block Ack window allows. A frame to be sent again is always inside.
    #[inline]
    fn can_send(&self, of: PeerTid) -> bool {
        let originator = &self.originators[of.index()];
        originator.retries() > 0 || (originator.window_is_open() && self.has_packets(of))
    }
}

/// The traffic identifiers of an access category of a peer.
fn tids(peer: u16, category: AccessCategory) -> impl Iterator<Item = PeerTid> {
    tids_of(category).into_iter().map(move |tid| PeerTid { peer, tid })
}

/// The sender at one moment.
struct Building<'a, P> {
    sender: &'a mut Sender<P>,
    /// Whether any station with something to send has room below the queues.
    room: bool,
    now: Time,
    drops: &'a mut dyn FrameSink<P>,
}

impl<P: WifiPacket> Driver for Building<'_, P> {
    #[inline]
    fn hardware_queue_is_full(&self, category: AccessCategory) -> bool {
        let sender = &*self.sender;
        let places = sender
            .deferral
            .places(category, sender.spec.hardware_queue as usize, self.now);
        !self.room || sender.hardware[category.index()].len() >= places
    }

    #[inline]
    fn pending(&self, station: u16, category: AccessCategory) -> Duration {
        self.sender.pending.of(station, category)
    }

    #[inline]
    fn has_room(&self, station: u16, category: AccessCategory) -> bool {
        self.sender.has_room(station, category)
    }

    #[inline]
    fn queue_is_empty(&self, station: u16, category: AccessCategory) -> bool {
        let empty = !tids(station, category).any(|of| self.sender.has_packets(of));
        empty || category == AccessCategory::Voice && self.sender.holds_voice(station)
    }

    #[inline]
    fn window_is_closed(&self, station: u16, category: AccessCategory) -> bool {
        self.sender.window_is_closed(station, category)
    }

    /// The two TIDs of the access category take turns. Voice is not aggregated.
    fn build_aggregate(&mut self, station: u16, category: AccessCategory) {
        let (now, drops) = (self.now, &mut *self.drops);
        let turn = self.sender.peers[usize::from(station)].turn[category.index()];
        let tids = [turn, 1 - turn].map(|i| PeerTid {
            peer: station,
            tid: tids_of(category)[i],
        });
        let from = if self.sender.can_send(tids[0]) {
            tids[0]
        } else {
            tids[1]
        };
        let is_dense = self.sender.is_dense(category);
        let Sender {
            spec,
            peers,
            source,
            originators,
            hardware,
            spare,
            pending,
            dense,
            ..
        } = &mut *self.sender;
        let peer = &mut peers[usize::from(station)];
        peer.turn[category.index()] = if from == tids[0] { 1 - turn } else { turn };
        let most = match category {
            AccessCategory::Voice => 1,
            _ => spec.aggregate_frames as usize,
        };
        let mut riders = match spec.policies.vo_in_aggregate {
            Some(most_riders) if category != AccessCategory::Voice && peer.limits.aggregates() => {
                Some(Riders::board(most_riders, from, originators))
            }
            _ => None,
        };
        let next_packet = || match (&mut *source, &mut riders) {
            (Source::Driver(driver), _) => driver.dequeue(from),
            (Source::Queues(queues), None) => queues.dequeue(from, now, drops),
            (Source::Queues(queues), Some(riders)) => riders.next(from, queues, now, drops),
        };
        let limits = match dense {
            Some(dense) if is_dense => dense.limits[usize::from(station)],
            _ => peer.limits,
        };
        let built = build(
            (peer.node, from.tid),
            &limits,
            most,
            &mut originators[from.index()],
            next_packet,
            now,
            spare.pop().unwrap_or_default(),
        );
        if let Some(riders) = riders {
            peer.stats.voice_in_aggregates += riders.alight(from, originators);
        }
        match built {
            Ok(aggregate) => {
                let pending = pending.add(station, category, aggregate.airtime);
                peer.latency.built(pending, is_dense);
                hardware[category.index()].push_back(aggregate);
            }
            Err(frames) => spare.push(frames),
        }
        self.room = self.sender.any_has_room(category);
    }
}

impl<P: WifiPacket> SharedDriver for Building<'_, P> {
    fn shared_queue_is_full(&self) -> bool {
        let built: usize = self.sender.hardware.iter().map(VecDeque::len).sum();
        let places = self.sender.spec.hardware_queue as usize;
        let mut of_each = AccessCategory::ALL
            .map(|c| self.sender.deferral.places(c, places, self.now))
            .into_iter();
        of_each.any(|places| built >= places)
    }
}

#[cfg(test)]
mod tests;
