//! Whether the bottleneck marks as RFC 3168 says, judged by the variation of the RTT and by the queue.
//!
//! Source: L4STeam's `tcp_prague.c`, `prague_classic_ecn_detection`, `prague_rtt_estimator`,
//! `prague_update_rtt_scaling`; the method is of draft-briscoe-iccrg-prague-congestion-control appendix A and of
//! B. Briscoe, A. S. Ahmed: TCP Prague fall-back on detection of a classic ECN AQM, 2019.

use super::ONE;
use sojourn_units::Duration;

/// Below it the bottleneck is certainly one for L4S (`L_STICKY`).
const CERTAIN_L4S: u64 = 8 * ONE;
/// From here on the fall-back is whole (`CLASSIC_ECN`).
const CLASSIC: u64 = CERTAIN_L4S + ONE;
/// The most (`C_STICKY`).
const CERTAIN_CLASSIC: u64 = CLASSIC + CERTAIN_L4S;
/// Half of the binary logarithm of 750 µs, which is the variation of a classic queue, 2^20ths (`V0_LG`).
const VARIATION: u64 = 10_014_683 / 2;
/// Half of the binary logarithm of 2 ms, which is the depth of a classic queue, 2^20ths (`D0_LG`).
const DEPTH: u64 = 11_498_458 / 2;
/// The gain of the mean at first and at least is 2^-18 (`PRAGUE_MAX_SRTT_BITS`); that of the deviation is half of it.
const LONGEST: u32 = 18;
/// 2^19.5: what a first logarithm leaves over (`PRAGUE_INIT_MDEV_CARRY`).
const FIRST_REST: u64 = 741_455;

/// Integer logarithms to the base 2 that are exact on average: what one rounds off the next has.
#[derive(Clone, Copy, Debug)]
struct Logarithms {
    rest: u64,
}

impl Logarithms {
    /// That of `value`, when what is over has so many bits.
    fn of(&mut self, value: u64, bits: u32, round: u64) -> u64 {
        let product = value.saturating_mul(self.rest).saturating_add(round);
        let logarithm = product.max(1).ilog2().saturating_sub(bits);
        self.rest = product >> logarithm;
        u64::from(logarithm)
    }

    fn rescale(&mut self, from: u32, to: u32) {
        self.rest = shifted(self.rest, from, to);
    }
}

/// A number with `from` fractional bits, with `to` of them.
const fn shifted(value: u64, from: u32, to: u32) -> u64 {
    if to > from {
        value << (to - from)
    } else {
        value >> (from - to)
    }
}

/// The smoothed RTT and its deviation with small gains, and the score that follows from them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detector {
    /// µs, with `bits` fractional bits; 0 before the first.
    mean: u64,
    /// µs, with one more.
    deviation: u64,
    bits: u32,
    variations: Logarithms,
    depths: Logarithms,
    /// 2^20ths.
    score: u64,
    /// `VARIATION` and `DEPTH`, or less of them.
    variation: u64,
    depth: u64,
}

impl Detector {
    /// With `low` it is as in 0.7, which scales logarithms by 2^24, but has the thresholds of 0.6, scaled by 2^20. So
    /// 1.5 µs and 1.6 µs stand for 750 µs and 2 ms, and any queue that varies is a classic one.
    pub(super) fn new(rtt: Duration, low: bool) -> Self {
        let shift = if low { 4 } else { 0 };
        Self {
            mean: (rtt.as_nanos() / 1000) << LONGEST,
            deviation: 1 << (LONGEST + 1),
            bits: LONGEST,
            variations: Logarithms { rest: FIRST_REST },
            depths: Logarithms { rest: FIRST_REST / 2 },
            score: 0,
            variation: VARIATION >> shift,
            depth: DEPTH >> shift,
        }
    }

    /// A round-trip time.
    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        let us = (rtt.as_nanos() / 1000).min(1 << 32);
        if self.mean == 0 {
            self.mean = us << self.bits;
            self.deviation = 1 << (self.bits + 1);
        } else {
            let mean = self.mean >> self.bits;
            self.mean = self.mean - mean + us;
            let deviation = self.deviation >> (self.bits + 1);
            self.deviation = self.deviation - deviation + us.abs_diff(mean);
        }
        self.mean = self.mean.max(1);
    }

    /// The window is reduced below a threshold of so many segments: gains follow it, so that they span the same number
    /// of sawteeth.
    pub(super) fn on_reduction(&mut self, threshold: Option<u32>) {
        let log = threshold.map_or(30, |segments| segments.max(1).ilog2());
        let bits = (log + log / 2 + 1).min(LONGEST);
        self.mean = shifted(self.mean, self.bits, bits);
        self.deviation = shifted(self.deviation, self.bits, bits);
        self.variations.rescale(self.bits, bits);
        self.depths.rescale(self.bits, bits);
        self.bits = bits;
    }

    /// A round is over.
    pub(super) fn judge(&mut self, least: Option<Duration>) {
        let mean = self.mean >> self.bits;
        let Some(least) = least.filter(|_| mean > 0) else {
            return;
        };
        let round = (1 << (LONGEST - 1 + 1)) >> (LONGEST - self.bits);
        let deviation = self.deviation >> (self.bits + 1);
        let half = ONE / 2;
        let gained = self.variations.of(deviation, self.bits + 1, round) * half;
        let mut score = (self.score + gained).saturating_sub(self.variation);
        let above = mean.saturating_sub(least.as_nanos() / 1000);
        if above > 0 {
            let depth = self.depths.of(above, self.bits, round / 2) * half;
            // A queue can only speak for a classic one.
            score += depth.saturating_sub(self.depth);
        }
        self.score = score.min(CERTAIN_CLASSIC);
    }

    /// The share of marks that a reduction is to reckon with at least, 2^20ths. The whole is 0.625, which halves of it
    /// make about CUBIC's 0.7.
    pub(super) fn least_alpha(&self) -> u64 {
        let sure = self.score.min(CLASSIC).saturating_sub(CERTAIN_L4S);
        sure / 2 + sure / 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue that varies by a few hundred µs is one for L4S; one that varies by several ms is classic.
    #[test]
    fn the_variation_and_the_depth_of_the_queue_tell() {
        for (step_us, classic) in [(200, false), (6_000, true)] {
            let base = Duration::from_millis(10);
            let mut detector = Detector::new(base, false);
            detector.on_reduction(Some(64));
            for round in 0..400_u64 {
                for k in 0..64 {
                    let us = if (round + k / 32) % 2 == 0 { step_us } else { 0 };
                    detector.on_rtt(base + Duration::from_micros(us));
                }
                detector.judge(Some(base));
            }
            assert_eq!(detector.least_alpha() > 0, classic, "{step_us} µs: {detector:?}");
            if classic {
                assert_eq!(detector.least_alpha(), ONE / 2 + ONE / 8);
            }
        }
    }

    /// The mean of 1000 integer logarithms of 750 is log2(750) = 9.5507.
    #[test]
    fn logarithms_are_exact_on_average() {
        let mut logarithms = Logarithms { rest: FIRST_REST };
        let sum: u64 = (0..1000).map(|_| logarithms.of(750, 19, 1 << 18)).sum();
        assert!((sum as f64 / 1000.0 - 750_f64.log2()).abs() < 0.02, "{sum}");
    }
}
