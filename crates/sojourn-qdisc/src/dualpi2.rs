//! `dualpi2`: a queue for L4S beside a classic one, coupled by one PI2 controller.
//!
//! Source: Linux 7.3 `sch_dualpi2.c`; tc-dualpi2(8); RFC 9332. Packets with ECT(1) or CE go into the L queue, which marks
//! those that waited longer than a step, and, coupled to the classic queue, with k times the base probability. The
//! classic queue drops or marks with the square of that probability. A weighted round robin keeps either queue from
//! starving the other.
//!
//! There is no timer: each call first runs the updates that are due.
//!
//! Deviation: neither filters nor a priority that names a class of `dualpi2` choose a queue; the ECN field alone does.

mod controller;
mod descriptor;
mod params;
#[cfg(test)]
mod tests;

pub(crate) use descriptor::DualPi2Words;
pub use params::{DualPi2Params, StepThreshold};

use crate::fifo::MTU;
use crate::ledger::{Ahead, Ledger, dequeue_through_ahead};
use crate::pie::Updates;
use crate::slab::{List, Slab, memory_of};
use crate::{Admission, Backlog, Departure, DropReason, DropSink, Packet, ParamError, Qdisc, QdiscStats, Queued};
use controller::{Controller, ONE};
use sojourn_units::{Bytes, Duration, Ecn, Stream, Time};

/// A packet, and what was found when it came.
#[derive(Clone, Debug)]
struct Entry<P> {
    packet: P,
    low_latency: bool,
    /// Whether the step is applied to it.
    step: bool,
    /// Whether it was marked here.
    marked: bool,
}

/// What becomes of a packet by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    Mark,
    Drop,
}

/// The `dualpi2` discipline.
#[derive(Clone, Debug)]
pub struct DualPi2<P> {
    params: DualPi2Params,
    controller: Controller,
    updates: Updates,
    stream: Stream,
    slab: Slab<Entry<P>>,
    classic: List,
    low_latency: List,
    /// Packets in these two lists.
    waiting_classic: u64,
    waiting_low_latency: u64,
    /// Whose turn it is: the classic queue's if this is positive.
    credit: i32,
    memory: u64,
    most_memory: u64,
    /// The time of the last call, for the delays that are told.
    now: Time,
    came_classic: u64,
    came_low_latency: u64,
    most_packets: u64,
    ecn_marks: u64,
    step_marks: u64,
    ahead: Ahead<P>,
    ledger: Ledger,
}

impl<P: Packet> DualPi2<P> {
    /// Both queues empty, created at time 0: the first update comes after one `tupdate`.
    ///
    /// # Errors
    /// [`ParamError`] for parameters that cannot be used.
    pub fn new(params: DualPi2Params, seed: u64) -> Result<Self, ParamError> {
        params.validate()?;
        Ok(Self {
            controller: Controller::new(&params),
            updates: Updates::new(params.tupdate, params.tupdate),
            stream: Stream::new(seed),
            slab: Slab::new(),
            classic: List::EMPTY,
            low_latency: List::EMPTY,
            waiting_classic: 0,
            waiting_low_latency: 0,
            credit: params.initial_credit(),
            memory: 0,
            most_memory: 0,
            now: Time::ZERO,
            came_classic: 0,
            came_low_latency: 0,
            most_packets: 0,
            ecn_marks: 0,
            step_marks: 0,
            ahead: Ahead::EMPTY,
            ledger: Ledger::default(),
            params,
        })
    }

    /// The base probability, 0 to 1.
    #[must_use]
    pub fn probability(&self) -> f64 {
        f64::from(self.controller.probability()) / f64::from(ONE)
    }

    /// How long the packet at the head of `list` has waited; zero for an empty list.
    fn delay(&self, list: List, now: Time) -> Duration {
        let head = self.slab.front(list);
        head.map_or(Duration::ZERO, |(_, since)| now.since(since))
    }

    #[inline]
    fn run_timer(&mut self, now: Time, _drops: &mut dyn DropSink<P>) {
        self.now = now;
        if self.updates.due(now) {
            let [since_classic, since_low_latency] =
                [self.classic, self.low_latency].map(|list| self.slab.front(list).map(|(_, since)| since));
            let controller = &mut self.controller;
            self.updates.run(now, |at| {
                let before = *controller;
                let delays = [since_classic, since_low_latency].into_iter().flatten();
                controller.update(delays.map(|since| at.since(since)).max().unwrap_or_default());
                // The delay of a packet that waits goes on to grow.
                since_classic.or(since_low_latency).is_some() || *controller != before
            });
        }
    }

    /// Whether chance marks or drops a packet. A queue of less than two frames is left alone. Source: `must_drop`.
    fn chance(&mut self, packet: &P, low_latency: bool) -> Verdict {
        if self.ledger.backlog.bytes.get() < 2 * MTU.get() {
            return Verdict::Pass;
        }
        let base = self.controller.probability();
        let coupled = u64::from(base) * u64::from(self.params.coupling_factor);
        let overload = coupled > u64::from(ONE);
        let capable = packet.ecn().is_capable();
        let signal = if capable { Verdict::Mark } else { Verdict::Drop };
        if !low_latency {
            return match self.squared(base) {
                false => Verdict::Pass,
                true if overload => Verdict::Drop,
                true => signal,
            };
        }
        if overload {
            let dropped = self.params.drop_on_overload && self.squared(base);
            return if dropped { Verdict::Drop } else { Verdict::Mark };
        }
        if self.roll(coupled as u32) {
            signal
        } else {
            Verdict::Pass
        }
    }

    fn roll(&mut self, probability: u32) -> bool {
        self.stream.u32() <= probability
    }

    fn squared(&mut self, probability: u32) -> bool {
        self.roll(probability) && self.roll(probability)
    }

    /// Marks a packet; answers whether it could.
    fn mark(&mut self, packet: &mut P, marked: &mut bool) -> bool {
        let could = packet.mark_ce();
        self.ecn_marks += u64::from(could);
        *marked |= could;
        could
    }

    /// The packet whose turn it is, out of the books, and what its departure adds to the credit. Source:
    /// `dequeue_packet`.
    fn take(&mut self) -> Option<(Queued<Entry<P>>, i32)> {
        let (classic, low_latency) = (self.waiting_classic > 0, self.waiting_low_latency > 0);
        let weight = i32::from(self.params.classic_protection);
        let (list, waiting, change) = if low_latency && (!classic || self.credit <= 0) {
            (
                &mut self.low_latency,
                &mut self.waiting_low_latency,
                if classic { weight } else { 0 },
            )
        } else if classic {
            (
                &mut self.classic,
                &mut self.waiting_classic,
                if low_latency { weight - 100 } else { 0 },
            )
        } else {
            self.credit = self.params.initial_credit();
            return None;
        };
        let queued = self.slab.pop_front(list)?;
        *waiting -= 1;
        self.memory -= memory_of(queued.size);
        self.ledger.leave(queued.size);
        let bytes = queued.size.get() as i32;
        Some((queued, change.wrapping_mul(bytes)))
    }

    /// Whether the step drops a packet of the L queue that leaves. Source: `do_step_aqm`.
    fn step(&mut self, queued: &mut Queued<Entry<P>>, now: Time) -> bool {
        let beyond = match self.params.step_thresh {
            StepThreshold::Time(most) => now.since(queued.since) > most,
            StepThreshold::Packets(most) => self.waiting_low_latency > u64::from(most),
        };
        if !queued.packet.step || !beyond {
            return false;
        }
        let Entry { packet, marked, .. } = &mut queued.packet;
        if !packet.ecn().is_capable() {
            return true;
        }
        let counted = self.mark(packet, marked);
        self.step_marks += u64::from(counted);
        false
    }

    fn next(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<(Queued<P>, bool)> {
        loop {
            let (mut queued, change) = self.take()?;
            let low_latency = queued.packet.low_latency;
            let verdict = if self.params.drop_enqueue {
                Verdict::Pass
            } else {
                self.chance(&queued.packet.packet, low_latency)
            };
            if verdict == Verdict::Mark {
                let Entry { packet, marked, .. } = &mut queued.packet;
                self.mark(packet, marked);
            }
            let dropped = verdict == Verdict::Drop || low_latency && self.step(&mut queued, now);
            let (Entry { packet, marked, .. }, since, size) = (queued.packet, queued.since, queued.size);
            let queued = Queued { packet, since, size };
            if dropped {
                self.ledger.discard(queued, DropReason::Congestion, now, drops);
                continue;
            }
            self.credit = self.credit.wrapping_add(change);
            self.ledger.stats.marks += u64::from(marked);
            return Some((queued, marked));
        }
    }
}

impl<P: Packet> Qdisc<P> for DualPi2<P> {
    fn enqueue(&mut self, mut packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        self.run_timer(now, drops);
        self.ledger.arrive();
        let size = packet.size();
        let low_latency = match packet.ecn() {
            Ecn::NotEct => false,
            Ecn::Ect0 => self.params.any_ect,
            Ecn::Ect1 | Ecn::Ce => true,
        };
        let waiting = self.ledger.backlog.packets;
        if waiting >= u64::from(self.params.limit) {
            return self.ledger.refuse(packet, DropReason::QueueLimit, drops);
        }
        if self.memory + memory_of(size) > self.params.memory_limit.get() {
            return self.ledger.refuse(packet, DropReason::MemoryLimit, drops);
        }
        let mut marked = false;
        if self.params.drop_enqueue {
            match self.chance(&packet, low_latency) {
                Verdict::Pass => {}
                Verdict::Mark => {
                    self.mark(&mut packet, &mut marked);
                }
                Verdict::Drop => return self.ledger.refuse(packet, DropReason::Congestion, drops),
            }
        }
        self.memory += memory_of(size);
        self.most_memory = self.most_memory.max(self.memory);
        self.most_packets = self.most_packets.max(waiting);
        self.ledger.enter(size);
        let step = low_latency && self.waiting_low_latency >= u64::from(self.params.min_qlen_step);
        let (list, waiting, came) = if low_latency {
            (
                &mut self.low_latency,
                &mut self.waiting_low_latency,
                &mut self.came_low_latency,
            )
        } else {
            (&mut self.classic, &mut self.waiting_classic, &mut self.came_classic)
        };
        *waiting += 1;
        *came += 1;
        let packet = Entry {
            packet,
            low_latency,
            step,
            marked,
        };
        let queued = Queued {
            packet,
            since: now,
            size,
        };
        self.slab.push_back(list, queued);
        Admission::Queued
    }

    dequeue_through_ahead!(run_timer);

    /// As `tc`: `prob` (0 to 1), `delay_c` and `delay_l` (us, at the last call), `pkts_in_c`, `pkts_in_l`, `maxq`,
    /// `ecn_mark`, `step_mark`, `credit`, `memory_used`, `max_memory_used` and `memory_limit` (bytes).
    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        let delay = |list| (self.delay(list, self.now).as_nanos() / 1000) as f64;
        vec![
            ("prob", self.probability()),
            ("delay_c", delay(self.classic)),
            ("delay_l", delay(self.low_latency)),
            ("pkts_in_c", self.came_classic as f64),
            ("pkts_in_l", self.came_low_latency as f64),
            ("maxq", self.most_packets as f64),
            ("ecn_mark", self.ecn_marks as f64),
            ("step_mark", self.step_marks as f64),
            ("credit", f64::from(self.credit)),
            ("memory_used", self.memory as f64),
            ("max_memory_used", self.most_memory as f64),
            ("memory_limit", self.params.memory_limit.get() as f64),
        ]
    }
}
