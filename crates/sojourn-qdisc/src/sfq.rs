//! `sfq`: stochastic fairness queueing, queues served round robin, the longest dropped from.
//!
//! Source: `McKenney` 1990; Linux `sch_sfq.c`; seed 000 section 4.5. As in Linux: a queue is served while its
//! allotment lasts ([`SfqVariant`] says how it is counted); a queue that becomes active joins at the end of the round
//! with one allotment, so new flows have no priority.
//!
//! Deviation: RED inside a queue (`redflowlimit` and its words) is not built.

mod depths;
mod descriptor;
#[cfg(test)]
mod tests;

use crate::fifo::MTU;
use crate::ledger::{Ahead, Ledger, dequeue_through_ahead};
use crate::param::in_range;
use crate::slab::{List, NIL, Slab};
use crate::{Admission, Backlog, Departure, DropReason, DropSink, Packet, ParamError, Qdisc, QdiscStats, Queued};
use depths::Depths;
use sojourn_units::{Bytes, Duration, Stream, Time, words};

/// The most packets a queue can hold, in Linux by the width of an index.
pub const SFQ_MAX_DEPTH: u32 = 127;
/// Linux's `SFQ_MAX_FLOWS`.
const MAX_FLOWS: u64 = 65_408;
words! {
    /// Whose reading of the discipline.
    #[derive(Default)]
    pub enum SfqVariant {
        /// Older kernels, that of the papers among them: allotments are counted in units of 8 bytes, of which a packet
        /// takes whole ones (`SFQ_ALLOT_SIZE`).
        #[default]
        Linux = "linux",
        /// Linux 7.3, and the stable release 6.1.192: allotments are counted in bytes.
        Linux73 = "linux-7.3",
    }
}

impl SfqVariant {
    /// So many bytes in what allotments are counted in, rounded up.
    #[inline]
    const fn allotment(self, bytes: u64) -> u64 {
        match self {
            Self::Linux => bytes.div_ceil(8),
            Self::Linux73 => bytes,
        }
    }
}

/// Parameters of [`Sfq`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SfqParams {
    /// Packets in all queues together.
    pub limit: u32,
    /// Packets in one queue.
    pub depth: u32,
    /// Queues that can be active at once; no more than `divisor` and `limit` are ever used.
    pub flows: u32,
    /// Buckets that a hash can fall into, a power of two; a bucket gets a queue when it has a packet.
    pub divisor: u32,
    /// Bytes a queue may send per round.
    pub quantum: u32,
    /// Drop from the head of a queue instead of its tail.
    pub headdrop: bool,
    /// Seconds after which flows are spread over the buckets anew; 0 for never.
    pub perturb: u32,
    /// Whose reading of the discipline.
    pub variant: SfqVariant,
}

impl Default for SfqParams {
    /// Linux: 127 packets in all and in one queue, 128 queues, 1024 buckets, quantum 1514, tail drop, no
    /// perturbation.
    fn default() -> Self {
        Self {
            limit: SFQ_MAX_DEPTH,
            depth: SFQ_MAX_DEPTH,
            flows: 128,
            divisor: 1024,
            quantum: MTU.get() as u32,
            headdrop: false,
            perturb: 0,
            variant: SfqVariant::Linux,
        }
    }
}

impl SfqParams {
    /// The bucket of a flow with this hash, once that is salted.
    #[inline]
    pub(crate) const fn bucket_of(&self, hash: u32) -> u32 {
        hash & (self.divisor - 1)
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`ParamError`] for a value out of its range, also where Linux would lower it silently.
    pub fn validate(&self) -> Result<(), ParamError> {
        const KIND: &str = "sfq";
        in_range(KIND, "limit", u64::from(self.limit), 1, u64::from(u32::MAX))?;
        in_range(KIND, "depth", u64::from(self.depth), 1, u64::from(SFQ_MAX_DEPTH))?;
        in_range(KIND, "flows", u64::from(self.flows), 1, MAX_FLOWS)?;
        in_range(KIND, "divisor", u64::from(self.divisor), 1, 65_536)?;
        in_range(KIND, "quantum", u64::from(self.quantum), 1, 262_136)?;
        if !self.divisor.is_power_of_two() {
            return Err(ParamError::new(
                KIND,
                "divisor",
                self.divisor.to_string(),
                "a power of two",
            ));
        }
        let most = u64::from(self.depth) * u64::from(self.flows.min(self.divisor));
        if u64::from(self.limit) > most {
            let rule = format!("<= depth times queues = {most}");
            return Err(ParamError::new(KIND, "limit", self.limit.to_string(), rule));
        }
        Ok(())
    }
}

/// One queue.
#[derive(Clone, Copy, Debug)]
struct Slot {
    packets: List,
    len: u32,
    /// The next active queue in the round, which is a ring.
    next: u32,
    bucket: u32,
    /// What it may still send in this round, as the variant counts it.
    allot: i64,
}

/// Turns in which nobody was served, after which whole rounds are skipped: a packet of 4 GB takes millions of small
/// allotments.
const MANY_TURNS: u32 = 4096;

/// The `sfq` discipline.
#[derive(Clone, Debug)]
pub struct Sfq<P> {
    params: SfqParams,
    /// The quantum as the variant counts it.
    allotment: i64,
    buckets: Vec<u32>,
    slots: Vec<Slot>,
    depths: Depths,
    slab: Slab<P>,
    /// The last queue of the round, if any is active; its `next` is the first.
    tail: Option<u32>,
    seed: u64,
    /// Salt of the buckets after the first perturbation.
    salt: Option<u64>,
    next_perturb: Time,
    ahead: Ahead<P>,
    ledger: Ledger,
}

impl<P: Packet> Sfq<P> {
    /// All queues empty.
    ///
    /// Deviation: until the first perturbation a packet's bucket is its hash modulo the divisor, so that a
    /// hand-driven discipline's flow numbers never collide; Linux salts the hash from the start.
    ///
    /// # Errors
    /// [`ParamError`] for parameters that cannot be used.
    pub fn new(params: SfqParams, seed: u64) -> Result<Self, ParamError> {
        params.validate()?;
        let slots = params.flows.min(params.divisor).min(params.limit);
        let slot = Slot {
            packets: List::EMPTY,
            len: 0,
            next: NIL,
            bucket: 0,
            allot: 0,
        };
        let period = Duration::from_secs(u64::from(params.perturb));
        Ok(Self {
            params,
            allotment: params.variant.allotment(u64::from(params.quantum)).cast_signed(),
            buckets: vec![NIL; params.divisor as usize],
            slots: vec![slot; slots as usize],
            depths: Depths::new(slots),
            slab: Slab::new(),
            tail: None,
            seed,
            salt: None,
            next_perturb: if period.is_zero() {
                Time::MAX
            } else {
                Time::ZERO + period
            },
            ahead: Ahead::EMPTY,
            ledger: Ledger::default(),
        })
    }

    #[inline]
    fn bucket(&self, hash: u32) -> u32 {
        let hash = match self.salt {
            None => hash,
            Some(salt) => {
                let mixed = (u64::from(hash) ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (mixed >> 32) as u32
            }
        };
        self.params.bucket_of(hash)
    }

    /// The queue of a bucket, a free one if it has none; `None` if no queue is free.
    #[inline]
    fn slot_of(&mut self, bucket: u32) -> Option<u32> {
        let index = self.buckets[bucket as usize];
        if index != NIL {
            return Some(index);
        }
        let index = self.depths.first(0)?;
        self.buckets[bucket as usize] = index;
        self.slots[index as usize].bucket = bucket;
        Some(index)
    }

    /// Appends to a queue; one that was empty joins the end of the round.
    #[inline]
    fn append(&mut self, index: u32, queued: Queued<P>) {
        let slot = &mut self.slots[index as usize];
        self.slab.push_back(&mut slot.packets, queued);
        slot.len += 1;
        self.depths.grow(index);
        if slot.len == 1 {
            slot.allot = self.allotment;
            let first = self.tail.map_or(index, |tail| {
                std::mem::replace(&mut self.slots[tail as usize].next, index)
            });
            self.slots[index as usize].next = first;
            self.tail = Some(index);
        }
    }

    /// Takes a packet from the head or the tail of a queue that holds one; the round is the caller's business.
    #[inline]
    fn remove(&mut self, index: u32, from_head: bool) -> Option<Queued<P>> {
        let slot = &mut self.slots[index as usize];
        let list = &mut slot.packets;
        let queued = if from_head {
            self.slab.pop_front(list)
        } else {
            self.slab.pop_back(list)
        }?;
        slot.len -= 1;
        self.depths.shrink(index);
        Some(queued)
    }

    /// Takes the first queue, now empty, out of the round and frees its bucket.
    #[inline]
    fn retire_first(&mut self, tail: u32, index: u32) {
        let slot = self.slots[index as usize];
        self.buckets[slot.bucket as usize] = NIL;
        if index == slot.next {
            self.tail = None;
        } else {
            self.slots[tail as usize].next = slot.next;
        }
    }

    /// Drops from the longest queue, of several the one that reached this length last; answers which.
    #[cold]
    fn overflow(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<u32> {
        let deepest = self.depths.deepest();
        let victim = if deepest > 1 {
            self.depths.first(deepest)?
        } else {
            // Every queue holds one packet: the first of the round goes.
            let tail = self.tail?;
            let first = self.slots[tail as usize].next;
            self.retire_first(tail, first);
            first
        };
        let queued = self.remove(victim, self.params.headdrop)?;
        self.ledger.leave(queued.size);
        self.ledger.discard(queued, DropReason::QueueLimit, now, drops);
        Some(victim)
    }

    /// Perturbs, if it is time. Only the last of several due perturbations matters, since no packet came between.
    #[inline]
    fn run_timer(&mut self, now: Time, drops: &mut dyn DropSink<P>) {
        if now >= self.next_perturb {
            self.perturb(now, drops);
        }
    }

    #[cold]
    fn perturb(&mut self, now: Time, drops: &mut dyn DropSink<P>) {
        let period = Duration::from_secs(u64::from(self.params.perturb));
        let nth = now.as_nanos() / period.as_nanos();
        self.salt = Some(Stream::named(self.seed, &format!("perturb {nth}")).u64());
        self.next_perturb = Time::from_nanos(nth.saturating_mul(period.as_nanos())) + period;
        // Every packet is dealt out anew, queue by queue, so that none of a flow overtakes another of it.
        let mut all = Vec::with_capacity(self.ledger.backlog.packets as usize);
        for index in 0..self.slots.len() as u32 {
            while let Some(queued) = self.remove(index, true) {
                all.push(queued);
            }
        }
        self.buckets.fill(NIL);
        self.tail = None;
        for queued in all {
            let bucket = self.bucket(queued.packet.flow_hash());
            match self.slot_of(bucket) {
                Some(index) if self.slots[index as usize].len < self.params.depth => self.append(index, queued),
                _ => {
                    self.ledger.leave(queued.size);
                    self.ledger.discard(queued, DropReason::QueueLimit, now, drops);
                }
            }
        }
    }

    /// All rounds from queue `first` on that end without anybody served, at once; whether there are any.
    ///
    /// Such a round gives each queue its allotment, and leaves their order as it is.
    #[cold]
    fn skip_rounds(&mut self, first: u32) -> bool {
        let mut rounds = i64::MAX;
        self.each_of_round(first, |slot, allotment| {
            rounds = rounds.min(if slot.allot > 0 { 0 } else { -slot.allot / allotment + 1 });
        });
        self.each_of_round(first, |slot, allotment| slot.allot += rounds * allotment);
        rounds > 0
    }

    fn each_of_round(&mut self, first: u32, mut see: impl FnMut(&mut Slot, i64)) {
        let mut index = first;
        loop {
            let slot = &mut self.slots[index as usize];
            see(slot, self.allotment);
            index = slot.next;
            if index == first {
                return;
            }
        }
    }

    #[inline]
    fn next(&mut self, _now: Time, _drops: &mut dyn DropSink<P>) -> Option<(Queued<P>, bool)> {
        let mut tail = self.tail?;
        let mut index = self.slots[tail as usize].next;
        let mut turns = 0u32;
        while self.slots[index as usize].allot <= 0 {
            turns += 1;
            if turns.is_multiple_of(MANY_TURNS) && self.skip_rounds(index) {
                continue;
            }
            self.slots[index as usize].allot += self.allotment;
            tail = index;
            self.tail = Some(tail);
            index = self.slots[tail as usize].next;
        }
        let queued = self.remove(index, true)?;
        let size = queued.size;
        self.ledger.leave(size);
        if self.slots[index as usize].len == 0 {
            self.retire_first(tail, index);
        } else {
            let cost = self.params.variant.allotment(size.get());
            let slot = &mut self.slots[index as usize];
            slot.allot = slot.allot.saturating_sub_unsigned(cost);
        }
        Some((queued, false))
    }
}

impl<P: Packet> Qdisc<P> for Sfq<P> {
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        self.run_timer(now, drops);
        self.ledger.arrive();
        let bucket = self.bucket(packet.flow_hash());
        let Some(index) = self.slot_of(bucket) else {
            return self.ledger.refuse(packet, DropReason::QueueLimit, drops);
        };
        if self.slots[index as usize].len >= self.params.depth {
            if !self.params.headdrop {
                return self.ledger.refuse(packet, DropReason::QueueLimit, drops);
            }
            // The oldest makes room; the queue keeps its length and its place in the round.
            self.ledger.enter(packet.size());
            let list = &mut self.slots[index as usize].packets;
            let oldest = self.slab.pop_front(list);
            self.slab.push_back(list, Queued::new(packet, now));
            if let Some(oldest) = oldest {
                self.ledger.leave(oldest.size);
                self.ledger.discard(oldest, DropReason::QueueLimit, now, drops);
            }
            return Admission::Queued;
        }
        self.ledger.enter(packet.size());
        self.append(index, Queued::new(packet, now));
        if self.ledger.backlog.packets <= u64::from(self.params.limit) {
            return Admission::Queued;
        }
        let victim = self.overflow(now, drops);
        // The arrival is the tail of its queue: with tail drop from it, it has gone itself.
        let own = victim == Some(index) && (!self.params.headdrop || self.slots[index as usize].len == 0);
        if own { Admission::Refused } else { Admission::Queued }
    }

    dequeue_through_ahead!(run_timer);

    /// Beyond `tc`: queues in use, and the length of the longest.
    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        let active = self.slots.iter().filter(|slot| slot.len > 0).count();
        vec![("flows", active as f64), ("maxdepth", f64::from(self.depths.deepest()))]
    }
}
