//! The controlled-delay algorithm, as one function over parameters, state and counters.
//!
//! Source: RFC 8289 section 5; Linux `codel_impl.h`; seed 000 section 4.4, seed 001 section II.A.
//! [`codel_dequeue`] serves the `codel` discipline ([`Codel`]), each queue of FQ-CoDel and each queue of a Wi-Fi
//! station: they differ in where a packet comes from and in which backlog is tested, and both are what `pop` says.
//!
//! Deviation: seed 001 section II.A as printed shortens the interval itself at each drop; the RFC and every
//! implementation divide the fixed interval by the square root of the count.

mod descriptor;
mod qdisc;
#[cfg(test)]
mod tests;

pub(crate) use descriptor::CodelSpec;
pub use qdisc::Codel;

use crate::fifo::MTU;
use crate::param::{in_range, positive_time};
use crate::{DropReason, DropSink, Dropped, Packet, ParamError, Queued, Selector};
use sojourn_units::{Bytes, Duration, Time, words};

words! {
    /// Whose reading of the algorithm.
    #[derive(Default)]
    pub enum CodelVariant {
        /// The current Linux kernel: the first drop comes strictly later than one interval after the queue rose above
        /// target; 1/sqrt(count) is a 16-bit reciprocal improved by one Newton step per change of count; no drop while
        /// the backlog is at most one MTU; a queue found empty keeps its "above since".
        ///
        /// Deviation: time is counted in nanoseconds, the kernel's in units of 1024 ns ([`CodelVariant::LinuxTicks`]).
        #[default]
        Linux = "linux",
        /// As `Linux`, with the kernel's clock: times, target, interval and the distances of drops are whole units of
        /// 1024 ns, rounded down. So 5 ms are 4882 units, 4.999 ms. Source: Linux `codel.h`, `CODEL_SHIFT`.
        LinuxTicks = "linux-ticks",
        /// Linux 3.14: as now, but the backlog is tested against the largest packet seen so far, at least 256 bytes.
        Linux314 = "linux-3.14",
        /// RFC 8289 section 5 to the letter: at-or-later, the exact square root, an empty queue is below target.
        Rfc8289 = "rfc8289",
        /// ns-2's `CoDelQueue` (`queue/codel.cc` of 2012; seed 001): as the RFC, but resuming with `count - 1` if count >
        /// 1; the bytes left in the queue are tested against the largest packet seen so far, at least 256 bytes; and
        /// before the first packet nothing counts as below target, so that it is dropped if it is late itself (it
        /// never is where the link takes it at once).
        ///
        /// Deviation: the default limit is Linux's 1000 packets (ns-2: 50, set by each script); `ecn` and `ce_threshold`
        /// are taken, which ns-2 does not have; time is counted in nanoseconds, ns-2's in seconds in floating point.
        Ns2 = "ns2",
    }
}

impl CodelVariant {
    const fn is_linux(self) -> bool {
        matches!(self, Self::Linux | Self::LinuxTicks | Self::Linux314)
    }

    /// A time, or a part of one, as this variant counts it.
    #[inline]
    const fn counted(self, nanoseconds: u64) -> u64 {
        match self {
            Self::LinuxTicks => nanoseconds & !(TICK - 1),
            _ => nanoseconds,
        }
    }

    #[inline]
    fn duration(self, duration: Duration) -> Duration {
        Duration::from_nanos(self.counted(duration.as_nanos()))
    }

    #[inline]
    fn time(self, time: Time) -> Time {
        Time::from_nanos(self.counted(time.as_nanos()))
    }
}

/// What is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelParams {
    /// The acceptable standing queue delay.
    pub target: Duration,
    /// How long the delay must stay above target before the first drop; about the largest common RTT.
    pub interval: Duration,
    /// Mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Mark every ECN-capable packet whose sojourn exceeds this.
    pub ce_threshold: Option<Duration>,
    /// Of which packets alone; `None` for all.
    pub ce_threshold_selector: Option<Selector>,
    /// No drop while at most so much is queued. Source: RFC 8289 section 5.2, the interface's MTU.
    pub mtu: Bytes,
    /// Whose reading of the algorithm.
    pub variant: CodelVariant,
}

impl Default for CodelParams {
    /// RFC 8289 section 4.2 and Linux: target 5 ms, interval 100 ms, no ECN, MTU 1514 bytes.
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl CodelParams {
    /// RFC 8289 section 4.2 and Linux.
    pub const DEFAULT: Self = Self {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        ecn: false,
        ce_threshold: None,
        ce_threshold_selector: None,
        mtu: MTU,
        variant: CodelVariant::Linux,
    };

    /// Checks the parameters; `kind` is named in the error. Target may exceed interval (seed 000 section 4.7).
    ///
    /// # Errors
    /// [`ParamError`] for a time that is zero or does not fit `tc`'s 32 bits of microseconds.
    pub fn validate(&self, kind: &str) -> Result<(), ParamError> {
        positive_time(kind, "target", self.target)?;
        positive_time(kind, "interval", self.interval)?;
        self.ce_threshold
            .map_or(Ok(()), |t| positive_time(kind, "ce_threshold", t))
    }

    /// The parameters as the variant counts them.
    #[must_use]
    pub(crate) fn counted(self) -> Self {
        let variant = self.variant;
        Self {
            target: variant.duration(self.target),
            interval: variant.duration(self.interval),
            ce_threshold: self.ce_threshold.map(|threshold| variant.duration(threshold)),
            ..self
        }
    }
}

/// What is remembered of one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodelState {
    /// Drops (or marks) since the queue last entered the dropping state.
    pub count: u32,
    /// The count at that entry.
    pub last_count: u32,
    /// 1/sqrt(count) times 2^16, as Linux keeps it.
    inv_sqrt: u16,
    /// Whether the queue is in the dropping state.
    pub dropping: bool,
    /// When the delay will have been above target for one interval; `None` while it is below.
    pub first_above: Option<Time>,
    /// When the next drop is due, or was due when dropping last ended; `None` before the first episode.
    pub drop_next: Option<Time>,
    /// The sojourn of the packet looked at last.
    pub last_delay: Duration,
}

/// What is counted, over all queues of a discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodelStats {
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked instead of dropped.
    pub ecn_mark: u64,
    /// Packets marked because their sojourn exceeded `ce_threshold`.
    pub ce_mark: u64,
    /// Packets marked for either reason.
    pub marked: u64,
    /// Entries into the dropping state.
    pub drop_state_entries: u64,
    /// The largest packet seen, bytes.
    pub max_packet: u64,
}

/// The kernel's unit of time, nanoseconds.
const TICK: u64 = 1024;
/// `tc`'s default limit of `codel`, packets.
pub(crate) const DEFAULT_LIMIT: u32 = 1000;
/// Linux starts with this as the largest packet seen in 3.14, and so does ns-2.
pub(crate) const SMALLEST_MAX_PACKET: u64 = 256;
/// Dropping that ended less than this many intervals ago is resumed. Source: RFC 8289 section 5.4.
const RESUME_INTERVALS: u64 = 16;

impl CodelState {
    /// The state of a queue that had no packet yet.
    ///
    /// Source: RFC 8289 section 5.3 and `codel_vars_init`: all zero. ns-2 `CoDelQueue::reset` sets
    /// `first_above_time_` to -1, which is neither "below target" (0) nor in the future.
    #[must_use]
    pub fn new(variant: CodelVariant) -> Self {
        Self {
            first_above: (variant == CodelVariant::Ns2).then_some(Time::ZERO),
            ..Self::default()
        }
    }

    /// A packet has come, was judged at once and has left an empty queue, which was asked for another.
    #[inline]
    pub(crate) fn passed(&mut self, stats: &mut CodelStats, size: Bytes) {
        self.last_delay = Duration::ZERO;
        stats.max_packet = stats.max_packet.max(size.get());
        (self.dropping, self.first_above) = (false, None);
    }

    /// Judges the packet at the head. Source: RFC 8289 section 5.6, `dodequeue`.
    #[inline]
    fn ok_to_drop(
        &mut self,
        params: &CodelParams,
        stats: &mut CodelStats,
        since: Time,
        size: Bytes,
        left: Bytes,
        now: Time,
    ) -> bool {
        self.last_delay = now.since(params.variant.time(since));
        if size.get() > stats.max_packet {
            stats.max_packet = size.get();
        }
        let one_packet = match params.variant {
            CodelVariant::Linux | CodelVariant::LinuxTicks | CodelVariant::Rfc8289 => params.mtu.get(),
            CodelVariant::Linux314 | CodelVariant::Ns2 => stats.max_packet.max(SMALLEST_MAX_PACKET),
        };
        if self.last_delay < params.target || left.get() <= one_packet {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + params.interval);
                false
            }
            Some(at) if params.variant.is_linux() => now > at,
            Some(at) => now >= at,
        }
    }

    /// Counts a drop, and keeps 1/sqrt(count) near: x' = x/2 * (3 - count x^2), in 32-bit fixed point of which the
    /// upper half is kept. It wraps as the kernel's does when the count has jumped far ahead of its reciprocal.
    fn set_count(&mut self, count: u32) {
        self.count = count;
        let x = u64::from(self.inv_sqrt) << 16;
        let rest = (3u64 << 32).wrapping_sub(u64::from(count).wrapping_mul((x * x) >> 32));
        self.inv_sqrt = ((rest >> 2).wrapping_mul(x) >> 31 >> 16) as u16;
    }

    /// The time of the drop after one at `t`: `t + interval/sqrt(count)`. Source: RFC 8289 section 5.3.
    fn control_law(&self, params: &CodelParams, t: Time) -> Time {
        if params.variant.is_linux() {
            let after = (params.interval.as_nanos() * u64::from(self.inv_sqrt)) >> 16;
            return t + Duration::from_nanos(params.variant.counted(after));
        }
        t + Duration::from_secs_f64(params.interval.as_secs_f64() / f64::from(self.count).sqrt())
    }

    /// Enters the dropping state. Source: RFC 8289 section 5.4, last part of `dequeue`.
    fn enter(&mut self, params: &CodelParams, stats: &mut CodelStats, now: Time) {
        self.dropping = true;
        stats.drop_state_entries += 1;
        let resumed = match params.variant {
            CodelVariant::Ns2 => self.count.saturating_sub(1),
            _ => self.count.wrapping_sub(self.last_count),
        };
        let enough = match params.variant {
            CodelVariant::Ns2 => resumed >= 1,
            _ => resumed > 1,
        };
        let recent = self
            .drop_next
            .is_some_and(|t| now < t + params.interval * RESUME_INTERVALS);
        if enough && recent {
            self.set_count(resumed);
        } else {
            self.count = 1;
            self.inv_sqrt = u16::MAX;
        }
        self.last_count = self.count;
        self.drop_next = Some(self.control_law(params, now));
    }
}

/// Takes the next packet that may leave, dropping those that `CoDel` wants dropped, always from the head.
///
/// `pop` takes the oldest packet out of the queue and says how many bytes are then left in the backlog that the
/// one-packet test looks at: the queue's own for `codel`, the whole discipline's for `fq_codel` as in Linux.
/// Answers the packet, and whether it was marked. Dropped packets go to `drops` and are counted in `stats.drops`; the
/// caller adds them to its own books.
#[inline]
pub fn codel_dequeue<P: Packet>(
    params: &CodelParams,
    state: &mut CodelState,
    stats: &mut CodelStats,
    now: Time,
    mut pop: impl FnMut() -> Option<(Queued<P>, Bytes)>,
    drops: &mut dyn DropSink<P>,
) -> Option<(Queued<P>, bool)> {
    let (real, now) = (now, params.variant.time(now));
    let Some((mut head, left)) = pop() else {
        state.dropping = false;
        // Linux 3.14 did not forget: in fq_codel an interval begun before the queue ran empty went on.
        if params.variant != CodelVariant::Linux314 {
            state.first_above = None;
        }
        return None;
    };
    let ok = state.ok_to_drop(params, stats, head.since, head.size, left, now);
    let mut marked = false;
    if state.dropping {
        if !ok {
            state.dropping = false;
        }
        while state.dropping && state.drop_next.is_some_and(|at| now >= at) {
            state.set_count(state.count.wrapping_add(1));
            marked = params.ecn && mark(&mut head.packet);
            if !marked {
                discard(head, real, stats, drops);
                let Some((next, left)) = pop() else {
                    state.first_above = None;
                    state.dropping = false;
                    return None;
                };
                head = next;
                state.dropping = state.ok_to_drop(params, stats, head.since, head.size, left, now);
            }
            if state.dropping {
                state.drop_next = state.drop_next.map(|at| state.control_law(params, at));
            }
            if marked {
                stats.ecn_mark += 1;
                break;
            }
        }
    } else if ok {
        marked = params.ecn && mark(&mut head.packet);
        if marked {
            stats.ecn_mark += 1;
            state.enter(params, stats, now);
        } else {
            discard(head, real, stats, drops);
            let next = pop();
            match &next {
                Some((next, left)) => {
                    state.ok_to_drop(params, stats, next.since, next.size, *left, now);
                }
                None => state.first_above = None,
            }
            // As in Linux, the state is entered even if that drop has emptied the queue.
            state.enter(params, stats, now);
            head = next?.0;
        }
    }
    if params.ce_threshold.is_some_and(|limit| state.last_delay > limit)
        && params.ce_threshold_selector.is_none_or(|one| one.selects(&head.packet))
        && mark(&mut head.packet)
    {
        stats.ce_mark += 1;
        marked = true;
    }
    stats.marked += u64::from(marked);
    Some((head, marked))
}

/// Kept out of line: see [`Queued`] on looking into packets.
#[cold]
#[inline(never)]
fn mark<P: Packet>(packet: &mut P) -> bool {
    packet.mark_ce()
}

#[cold]
pub(crate) fn discard<P>(queued: Queued<P>, now: Time, stats: &mut CodelStats, drops: &mut dyn DropSink<P>) {
    stats.drops += 1;
    drops.dropped(Dropped {
        packet: queued.packet,
        reason: DropReason::Congestion,
        sojourn: now.since(queued.since),
    });
}

/// Checks a limit in packets; shared by the kinds that count packets.
pub(crate) fn packet_limit(kind: &str, limit: u32) -> Result<(), ParamError> {
    in_range(kind, "limit", u64::from(limit), 1, u64::from(u32::MAX))
}
