//! `pie`: proportional integral controller enhanced.
//!
//! Source: RFC 8033; Linux `sch_pie.c` and `pie.h` of today and of 3.14; seed 000 section 4.3. An arrival is dropped
//! with a probability that a controller recomputes every `tupdate` from the queue delay and its change.
//!
//! The discipline has no timer: each call first runs the updates that are due. Between calls neither the backlog nor
//! the delay of the last departure changes, so this is exact.

mod descriptor;
mod estimator;
pub(crate) mod linux;
mod linux_3_14;
mod rfc8033;
#[cfg(test)]
mod tests;
mod updates;

use crate::fifo::MTU;
use crate::ledger::{Ahead, Ledger, dequeue_through_ahead};
use crate::param::{in_range, positive_time};
use crate::{Admission, Backlog, Departure, DropReason, DropSink, Packet, ParamError, Qdisc, QdiscStats, Queued};
use linux::LinuxPie;
use linux_3_14::OldPie;
use rfc8033::RfcPie;
use sojourn_units::{Bytes, Duration, Stream, Time, words};
use std::collections::VecDeque;
use updates::FIRST_UPDATE;
pub(crate) use updates::Updates;

words! {
    /// Whose reading of the algorithm.
    #[derive(Default)]
    pub enum PieVariant {
        /// The current Linux kernel: delay from time stamps (or, with `dq_rate_estimator`, from a departure rate),
        /// seven levels of auto-tuning, accumulated probability, 250 ms rule, burst allowance of 150 ms.
        #[default]
        Linux = "linux",
        /// Linux 3.14: delay from the departure rate, three levels, an independent coin per packet, burst allowance of
        /// 100 ms.
        Linux314 = "linux-3.14",
        /// RFC 8033 with time stamps: as Linux, but the burst allowance shrinks at each update, the safeguard looks at
        /// the delay of the update before, decay is 2 %, there is no 250 ms rule, and the first update comes after
        /// one `tupdate`.
        Rfc8033 = "rfc8033",
    }
}

/// Parameters of [`Pie`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieParams {
    /// Packets it holds.
    pub limit: u32,
    /// The delay it aims at.
    pub target: Duration,
    /// Time between two updates of the probability.
    pub tupdate: Duration,
    /// Weight of the delay's distance from target, in sixteenths of 1/s.
    pub alpha: u32,
    /// Weight of the delay's change, in sixteenths of 1/s.
    pub beta: u32,
    /// Mark ECN-capable packets instead of dropping them, while the probability is at most 10 %.
    pub ecn: bool,
    /// Scale the probability by packet size.
    pub bytemode: bool,
    /// Estimate the delay from the departure rate; 3.14 always does.
    pub dq_rate_estimator: bool,
    /// Whose reading of the algorithm.
    pub variant: PieVariant,
}

impl Default for PieParams {
    /// Linux: limit 1000, target 15 ms, update 15 ms, alpha 2/16, beta 20/16.
    fn default() -> Self {
        Self::LINUX
    }
}

impl PieParams {
    /// The current kernel's defaults, and RFC 8033's. Source: `pie_params_init`; RFC 8033 section 5.1.
    pub const LINUX: Self = Self {
        limit: 1000,
        target: Duration::from_millis(15),
        tupdate: Duration::from_millis(15),
        alpha: 2,
        beta: 20,
        ecn: false,
        bytemode: false,
        dq_rate_estimator: false,
        variant: PieVariant::Linux,
    };
    /// Linux 3.14's defaults.
    pub const LINUX_3_14: Self = Self {
        target: Duration::from_millis(20),
        tupdate: Duration::from_millis(30),
        dq_rate_estimator: true,
        variant: PieVariant::Linux314,
        ..Self::LINUX
    };

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`ParamError`] for a value out of its range.
    pub fn validate(&self) -> Result<(), ParamError> {
        self.validate_for("pie")
    }

    /// The same for the kind `kind`, whose queues these are the parameters of.
    pub(crate) fn validate_for(&self, kind: &str) -> Result<(), ParamError> {
        in_range(kind, "limit", u64::from(self.limit), 1, u64::from(u32::MAX))?;
        positive_time(kind, "target", self.target)?;
        positive_time(kind, "tupdate", self.tupdate)?;
        if self.tupdate < LEAST_UPDATE {
            let rule =
                format!("at least {LEAST_UPDATE}, a tick of the kernel's fastest clock, which times its updates");
            return Err(ParamError::new(kind, "tupdate", self.tupdate.to_string(), rule));
        }
        in_range(kind, "alpha", u64::from(self.alpha), 0, 32)?;
        in_range(kind, "beta", u64::from(self.beta), 0, 32)?;
        match self.variant {
            PieVariant::Linux314 if !self.dq_rate_estimator => Err(ParamError::new(
                kind,
                "dq_rate_estimator",
                "off",
                "on with variant linux-3.14, which has nothing else",
            )),
            PieVariant::Rfc8033 if self.dq_rate_estimator => Err(ParamError::new(
                kind,
                "dq_rate_estimator",
                "on",
                "off with variant rfc8033",
            )),
            _ => Ok(()),
        }
    }
}

/// The least time between two updates: each takes some time to compute, so with nanoseconds between them a simulation
/// would not come to its end. Source: `pie_change` counts `tupdate` in jiffies, of which a kernel has 1000 a second
/// at most.
const LEAST_UPDATE: Duration = Duration::from_millis(1);

/// No early drop while the backlog is below two frames; Linux `psched_mtu`.
const TWO_MTU: u64 = 2 * MTU.get();

/// The part that differs between the variants: the drop probability and what it is made of.
pub(crate) trait Controller {
    /// Recomputes the probability, `backlog` bytes being queued.
    fn update(&mut self, params: &PieParams, backlog: u64);
    /// A packet enqueued at `since` leaves at `now`, `backlog` bytes being left.
    fn departed(&mut self, params: &PieParams, since: Time, now: Time, size: u64, backlog: u64);
    /// Whether to signal congestion with an arrival.
    fn signal(&mut self, params: &PieParams, size: u64, backlog: u64, stream: &mut Stream) -> bool;
    /// An arrival was dropped.
    fn dropped(&mut self) {}
    /// Whether the probability is low enough for marks instead of drops: at most 10 %.
    fn may_mark(&self) -> bool;
    /// The probability.
    fn probability(&self) -> f64;
    /// The delay it believes in, us.
    fn delay_us(&self) -> f64;
    /// Bytes per second, where there is an estimate.
    fn departure_rate(&self) -> f64;
}

/// The controllers, without a box.
#[derive(Clone, Debug, PartialEq)]
enum AnyController {
    Linux(LinuxPie),
    Linux314(OldPie),
    Rfc8033(RfcPie),
}

macro_rules! each {
    ($self:expr, $c:ident => $call:expr) => {
        match $self {
            AnyController::Linux($c) => $call,
            AnyController::Linux314($c) => $call,
            AnyController::Rfc8033($c) => $call,
        }
    };
}

/// The `pie` discipline.
#[derive(Clone, Debug)]
pub struct Pie<P> {
    params: PieParams,
    controller: AnyController,
    updates: Updates,
    stream: Stream,
    ring: VecDeque<(Queued<P>, bool)>,
    packets_in: u64,
    overlimit: u64,
    dropped: u64,
    max_queue: u64,
    ahead: Ahead<P>,
    ledger: Ledger,
}

impl<P: Packet> Pie<P> {
    /// An empty queue, created at time 0. Linux first updates after 504 ms and then a tick late, Linux 3.14 after 500 ms,
    /// the RFC after one `tupdate`.
    ///
    /// # Errors
    /// [`ParamError`] for parameters that cannot be used.
    pub fn new(params: PieParams, seed: u64) -> Result<Self, ParamError> {
        params.validate()?;
        let every = params.tupdate;
        let (controller, updates) = match params.variant {
            PieVariant::Linux => (AnyController::Linux(LinuxPie::new()), Updates::on_ticks(every)),
            // Before Linux 4.8 a timer went off at its tick.
            PieVariant::Linux314 => (
                AnyController::Linux314(OldPie::new()),
                Updates::new(FIRST_UPDATE, every),
            ),
            PieVariant::Rfc8033 => (AnyController::Rfc8033(RfcPie::new()), Updates::new(every, every)),
        };
        Ok(Self {
            params,
            controller,
            updates,
            stream: Stream::new(seed),
            ring: VecDeque::new(),
            packets_in: 0,
            overlimit: 0,
            dropped: 0,
            max_queue: 0,
            ahead: Ahead::EMPTY,
            ledger: Ledger::default(),
        })
    }

    /// The drop probability, 0 to 1.
    #[must_use]
    pub fn probability(&self) -> f64 {
        each!(&self.controller, c => c.probability())
    }

    #[inline]
    fn run_timer(&mut self, now: Time, _drops: &mut dyn DropSink<P>) {
        if self.updates.due(now) {
            let backlog = self.ledger.backlog.bytes.get();
            self.updates.run(now, |_| {
                let before = self.controller.clone();
                each!(&mut self.controller, c => c.update(&self.params, backlog));
                self.controller != before
            });
        }
    }

    #[inline]
    fn next(&mut self, now: Time, _drops: &mut dyn DropSink<P>) -> Option<(Queued<P>, bool)> {
        let (queued, marked) = self.ring.pop_front()?;
        let size = queued.size;
        self.ledger.leave(size);
        let left = self.ledger.backlog.bytes.get();
        each!(&mut self.controller, c => c.departed(&self.params, queued.since, now, size.get(), left));
        Some((queued, marked))
    }
}

impl<P: Packet> Qdisc<P> for Pie<P> {
    fn enqueue(&mut self, mut packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        self.run_timer(now, drops);
        self.ledger.arrive();
        let Backlog { packets, bytes } = self.ledger.backlog;
        let size = packet.size();
        let mut marked = false;
        let refusal = if packets >= u64::from(self.params.limit) {
            self.overlimit += 1;
            Some(DropReason::QueueLimit)
        } else {
            each!(&mut self.controller, c => {
                if c.signal(&self.params, size.get(), bytes.get(), &mut self.stream) {
                    marked = self.params.ecn && c.may_mark() && packet.mark_ce();
                    (!marked).then_some(DropReason::Congestion)
                } else {
                    None
                }
            })
        };
        if let Some(reason) = refusal {
            self.dropped += 1;
            each!(&mut self.controller, c => c.dropped());
            return self.ledger.refuse(packet, reason, drops);
        }
        self.packets_in += 1;
        self.max_queue = self.max_queue.max(packets);
        self.ledger.stats.marks += u64::from(marked);
        self.ledger.enter(size);
        self.ring.push_back((Queued::new(packet, now), marked));
        Admission::Queued
    }

    dequeue_through_ahead!(run_timer);

    /// As `tc`: `prob` (0 to 1), `delay` (us), `avg_dq_rate` (bytes/s), `pkts_in`, `overlimit`, `maxq`, `dropped`,
    /// `ecn_mark`.
    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("prob", self.probability()),
            ("delay", each!(&self.controller, c => c.delay_us())),
            ("avg_dq_rate", each!(&self.controller, c => c.departure_rate())),
            ("pkts_in", self.packets_in as f64),
            ("overlimit", self.overlimit as f64),
            ("maxq", self.max_queue as f64),
            ("dropped", self.dropped as f64),
            ("ecn_mark", self.ledger.stats.marks as f64),
        ]
    }
}

/// The kernel's scheduler clock: ticks of 64 ns. Linux `PSCHED_NS2TICKS`.
mod ticks {
    use sojourn_units::{Duration, Time};

    pub(super) const PER_SECOND: u64 = 15_625_000;

    pub(super) const fn of(d: Duration) -> u64 {
        d.as_nanos() >> 6
    }

    pub(super) const fn at(t: Time) -> u64 {
        t.as_nanos() >> 6
    }

    pub(super) fn to_us(ticks: u64) -> f64 {
        ticks as f64 * 0.064
    }
}
