//! `fq_codel variant ns2`: sfqCoDel, the flow queueing with `CoDel` of the simulator ns-2.
//!
//! Source: ns-2 `queue/sfqcodel.cc` and `sfqcodel.h` by K. Nichols, the text of January 2013; it is what seed 001
//! (June 2015) calls FQ-CoDel in Figures 3 to 6 (its emulation has Linux's). Seed 001 does not say which text it had.
//! That of 2013 had been the published one for two years, and has the quantum of bytes that seed 001 section II-B
//! describes, which that of 2012 has not. What it does otherwise than Linux and RFC 8290:
//!
//! - A turn is one packet of any size, where no quantum is set (the default). With a quantum, deficit round robin.
//! - One ring of bins instead of two lists. A bin that comes new is served before the old ones, after other new ones,
//!   and is new until its first turn; beside a single other bin it comes after that one. A bin that runs empty stays
//!   until its turn, so a packet that comes meanwhile has no priority.
//! - At its limit it drops the youngest packet of the bin with the most packets (Linux: the oldest of that with the
//!   most bytes), and then takes the arrival.
//! - The one-packet test compares the backlog of all bins with the largest packet seen, at least 256 bytes (Linux:
//!   with one MTU, also the backlog of all). The last packet of a bin is never dropped.
//! - `CoDel`'s count grows only by drops after which the next packet is late too. The dropping state resumes with
//!   `count - 2` if count > 2 and its next drop was due less than 8 intervals ago, or will be (`CoDelQueue` of ns-2:
//!   `count - 1`, 16 intervals).
//! - What `CoDel` remembers of a bin stays when the bin is empty, but for the dropping state, which ends when it
//!   leaves the ring. An interval that began before goes on.
//! - A bin's very first packet needs no interval above target to be dropped: nothing was below target before.
//! - No marking.
//!
//! Deviation: a packet goes to bin `flow_hash % flows`, as here everywhere; ns-2 hashes addresses and ports with
//! Jenkins' lookup3, unseeded.
//!
//! Deviation: times are integer nanoseconds, ns-2's seconds in floating point.
//!
//! The text of 2012 had 256 bins and no quantum, refused the arrival at the limit, dropped the last packet of a bin
//! like any other, and gave the first drop soon after an episode less than an interval. With it a connection whose
//! first packet fell into a fresh bin could lose it after waiting one target, which at 1 Mbit/s is less than the time
//! of a full frame.

mod control;
mod schedule;
#[cfg(test)]
mod tests;

use super::{FqCodelParams, FqCodelVariant};
use crate::codel::CodelStats;
use crate::ledger::{Ahead, Ledger, dequeue_through_ahead};
use crate::slab::{List, Slab};
use crate::{Admission, Backlog, Departure, DropReason, DropSink, Packet, ParamError, Qdisc, QdiscStats, Queued};
use control::{Control, Taken};
use schedule::Schedule;
use sojourn_units::{Bytes, Time};

/// sfqCoDel of ns-2. Source: ns-2 `queue/sfqcodel.cc` of 2013; what differs from Linux's `fq_codel` is listed in
/// `fq_codel/ns2.rs`.
///
/// Deviation: bins by `flow_hash % flows`, and integer nanoseconds.
#[derive(Clone, Debug)]
pub struct SfqCodel<P> {
    params: FqCodelParams,
    bins: Vec<Bin>,
    schedule: Schedule,
    slab: Slab<P>,
    counters: CodelStats,
    /// The bin dropped from at the last overflow, at first bin 0.
    victim: u32,
    drop_overlimit: u64,
    new_flow_count: u64,
    ahead: Ahead<P>,
    ledger: Ledger,
}

/// One queue and its `CoDel`.
#[derive(Clone, Copy, Debug)]
struct Bin {
    packets: List,
    length: u32,
    control: Control,
}

impl<P: Packet> SfqCodel<P> {
    /// Empty bins. `params.codel.variant` is not looked at.
    ///
    /// # Errors
    /// [`ParamError`] for parameters that cannot be used, or of another variant than ns2.
    pub fn new(params: FqCodelParams) -> Result<Self, ParamError> {
        params.validate()?;
        if params.variant != FqCodelVariant::Ns2 {
            let rule = "ns2: the others are FqCodel";
            return Err(ParamError::new("fq_codel", "variant", params.variant.name(), rule));
        }
        let bin = Bin {
            packets: List::EMPTY,
            length: 0,
            control: Control::NEW,
        };
        Ok(Self {
            params,
            bins: vec![bin; params.flows as usize],
            schedule: Schedule::new(params.flows),
            slab: Slab::new(),
            counters: CodelStats::default(),
            victim: 0,
            drop_overlimit: 0,
            new_flow_count: 0,
            ahead: Ahead::EMPTY,
            ledger: Ledger::default(),
        })
    }

    /// Drops the youngest packet of the bin with the most packets. Of several that is the one of the highest number,
    /// but not the one that was dropped from last. Source: ns-2 `sfqCoDelQueue::enque`.
    #[cold]
    fn overflow(&mut self, now: Time, drops: &mut dyn DropSink<P>) {
        let mut longest = self.victim;
        for index in 0..self.params.flows {
            let (bin, most) = (&self.bins[index as usize], &self.bins[longest as usize]);
            if index != self.victim && self.schedule.holds(index) && bin.length >= most.length {
                longest = index;
            }
        }
        self.victim = longest;
        let bin = &mut self.bins[longest as usize];
        if let Some(queued) = self.slab.pop_back(&mut bin.packets) {
            bin.length -= 1;
            self.drop_overlimit += 1;
            self.ledger.leave(queued.size);
            self.ledger.discard(queued, DropReason::QueueLimit, now, drops);
        }
    }

    #[inline]
    fn next(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<(Queued<P>, bool)> {
        let quantum = self.params.quantum;
        loop {
            let bins = &self.bins;
            let index = self.schedule.ready(quantum, |i| bins[i as usize].packets.is_empty())?;
            let Bin {
                packets,
                length,
                control,
            } = &mut self.bins[index as usize];
            let (slab, ledger) = (&mut self.slab, &mut self.ledger);
            let next = control::dequeue(
                &self.params.codel,
                control,
                &mut self.counters,
                now,
                || {
                    let queued = slab.pop_front(packets)?;
                    *length -= 1;
                    ledger.leave(queued.size);
                    let (left, alone) = (ledger.backlog.bytes, *length == 0);
                    Some(Taken { queued, left, alone })
                },
                drops,
            );
            self.ledger.stats.drops[DropReason::Congestion.index()] = self.counters.drops;
            if let Some(queued) = next {
                self.schedule.sent(quantum, queued.size.get());
                return Some((queued, false));
            }
        }
    }
}

impl<P: Packet> Qdisc<P> for SfqCodel<P> {
    #[inline]
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        self.ledger.arrive();
        if self.ledger.backlog.packets >= u64::from(self.params.limit) {
            self.overflow(now, drops);
        }
        let index = self.params.queue_of(packet.flow_hash());
        let queued = Queued::new(packet, now);
        self.ledger.enter(queued.size);
        let bin = &mut self.bins[index as usize];
        self.slab.push_back(&mut bin.packets, queued);
        bin.length += 1;
        if self.schedule.join(index, self.params.quantum) {
            // It ended when the bin left the ring.
            bin.control.dropping = false;
            self.new_flow_count += 1;
        }
        Admission::Queued
    }

    dequeue_through_ahead!();

    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        let (new, old) = self.schedule.lengths();
        vec![
            ("maxpacket", self.counters.max_packet as f64),
            ("drop_overlimit", self.drop_overlimit as f64),
            ("new_flow_count", self.new_flow_count as f64),
            ("new_flows_len", new as f64),
            ("old_flows_len", old as f64),
            ("drop_state_entries", self.counters.drop_state_entries as f64),
        ]
    }
}
