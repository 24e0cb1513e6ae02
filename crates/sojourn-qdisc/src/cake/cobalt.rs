//! COBALT: `CoDel` and BLUE side by side, for one queue.
//!
//! Source: Linux 6.1 `sch_cake.c`, the functions `cobalt_*`; seed arXiv 1804.07617 section III.C. `CoDel` answers flows
//! that react to signals, BLUE those that do not. Times are nanoseconds with a sign, as the kernel's `ktime_t`.
//!
//! Linux 7.3 has the same behaviour but for two details. Its table of roots is the result of eight steps of Newton's
//! method, where 6.1 does four, so that the second signal of an episode comes 0.06 % later. And BLUE draws no random
//! number for a packet that `CoDel` drops.

use super::LONG_AGO;
use sojourn_units::Stream;

/// Roots below this count come from a table, because one step of Newton's method is too coarse for them.
const TABLE: usize = 16;

/// `2^32 / sqrt(count)`, found as the kernel finds it: four steps for each count, from the root of the one before.
static ROOTS: [u32; TABLE] = roots();

const fn roots() -> [u32; TABLE] {
    let mut table = [u32::MAX; TABLE];
    let mut root = u32::MAX;
    let mut count = 1;
    while count < TABLE {
        let mut step = 0;
        while step < 4 {
            root = newton(root, count as u32);
            step += 1;
        }
        table[count] = root;
        count += 1;
    }
    table
}

/// One step of Newton's method: `root * (3 - count * root^2) / 2`, `root` a fraction of 32 bits.
const fn newton(root: u32, count: u32) -> u32 {
    let root = root as u64;
    let square = (root * root) >> 32;
    let left = (3_u64 << 32).wrapping_sub(count as u64 * square) >> 2;
    (left.wrapping_mul(root) >> 31) as u32
}

/// What all queues of a tin have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CobaltParams {
    /// From the first delay above the target to the first signal, ns.
    pub(super) interval: u64,
    /// The delay that may stand, and the time between two changes of BLUE's probability, ns.
    pub(super) target: u64,
    /// What a full frame takes at the tin's rate, ns.
    pub(super) mtu_time: u64,
}

impl CobaltParams {
    /// How much BLUE's probability grows at an overflow: 1/256 of 2^32.
    const UP: u32 = 1 << 24;
    /// How much it falls when the queue is found empty: 1/4096 of 2^32.
    const DOWN: u32 = 1 << 20;

    /// The time of the signal after the one at `at`.
    ///
    /// The kernel scales the low 32 bits of the interval, so that one above 4.29 s wraps around.
    #[inline]
    fn control(&self, at: i64, root: u32) -> i64 {
        at + ((u64::from(self.interval as u32) * u64::from(root)) >> 32).cast_signed()
    }
}

/// What becomes of a packet that was taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// It is to be dropped.
    pub(super) drop: bool,
    /// `CoDel` has marked it. BLUE may drop it all the same.
    pub(super) marked: bool,
}

/// The state of one queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cobalt {
    /// Signals of this episode.
    pub(super) count: u32,
    /// `2^32 / sqrt(count)`. It is 0 until `count` has changed for the first time: the first episode of a new queue does
    /// not wait for an interval, as in the kernel.
    root: u32,
    /// When the next signal is due; without an episode, how long the queue's state is kept.
    drop_next: i64,
    blue_timer: i64,
    /// BLUE's probability of a drop, of 2^32.
    pub(super) p_drop: u32,
    dropping: bool,
}

impl Cobalt {
    /// A queue that was never used.
    pub(super) const NEW: Self = Self {
        count: 0,
        root: 0,
        drop_next: LONG_AGO,
        blue_timer: LONG_AGO,
        p_drop: 0,
        dropping: false,
    };

    #[inline]
    fn set_root(&mut self) {
        self.root = match ROOTS.get(self.count as usize) {
            Some(&root) => root,
            None => newton(self.root, self.count),
        };
    }

    /// The queue had to give a packet away because the memory was full. Says whether BLUE was at rest and is not now.
    pub(super) fn queue_full(&mut self, p: &CobaltParams, now: i64) -> bool {
        let mut up = false;
        if now - self.blue_timer > p.target.cast_signed() {
            up = self.p_drop == 0;
            self.p_drop = self.p_drop.saturating_add(CobaltParams::UP);
            self.blue_timer = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
        up
    }

    /// The queue was asked for a packet and is empty. Says whether BLUE was not at rest and is now.
    #[inline]
    pub(super) fn queue_empty(&mut self, p: &CobaltParams, now: i64) -> bool {
        let mut down = false;
        if self.p_drop != 0 && now - self.blue_timer > p.target.cast_signed() {
            self.p_drop = self.p_drop.saturating_sub(CobaltParams::DOWN);
            self.blue_timer = now;
            down = self.p_drop == 0;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.fall(p);
        }
        down
    }

    /// Whether an empty queue has anything to be remembered.
    #[inline]
    pub(super) fn at_rest(&self, now: i64) -> bool {
        self.p_drop == 0 && self.count == 0 && now >= self.drop_next
    }

    /// One signal fewer, and the time of the next such step.
    #[inline]
    fn fall(&mut self, p: &CobaltParams) {
        self.count -= 1;
        self.set_root();
        self.drop_next = p.control(self.drop_next, self.root);
    }

    /// Judges a packet that leaves after `sojourn` ns. `mark` marks it and says whether it could. `bulk_flows` is the
    /// number of bulk flows of the tin in the mode `ingress`, else 0.
    #[inline]
    pub(super) fn judge(
        &mut self,
        p: &CobaltParams,
        now: i64,
        sojourn: u64,
        bulk_flows: u64,
        stream: &mut Stream,
        mark: impl FnOnce() -> bool,
    ) -> Verdict {
        let mut schedule = now - self.drop_next;
        let over_target = sojourn > p.target
            && sojourn > p.mtu_time.saturating_mul(bulk_flows * 2)
            && sojourn > p.mtu_time.saturating_mul(4);
        let mut due = self.count > 0 && schedule >= 0;
        let mut verdict = Verdict {
            drop: false,
            marked: false,
        };
        if over_target {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = p.control(now, self.root);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        if due && self.dropping {
            verdict.marked = mark();
            verdict.drop = !verdict.marked;
            self.count = self.count.saturating_add(1);
            self.set_root();
            self.drop_next = p.control(self.drop_next, self.root);
            schedule = now - self.drop_next;
        } else {
            while due {
                self.fall(p);
                schedule = now - self.drop_next;
                due = self.count > 0 && schedule >= 0;
            }
        }
        // BLUE takes no notice of ECN.
        if self.p_drop != 0 {
            verdict.drop |= stream.u32() < self.p_drop;
        }
        if self.count == 0 {
            self.drop_next = now.saturating_add_unsigned(p.interval);
        } else if schedule > 0 && !verdict.drop {
            self.drop_next = now;
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 7.3 has the table written out (`inv_sqrt_cache`), after eight steps. Four are as good but for the first
    /// two: from 1 they lead to 0.5, 0.625, 0.693359, 0.706708 for the root of 1/2.
    #[test]
    fn roots_are_those_of_the_kernel_and_of_arithmetic() {
        let of_7_3 = [
            3_037_000_500,
            2_479_700_525,
            2_147_483_647,
            1_920_767_767,
            1_753_413_056,
            1_623_345_051,
            1_518_500_250,
            1_431_655_765,
            1_358_187_914,
            1_294_981_364,
            1_239_850_263,
            1_191_209_601,
            1_147_878_294,
            1_108_955_788,
        ];
        assert_eq!(ROOTS[..2], [u32::MAX; 2]);
        for (count, expected) in (2_u32..).zip(of_7_3) {
            let exact = f64::from(u32::MAX) / f64::from(count).sqrt();
            assert!((f64::from(expected) - exact).abs() < 2.0, "{count}");
            let off = match count {
                2 => 1_710_740,
                3 => 70,
                _ => 1,
            };
            assert!(
                ROOTS[count as usize].abs_diff(expected) <= off,
                "{count}: {}",
                ROOTS[count as usize]
            );
        }
        let half = f64::from(ROOTS[2]) / 4_294_967_296.0;
        assert!((half - 0.706_708).abs() < 1e-6, "{half}");
        let mut root = ROOTS[15];
        for count in 16..1000_u32 {
            root = newton(root, count);
            let exact = 4_294_967_296.0 / f64::from(count).sqrt();
            assert!(
                (f64::from(root) / exact - 1.0).abs() < 0.002,
                "{count}: {root} is not {exact}"
            );
        }
    }
}
