//! `red`: random early detection, and its adaptive form (ARED).
//!
//! Source: Floyd and Jacobson 1993; Floyd, Gummadi and Shenker 2001; Linux `sch_red.c` and `red.h`; seed 000
//! section 4.2. As in Linux: thresholds in bytes, the average is taken at each arrival, drops are spread evenly by a
//! count, every arrival is dropped while the average is at or above `max` (no gentle mode).

mod descriptor;
mod params;
#[cfg(test)]
mod tests;

pub(crate) use descriptor::RedWords;
pub use params::{RedParams, RedVariant};

use crate::ledger::Ledger;
use crate::{Admission, Backlog, Departure, DropReason, DropSink, Packet, ParamError, Qdisc, QdiscStats, Queued};
use params::IdleTable;
use sojourn_units::{Bytes, Duration, Stream, Time};
use std::collections::VecDeque;

/// How often the probability is adapted. Source: Floyd et al. 2001 section 5; Linux `HZ/2`.
const ADAPT_EVERY: Duration = Duration::from_millis(500);
/// 1 % as a 32-bit fraction: the smallest probability that adaptation still lowers, and the largest step up.
const ONE_PERCENT: u32 = 42_949_673;
/// The largest probability that adaptation still raises.
const FIFTY_PERCENT: u32 = 50 * ONE_PERCENT;

/// What RED says of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    /// Chosen by chance between `min` and `max`.
    Early,
    /// The average is at or above `max`.
    Forced,
}

/// The `red` discipline.
#[derive(Clone, Debug)]
pub struct Red<P> {
    params: RedParams,
    wlog: u8,
    idle_table: IdleTable,
    /// `min` and `max` in units of the scaled average.
    scaled_min: u64,
    scaled_max: u64,
    /// The band in which adaptation holds still, bytes.
    target_min: u64,
    target_max: u64,
    /// Average backlog times 2^wlog, bytes.
    average: u64,
    /// Arrivals since the random number was drawn; `None` outside the thresholds.
    count: Option<u64>,
    random: u64,
    idle_since: Option<Time>,
    /// Drop probability at `max`, as a 32-bit fraction.
    max_p: u32,
    /// `max_p` per byte between the thresholds, the divisor of the random number.
    max_p_per_byte: u32,
    next_adapt: Time,
    stream: Stream,
    ring: VecDeque<(Queued<P>, bool)>,
    early: u64,
    pdrop: u64,
    marked: u64,
    ledger: Ledger,
}

impl<P: Packet> Red<P> {
    /// An empty queue, idle since time 0; adaptation runs at 0.5 s, 1 s, and so on.
    ///
    /// # Errors
    /// [`ParamError`] for parameters that cannot be used.
    ///
    /// # Panics
    /// Never: a validated burst has a weight.
    pub fn new(params: RedParams, seed: u64) -> Result<Self, ParamError> {
        params.validate()?;
        let wlog = params.ewma_log().expect("validate has found it");
        let delta = params.max - params.min;
        let max_p = (params.in_32_bits() * f64::from(1u32 << 31) * 2.0) as u32;
        let fifth = u64::from(delta / 5);
        Ok(Self {
            params,
            wlog,
            idle_table: params.idle_table(wlog),
            scaled_min: u64::from(params.min) << wlog,
            scaled_max: u64::from(params.max) << wlog,
            target_min: u64::from(params.min) + 2 * fifth,
            target_max: u64::from(params.min) + 3 * fifth,
            average: 0,
            count: None,
            random: 0,
            idle_since: Some(Time::ZERO),
            max_p,
            max_p_per_byte: (max_p / delta).max(1),
            next_adapt: Time::ZERO + ADAPT_EVERY,
            stream: Stream::new(seed),
            ring: VecDeque::new(),
            early: 0,
            pdrop: 0,
            marked: 0,
            ledger: Ledger::default(),
        })
    }

    /// The average after an idle time that began at `since`. Source: `red_calc_qavg_from_idle_time`.
    fn average_after_idle(&self, since: Time, now: Time) -> u64 {
        let cell_log = self.idle_table.cell_log;
        let idle_us = now.since(since).as_micros().min(255 << cell_log);
        let shift = self.idle_table.shifts[(idle_us >> cell_log) as usize & 255];
        if shift > 0 {
            return self.average >> shift;
        }
        // Within the first cells of the table, a straight line.
        let loss = ((u128::from(self.average) * u128::from(idle_us)) >> cell_log) as u64;
        let half = self.average >> 1;
        if loss < half { self.average - loss } else { half }
    }

    /// The average at an arrival: avg + W (backlog - avg). Source: RED 1993, Fig. 17.
    #[inline]
    fn update_average(&mut self, now: Time) {
        self.average = match self.idle_since.take() {
            None => self.average - (self.average >> self.wlog) + self.ledger.backlog.bytes.get(),
            Some(since) => self.average_after_idle(since, now),
        };
    }

    /// Judges an arrival. Source: `red_action`.
    #[inline]
    fn verdict(&mut self) -> Verdict {
        if self.average < self.scaled_min {
            self.count = None;
            return Verdict::Pass;
        }
        if self.average >= self.scaled_max {
            self.count = None;
            return Verdict::Forced;
        }
        let Some(count) = self.count.map(|n| n + 1) else {
            self.count = Some(0);
            self.draw();
            return Verdict::Pass;
        };
        self.count = Some(count);
        // Passes until count * (avg - min) reaches a number uniform in 0..(max - min) / max_p, so that the gaps between
        // drops are uniform in 0..1/p.
        if ((self.average - self.scaled_min) >> self.wlog) * count < self.random {
            return Verdict::Pass;
        }
        self.count = Some(0);
        self.draw();
        Verdict::Early
    }

    fn draw(&mut self) {
        self.random = u64::from(self.stream.u32() / self.max_p_per_byte);
    }

    /// Runs the adaptations that are due. Source: Floyd et al. 2001 section 5; `red_adaptative_algo`.
    #[inline]
    fn run_timer(&mut self, now: Time) {
        if self.params.adapts() && now >= self.next_adapt {
            self.adapt_until(now);
        }
    }

    #[cold]
    fn adapt_until(&mut self, now: Time) {
        while self.next_adapt <= now {
            let at = self.next_adapt;
            let before = self.max_p;
            self.adapt(at);
            let settled = self
                .idle_since
                .is_none_or(|since| at.since(since).as_micros() >= 255 << self.idle_table.cell_log);
            let periods = if before == self.max_p && settled {
                // Nothing changes any more until the next arrival.
                now.since(at).as_nanos() / ADAPT_EVERY.as_nanos() + 1
            } else {
                1
            };
            self.next_adapt = at + ADAPT_EVERY * periods;
        }
    }

    fn adapt(&mut self, at: Time) {
        let average = self
            .idle_since
            .map_or(self.average, |since| self.average_after_idle(since, at))
            >> self.wlog;
        if average > self.target_max && self.max_p <= FIFTY_PERCENT {
            self.max_p += ONE_PERCENT.min(self.max_p / 4);
        } else if average < self.target_min && self.max_p >= ONE_PERCENT {
            self.max_p = self.max_p / 10 * 9;
        }
        let delta = self.params.max - self.params.min;
        self.max_p_per_byte = ((u64::from(self.max_p) + u64::from(delta / 2)) / u64::from(delta)).max(1) as u32;
    }

    /// Whether the packet goes on, marked or not, or must be dropped.
    #[inline]
    fn signal(&mut self, packet: &mut P, verdict: Verdict) -> Result<bool, ()> {
        if verdict == Verdict::Pass {
            return Ok(false);
        }
        self.ledger.stats.overlimits += 1;
        if !self.params.ecn || (verdict == Verdict::Forced && self.params.harddrop) {
            return Err(());
        }
        if packet.mark_ce() {
            self.marked += 1;
            self.ledger.stats.marks += 1;
            return Ok(true);
        }
        if self.params.nodrop { Ok(false) } else { Err(()) }
    }
}

impl<P: Packet> Qdisc<P> for Red<P> {
    fn enqueue(&mut self, mut packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        self.run_timer(now);
        self.ledger.arrive();
        self.update_average(now);
        let verdict = self.verdict();
        let Ok(marked) = self.signal(&mut packet, verdict) else {
            self.early += 1;
            return self.ledger.refuse(packet, DropReason::Congestion, drops);
        };
        let size = packet.size();
        if self.ledger.backlog.bytes + size > self.params.limit {
            self.pdrop += 1;
            return self.ledger.refuse(packet, DropReason::QueueLimit, drops);
        }
        self.ledger.enter(size);
        self.ring.push_back((Queued::new(packet, now), marked));
        Admission::Queued
    }

    fn dequeue(&mut self, now: Time, _drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
        self.run_timer(now);
        let Some((queued, marked)) = self.ring.pop_front() else {
            self.idle_since.get_or_insert(now);
            return None;
        };
        self.ledger.leave(queued.size);
        self.ledger.send(queued.size);
        Some(queued.depart(now, marked))
    }

    fn ready_at(&mut self, now: Time, _drops: &mut dyn DropSink<P>) -> Option<Time> {
        (!self.ring.is_empty()).then_some(now)
    }

    fn peek_size(&self) -> Option<Bytes> {
        self.ring.front().map(|(queued, _)| queued.size)
    }

    fn backlog(&self) -> Backlog {
        self.ledger.backlog
    }

    fn stats(&self) -> QdiscStats {
        self.ledger.stats
    }

    /// As `tc`: marked, early, pdrop, other; beyond it `max_p` (the probability at `max`) and `qavg` (bytes).
    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("marked", self.marked as f64),
            ("early", self.early as f64),
            ("pdrop", self.pdrop as f64),
            ("other", 0.0),
            ("max_p", f64::from(self.max_p) / (f64::from(1u32 << 31) * 2.0)),
            ("qavg", self.average as f64 / f64::from(1u32 << self.wlog)),
        ]
    }
}
