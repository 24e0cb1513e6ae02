//! `fq`: a queue per flow, served round robin, each paced.
//!
//! Source: Linux `sch_fq.c`, 6.1 and 7.3; tc-fq(8). A flow is paced at the rate of its socket
//! ([`Packet::pacing_rate`](crate::Packet::pacing_rate)) or at `maxrate`, if that is less, and a packet that came with
//! a time to leave ([`Packet::not_before`](crate::Packet::not_before)) waits for it. Forwarded packets have neither, so
//! on a router `fq` paces by `maxrate` only; flows are told apart by their hash under `orphan_mask`.
//!
//! Deviation: ages of flows are exact. The kernel counts them in ticks of its clock.

mod descriptor;
mod params;
mod queue;
mod rounds;
mod table;
#[cfg(test)]
mod tests;

pub use params::{FqParams, FqVariant};

use crate::ledger::{Ahead, Ledger, dequeue_through_ahead};
use crate::slab::Slab;
use crate::{Admission, Backlog, Departure, DropReason, DropSink, Packet, ParamError, Qdisc, QdiscStats, Queued};
use params::BANDS;
use queue::{Held, Queue};
use rounds::{List, Rounds};
use sojourn_units::{Bytes, Duration, Time};
use table::{Flow, Place, Table};

/// The priority of packets that pass all others in Linux 6.1. Source: `TC_PRIO_CONTROL`.
const CONTROL: u8 = 7;
/// The longest that one packet keeps its flow waiting.
const LONGEST_WAIT: u64 = 1_000_000_000;
/// Packets that the fast path of Linux 7.3 holds.
const FAST_PATH: u32 = 8;

/// Counters of its own. Source: `struct tc_fq_qd_stats`.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    highprio: u64,
    fastpath: u64,
    throttled: u64,
    flows_plimit: u64,
    pkts_too_long: u64,
    ce_mark: u64,
    horizon_drops: u64,
    horizon_caps: u64,
    band_drops: [u64; BANDS],
}

/// The `fq` discipline.
#[derive(Clone, Debug)]
pub struct Fq<P> {
    params: FqParams,
    slab: Slab<Held<P>>,
    table: Table<P>,
    /// Flows without packets, as the kernel counts them.
    inactive: u64,
    rounds: Rounds,
    /// Packets that belong to no flow: of high priority, or on the fast path.
    internal: Queue<P>,
    /// Packets of each band.
    in_band: [u32; BANDS],
    counters: Counters,
    ahead: Ahead<P>,
    ledger: Ledger,
}

impl<P: Packet> Fq<P> {
    /// No flows and no packets.
    ///
    /// # Errors
    /// [`ParamError`] for parameters that cannot be used.
    pub fn new(params: FqParams) -> Result<Self, ParamError> {
        params.validate()?;
        Ok(Self {
            slab: Slab::new(),
            table: Table::new(params.buckets),
            inactive: 0,
            rounds: Rounds::new(&params),
            internal: Queue::EMPTY,
            in_band: [0; BANDS],
            counters: Counters::default(),
            ahead: Ahead::EMPTY,
            ledger: Ledger::default(),
            params,
        })
    }

    const fn is_newer(&self) -> bool {
        matches!(self.params.variant, FqVariant::Linux73)
    }

    /// Whether there is room for another packet in this band.
    fn has_room(&mut self, band: u8) -> bool {
        if !self.is_newer() {
            return self.ledger.backlog.packets < u64::from(self.params.limit);
        }
        let band = usize::from(band);
        let room = self.in_band[band] < self.params.limit;
        self.counters.band_drops[band] += u64::from(!room);
        room
    }

    /// The time to leave that the packet came with, if the horizon lets it in.
    fn within_horizon(&mut self, not_before: Option<Time>, now: Time) -> Result<Option<Time>, ()> {
        let horizon = now + self.params.horizon;
        match not_before {
            Some(at) if at > horizon && self.params.horizon_drop => {
                self.counters.horizon_drops += 1;
                Err(())
            }
            Some(at) if at > horizon => {
                self.counters.horizon_caps += 1;
                Ok(Some(horizon))
            }
            at => Ok(at),
        }
    }

    /// Whether a packet that may leave at `time` belongs to no flow.
    ///
    /// Source: `fq_classify` of Linux 6.1; `fq_fastpath_check` of Linux 7.3.
    fn passes_flows(&self, packet: &P, time: Time, now: Time) -> bool {
        if !self.is_newer() {
            return packet.priority() & 15 == CONTROL;
        }
        let idle = self.ledger.backlog.packets == 0
            || self.table.len() == self.inactive + self.rounds.waiting()
                && self.internal.len() < FAST_PATH
                && self.rounds.next_waiting().is_none_or(|at| at > now);
        time <= now && idle && self.params.maxrate.is_none()
    }

    /// The flow of the packet. Source: `fq_classify`, `fq_gc`.
    #[inline]
    fn classify(&mut self, packet: &P, now: Time) -> u32 {
        let key = self.params.key(packet.flow_hash());
        let collects = self.is_newer() || self.table.is_crowded() && self.inactive > self.table.len() / 2;
        if collects {
            self.inactive -= self.table.collect(key, now, self.is_newer());
        }
        self.table.find(key).unwrap_or_else(|| {
            self.inactive += 1;
            self.table.add(key, self.params.initial_quantum.into(), now)
        })
    }

    /// Puts a packet into its flow. Source: `fq_enqueue`.
    fn put(&mut self, index: u32, queued: Queued<Held<P>>, now: Time) {
        let newer = self.is_newer();
        let flow = self.table.flow(index);
        if let Place::Detached(since) = flow.place {
            // The kernel compares without a sign: less than nothing stays as it is.
            if now > since + self.params.refill_delay && flow.credit >= 0 {
                flow.credit = flow.credit.max(self.params.quantum.into());
            }
            flow.place = Place::Listed;
            // As in the kernel the band is that of the packet before: a new flow begins in band 0.
            self.rounds.push(List::New, flow.band, index);
            self.inactive -= u64::from(!newer);
        }
        if newer {
            let band = queued.packet.band;
            flow.band = band;
            self.in_band[usize::from(band)] += 1;
            self.inactive -= u64::from(flow.queue.len() == 0);
        }
        let own_time = queued.packet.not_before;
        flow.queue.push(&mut self.slab, queued);
        if let (true, None, Some(time)) = (newer, self.params.maxrate, own_time) {
            self.hasten(index, time, now);
        }
    }

    /// A flow that waits got a packet that may leave at `time`, before the others. Source: `fq_flow_adjust_timer`.
    fn hasten(&mut self, index: u32, time: Time, now: Time) {
        let flow = self.table.flow(index);
        let (Place::Throttled(number), Some(next_at)) = (flow.place, flow.next_at) else {
            return;
        };
        if time >= next_at {
            return;
        }
        flow.next_at = Some(time);
        self.rounds.stop_waiting(next_at, number);
        if time <= now {
            flow.place = Place::Listed;
            self.rounds.push(List::Old, flow.band, index);
            self.rounds.recall_first(next_at);
        } else {
            flow.place = Place::Throttled(self.rounds.wait(time, index));
        }
    }

    /// Lets flows go whose time has come. Source: `fq_check_throttled`.
    fn release(&mut self, now: Time) {
        let table = &mut self.table;
        self.rounds.release(now, |index| {
            let flow = table.flow(index);
            flow.place = Place::Listed;
            flow.band
        });
    }

    /// Takes the next packet, and tells whether it was marked. Source: `fq_dequeue`.
    #[inline]
    fn next(&mut self, now: Time, _drops: &mut dyn DropSink<P>) -> Option<(Queued<P>, bool)> {
        if self.ledger.backlog.packets == 0 {
            return None;
        }
        if let Some(queued) = self.internal.pop(&mut self.slab) {
            self.ledger.leave(queued.size);
            return Some((plain(queued), false));
        }
        self.release(now);
        let mut turns = 0;
        loop {
            let (list, index) = self.rounds.choose()?;
            let flow = self.table.flow(index);
            if flow.credit <= 0 {
                flow.credit += i64::from(self.params.quantum);
                let band = flow.band;
                self.rounds.pop(list);
                self.rounds.push(List::Old, band, index);
                turns += 1;
                if turns == rounds::MANY_TURNS {
                    self.skip_rounds();
                    turns = 0;
                }
                continue;
            }
            let Some(time) = flow.queue.first() else {
                self.rounds.pop(list);
                self.rest(list, index, now);
                continue;
            };
            let due = flow.next_at.map_or(time, |at| at.max(time));
            if now < due {
                flow.next_at = Some(due);
                flow.place = Place::Throttled(self.rounds.wait(due, index));
                self.rounds.pop(list);
                self.counters.throttled += 1;
                continue;
            }
            return self.send(index, due, now);
        }
    }

    /// A flow without packets had its turn. Those that were new pass through the old once, so that nobody starves.
    fn rest(&mut self, list: List, index: u32, now: Time) {
        let newer = self.is_newer();
        let flow = self.table.flow(index);
        if list == List::New && (newer || self.rounds.has_old()) {
            self.rounds.push(List::Old, flow.band, index);
        } else {
            flow.place = Place::Detached(now);
            self.inactive += u64::from(!newer);
        }
    }

    /// Nobody has had enough credit for many turns: goes on to the round in which somebody has.
    fn skip_rounds(&mut self) {
        let quantum = i64::from(self.params.quantum);
        let table = &mut self.table;
        let missing = self
            .rounds
            .flows()
            .map(|index| (-table.flow(index).credit).max(0) / quantum);
        let rounds = missing.min().unwrap_or(0);
        for index in self.rounds.flows() {
            table.flow(index).credit += rounds * quantum;
        }
    }

    /// Takes the first packet of a flow, which could have left since `due`.
    fn send(&mut self, index: u32, due: Time, now: Time) -> Option<(Queued<P>, bool)> {
        let newer = self.is_newer();
        let flow = self.table.flow(index);
        let mut queued = flow.queue.pop(&mut self.slab)?;
        let size = queued.size.get();
        self.ledger.leave(queued.size);
        let late = self.params.ce_threshold.is_some_and(|most| now.since(due) > most);
        let marked = late && queued.packet.packet.mark_ce();
        self.counters.ce_mark += u64::from(late);
        self.ledger.stats.marks += u64::from(marked);
        if newer {
            self.inactive += u64::from(flow.queue.len() == 0);
            self.in_band[usize::from(queued.packet.band)] -= 1;
            self.rounds.pay(size);
        }
        flow.credit -= size.cast_signed();
        if self.params.pacing {
            let too_long = pace(&self.params, flow, &queued.packet, size, now);
            self.counters.pkts_too_long += u64::from(too_long);
        }
        Some((plain(queued), marked))
    }

    /// When every flow waits for its time, the kernel's timer goes off `timer_slack` after the first of these times.
    fn ready(&self, now: Time) -> Time {
        let first = self.rounds.next_waiting().filter(|&at| at > now);
        let waits = self.internal.len() == 0 && self.rounds.is_idle();
        match first {
            Some(first) if waits => first + self.params.timer_slack,
            _ => now,
        }
    }
}

/// Says when the flow may send again, after a packet of `size`; answers whether that was cut to a second.
///
/// Source: the end of `fq_dequeue`. A rate is in bytes a second.
fn pace<P: Packet>(params: &FqParams, flow: &mut Flow<P>, held: &Held<P>, size: u64, now: Time) -> bool {
    let mut rate = params.maxrate_bytes();
    let mut bytes = size;
    if held.not_before.is_none() {
        if let Some(own) = held.packet.pacing_rate() {
            let own = own.as_bps() / 8;
            rate = Some(rate.map_or(own, |rate| rate.min(own)));
        }
        if rate.is_some_and(|rate| rate <= params.low_rate_threshold.as_bps() / 8) {
            flow.credit = 0;
        } else {
            bytes = size.max(params.quantum.into());
            if flow.credit > 0 {
                return false;
            }
        }
    }
    let Some(rate) = rate else {
        return false;
    };
    let whole = bytes * 1_000_000_000 / rate.max(1);
    let wait = whole.min(LONGEST_WAIT);
    // Who was woken late makes up for that, by half at most.
    let late = flow.next_at.map_or(Duration::ZERO, |at| now.since(at));
    let wait = wait - late.as_nanos().min(wait / 2);
    flow.next_at = Some(now + Duration::from_nanos(wait));
    whole > LONGEST_WAIT
}

/// The packet without what `fq` kept of it.
fn plain<P>(queued: Queued<Held<P>>) -> Queued<P> {
    Queued {
        packet: queued.packet.packet,
        since: queued.since,
        size: queued.size,
    }
}

impl<P: Packet> Qdisc<P> for Fq<P> {
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        self.ledger.arrive();
        let band = self.params.band(&packet);
        if !self.has_room(band) {
            return self.ledger.refuse(packet, DropReason::QueueLimit, drops);
        }
        let Ok(not_before) = self.within_horizon(packet.not_before(), now) else {
            return self.ledger.refuse(packet, DropReason::QueueLimit, drops);
        };
        let size = packet.size();
        let passes = self.passes_flows(&packet, not_before.unwrap_or(now), now);
        let queue_of = |packet| Queued {
            packet: Held {
                packet,
                not_before,
                band,
            },
            since: now,
            size,
        };
        if passes {
            self.counters.highprio += u64::from(!self.is_newer());
            self.counters.fastpath += u64::from(self.is_newer());
            self.internal.push(&mut self.slab, queue_of(packet));
        } else {
            let index = self.classify(&packet, now);
            if self.table.flow(index).queue.len() >= self.params.flow_limit {
                self.counters.flows_plimit += 1;
                return self.ledger.refuse(packet, DropReason::QueueLimit, drops);
            }
            self.put(index, queue_of(packet), now);
        }
        self.ledger.enter(size);
        Admission::Queued
    }

    dequeue_through_ahead!(when ready);

    fn overtakes(&self) -> bool {
        true
    }

    /// As `tc`: `gc`, `highprio`, `throttled`, `flows_plimit`, `pkts_too_long`, `alloc_errors`, `flows`, `inactive`,
    /// `throttled_flows`, `latency` (ns), `ce_mark`, `horizon_drops`, `horizon_caps`; with `variant linux-7.3` also
    /// `fastpath`, `band0_drops`, `band0_pkts` and so on. `ce_mark` counts packets beyond the threshold, whether
    /// they take marks or not.
    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        const DROPS: [&str; BANDS] = ["band0_drops", "band1_drops", "band2_drops"];
        const PACKETS: [&str; BANDS] = ["band0_pkts", "band1_pkts", "band2_pkts"];
        let c = &self.counters;
        let mut all = vec![
            ("gc", self.table.collected as f64),
            ("highprio", c.highprio as f64),
            ("throttled", c.throttled as f64),
            ("flows_plimit", c.flows_plimit as f64),
            ("pkts_too_long", c.pkts_too_long as f64),
            ("alloc_errors", 0.0),
            ("flows", self.table.len() as f64),
            ("inactive", self.inactive as f64),
            ("throttled_flows", self.rounds.waiting() as f64),
            ("latency", self.rounds.latency() as f64),
            ("ce_mark", c.ce_mark as f64),
            ("horizon_drops", c.horizon_drops as f64),
            ("horizon_caps", c.horizon_caps as f64),
        ];
        if self.is_newer() {
            all.push(("fastpath", c.fastpath as f64));
            all.extend((0..BANDS).map(|band| (DROPS[band], c.band_drops[band] as f64)));
            all.extend((0..BANDS).map(|band| (PACKETS[band], f64::from(self.in_band[band]))));
        }
        all
    }
}
