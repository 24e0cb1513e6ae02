//! Which station builds next: the scheduler of each scheme behind one face.

use super::building::Building;
use crate::policy::PolicyScheduler;
use crate::queue_spec::{NodeSpec, PeerSpec};
use crate::{AccessCategory, AirtimeScheduler, Mac80211Scheduler, RoundRobin, Scheme, Variant, WifiPacket};
use sojourn_units::{Duration, Time};

#[derive(Clone, Debug)]
pub(super) enum Scheduler {
    RoundRobin(RoundRobin),
    Airtime(AirtimeScheduler),
    Policy(Box<PolicyScheduler>),
    Mac80211(Mac80211Scheduler),
}

impl Scheduler {
    /// The scheduler of the node's scheme and policies.
    pub(super) fn new(spec: &NodeSpec, peers: &[PeerSpec]) -> Self {
        let weights: Vec<u32> = peers.iter().map(|p| p.weight).collect();
        if spec.variant == Variant::Linux612 && !spec.scheme.has_qdisc() {
            return Self::Mac80211(Mac80211Scheduler::new(spec.scheme == Scheme::Airtime, &weights));
        }
        let policy = PolicyScheduler::new(spec, peers).filter(|_| spec.scheme == Scheme::Airtime);
        if let Some(policy) = policy {
            Self::Policy(Box::new(policy))
        } else if spec.scheme == Scheme::Airtime {
            Self::Airtime(AirtimeScheduler::new(spec.airtime_quantum, &weights))
        } else {
            Self::RoundRobin(RoundRobin::new(peers.len()))
        }
    }

    /// Lets stations build until the hardware queue of `category` is full.
    #[inline]
    pub(super) fn schedule<P: WifiPacket>(
        &mut self,
        category: AccessCategory,
        now: Time,
        driver: &mut Building<'_, P>,
    ) {
        match self {
            Self::RoundRobin(round) => round.schedule(category, driver),
            Self::Airtime(airtime) => airtime.schedule(category, driver),
            Self::Policy(policy) => policy.schedule(category, now, driver),
            Self::Mac80211(scheduler) => scheduler.schedule(category, now, driver),
        }
    }

    #[inline]
    pub(super) fn wake(&mut self, peer: u16, category: AccessCategory, now: Time) {
        match self {
            Self::RoundRobin(round) => round.wake(peer, category),
            Self::Airtime(airtime) => airtime.wake(peer, category),
            Self::Policy(policy) => policy.wake(peer, category),
            Self::Mac80211(scheduler) => scheduler.wake(peer, category, now),
        }
    }

    #[inline]
    pub(super) fn charge(&mut self, peer: u16, category: AccessCategory, airtime: Duration, now: Time) {
        match self {
            Self::RoundRobin(_) => {}
            Self::Airtime(scheduler) => scheduler.charge(peer, category, airtime),
            Self::Policy(policy) => policy.charge(peer, category, airtime),
            Self::Mac80211(scheduler) => scheduler.charge(peer, category, airtime, now),
        }
    }

    /// Bytes of an aggregate to a peer arrived.
    #[inline]
    pub(super) fn arrived(&mut self, peer: u16, bytes: u64) {
        if let Self::Policy(policy) = self {
            policy.arrived(peer, bytes);
        }
    }

    /// When a policy has something to do by itself.
    #[inline]
    pub(super) fn due(&self) -> Option<Time> {
        match self {
            Self::Policy(policy) => policy.due(),
            Self::RoundRobin(_) | Self::Airtime(_) | Self::Mac80211(_) => None,
        }
    }

    /// Does what a policy has to do by now; whether it had.
    pub(super) fn advance(&mut self, now: Time) -> bool {
        match self {
            Self::Policy(policy) if policy.due().is_some_and(|due| due <= now) => {
                policy.advance(now);
                true
            }
            _ => false,
        }
    }
}
