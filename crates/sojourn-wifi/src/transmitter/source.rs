//! Where new frames come from: a discipline above the driver, or the queues of each station.

use crate::driver_fifo::DriverFifo;
use crate::queue_spec::NodeSpec;
use crate::{NodeId, PeerTid, TidStats, WifiPacket, WifiQueues, WifiQueuesParams};
use sojourn_qdisc::Backlog;

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one of a node, never moved")]
pub(super) enum Source<P> {
    Driver(DriverFifo<P>),
    Queues(WifiQueues<P>),
}

impl<P: WifiPacket> Source<P> {
    /// What the node's scheme has, empty.
    pub(super) fn new(spec: &NodeSpec, nodes: &[NodeId], seed: u64, name: &str) -> Self {
        if let Some(qdisc) = spec.above_driver() {
            return Self::Driver(DriverFifo::new(&qdisc, spec.driver_frames, nodes, seed, name));
        }
        let params = WifiQueuesParams {
            queues: spec.queues,
            limit: spec.limit,
            memory: spec.memory,
            quantum: spec.quantum,
            codel: spec.codel(false),
        };
        let mut queues = WifiQueues::new(params, nodes);
        if let Some(after) = spec.policies.demote {
            queues.set_demotion(after);
        }
        Self::Queues(queues)
    }

    /// What a traffic identifier has queued; under a discipline, what it has in the driver.
    #[inline]
    pub(super) fn backlog(&self, of: PeerTid) -> Backlog {
        match self {
            Self::Driver(driver) => driver.backlog(of),
            Self::Queues(queues) => queues.backlog(of),
        }
    }

    pub(super) fn stats(&self, of: PeerTid) -> TidStats {
        match self {
            Self::Driver(driver) => driver.stats(of),
            Self::Queues(queues) => queues.stats(of),
        }
    }

    /// Packets in all of it.
    pub(super) fn packets(&self) -> u64 {
        match self {
            Self::Driver(driver) => driver.packets(),
            Self::Queues(queues) => queues.packets(),
        }
    }

    /// A peer with packets that were demoted to best effort since the last call.
    pub(super) fn take_demoted(&mut self) -> Option<u16> {
        match self {
            Self::Driver(_) => None,
            Self::Queues(queues) => queues.take_demoted(),
        }
    }

    /// Counters start over.
    pub(super) fn begin(&mut self) {
        match self {
            Self::Driver(driver) => driver.begin(),
            Self::Queues(queues) => queues.begin(),
        }
    }
}
