//! Tins: their rates and weights, and the code points that lead to them.
//!
//! Source: Linux 6.1 `sch_cake.c`: `cake_set_rate`, `cake_config_*` and the tables of code points; the classes are those
//! of RFC 4594, with RFC 8622 for lower effort.

use super::cobalt::CobaltParams;
use super::flows::{FlowList, Ways};
use super::params::{CakeParams, CakeTins};
use super::shaper::Pace;
use super::{LONG_AGO, ewma};
use crate::fifo::MTU;

/// Which tin each code point leads to.
pub(super) type CodePoints = [u8; 64];

/// All lead to `otherwise`, but for those that are listed with a tin.
const fn table(otherwise: u8, listed: &[(u8, &[u8])]) -> CodePoints {
    let mut table = [otherwise; 64];
    let mut i = 0;
    while i < listed.len() {
        let (tin, points) = listed[i];
        let mut j = 0;
        while j < points.len() {
            table[points[j] as usize] = tin;
            j += 1;
        }
        i += 1;
    }
    table
}

const LE: u8 = 1;
/// The old "maximise throughput" and "minimise delay" of RFC 1349.
const TOS2: u8 = 2;
const TOS4: u8 = 4;
const CS1: u8 = 8;
const CS2: u8 = 16;
const CS3: u8 = 24;
const CS4: u8 = 32;
const CS5: u8 = 40;
const VA: u8 = 44;
const EF: u8 = 46;
const CS6: u8 = 48;
const CS7: u8 = 56;

static DIFFSERV3: CodePoints = table(0, &[(1, &[LE, CS1]), (2, &[TOS4, VA, EF, CS6, CS7])]);
static DIFFSERV4: CodePoints = table(
    0,
    &[
        (1, &[LE, CS1]),
        (2, &[TOS4, CS2, 18, 20, 22, CS3, 26, 28, 30, 34, 36, 38]),
        (3, &[CS4, CS5, VA, EF, CS6, CS7]),
    ],
);
static DIFFSERV8: CodePoints = table(
    2,
    &[
        (0, &[LE]),
        (1, &[TOS2, CS1, 10, 12, 14]),
        (3, &[CS3, 26, 28, 30, 34, 36, 38]),
        (4, &[TOS4, 18, 20, 22]),
        (5, &[CS2]),
        (6, &[CS4, CS5, VA, EF]),
        (7, &[CS6, CS7]),
    ],
);
static BESTEFFORT: CodePoints = [0; 64];
static PRECEDENCE: CodePoints = precedence();

const fn precedence() -> CodePoints {
    let mut table = [0; 64];
    let mut point = 0;
    while point < 64 {
        table[point] = point as u8 >> 3;
        point += 1;
    }
    table
}

impl CakeTins {
    /// How many tins there are.
    pub(super) const fn count(self) -> usize {
        match self {
            Self::Besteffort => 1,
            Self::Diffserv3 => 3,
            Self::Diffserv4 => 4,
            Self::Diffserv8 | Self::Precedence => 8,
        }
    }

    pub(super) const fn code_points(self) -> &'static CodePoints {
        match self {
            Self::Besteffort => &BESTEFFORT,
            Self::Diffserv3 => &DIFFSERV3,
            Self::Diffserv4 => &DIFFSERV4,
            Self::Diffserv8 => &DIFFSERV8,
            Self::Precedence => &PRECEDENCE,
        }
    }

    /// The tins in the order of statistics: the one of bulk before that of best effort.
    pub(super) const fn order(self) -> &'static [usize] {
        match self {
            Self::Besteffort => &[0],
            Self::Diffserv3 => &[1, 0, 2],
            Self::Diffserv4 => &[1, 0, 2, 3],
            Self::Diffserv8 | Self::Precedence => &[0, 1, 2, 3, 4, 5, 6, 7],
        }
    }

    /// The threshold in bytes a second, and the weight, of tin `tin` at a bandwidth of `rate` bytes a second.
    fn share(self, tin: usize, rate: u64) -> (u64, u64) {
        let shifts: &[u32] = match self {
            Self::Besteffort => return (rate, 65_535),
            Self::Diffserv3 => &[0, 4, 2],
            Self::Diffserv4 => &[0, 4, 1, 2],
            Self::Diffserv8 | Self::Precedence => {
                let eighth_less = |(rate, weight): (u64, u64)| ((rate * 7) >> 3, (weight * 7) >> 3);
                let (rate, weight) = (0..tin).fold((rate, 256), |share, _| eighth_less(share));
                return (rate, weight.max(1));
            }
        };
        (rate >> shifts[tin], 1024 >> shifts[tin])
    }
}

/// Counters of a tin by the names of `tc -s -j`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TinStats {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) drops: u64,
    pub(super) ack_drops: u64,
    pub(super) marks: u64,
    pub(super) largest: u64,
    /// Moving averages of the delay, ns.
    pub(super) average: u64,
    pub(super) peak: u64,
    pub(super) base: u64,
    pub(super) ways: Ways,
}

impl TinStats {
    /// A packet left after `delay` ns.
    #[inline]
    pub(super) fn delayed(&mut self, delay: u64) {
        self.average = ewma(self.average, delay, 8);
        self.peak = ewma(self.peak, delay, if delay > self.peak { 2 } else { 8 });
        self.base = ewma(self.base, delay, if delay < self.base { 2 } else { 8 });
    }
}

/// The lists that a tin's queues are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    /// Queues that had nothing before.
    New,
    /// Queues that have had a turn.
    Old,
    /// Empty queues whose state is still remembered.
    Decaying,
}

/// One tin.
#[derive(Clone, Debug)]
pub(super) struct Tin {
    /// Bytes that a flow may send in a round, if its hosts have no other.
    pub(super) flow_quantum: u32,
    pub(super) cobalt: CobaltParams,
    /// The lists of its queues, by [`Round`].
    pub(super) rounds: [FlowList; 3],
    /// Flows that hold packets or have just held some, and send little.
    pub(super) sparse_flows: u32,
    /// Flows that send all the time.
    pub(super) bulk_flows: u32,
    /// Flows that are empty and have a state that is still remembered.
    pub(super) decaying_flows: u32,
    /// Flows whose BLUE is at work.
    pub(super) unresponsive_flows: u32,
    pace: Pace,
    /// Bytes a second up to which it goes first.
    pub(super) threshold: u64,
    next: i64,
    quantum: i64,
    pub(super) deficit: i64,
    pub(super) backlog: u64,
    pub(super) stats: TinStats,
}

impl Tin {
    /// Tin `tin` of a discipline with this bandwidth in bytes a second, 0 for none.
    pub(super) fn new(params: &CakeParams, tin: usize, bandwidth: u64) -> Self {
        let mut new = Self {
            flow_quantum: 0,
            cobalt: CobaltParams::default(),
            rounds: [FlowList::EMPTY; 3],
            sparse_flows: 0,
            bulk_flows: 0,
            decaying_flows: 0,
            unresponsive_flows: 0,
            pace: Pace::default(),
            threshold: 0,
            next: LONG_AGO,
            quantum: 0,
            deficit: 0,
            backlog: 0,
            stats: TinStats::default(),
        };
        new.set_bandwidth(params, tin, bandwidth);
        new
    }

    /// The bandwidth changes; what is queued stays.
    pub(super) fn set_bandwidth(&mut self, params: &CakeParams, tin: usize, bandwidth: u64) {
        let (rate, weight) = params.tins.share(tin, bandwidth);
        self.threshold = rate;
        self.quantum = weight.cast_signed();
        self.flow_quantum = if rate == 0 {
            MTU.get() as u32
        } else {
            (rate >> 12).clamp(300, MTU.get()) as u32
        };
        self.pace = Pace::of(rate);
        let mtu_time = self.pace.time(MTU.get()).cast_unsigned();
        let (least, rtt) = (params.target.as_nanos(), params.rtt.as_nanos());
        let target = least.max(mtu_time * 3 / 2);
        // More than a frame must fit into the target; the interval grows by as much, and is at least twice the target.
        let interval = (rtt + target - least).max(target * 2);
        self.cobalt = CobaltParams {
            interval,
            target,
            mtu_time,
        };
    }

    pub(super) fn pace(&self) -> Pace {
        self.pace
    }

    /// Whether a flow may have a packet for it to send.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.sparse_flows + self.bulk_flows > 0
    }

    /// A packet comes to the empty tin: bandwidth that it did not use is lost.
    #[inline]
    pub(super) fn refresh(&mut self, now: i64) {
        self.next = self.next.max(now);
    }

    /// How long the tin must wait if it is to stay within its threshold; not positive if it need not.
    #[inline]
    pub(super) fn wait(&self, now: i64) -> i64 {
        self.next.saturating_sub(now)
    }

    /// A packet that counts as `size` bytes was sent, or dropped.
    #[inline]
    pub(super) fn charge(&mut self, size: u64, now: i64) {
        let time = self.pace.time(size);
        if self.next < now {
            self.next = self.next.saturating_add(time);
        } else if self.next < now.saturating_add(time) {
            self.next = now.saturating_add(time);
        }
    }

    /// In its turn of the unshaped mode a tin that has used its share gets the next.
    #[inline]
    pub(super) fn replenish(&mut self) {
        if self.deficit <= 0 {
            self.deficit += self.quantum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(tins: CakeTins) -> Vec<usize> {
        let points = tins.code_points();
        let of = |tin: usize| points.iter().filter(|&&t| usize::from(t) == tin).count();
        (0..tins.count()).map(of).collect()
    }

    /// The numbers were counted in the tables of `sch_cake.c`.
    #[test]
    fn every_code_point_leads_to_the_tin_that_the_kernel_has_for_it() {
        assert_eq!(count(CakeTins::Besteffort), [64]);
        assert_eq!(count(CakeTins::Precedence), [8; 8]);
        assert_eq!(count(CakeTins::Diffserv3), [57, 2, 5]);
        assert_eq!(count(CakeTins::Diffserv4), [44, 2, 12, 6]);
        assert_eq!(count(CakeTins::Diffserv8), [1, 5, 40, 7, 4, 1, 4, 2]);
        for (point, [three, four, eight]) in [
            (0, [0, 0, 2]),
            (10, [0, 0, 1]),
            (18, [0, 2, 4]),
            (34, [0, 2, 3]),
            (46, [2, 3, 6]),
            (8, [1, 1, 1]),
            (48, [2, 3, 7]),
            (40, [0, 3, 6]),
        ] {
            assert_eq!(DIFFSERV3[point], three, "{point}");
            assert_eq!(DIFFSERV4[point], four, "{point}");
            assert_eq!(DIFFSERV8[point], eight, "{point}");
        }
    }
}
