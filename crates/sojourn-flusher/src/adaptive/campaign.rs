//! One flush from its proposal to its verdict.

use crate::{Estimate, FlowKey, FlushId, Verdict};
use sojourn_units::{Bytes, Duration, Time};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// A flush under way: the burst, its top-ups, and what is seen of its effect.
#[derive(Debug)]
pub(crate) struct Campaign {
    pub(crate) id: FlushId,
    pub(crate) flow: FlowKey,
    pub(crate) forced: bool,
    pub(crate) estimate: Estimate,
    /// Length of its packets.
    pub(crate) size: Bytes,
    /// Its top-ups, and the time between them.
    pub(crate) top_ups: u32,
    pub(crate) gap: Duration,
    /// The least RTT of the window before it.
    pub(crate) before: Duration,
    /// Below this, the flush has helped.
    pub(crate) goal: Duration,
    /// The RTT of a full buffer.
    pub(crate) round: Duration,
    /// The receivers of the flows that seem to stand in the same buffer.
    pub(crate) company: BTreeSet<IpAddr>,
    /// What these flows had sent again before it.
    pub(crate) retransmissions: u64,
    /// And their loss events.
    pub(crate) losses: u64,
    /// Packets that they had in flight.
    pub(crate) window: u32,
    /// When the burst had left.
    pub(crate) started: Option<Time>,
    pub(crate) top_ups_left: u32,
    pub(crate) next_top_up: Option<Time>,
    pub(crate) deadline: Option<Time>,
    pub(crate) extended: bool,
    /// The least RTT of segments sent after the burst.
    pub(crate) after: Option<Duration>,
    /// The largest queueing delay of them.
    pub(crate) reached: Duration,
}

impl Campaign {
    /// The burst has left. The flow's packets wait behind it for one RTT of a full buffer; their losses are seen by
    /// the sender then; what it sends less shows in samples after another: three rounds.
    pub(crate) fn begin(&mut self, now: Time) {
        self.started = Some(now);
        self.deadline = Some(now + self.round.saturating_mul(3));
        if !self.forced && self.top_ups > 0 {
            self.top_ups_left = self.top_ups;
            self.next_top_up = Some(now + self.gap);
        }
    }

    /// A top-up has left.
    pub(crate) fn topped_up(&mut self, now: Time) {
        self.top_ups_left = self.top_ups_left.saturating_sub(1);
        self.next_top_up = (self.top_ups_left > 0).then(|| now + self.gap);
    }

    /// Takes a sample of the flow; whether the flush has helped.
    pub(crate) fn on_sample(&mut self, raw: Duration, base: Duration, now: Time) -> bool {
        let Some(started) = self.started else { return false };
        if now - raw < started {
            return false;
        }
        self.after = Some(self.after.map_or(raw, |least| least.min(raw)));
        self.reached = self.reached.max(raw.saturating_sub(base));
        raw <= self.goal
    }

    /// At the deadline: how it worked out, or `None` if there must be more time. After a loss event samples may be
    /// late.
    pub(crate) fn verdict(&mut self, retransmissions: u64) -> Option<Verdict> {
        match self.after {
            Some(after) if after <= self.goal => Some(Verdict::Helped),
            Some(_) if retransmissions == self.retransmissions => Some(Verdict::TooSmall),
            Some(_) => Some(Verdict::Useless),
            None if self.extended => Some(Verdict::Unknown),
            None => {
                self.extended = true;
                self.deadline = self.deadline.map(|at| at + self.round.saturating_mul(2));
                None
            }
        }
    }
}
