//! `netem`: a constant delay with a limit that counts the packets which it delays.
//!
//! Source: tc-netem(8) (`limit` is the most packets that it may hold) and Linux `sch_netem.c`: an arrival is refused
//! while the queue holds `limit` packets, those that are still being delayed among them; one that is accepted may
//! leave `delay` after it came, and none overtakes another. Under a shaper it is delay and bottleneck queue in one,
//! as in the beds of `htb` and netem that seed 003 describes in section 5.2.1: of `limit` packets, those that the
//! link sends during `delay` are not a queue.
//!
//! Deviation: neither jitter, loss, duplication, corruption, reordering nor a rate of its own, which the scenario has
//! elsewhere or not at all.

mod descriptor;
#[cfg(test)]
mod tests;

use crate::fifo::TX_QUEUE_LEN;
use crate::ledger::{Ahead, Ledger};
use crate::param::{LONGEST, in_range};
use crate::{Admission, Backlog, Departure, DropReason, DropSink, Packet, ParamError, Qdisc, QdiscStats, Queued};
use sojourn_units::{Bytes, Duration, Time};
use std::collections::VecDeque;

/// Parameters of [`Netem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetemParams {
    /// Packets that it holds, delayed ones among them.
    pub limit: u32,
    /// How long each is held at least.
    pub delay: Duration,
}

impl NetemParams {
    /// `tc`'s defaults: 1000 packets, no delay.
    pub const LINUX: Self = Self {
        limit: TX_QUEUE_LEN,
        delay: Duration::ZERO,
    };

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`ParamError`] for a value out of its range.
    pub fn validate(&self) -> Result<(), ParamError> {
        in_range("netem", "limit", u64::from(self.limit), 1, u64::from(u32::MAX))?;
        if self.delay > LONGEST {
            let rule = "at most 4294.967295s";
            return Err(ParamError::new("netem", "delay", self.delay.to_string(), rule));
        }
        Ok(())
    }
}

impl Default for NetemParams {
    fn default() -> Self {
        Self::LINUX
    }
}

/// A queue that lets each packet go a constant time after it came.
#[derive(Clone, Debug)]
pub struct Netem<P> {
    params: NetemParams,
    /// In the order in which they came, which is that in which they may leave.
    ring: VecDeque<Queued<P>>,
    /// Source: netem's `peek` is `qdisc_peek_dequeued`.
    ahead: Ahead<P>,
    ledger: Ledger,
}

impl<P: Packet> Netem<P> {
    /// An empty queue.
    ///
    /// # Errors
    /// [`ParamError`] for parameters that cannot be used.
    pub fn new(params: NetemParams) -> Result<Self, ParamError> {
        params.validate()?;
        Ok(Self {
            params,
            ring: VecDeque::new(),
            ahead: Ahead::EMPTY,
            ledger: Ledger::default(),
        })
    }

    /// The first packet, if its time has come; out of the books.
    fn next(&mut self, now: Time) -> Option<Queued<P>> {
        let due = self.ring.front()?.since + self.params.delay;
        let queued = if due <= now { self.ring.pop_front() } else { None }?;
        self.ledger.leave(queued.size);
        Some(queued)
    }
}

impl<P: Packet> Qdisc<P> for Netem<P> {
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        self.ledger.arrive();
        if self.ledger.backlog.packets >= u64::from(self.params.limit) {
            return self.ledger.refuse(packet, DropReason::QueueLimit, drops);
        }
        let queued = Queued::new(packet, now);
        self.ledger.enter(queued.size);
        self.ring.push_back(queued);
        Admission::Queued
    }

    fn dequeue(&mut self, now: Time, _drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
        let held = self.ahead.take(&mut self.ledger).map(|(queued, _)| queued);
        let queued = held.or_else(|| self.next(now))?;
        self.ledger.send(queued.size);
        Some(queued.depart(now, false))
    }

    fn ready_at(&mut self, now: Time, _drops: &mut dyn DropSink<P>) -> Option<Time> {
        if self.ahead.size().is_some() {
            return Some(now);
        }
        self.ring
            .front()
            .map(|queued| now.max(queued.since + self.params.delay))
    }

    fn peek_size(&self) -> Option<Bytes> {
        self.ahead.size()
    }

    fn peek(&mut self, now: Time, _drops: &mut dyn DropSink<P>) -> Option<Bytes> {
        if let Some(size) = self.ahead.size() {
            return Some(size);
        }
        let queued = self.next(now)?;
        Some(self.ahead.hold((queued, false), &mut self.ledger))
    }

    fn backlog(&self) -> Backlog {
        self.ledger.backlog
    }

    fn stats(&self) -> QdiscStats {
        self.ledger.stats
    }
}
