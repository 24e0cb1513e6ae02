//! PIE of Linux 3.14, as seed 000 measured it, in its integers: probabilities are fractions of 2^32, times are ticks
//! of 64 ns. Where its 32-bit arithmetic overflows, so does this.

use super::estimator::RateEstimator;
use super::{Controller, MTU, PieParams, TWO_MTU, ticks};
use sojourn_units::{Duration, Stream, Time};

/// Probability 1.
const ONE: u32 = u32::MAX;
/// A measurement cycle is 10000 bytes.
const THRESHOLD: u64 = 10_000;
const BURST: u64 = ticks::of(Duration::from_millis(100));
const HIGH_DELAY: u64 = ticks::of(Duration::from_millis(250));

/// The controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OldPie {
    pub(super) prob: u32,
    pub(super) delay: u64,
    pub(super) old_delay: u64,
    pub(super) burst: u64,
    pub(super) rate: RateEstimator,
}

impl OldPie {
    pub(super) const fn new() -> Self {
        Self {
            prob: 0,
            delay: 0,
            old_delay: 0,
            burst: BURST,
            rate: RateEstimator::new(THRESHOLD),
        }
    }
}

impl Controller for OldPie {
    #[expect(
        clippy::cast_possible_wrap,
        reason = "two's complement wrap is the kernel's arithmetic, the rest is below 2^31"
    )]
    fn update(&mut self, params: &PieParams, backlog: u64) {
        let old_delay = self.delay;
        self.old_delay = old_delay;
        let delay = self.rate.delay(backlog).unwrap_or(0);
        let mut decay = delay != 0 || backlog == 0;

        // Three levels: an eighth below 1 %, half below 10 %.
        let shift = match self.prob {
            p if p < ONE / 100 => 7,
            p if p < ONE / 10 => 5,
            _ => 4,
        };
        let per_tick = ONE / ticks::PER_SECOND as u32;
        let alpha = u64::from((params.alpha * per_tick) >> shift);
        let beta = u64::from((params.beta * per_tick) >> shift);
        let error = delay.wrapping_sub(ticks::of(params.target));
        let change = delay.wrapping_sub(old_delay);
        let mut delta = alpha.wrapping_mul(error).wrapping_add(beta.wrapping_mul(change)) as i32;
        let two_percent = (ONE / 50) as i32;
        if delta > two_percent && self.prob >= ONE / 10 {
            delta = (ONE / 100 * 2) as i32;
        }
        if delay > HIGH_DELAY {
            delta = delta.wrapping_add(two_percent);
        }
        let before = self.prob;
        self.prob = before.wrapping_add_signed(delta);
        if delta > 0 {
            if self.prob < before {
                self.prob = ONE;
                decay = false;
            }
        } else if self.prob > before {
            self.prob = 0;
        }
        if delay == 0 && old_delay == 0 && decay {
            self.prob = self.prob.wrapping_mul(98) / 100;
        }
        self.delay = delay;

        let half_target = ticks::of(params.target) / 2;
        if delay < half_target && old_delay < half_target && self.prob == 0 && self.rate.is_known() {
            self.burst = BURST;
            self.rate = RateEstimator::new(THRESHOLD);
        }
    }

    #[inline]
    fn departed(&mut self, _params: &PieParams, _since: Time, now: Time, size: u64, backlog: u64) {
        // The burst allowance shrinks only by whole measurement cycles.
        let elapsed = self.rate.departed(now, size, backlog).unwrap_or(0);
        self.burst = self.burst.saturating_sub(elapsed);
    }

    #[inline]
    fn signal(&mut self, params: &PieParams, size: u64, backlog: u64, stream: &mut Stream) -> bool {
        let safe = self.delay < ticks::of(params.target) / 2 && self.prob < ONE / 5;
        if self.burst > 0 || safe || backlog < TWO_MTU {
            return false;
        }
        let prob = if params.bytemode && size <= MTU.get() {
            u64::from(self.prob / MTU.get() as u32) * size
        } else {
            u64::from(self.prob)
        };
        u64::from(stream.u32()) < prob
    }

    fn may_mark(&self) -> bool {
        self.prob <= ONE / 10
    }

    fn probability(&self) -> f64 {
        f64::from(self.prob) / f64::from(ONE)
    }

    fn delay_us(&self) -> f64 {
        ticks::to_us(self.delay)
    }

    fn departure_rate(&self) -> f64 {
        self.rate.bytes_per_second()
    }
}
