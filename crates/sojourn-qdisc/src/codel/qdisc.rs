//! `codel`: one queue under `CoDel`.

use super::{CodelParams, CodelState, CodelStats, codel_dequeue, packet_limit};
use crate::ledger::{Ahead, Ledger, dequeue_through_ahead};
use crate::{Admission, Backlog, Departure, DropReason, DropSink, Packet, ParamError, Qdisc, QdiscStats, Queued};
use sojourn_units::{Bytes, Time};
use std::collections::VecDeque;

/// The `codel` discipline. Source: Linux `sch_codel.c`; RFC 8289.
#[derive(Clone, Debug)]
pub struct Codel<P> {
    params: CodelParams,
    limit: u32,
    state: CodelState,
    counters: CodelStats,
    drop_overlimit: u64,
    ring: VecDeque<Queued<P>>,
    ahead: Ahead<P>,
    ledger: Ledger,
    /// Time of the last call, for the counter `drop_next`.
    now: Time,
}

impl<P: Packet> Codel<P> {
    /// An empty queue that refuses arrivals beyond `limit` packets.
    ///
    /// # Errors
    /// [`ParamError`] for parameters that cannot be used.
    pub fn new(params: CodelParams, limit: u32) -> Result<Self, ParamError> {
        params.validate("codel")?;
        packet_limit("codel", limit)?;
        Ok(Self {
            params: params.counted(),
            limit,
            state: CodelState::new(params.variant),
            counters: CodelStats::default(),
            drop_overlimit: 0,
            ring: VecDeque::new(),
            ahead: Ahead::EMPTY,
            ledger: Ledger::default(),
            now: Time::ZERO,
        })
    }

    /// The state of the algorithm.
    #[must_use]
    pub fn state(&self) -> &CodelState {
        &self.state
    }

    #[inline]
    fn next(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<(Queued<P>, bool)> {
        self.now = now;
        let (ring, ledger) = (&mut self.ring, &mut self.ledger);
        let next = codel_dequeue(
            &self.params,
            &mut self.state,
            &mut self.counters,
            now,
            || {
                let queued = ring.pop_front()?;
                ledger.leave(queued.size);
                Some((queued, ledger.backlog.bytes))
            },
            drops,
        );
        self.ledger.stats.drops[DropReason::Congestion.index()] = self.counters.drops;
        self.ledger.stats.marks = self.counters.marked;
        next
    }
}

impl<P: Packet> Qdisc<P> for Codel<P> {
    #[inline]
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        self.now = now;
        self.ledger.arrive();
        if self.ledger.backlog.packets >= u64::from(self.limit) {
            self.drop_overlimit += 1;
            return self.ledger.refuse(packet, DropReason::QueueLimit, drops);
        }
        let queued = Queued::new(packet, now);
        self.ledger.enter(queued.size);
        self.ring.push_back(queued);
        Admission::Queued
    }

    #[inline]
    fn lets_pass_alone(&self, _: &P) -> bool {
        self.ledger.backlog.packets == 0
    }

    #[inline]
    fn passed_alone(&mut self, packet: &P, now: Time) {
        self.now = now;
        let size = packet.size();
        self.ledger.arrive();
        self.ledger.send(size);
        self.state.passed(&mut self.counters, size);
    }

    dequeue_through_ahead!();

    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        let state = &self.state;
        let due = |at: Time| at.since(self.now).as_nanos() as f64 - self.now.since(at).as_nanos() as f64;
        vec![
            ("count", f64::from(state.count)),
            ("lastcount", f64::from(state.last_count)),
            ("ldelay", state.last_delay.as_nanos() as f64 / 1e3),
            ("dropping", f64::from(u8::from(state.dropping))),
            (
                "drop_next",
                state
                    .drop_next
                    .filter(|_| state.dropping)
                    .map_or(0.0, |at| due(at) / 1e3),
            ),
            ("maxpacket", self.counters.max_packet as f64),
            ("ecn_mark", self.counters.ecn_mark as f64),
            ("ce_mark", self.counters.ce_mark as f64),
            ("drop_overlimit", self.drop_overlimit as f64),
            ("drop_state_entries", self.counters.drop_state_entries as f64),
        ]
    }
}
