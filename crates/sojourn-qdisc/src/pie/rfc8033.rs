//! PIE by the letter of RFC 8033, in floating point as the RFC writes it, delay from time stamps (section 5.2).

use super::{Controller, MTU, PieParams, TWO_MTU};
use sojourn_units::{Stream, Time};

/// RFC 8033 section 4.4, seconds.
const MAX_BURST: f64 = 0.150;

/// The controller; times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RfcPie {
    pub(super) prob: f64,
    pub(super) accumulated: f64,
    /// Delay of the last departure; zero if nothing was left behind it.
    pub(super) delay: f64,
    /// Delay at the last update.
    pub(super) old_delay: f64,
    pub(super) burst: f64,
}

impl RfcPie {
    pub(super) const fn new() -> Self {
        Self {
            prob: 0.0,
            accumulated: 0.0,
            delay: 0.0,
            old_delay: 0.0,
            burst: MAX_BURST,
        }
    }
}

impl Controller for RfcPie {
    /// Source: RFC 8033 section 4.2, `calculate_drop_prob`, and sections 5.5 (cap) and 4.4 (burst).
    fn update(&mut self, params: &PieParams, _backlog: u64) {
        let (alpha, beta) = (f64::from(params.alpha) / 16.0, f64::from(params.beta) / 16.0);
        let target = params.target.as_secs_f64();
        let mut p = alpha * (self.delay - target) + beta * (self.delay - self.old_delay);
        p /= match self.prob {
            x if x < 0.000_001 => 2048.0,
            x if x < 0.000_01 => 512.0,
            x if x < 0.000_1 => 128.0,
            x if x < 0.001 => 32.0,
            x if x < 0.01 => 8.0,
            x if x < 0.1 => 2.0,
            _ => 1.0,
        };
        if self.prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        self.prob += p;
        let both_zero = self.delay <= 0.0 && self.old_delay <= 0.0;
        if both_zero {
            self.prob *= 0.98;
        }
        self.prob = self.prob.clamp(0.0, 1.0);
        let quiet = self.prob <= 0.0 && self.delay < target / 2.0 && self.old_delay < target / 2.0;
        self.burst = if quiet {
            MAX_BURST
        } else {
            (self.burst - params.tupdate.as_secs_f64()).max(0.0)
        };
        self.old_delay = self.delay;
    }

    #[inline]
    fn departed(&mut self, _params: &PieParams, since: Time, now: Time, _size: u64, backlog: u64) {
        self.delay = if backlog == 0 {
            0.0
        } else {
            now.since(since).as_secs_f64()
        };
    }

    /// Source: RFC 8033 section 5.4, `drop_early`.
    #[inline]
    fn signal(&mut self, params: &PieParams, size: u64, backlog: u64, stream: &mut Stream) -> bool {
        let safe = self.old_delay < params.target.as_secs_f64() / 2.0 && self.prob < 0.2;
        if self.burst > 0.0 || safe || backlog <= TWO_MTU {
            return false;
        }
        let prob = if params.bytemode {
            self.prob * (size as f64 / MTU.get() as f64).min(1.0)
        } else {
            self.prob
        };
        if prob <= 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += prob;
        if self.accumulated < 0.85 {
            return false;
        }
        self.accumulated >= 8.5 || stream.unit() < prob
    }

    fn dropped(&mut self) {
        self.accumulated = 0.0;
    }

    fn may_mark(&self) -> bool {
        self.prob <= 0.1
    }

    fn probability(&self) -> f64 {
        self.prob
    }

    fn delay_us(&self) -> f64 {
        self.delay * 1e6
    }

    fn departure_rate(&self) -> f64 {
        0.0
    }
}
