//! What a transmitter can be asked.

use super::Transmitter;
use super::counters::PeerStats;
use super::scheduler::Scheduler;
use super::source::Source;
use crate::retry::Originator;
use crate::{AccessCategory, LatencyStats, NodeId, PeerTid, Tid, TidStats, WifiPacket};
use sojourn_qdisc::Backlog;

impl<P: WifiPacket> Transmitter<P> {
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
        self.sender.source.stats(of)
    }

    /// What a traffic identifier of a peer has queued; under a discipline, what it has in the driver.
    #[must_use]
    pub fn tid_backlog(&self, peer: NodeId, tid: Tid) -> Backlog {
        let of = self.peer_tid(peer, tid);
        self.sender.source.backlog(of)
    }

    /// What the discipline of an access category holds; `None` under a scheme without one.
    #[must_use]
    pub fn qdisc_backlog(&self, category: AccessCategory) -> Option<Backlog> {
        match &self.sender.source {
            Source::Driver(driver) => Some(driver.qdisc_backlog(category)),
            Source::Queues(_) => None,
        }
    }

    /// The airtime that a peer may still use, in nanoseconds: `deficit` of debugfs. `None` without an airtime
    /// scheduler.
    #[must_use]
    pub fn credit(&self, peer: NodeId, category: AccessCategory) -> Option<i64> {
        match &self.scheduler {
            Scheduler::Airtime(scheduler) => Some(scheduler.credit(self.place(peer), category)),
            Scheduler::Policy(policy) => Some(policy.credit(self.place(peer), category)),
            Scheduler::Mac80211(scheduler) => Some(scheduler.deficit(self.place(peer), category)),
            Scheduler::RoundRobin(_) => None,
        }
    }

    /// The weight that a minimum rate gives a peer at the moment; `None` for a peer without one.
    #[must_use]
    pub fn adapted_weight(&self, peer: NodeId) -> Option<u32> {
        match &self.scheduler {
            Scheduler::Policy(policy) => policy.weight(self.place(peer)),
            Scheduler::RoundRobin(_) | Scheduler::Airtime(_) | Scheduler::Mac80211(_) => None,
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
        let queued = sender.source.packets();
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
        self.sender.source.begin();
    }
}
