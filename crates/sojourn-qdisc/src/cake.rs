//! `cake`: a shaper, tins for classes of traffic, a queue for each flow with equal shares for hosts, each queue under
//! COBALT.
//!
//! Source: Linux 6.1 `sch_cake.c`; tc-cake(8); the seed arXiv 1804.07617. Where 7.3 behaves differently the module
//! concerned says so ([`cobalt`], [`autorate`]).
//!
//! - A packet's code point chooses its tin ([`tins`]), its hashes its queue ([`flows`]).
//! - The shaper lets a packet go when the one before has been sent at the rate, counted as the link below sends it
//!   ([`shaper`]). There is no bucket.
//! - Of the tins the last one goes first that is within its threshold; without a shaper they have weights ([`serve`]).
//! - In a tin queues take turns, those of sparse flows first. A host with many bulk flows gets less for each.
//! - COBALT judges a packet when it leaves ([`cobalt`]); if the memory is full, the longest queue loses its oldest
//!   packet ([`heap`]).
//!
//! Deviation: `overlimits` counts packets that had to wait for the shaper, each once; Linux counts each attempt to send.
//! A device's largest frame is 1514 bytes. `nat` and `fwmark` need a kernel's connection tracking and marks, so they are
//! refused here. `split-gso` changes nothing, because a packet here is never a bundle of segments.

mod ack_filter;
mod autorate;
mod cobalt;
mod descriptor;
mod flows;
mod heap;
mod params;
mod serve;
mod shaper;
mod stats;
#[cfg(test)]
mod tests;
mod tins;

pub(crate) use descriptor::{CakeSpec, TABLE};
pub use params::{CakeAckFilter, CakeFlowMode, CakeLinkLayer, CakeParams, CakeTins};

use crate::fifo::MTU;
use crate::ledger::{Ahead, Ledger, dequeue_through_ahead};
use crate::slab::{Slab, memory_of};
use crate::{Admission, Backlog, Departure, DropReason, DropSink, Packet, ParamError, Qdisc, QdiscStats, Queued};
use autorate::Estimate;
use flows::{Flows, Set};
use heap::Heap;
use shaper::{Framing, Shaper};
use sojourn_units::{Bytes, Stream, Time};
use stats::Sizes;
use tins::{Round, Tin};

/// A time before everything: a kernel that creates a discipline has been running for a while.
const LONG_AGO: i64 = -(1 << 40);

/// The time as the kernel's `ktime_t` has it.
#[inline]
fn clock(now: Time) -> i64 {
    now.as_nanos().cast_signed()
}

/// A moving average that takes in a sample with the weight `2^-shift`.
#[inline]
const fn ewma(average: u64, sample: u64, shift: u32) -> u64 {
    average - (average >> shift) + (sample >> shift)
}

/// The `cake` discipline.
///
/// Source: Linux 6.1 `sch_cake.c`; tc-cake(8); arXiv 1804.07617.
///
/// Deviation: a packet tells the hashes of its flow and hosts itself. `overlimits` counts packets that had to wait for
/// the shaper, each once, where Linux counts attempts. A drop for want of memory has the reason
/// [`DropReason::MemoryLimit`], any other drop [`DropReason::Congestion`], those of the ACK filter too; Linux tells no
/// reasons.
#[derive(Clone, Debug)]
pub struct Cake<P> {
    params: CakeParams,
    framing: Framing,
    shaper: Shaper,
    tins: Vec<Tin>,
    /// The tin that is served.
    tin: usize,
    /// Which tins have flows that may have a packet to send, by bit.
    active: u8,
    flows: Flows,
    slab: Slab<P>,
    heap: Heap,
    stream: Stream,
    memory: u64,
    most_memory: u64,
    memory_limit: u64,
    estimate: Estimate,
    sizes: Sizes,
    /// Whether the next packet is already counted in `overlimits`.
    waiting: bool,
    ahead: Ahead<P>,
    ledger: Ledger,
}

impl CakeParams {
    /// The bandwidth, bytes a second; 0 for none.
    fn bytes_per_second(&self) -> u64 {
        self.bandwidth.map_or(0, |rate| rate.as_bps() / 8)
    }

    /// How much memory packets may take at a bandwidth of `rate` bytes a second. Source: `cake_reconfigure`.
    fn memory(&self, rate: u64) -> u64 {
        const LEAST: u64 = 4 << 20;
        /// The kernel's limit in packets, as memory.
        const MOST: u64 = 10_240 * MTU.get();
        if let Some(memory) = self.memory_limit {
            return memory.get();
        }
        if rate == 0 {
            return MOST;
        }
        let four_times = rate.saturating_mul(self.rtt.as_nanos() / 1000) / 250_000;
        u64::from(four_times as u32).clamp(LEAST, MOST)
    }
}

impl<P: Packet> Cake<P> {
    /// All queues empty.
    ///
    /// # Errors
    /// [`ParamError`] for parameters that cannot be used.
    pub fn new(params: CakeParams, seed: u64) -> Result<Self, ParamError> {
        params.validate()?;
        let bandwidth = params.bytes_per_second();
        let tins: Vec<Tin> = (0..params.tins.count())
            .map(|tin| Tin::new(&params, tin, bandwidth))
            .collect();
        Ok(Self {
            params,
            framing: Framing::new(&params),
            shaper: Shaper::new(tins[0].pace()),
            tin: 0,
            active: 0,
            flows: Flows::new(params.flow_mode, tins.len()),
            tins,
            slab: Slab::new(),
            heap: Heap::default(),
            stream: Stream::new(seed),
            memory: 0,
            most_memory: 0,
            memory_limit: params.memory(bandwidth),
            estimate: Estimate::new(bandwidth),
            sizes: Sizes::NONE,
            waiting: false,
            ahead: Ahead::EMPTY,
            ledger: Ledger::default(),
        })
    }

    /// The tin of a packet, whose code point may be set to 0 by the way.
    #[inline]
    fn choose(&self, packet: &mut P) -> usize {
        if self.params.tins == CakeTins::Besteffort && !self.params.wash {
            return 0;
        }
        let point = packet.dscp();
        if self.params.wash && point != 0 {
            packet.set_dscp(0);
        }
        usize::from(self.params.tins.code_points()[usize::from(point & 63)])
    }

    /// A queue has got a packet: it is to be served.
    #[inline]
    fn wake(&mut self, number: usize, index: usize) {
        let tin = &mut self.tins[number];
        let flow = &mut self.flows.all[index];
        match flow.set {
            Set::None | Set::Decaying => {
                if flow.set == Set::Decaying {
                    tin.decaying_flows -= 1;
                    tin.rounds[Round::Decaying as usize].remove(&mut self.flows.all, index);
                }
                tin.rounds[Round::New as usize].push_back(&mut self.flows.all, index);
                tin.sparse_flows += 1;
                self.active |= 1 << number;
                let quantum = self.flows.quantum(number, tin.flow_quantum, index, &mut self.stream);
                let flow = &mut self.flows.all[index];
                (flow.set, flow.deficit) = (Set::Sparse, quantum);
            }
            Set::SparseWait => {
                flow.set = Set::Bulk;
                tin.sparse_flows -= 1;
                tin.bulk_flows += 1;
                self.flows.add_bulk(number, index);
            }
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// Drops an acknowledgement of the queue that its youngest packet makes superfluous: its size, or 0.
    fn filter_acks(&mut self, number: usize, index: usize, now: Time, drops: &mut dyn DropSink<P>) -> u64 {
        let list = &mut self.flows.all[index].packets;
        let Some(place) = ack_filter::superfluous(&self.slab, *list, self.params.ack_filter) else {
            return 0;
        };
        let Some(ack) = self.slab.remove(list, place) else {
            return 0;
        };
        let (size, tin) = (ack.size, &mut self.tins[number]);
        tin.stats.ack_drops += 1;
        if self.params.ingress {
            let counted = self.framing.of(size.get());
            tin.charge(counted, clock(now));
            self.shaper.charge(counted, true);
        }
        self.memory -= memory_of(size);
        self.ledger.leave(size);
        self.ledger.discard(ack, DropReason::Congestion, now, drops);
        size.get()
    }

    /// Drops from the longest queue until the memory is within its limit. Says whether the arrival of queue `arrival`
    /// is gone too.
    #[cold]
    #[inline(never)]
    fn overflow(&mut self, arrival: usize, now: Time, drops: &mut dyn DropSink<P>) -> bool {
        let mut hit = false;
        while self.memory > self.memory_limit {
            let index = self.heap.longest(&self.flows.all);
            let (tin, flow) = (&mut self.tins[index / flows::QUEUES], &mut self.flows.all[index]);
            let Some(queued) = self.slab.pop_front(&mut flow.packets) else {
                self.heap.distrust();
                continue;
            };
            hit |= index == arrival;
            if flow.cobalt.queue_full(&tin.cobalt, clock(now)) {
                tin.unresponsive_flows += 1;
            }
            let size = queued.size;
            self.memory -= memory_of(size);
            flow.backlog -= size.get();
            tin.backlog -= size.get();
            tin.stats.drops += 1;
            if self.params.ingress {
                let counted = self.framing.of(size.get());
                tin.charge(counted, clock(now));
                self.shaper.charge(counted, true);
            }
            self.ledger.leave(size);
            self.ledger.discard(queued, DropReason::MemoryLimit, now, drops);
            self.heap.shrunk(&self.flows.all, index);
        }
        // It is the youngest of its queue.
        hit && self.flows.all[arrival].packets.is_empty()
    }

    /// `bytes` arrived: at the end of a window the bandwidth is set anew.
    #[cold]
    #[inline(never)]
    fn follow(&mut self, bytes: u64, now: i64) {
        if let Some(bandwidth) = self.estimate.arrival(bytes, now) {
            for (i, tin) in self.tins.iter_mut().enumerate() {
                tin.set_bandwidth(&self.params, i, bandwidth);
            }
            self.shaper.pace = self.tins[0].pace();
            self.memory_limit = self.params.memory(bandwidth);
        }
    }

    /// When the shaper lets the next packet go.
    fn ready(&self, now: Time) -> Time {
        let held_until = self.shaper.holds_until(clock(now));
        held_until.map_or(now, |at| Time::from_nanos(at.cast_unsigned()))
    }
}

impl<P: Packet> Qdisc<P> for Cake<P> {
    #[inline]
    fn enqueue(&mut self, mut packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        self.ledger.arrive();
        let number = self.choose(&mut packet);
        let tin = &mut self.tins[number];
        let index = self.flows.find(&packet, number, &mut tin.stats.ways);
        if tin.backlog == 0 {
            tin.refresh(clock(now));
            if self.ledger.backlog.packets == 0 {
                self.shaper.refresh(clock(now));
            }
        }
        let queued = Queued::new(packet, now);
        let size = queued.size;
        let mut more = size.get();
        tin.stats.largest = tin.stats.largest.max(more);
        tin.stats.packets += 1;
        tin.stats.bytes += more;
        tin.backlog += more;
        self.sizes.came(more);
        let flow = &mut self.flows.all[index];
        flow.backlog += more;
        self.slab.push_back(&mut flow.packets, queued);
        self.ledger.enter(size);
        self.memory += memory_of(size);
        if self.params.ack_filter != CakeAckFilter::Off {
            let less = self.filter_acks(number, index, now, drops);
            self.flows.all[index].backlog -= less;
            self.tins[number].backlog -= less;
            more = more.saturating_sub(less);
        }
        self.heap.grown(&self.flows.all, index);
        if self.params.autorate {
            self.follow(more, clock(now));
        }
        self.wake(number, index);
        self.most_memory = self.most_memory.max(self.memory);
        if self.memory > self.memory_limit && self.overflow(index, now, drops) {
            return Admission::Refused;
        }
        Admission::Queued
    }

    dequeue_through_ahead!(when ready);

    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        self.counters()
    }
}
