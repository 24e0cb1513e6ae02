//! Whether flushes help, where the core does not judge that itself.

use crate::{FlowKey, FlushId, FlushPlan, Reason};
use sojourn_units::{Duration, Time};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

/// Flushes remembered.
const FLUSHES: usize = 1024;

#[derive(Clone, Copy, Debug)]
struct Sent {
    flow: FlowKey,
    /// Samples count from here on: those before are of the burst itself.
    from: Time,
    before: Duration,
    least: Option<Duration>,
}

/// Remembers what was flushed. The methods of seed 003 do not look back; for them a flush helped if an RTT sample of
/// its flow came down by an eighth of what it stood at, later than the largest RTT after the burst and before the
/// next flush towards the same destination. Forced flushes are not judged: there need be no queue.
#[derive(Debug)]
pub(super) struct Effects {
    /// Whether to judge here.
    judging: bool,
    flushes: VecDeque<(FlushId, IpAddr)>,
    sent: BTreeMap<IpAddr, Sent>,
}

impl Effects {
    /// Knows of no flush; `judging` if the method does not judge itself ([`crate::Method::Thesis`]).
    pub(super) const fn new(judging: bool) -> Self {
        Self {
            judging,
            flushes: VecDeque::new(),
            sent: BTreeMap::new(),
        }
    }

    /// A burst left.
    pub(super) fn sent(&mut self, plan: &FlushPlan, now: Time) {
        if self.flushes.len() == FLUSHES {
            self.flushes.pop_front();
        }
        self.flushes.push_back((plan.id, plan.toward));
        let Reason::Threshold { least, .. } = plan.reason else {
            return;
        };
        if self.judging {
            if self.sent.len() == FLUSHES {
                self.sent.pop_first();
            }
            let sent = Sent {
                flow: plan.flow,
                from: now + plan.estimate.max_rtt,
                before: least,
                least: None,
            };
            self.sent.insert(plan.toward, sent);
        }
    }

    /// Where a flush went that the core has judged.
    pub(super) fn toward(&self, id: FlushId) -> Option<IpAddr> {
        self.flushes
            .iter()
            .rev()
            .find(|(i, _)| *i == id)
            .map(|&(_, toward)| toward)
    }

    /// An RTT of a flow towards `toward`.
    pub(super) fn sample(&mut self, toward: IpAddr, at: Time, rtt: Duration) {
        if self.sent.is_empty() {
            return;
        }
        if let Some(sent) = self.sent.get_mut(&toward).filter(|s| at >= s.from) {
            sent.least = Some(sent.least.map_or(rtt, |least| least.min(rtt)));
        }
    }

    /// Whether the last flush towards this plan's destination helped, once.
    pub(super) fn verdict(&mut self, plan: &FlushPlan) -> Option<bool> {
        if self.sent.get(&plan.toward)?.flow != plan.flow {
            return None;
        }
        let sent = self.sent.remove(&plan.toward)?;
        let fallen = Duration::from_nanos(sent.before.as_nanos() - sent.before.as_nanos() / 8);
        Some(sent.least.is_some_and(|least| least <= fallen))
    }
}
