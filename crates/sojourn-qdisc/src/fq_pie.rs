//! `fq_pie`: a queue per flow, served round robin, each under its own PIE.
//!
//! Source: Linux 6.1 `sch_fq_pie.c`; tc-fq_pie(8); RFC 8033; the rounds are RFC 8290's. An arrival is dropped or
//! marked with the probability of its own queue, from that queue's own delay and backlog.
//!
//! As in [`crate::pie`] there is no timer: each call first runs the updates that are due. Only queues that can still
//! change are updated, so that 1000 idle ones cost nothing.
//!
//! Deviation: all queues are updated at once. A kernel with more than 2048 updates 2048 at a tick of its clock, so
//! that a round of updates takes a tick longer for each 2048 more.

mod descriptor;
#[cfg(test)]
mod tests;

use crate::drr::{Rounds, Served, Turn};
use crate::fifo::MTU;
use crate::ledger::{Ahead, Ledger, dequeue_through_ahead};
use crate::param::in_range;
use crate::pie::linux::{LinuxPie, ONE};
use crate::pie::{Controller, Updates};
use crate::slab::{List, Slab, memory_of};
use crate::{
    Admission, Backlog, Departure, DropReason, DropSink, Packet, ParamError, PieParams, Qdisc, QdiscStats, Queued,
};
use sojourn_units::{Bytes, Stream, Time};

/// Parameters of [`FqPie`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqPieParams {
    /// Those of each queue's PIE; `limit` counts the packets of all queues together.
    pub pie: PieParams,
    /// Number of queues.
    pub flows: u32,
    /// Bytes a queue may send in a round. Below 256 it is 256, as in the kernel.
    pub quantum: u32,
    /// Memory of all queued packets; an arrival beyond it is counted, and taken in all the same, as in the kernel.
    pub memory_limit: Bytes,
    /// Mark instead of drop while the probability is at most so many per cent.
    pub ecn_prob: u32,
}

impl Default for FqPieParams {
    /// Linux: limit 10240, 1024 queues, quantum 1514, target 15 ms, update 15 ms, 32 MiB, no ECN, marks up to 10 %.
    fn default() -> Self {
        Self::LINUX
    }
}

impl FqPieParams {
    /// The current kernel's defaults. Source: `fq_pie_init`, `pie_params_init`.
    pub const LINUX: Self = Self {
        pie: PieParams {
            limit: 10_240,
            ..PieParams::LINUX
        },
        flows: 1024,
        quantum: MTU.get() as u32,
        memory_limit: Bytes::new(32 << 20),
        ecn_prob: 10,
    };

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`ParamError`] for a value out of its range.
    pub fn validate(&self) -> Result<(), ParamError> {
        const KIND: &str = "fq_pie";
        self.pie.validate_for(KIND)?;
        in_range(KIND, "flows", u64::from(self.flows), 1, 65_536)?;
        in_range(KIND, "quantum", u64::from(self.quantum), 1, 1 << 20)?;
        in_range(KIND, "memory_limit", self.memory_limit.get(), 1, u64::from(u32::MAX))?;
        in_range(KIND, "ecn_prob", u64::from(self.ecn_prob), 0, 100)
    }

    const fn queue_of(&self, hash: u32) -> u32 {
        hash % self.flows
    }
}

/// One queue: its packets, each with whether it is marked, its PIE, and its place in the round.
#[derive(Clone, Debug)]
struct Flow {
    packets: List,
    turn: Turn,
    backlog: u64,
    pie: LinuxPie,
    /// Whether an update may change its PIE.
    awake: bool,
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

/// The `fq_pie` discipline.
#[derive(Clone, Debug)]
pub struct FqPie<P> {
    params: FqPieParams,
    flows: Vec<Flow>,
    /// The queues whose PIE may change at an update; each update leaves out those that it did not change.
    awake: Vec<u32>,
    slab: Slab<(P, bool)>,
    rounds: Rounds,
    updates: Updates,
    stream: Stream,
    memory: u64,
    packets_in: u64,
    overlimit: u64,
    overmemory: u64,
    dropped: u64,
    ahead: Ahead<P>,
    ledger: Ledger,
}

impl<P: Packet> FqPie<P> {
    /// All queues empty, created at time 0: the first update comes after 504 ms, and the others come a tick late.
    ///
    /// # Errors
    /// [`ParamError`] for parameters that cannot be used.
    pub fn new(params: FqPieParams, seed: u64) -> Result<Self, ParamError> {
        params.validate()?;
        let flow = Flow {
            packets: List::EMPTY,
            turn: Turn::NONE,
            backlog: 0,
            pie: LinuxPie::new(),
            awake: false,
        };
        Ok(Self {
            params,
            flows: vec![flow; params.flows as usize],
            awake: Vec::new(),
            slab: Slab::new(),
            rounds: Rounds::new(params.quantum.max(256)),
            updates: Updates::on_ticks(params.pie.tupdate),
            stream: Stream::new(seed),
            memory: 0,
            packets_in: 0,
            overlimit: 0,
            overmemory: 0,
            dropped: 0,
            ahead: Ahead::EMPTY,
            ledger: Ledger::default(),
        })
    }

    #[inline]
    fn run_timer(&mut self, now: Time, _drops: &mut dyn DropSink<P>) {
        if self.updates.due(now) {
            let (flows, awake, params) = (&mut self.flows, &mut self.awake, &self.params.pie);
            self.updates.run(now, |_| {
                awake.retain(|&index| {
                    let flow = &mut flows[index as usize];
                    let before = flow.pie.clone();
                    flow.pie.update(params, flow.backlog);
                    flow.awake = flow.pie != before;
                    flow.awake
                });
                !awake.is_empty()
            });
        }
    }

    /// Whether the packet is let in, and if so, whether marked. Source: `fq_pie_qdisc_enqueue`.
    fn judge(&mut self, packet: &mut P, index: u32) -> Result<bool, DropReason> {
        let (params, flow) = (&self.params, &mut self.flows[index as usize]);
        let size = packet.size();
        if self.ledger.backlog.packets >= u64::from(params.pie.limit) {
            self.overlimit += 1;
            return Err(DropReason::QueueLimit);
        }
        self.overmemory += u64::from(self.memory > params.memory_limit.get() + memory_of(size));
        if !flow.pie.signal(&params.pie, size.get(), flow.backlog, &mut self.stream) {
            return Ok(false);
        }
        let may_mark = params.pie.ecn && flow.pie.prob <= ONE / 100 * u64::from(params.ecn_prob);
        if may_mark && packet.mark_ce() {
            Ok(true)
        } else {
            Err(DropReason::Congestion)
        }
    }

    /// An arrival or a departure may have changed what the next update of this queue makes of it.
    #[inline]
    fn wake(flow: &mut Flow, awake: &mut Vec<u32>, index: u32) {
        if !flow.awake {
            flow.awake = true;
            awake.push(index);
        }
    }

    #[inline]
    fn next(&mut self, now: Time, _drops: &mut dyn DropSink<P>) -> Option<(Queued<P>, bool)> {
        let (params, slab, awake) = (&self.params, &mut self.slab, &mut self.awake);
        let (ledger, memory) = (&mut self.ledger, &mut self.memory);
        self.rounds.serve(&mut self.flows, |flow| {
            let queued = slab.pop_front(&mut flow.packets)?;
            let (size, since) = (queued.size, queued.since);
            let (packet, marked) = queued.packet;
            flow.backlog -= size.get();
            *memory -= memory_of(size);
            ledger.leave(size);
            flow.pie.departed(&params.pie, since, now, size.get(), flow.backlog);
            Self::wake(flow, awake, params.queue_of(packet.flow_hash()));
            Some(((Queued { packet, since, size }, marked), size))
        })
    }
}

impl<P: Packet> Qdisc<P> for FqPie<P> {
    fn enqueue(&mut self, mut packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        self.run_timer(now, drops);
        self.ledger.arrive();
        let index = self.params.queue_of(packet.flow_hash());
        let judged = self.judge(&mut packet, index);
        let flow = &mut self.flows[index as usize];
        Self::wake(flow, &mut self.awake, index);
        let marked = match judged {
            Ok(marked) => marked,
            Err(reason) => {
                self.dropped += 1;
                flow.pie.dropped();
                return self.ledger.refuse(packet, reason, drops);
            }
        };
        let size = packet.size();
        self.packets_in += 1;
        self.ledger.stats.marks += u64::from(marked);
        self.ledger.enter(size);
        self.memory += memory_of(size);
        flow.backlog += size.get();
        let queued = Queued {
            packet: (packet, marked),
            since: now,
            size,
        };
        self.slab.push_back(&mut flow.packets, queued);
        self.rounds.arrival(&mut self.flows, index);
        Admission::Queued
    }

    dequeue_through_ahead!(run_timer);

    /// As `tc`: `pkts_in`, `dropped`, `overlimit`, `overmemory`, `ecn_mark`, `memory_used` (bytes), `new_flow_count`,
    /// `new_flows_len`, `old_flows_len`.
    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        let mut all = vec![
            ("pkts_in", self.packets_in as f64),
            ("dropped", self.dropped as f64),
            ("overlimit", self.overlimit as f64),
            ("overmemory", self.overmemory as f64),
            ("ecn_mark", self.ledger.stats.marks as f64),
            ("memory_used", self.memory as f64),
        ];
        all.extend(self.rounds.stats(&self.flows));
        all
    }
}
