//! PIE of the current Linux kernel, in its integers: probabilities are fractions of 2^56, times are ticks of 64 ns.

use super::estimator::RateEstimator;
use super::{Controller, MTU, PieParams, TWO_MTU, ticks};
use sojourn_units::{Duration, Stream, Time};

/// Probability 1.
pub(crate) const ONE: u64 = u64::MAX >> 8;
/// RFC 8033 section 4.3: a measurement cycle is 2^14 bytes.
const THRESHOLD: u64 = 16_384;
const BURST: u64 = ticks::of(Duration::from_millis(150));
/// Above this delay the probability grows by 2 % per update beyond what the controller says.
const HIGH_DELAY: u64 = ticks::of(Duration::from_millis(250));

/// The controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinuxPie {
    pub(crate) prob: u64,
    /// De-randomisation: the probability added up since the last drop. Source: RFC 8033 section 5.4.
    pub(crate) accumulated: u64,
    pub(crate) delay: u64,
    pub(crate) old_delay: u64,
    /// Ticks during which nothing is dropped early.
    pub(crate) burst: u64,
    pub(crate) last_departure: Option<u64>,
    pub(super) rate: RateEstimator,
}

impl LinuxPie {
    pub(crate) const fn new() -> Self {
        Self {
            prob: 0,
            accumulated: 0,
            delay: 0,
            old_delay: 0,
            burst: BURST,
            last_departure: None,
            rate: RateEstimator::new(THRESHOLD),
        }
    }
}

impl Controller for LinuxPie {
    #[expect(
        clippy::cast_possible_wrap,
        reason = "two's complement wrap is the kernel's arithmetic, the rest is below 2^56"
    )]
    fn update(&mut self, params: &PieParams, backlog: u64) {
        let (delay, old_delay) = if params.dq_rate_estimator {
            self.old_delay = self.delay;
            (self.rate.delay(backlog).unwrap_or(0), self.delay)
        } else {
            (self.delay, self.old_delay)
        };
        // No delay although something is queued: it is too little to say anything.
        let mut decay = delay != 0 || backlog == 0;

        let mut alpha = (u64::from(params.alpha) * (ONE / ticks::PER_SECOND)) >> 4;
        let mut beta = (u64::from(params.beta) * (ONE / ticks::PER_SECOND)) >> 4;
        // Auto-tuning: half the gain below 10 %, and a quarter of that for each further power of ten down to 0.0001 %.
        if self.prob < ONE / 10 {
            alpha >>= 1;
            beta >>= 1;
            for power in [100, 1_000, 10_000, 100_000, 1_000_000] {
                if self.prob >= ONE / power {
                    break;
                }
                alpha >>= 2;
                beta >>= 2;
            }
        }
        let error = delay.wrapping_sub(ticks::of(params.target));
        let change = delay.wrapping_sub(old_delay);
        // In 64 bits that wrap, as the kernel's: delays of many seconds can make it overflow there too.
        let mut delta = alpha.wrapping_mul(error).wrapping_add(beta.wrapping_mul(change)) as i64;
        let two_percent = ONE / 50;
        if delta > two_percent as i64 && self.prob >= ONE / 10 {
            delta = (ONE / 100 * 2) as i64;
        }
        if delay > HIGH_DELAY {
            delta = delta.wrapping_add(two_percent as i64);
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
            self.prob -= self.prob / 64;
        }
        self.delay = delay;

        let half_target = ticks::of(params.target) / 2;
        if self.delay < half_target
            && self.old_delay < half_target
            && self.prob == 0
            && (!params.dq_rate_estimator || self.rate.is_known())
        {
            self.burst = BURST;
            self.accumulated = 0;
            self.last_departure = None;
            self.rate = RateEstimator::new(THRESHOLD);
        }
        if !params.dq_rate_estimator {
            self.old_delay = delay;
        }
    }

    #[inline]
    fn departed(&mut self, params: &PieParams, since: Time, now: Time, size: u64, backlog: u64) {
        let elapsed = if params.dq_rate_estimator {
            self.rate.departed(now, size, backlog)
        } else {
            let tick = ticks::at(now);
            self.delay = if backlog == 0 { 0 } else { tick - ticks::at(since) };
            self.last_departure.replace(tick).map(|last| tick - last)
        };
        self.burst = self.burst.saturating_sub(elapsed.unwrap_or(0));
    }

    #[inline]
    fn signal(&mut self, params: &PieParams, size: u64, backlog: u64, stream: &mut Stream) -> bool {
        let safe = self.delay < ticks::of(params.target) / 2 && self.prob < ONE / 5;
        if self.burst > 0 || safe || backlog < TWO_MTU {
            return false;
        }
        let prob = if params.bytemode && size <= MTU.get() {
            size * (self.prob / MTU.get())
        } else {
            self.prob
        };
        self.accumulated = if prob == 0 {
            0
        } else {
            self.accumulated.saturating_add(prob)
        };
        if self.accumulated < ONE / 100 * 85 {
            return false;
        }
        if self.accumulated >= ONE / 2 * 17 {
            return true;
        }
        let hit = stream.u64() >> 8 < prob;
        if hit {
            self.accumulated = 0;
        }
        hit
    }

    fn dropped(&mut self) {
        self.accumulated = 0;
    }

    fn may_mark(&self) -> bool {
        self.prob <= ONE / 10
    }

    fn probability(&self) -> f64 {
        self.prob as f64 / ONE as f64
    }

    fn delay_us(&self) -> f64 {
        ticks::to_us(self.delay)
    }

    fn departure_rate(&self) -> f64 {
        self.rate.bytes_per_second()
    }
}
