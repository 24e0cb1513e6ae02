//! `fq_codel`: many queues served round robin, new ones first, each under `CoDel`.
//!
//! Source: RFC 8290; Linux `sch_fq_codel.c`; seed 000 sections 4.6 and 4.7, seed 001 section II.B. ns-2's form is
//! [`SfqCodel`].

mod descriptor;
mod ns2;
#[cfg(test)]
mod tests;

pub use ns2::SfqCodel;

use crate::codel::{CodelParams, CodelState, CodelStats, CodelVariant, codel_dequeue, packet_limit};
use crate::drr::{Rounds, Served, Turn};
use crate::fifo::MTU;
use crate::ledger::{Ahead, Ledger, dequeue_through_ahead};
use crate::param::in_range;
use crate::slab::{List, Slab, memory_of};
use crate::{Admission, Backlog, Departure, DropReason, DropSink, Packet, ParamError, Qdisc, QdiscStats, Queued};
use sojourn_units::{Bytes, Time, words};

words! {
    /// Whose reading of the discipline.
    #[derive(Default)]
    pub enum FqCodelVariant {
        /// The current Linux kernel: on overflow up to `drop_batch` packets go from the head of the fattest queue, at
        /// most half of its bytes, and its `CoDel` count grows by as many; there is a memory limit.
        #[default]
        Linux = "linux",
        /// Linux 3.14: on overflow one packet goes from the head of the fattest queue; no memory limit; `CoDel` of 3.14.
        Linux314 = "linux-3.14",
        /// ns-2's sfqCoDel (seed 001, Figures 3 to 6), which is another discipline: see [`SfqCodel`].
        Ns2 = "ns2",
    }
}

/// Parameters of [`FqCodel`] and [`SfqCodel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelParams {
    /// Packets in all queues together; beyond it the fattest queue is dropped from (ns2: the one with the most
    /// packets).
    pub limit: u32,
    /// Queues; a packet goes to queue `flow_hash % flows`.
    pub flows: u32,
    /// Bytes a queue may send per round; with ns2 also 0, for one packet of any size.
    pub quantum: u32,
    /// `CoDel`'s parameters, for every queue. Its one-packet test sees the backlog of the whole discipline, as in
    /// Linux.
    pub codel: CodelParams,
    /// Memory of all queued packets; `None` for no limit.
    pub memory_limit: Option<Bytes>,
    /// Most packets dropped at one overflow.
    pub drop_batch: u32,
    /// Whose reading of the discipline.
    pub variant: FqCodelVariant,
}

impl Default for FqCodelParams {
    /// Linux: limit 10240, 1024 queues, quantum 1514, target 5 ms, interval 100 ms, ECN, 32 MiB, batch 64.
    fn default() -> Self {
        Self::LINUX
    }
}

impl FqCodelParams {
    /// The current kernel's defaults. Source: RFC 8290 section 5.2; `fq_codel_init`.
    pub const LINUX: Self = Self {
        limit: 10_240,
        flows: 1024,
        quantum: MTU.get() as u32,
        codel: CodelParams {
            ecn: true,
            ..CodelParams::DEFAULT
        },
        memory_limit: Some(Bytes::new(32 << 20)),
        drop_batch: 64,
        variant: FqCodelVariant::Linux,
    };
    /// The current kernel's defaults, with its clock.
    pub const LINUX_TICKS: Self = Self {
        codel: CodelParams {
            ecn: true,
            variant: CodelVariant::LinuxTicks,
            ..CodelParams::DEFAULT
        },
        ..Self::LINUX
    };
    /// Linux 3.14's defaults.
    pub const LINUX_3_14: Self = Self {
        codel: CodelParams {
            ecn: true,
            variant: CodelVariant::Linux314,
            ..CodelParams::DEFAULT
        },
        memory_limit: None,
        drop_batch: 1,
        variant: FqCodelVariant::Linux314,
        ..Self::LINUX
    };
    /// ns-2's defaults: limit 50 (`ns-default.tcl`), whole packets, target 5 ms, interval 100 ms, no marking; 1024
    /// queues.
    pub const NS2: Self = Self {
        limit: 50,
        quantum: 0,
        codel: CodelParams {
            variant: CodelVariant::Ns2,
            ..CodelParams::DEFAULT
        },
        memory_limit: None,
        drop_batch: 1,
        variant: FqCodelVariant::Ns2,
        ..Self::LINUX
    };

    /// The queue of a flow with this hash. A power of two needs no division.
    #[inline]
    pub(crate) const fn queue_of(&self, hash: u32) -> u32 {
        let n = self.flows;
        if n.is_power_of_two() { hash & (n - 1) } else { hash % n }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`ParamError`] for a value out of its range.
    pub fn validate(&self) -> Result<(), ParamError> {
        const KIND: &str = "fq_codel";
        packet_limit(KIND, self.limit)?;
        in_range(KIND, "flows", u64::from(self.flows), 1, 65_536)?;
        if !(self.variant == FqCodelVariant::Ns2 && self.quantum == 0) {
            in_range(KIND, "quantum", u64::from(self.quantum), 256, 1 << 20)?;
        }
        in_range(KIND, "drop_batch", u64::from(self.drop_batch), 1, u64::from(u32::MAX))?;
        if let Some(memory) = self.memory_limit {
            in_range(KIND, "memory_limit", memory.get(), 1, 1 << 31)?;
        }
        if self.variant != FqCodelVariant::Linux {
            in_range(KIND, "drop_batch", u64::from(self.drop_batch), 1, 1)?;
            if let Some(memory) = self.memory_limit {
                let rule = format!("absent with variant {}", self.variant.name());
                return Err(ParamError::new(KIND, "memory_limit", memory.to_string(), rule));
            }
        }
        if let Some(selector) = self.codel.ce_threshold_selector {
            let refuse = |rule: String| {
                Err(ParamError::new(
                    KIND,
                    "ce_threshold_selector",
                    selector.to_string(),
                    rule,
                ))
            };
            if self.variant != FqCodelVariant::Linux {
                return refuse(format!("absent with variant {}", self.variant.name()));
            }
            if self.codel.ce_threshold.is_none() {
                return refuse("absent without ce_threshold".to_owned());
            }
        }
        if self.variant == FqCodelVariant::Ns2 {
            if self.codel.ecn {
                let rule = "noecn with variant ns2, which marks nothing";
                return Err(ParamError::new(KIND, "ecn", "ecn", rule));
            }
            if let Some(threshold) = self.codel.ce_threshold {
                let rule = "absent with variant ns2, which marks nothing";
                return Err(ParamError::new(KIND, "ce_threshold", threshold.to_string(), rule));
            }
        }
        self.codel.validate(KIND)
    }
}

/// One queue: its packets, its `CoDel`, and its place in the round.
#[derive(Clone, Copy, Debug)]
struct Flow {
    packets: List,
    turn: Turn,
    backlog: u64,
    codel: CodelState,
}

impl Served for Flow {
    #[inline]
    fn turn(&self) -> &Turn {
        &self.turn
    }
    #[inline]
    fn turn_mut(&mut self) -> &mut Turn {
        &mut self.turn
    }
}

/// The `fq_codel` discipline.
#[derive(Clone, Debug)]
pub struct FqCodel<P> {
    params: FqCodelParams,
    flows: Vec<Flow>,
    slab: Slab<P>,
    rounds: Rounds,
    memory: u64,
    counters: CodelStats,
    drop_overlimit: u64,
    drop_overmemory: u64,
    ahead: Ahead<P>,
    ledger: Ledger,
}

impl<P: Packet> FqCodel<P> {
    /// All queues empty.
    ///
    /// # Errors
    /// [`ParamError`] for parameters that cannot be used, or of variant ns2.
    pub fn new(params: FqCodelParams) -> Result<Self, ParamError> {
        params.validate()?;
        if params.variant == FqCodelVariant::Ns2 {
            let rule = "linux or linux-3.14: ns2 is SfqCodel";
            return Err(ParamError::new("fq_codel", "variant", params.variant.name(), rule));
        }
        let flow = Flow {
            packets: List::EMPTY,
            turn: Turn::NONE,
            backlog: 0,
            codel: CodelState::default(),
        };
        Ok(Self {
            params: FqCodelParams {
                codel: params.codel.counted(),
                ..params
            },
            flows: vec![flow; params.flows as usize],
            slab: Slab::new(),
            rounds: Rounds::new(params.quantum),
            memory: 0,
            counters: CodelStats::default(),
            drop_overlimit: 0,
            drop_overmemory: 0,
            ahead: Ahead::EMPTY,
            ledger: Ledger::default(),
        })
    }

    /// The queue with the most bytes, the one of lowest number if several. Only queues in the round hold packets, so
    /// only these are looked at; Linux looks at all and finds the same.
    fn fattest(&self) -> u32 {
        let mut best = (0, u32::MAX);
        for index in self.rounds.iter(&self.flows) {
            let backlog = self.flows[index as usize].backlog;
            if backlog > best.0 || (backlog == best.0 && index < best.1) {
                best = (backlog, index);
            }
        }
        best.1
    }

    /// Drops from the head of the fattest queue; answers which.
    #[cold]
    fn overflow(&mut self, reason: DropReason, now: Time, drops: &mut dyn DropSink<P>) -> u32 {
        let victim = self.fattest();
        let flow = &mut self.flows[victim as usize];
        let half = flow.backlog / 2;
        let (mut dropped, mut bytes) = (0, 0);
        while let Some(queued) = self.slab.pop_front(&mut flow.packets) {
            let size = queued.size;
            self.ledger.leave(size);
            self.memory -= memory_of(size);
            dropped += 1;
            bytes += size.get();
            self.ledger.discard(queued, reason, now, drops);
            if dropped >= self.params.drop_batch || bytes >= half {
                break;
            }
        }
        flow.backlog -= bytes;
        if self.params.variant == FqCodelVariant::Linux {
            // CoDel of this queue is told: it will signal harder.
            flow.codel.count = flow.codel.count.wrapping_add(dropped);
        }
        self.drop_overlimit += u64::from(dropped);
        if reason == DropReason::MemoryLimit {
            self.drop_overmemory += u64::from(dropped);
        }
        victim
    }

    #[inline]
    fn next(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<(Queued<P>, bool)> {
        let (params, slab, counters) = (&self.params.codel, &mut self.slab, &mut self.counters);
        let (ledger, memory) = (&mut self.ledger, &mut self.memory);
        self.rounds.serve(&mut self.flows, |flow| {
            let (packets, backlog) = (&mut flow.packets, &mut flow.backlog);
            let next = codel_dequeue(
                params,
                &mut flow.codel,
                counters,
                now,
                || {
                    let queued = slab.pop_front(packets)?;
                    let size = queued.size;
                    *backlog -= size.get();
                    *memory -= memory_of(size);
                    ledger.leave(size);
                    Some((queued, ledger.backlog.bytes))
                },
                drops,
            );
            ledger.stats.drops[DropReason::Congestion.index()] = counters.drops;
            ledger.stats.marks = counters.marked;
            let size = next.as_ref()?.0.size;
            next.map(|next| (next, size))
        })
    }
}

impl<P: Packet> Qdisc<P> for FqCodel<P> {
    #[inline]
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        self.ledger.arrive();
        let index = self.params.queue_of(packet.flow_hash());
        let queued = Queued::new(packet, now);
        let size = queued.size;
        let flow = &mut self.flows[index as usize];
        self.slab.push_back(&mut flow.packets, queued);
        flow.backlog += size.get();
        self.ledger.enter(size);
        self.memory += memory_of(size);
        self.rounds.arrival(&mut self.flows, index);
        let over_memory = self.params.memory_limit.is_some_and(|limit| self.memory > limit.get());
        if self.ledger.backlog.packets <= u64::from(self.params.limit) && !over_memory {
            return Admission::Queued;
        }
        let reason = if over_memory {
            DropReason::MemoryLimit
        } else {
            DropReason::QueueLimit
        };
        let victim = self.overflow(reason, now, drops);
        // The arrival is the last of its queue: it has gone too exactly if that queue is now empty.
        if victim == index && self.flows[index as usize].packets.is_empty() {
            Admission::Refused
        } else {
            Admission::Queued
        }
    }

    #[inline]
    fn lets_pass_alone(&self, packet: &P) -> bool {
        let memory = memory_of(packet.size());
        self.ledger.backlog.packets == 0
            && self.rounds.is_idle()
            && self.params.memory_limit.is_none_or(|limit| memory <= limit.get())
    }

    /// Its flow was new and is in no round any more.
    #[inline]
    fn passed_alone(&mut self, packet: &P, _: Time) {
        let size = packet.size();
        self.ledger.arrive();
        self.ledger.send(size);
        self.rounds.passed();
        let flow = &mut self.flows[self.params.queue_of(packet.flow_hash()) as usize];
        flow.codel.passed(&mut self.counters, size);
    }

    dequeue_through_ahead!();

    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        let [new_flow_count, new_flows_len, old_flows_len] = self.rounds.stats(&self.flows);
        vec![
            ("maxpacket", self.counters.max_packet as f64),
            ("drop_overlimit", self.drop_overlimit as f64),
            ("drop_overmemory", self.drop_overmemory as f64),
            ("memory_used", self.memory as f64),
            new_flow_count,
            ("ecn_mark", self.counters.ecn_mark as f64),
            ("ce_mark", self.counters.ce_mark as f64),
            new_flows_len,
            old_flows_len,
            ("drop_state_entries", self.counters.drop_state_entries as f64),
        ]
    }
}
