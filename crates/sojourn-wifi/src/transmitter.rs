//! One node's sending side: queues, scheduler, hardware queue, retries.

mod building;
mod completion;
mod counters;
mod scheduler;
mod sender;
mod source;
mod stats;

pub use completion::Completion;
pub use counters::PeerStats;

use crate::queue_spec::{NodeSpec, PeerSpec};
use crate::{AccessCategory, Aggregate, Band, FrameSink, NodeId, PeerTid, PhyRate, QosOrder, WifiError, WifiPacket};
use building::Building;
use scheduler::Scheduler;
use sender::Sender;
use sojourn_units::{Duration, Time};
use source::Source;

/// One node's sending side, under one of the four schemes of seed 002 section 3.2.
///
/// Packets come by [`Transmitter::enqueue`]. What is to be sent next in an access category is [`Transmitter::head`];
/// when it was sent, [`Transmitter::completed`] says what arrived. Nothing here knows of contention.
#[derive(Clone, Debug)]
pub struct Transmitter<P> {
    sender: Sender<P>,
    scheduler: Scheduler,
    /// By number of a node its place among the peers.
    places: Vec<Option<u16>>,
}

impl<P: WifiPacket> Transmitter<P> {
    /// A node with nothing queued. `name` names it: in errors, and for the random streams of its disciplines, derived
    /// from `seed`.
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
        Ok(Self {
            sender: Sender::new(spec, peers, band, seed, name),
            scheduler: Scheduler::new(spec, peers),
            places,
        })
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
        match &mut self.sender.source {
            Source::Driver(driver) => {
                driver.enqueue(packet, to, now, drops);
                self.refill(category, now, drops);
            }
            Source::Queues(queues) => {
                queues.enqueue(packet, to, now, drops);
                self.scheduler.wake(to.peer, category, now);
                self.schedule(category, now, drops);
            }
        }
    }

    /// The discipline hands down what the driver has room for, packet by packet, as Linux does: if the hardware has
    /// nothing else to do, the first goes alone.
    fn refill(&mut self, category: AccessCategory, now: Time, drops: &mut dyn FrameSink<P>) {
        while let Source::Driver(driver) = &mut self.sender.source
            && let Some(peer) = driver.hand_down(category, now, drops)
        {
            self.scheduler.wake(peer, category, now);
            self.schedule(category, now, drops);
        }
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

    /// The aggregate at the head of `category` begins to be sent. What `defer`, `build_time` and `retry_time` do
    /// depends on being told.
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
        match (self.sender.deferral.next(), self.scheduler.due()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Builds what was put off until now.
    pub fn wake(&mut self, now: Time, drops: &mut dyn FrameSink<P>) {
        while let Some(category) = self.sender.deferral.take(now) {
            self.build(category, now, drops);
        }
        if self.scheduler.advance(now) {
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

    /// Something from `peer` was received and took `airtime`.
    ///
    /// # Panics
    /// For a peer that was not given to [`Transmitter::new`].
    pub fn on_receive(&mut self, peer: NodeId, category: AccessCategory, airtime: Duration, now: Time) {
        let place = self.place(peer);
        self.sender.peers[usize::from(place)].stats.airtime_rx += airtime;
        if self.sender.spec.airtime_rx {
            self.scheduler.charge(place, category, airtime, now);
        }
    }

    /// Aggregates to `peer` are built at `rate` from now on; those in the hardware queue stay as they are.
    ///
    /// # Panics
    /// For a peer that was not given to [`Transmitter::new`].
    pub fn set_rate(&mut self, peer: NodeId, rate: PhyRate) {
        let place = self.place(peer);
        self.sender.set_rate(usize::from(place), rate);
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
            while let Some(peer) = self.sender.source.take_demoted() {
                self.scheduler.wake(peer, AccessCategory::BestEffort, now);
                self.fill(AccessCategory::BestEffort, now, drops);
            }
        }
    }

    /// Voice that waited for an aggregate and no longer does goes by itself. A station is remembered as long as it
    /// has voice, because voice that had no room yet may have to wait again.
    fn let_voice_go(&mut self, now: Time, drops: &mut dyn FrameSink<P>) {
        let mut holding = std::mem::take(&mut self.sender.holding);
        holding.retain(|&station| {
            if !self.sender.holds_voice(station) {
                self.scheduler.wake(station, AccessCategory::Voice, now);
            }
            self.sender.has_voice(station)
        });
        self.sender.holding = holding;
        self.fill(AccessCategory::Voice, now, drops);
    }

    /// Fills the hardware queue of `category`.
    #[inline]
    fn fill(&mut self, category: AccessCategory, now: Time, drops: &mut dyn FrameSink<P>) {
        let mut driver = Building::new(&mut self.sender, category, now, drops);
        self.scheduler.schedule(category, now, &mut driver);
    }

    #[inline]
    fn place(&self, peer: NodeId) -> u16 {
        let place = self.places.get(usize::from(peer.0)).copied().flatten();
        place.expect("packets are for peers that the transmitter was told of")
    }
}

#[cfg(test)]
mod tests;
