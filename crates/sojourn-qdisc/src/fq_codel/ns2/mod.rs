//! `fq_codel variant ns2`: sfqCoDel, the flow queueing with `CoDel` of the simulator ns-2.
//!
//! Source: ns-2 `queue/sfqcodel.cc` and `sfqcodel.h` by K. Nichols, the text of 2012; it is what seed 001 calls FQ-CoDel in
//! Figures 3 to 6 (its emulation has Linux's). What it does otherwise than Linux and RFC 8290:
//!
//! - A turn is one packet of any size, where no quantum is set (the default). With a quantum, deficit round robin.
//! - One ring of bins instead of two lists. A bin that comes new is served before the old ones, after other new ones, and
//!   is new until its first turn; beside a single other bin it comes after that one. A bin that runs empty stays until
//!   its turn, so a packet that comes meanwhile has no priority.
//! - At its limit it refuses the arrival, whosever queue is long.
//! - The one-packet test compares the backlog of all bins with the largest packet seen, at least 256 bytes (Linux: with
//!   one MTU, also the backlog of all).
//! - `CoDel`'s count grows only by drops after which the next packet is late too. The dropping state resumes with
//!   `count - 2` if count > 2 and its next drop was due less than 8 intervals ago, or will be (`CoDelQueue` of ns-2:
//!   `count - 1`, 16 intervals).
//! - A delay that rises above target so soon after, with count > 1, is given `interval/sqrt(count)` before the first drop
//!   instead of one interval.
//! - What `CoDel` remembers of a bin stays when the bin is empty. An interval that began before goes on, so a thin flow
//!   can lose a packet that waits one target after an earlier one did, however long ago, if none between was in time.
//! - A bin's very first packet is dropped if it waits one target or more while others hold more than a packet: nothing was
//!   below target before. At 1 Mbit/s a target of 5 ms is less than the time of a full frame (12 ms), and a connection
//!   whose first packet falls into a bin not used before can lose it so.
//! - No marking.
//!
//! Deviation: a packet goes to bin `flow_hash % flows`, as here everywhere; ns-2 hashes addresses and ports with Jenkins'
//! lookup3, unseeded.
//!
//! Deviation: 1024 bins, as in ns-2's text of 2013 and in Linux; the text of 2012 says 256.
//!
//! Deviation: the quantum is from the text of 2013, all else from that of 2012. That later text also drops from the tail of
//! the bin with the most packets at overflow, never drops a bin's last packet, forgets the "above since" of a bin that a
//! drop empties, and gives every first drop a whole interval. Seed 001 does not say which it used.
//!
//! Deviation: times are integer nanoseconds, ns-2's seconds in floating point.

mod control;
mod schedule;
#[cfg(test)]
mod tests;

use super::{FqCodelParams, FqCodelVariant};
use crate::codel::CodelStats;
use crate::ledger::{Ahead, Ledger, dequeue_through_ahead};
use crate::slab::{List, Slab};
use crate::{Admission, Backlog, Departure, DropReason, DropSink, Packet, ParamError, Qdisc, QdiscStats, Queued};
use control::Control;
use schedule::Schedule;
use sojourn_units::{Bytes, Time};

/// sfqCoDel of ns-2. Source: ns-2 `queue/sfqcodel.cc` of 2012; what differs from Linux's `fq_codel` is listed in
/// `fq_codel/ns2/mod.rs`.
///
/// Deviation: bins by `flow_hash % flows`, 1024 of them, a quantum as in the text of 2013, and integer nanoseconds.
#[derive(Clone, Debug)]
pub struct SfqCodel<P> {
    params: FqCodelParams,
    bins: Vec<Bin>,
    schedule: Schedule,
    slab: Slab<P>,
    counters: CodelStats,
    drop_overlimit: u64,
    new_flow_count: u64,
    ahead: Ahead<P>,
    ledger: Ledger,
}

/// One queue and its `CoDel`.
#[derive(Clone, Copy, Debug)]
struct Bin {
    packets: List,
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
            control: Control::NEW,
        };
        Ok(Self {
            params,
            bins: vec![bin; params.flows as usize],
            schedule: Schedule::new(params.flows),
            slab: Slab::new(),
            counters: CodelStats::default(),
            drop_overlimit: 0,
            new_flow_count: 0,
            ahead: Ahead::EMPTY,
            ledger: Ledger::default(),
        })
    }

    #[inline]
    fn next(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<(Queued<P>, bool)> {
        let quantum = self.params.quantum;
        loop {
            let bins = &self.bins;
            let index = self.schedule.ready(quantum, |i| bins[i as usize].packets.is_empty())?;
            let Bin { packets, control } = &mut self.bins[index as usize];
            let (slab, ledger) = (&mut self.slab, &mut self.ledger);
            let next = control::dequeue(
                &self.params.codel,
                control,
                &mut self.counters,
                now,
                || {
                    let queued = slab.pop_front(packets)?;
                    ledger.leave(queued.size);
                    Some((queued, ledger.backlog.bytes))
                },
                drops,
            );
            self.ledger.stats.drops[DropReason::Congestion.index()] = self.counters.drops;
            // A bin that drops have emptied leaves the ring in the next pass: it will be new again.
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
            self.drop_overlimit += 1;
            return self.ledger.refuse(packet, DropReason::QueueLimit, drops);
        }
        let index = packet.flow_hash() % self.params.flows;
        let queued = Queued::new(packet, now);
        self.ledger.enter(queued.size);
        self.slab.push_back(&mut self.bins[index as usize].packets, queued);
        if self.schedule.join(index, self.params.quantum) {
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
