//! The proportional-integral controller of the base probability, in the kernel's integers.

use super::DualPi2Params;
use sojourn_units::Duration;

/// The probability 1. Source: `MAX_PROB`.
pub(super) const ONE: u32 = u32::MAX;
/// The kernel's gains are in units of 64 ns. Source: `ALPHA_BETA_GRANULARITY`.
const GRANULARITY: u64 = 1 << 6;
/// Those of its messages are in units of 256 ns, four times as large. Source: `ALPHA_BETA_SCALING`.
const SCALING: u32 = 2;

/// The controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Controller {
    alpha: i64,
    beta: i64,
    target: i64,
    most: u32,
    probability: u32,
    last: i64,
}

/// A gain in 1/256 Hz as the kernel keeps it, 32 bits. Source: `dualpi2_scale_alpha_beta`.
const fn scaled(gain: u32) -> i64 {
    let product = (gain as u64 * ONE as u64) >> SCALING;
    ((product / 1_000_000_000) & ONE as u64).cast_signed()
}

/// Source: `__scale_delta`; the result is taken into 32 bits as the kernel takes it.
const fn unscaled(delta: u64) -> u32 {
    (delta / GRANULARITY) as u32
}

impl Controller {
    pub(super) const fn new(params: &DualPi2Params) -> Self {
        Self {
            alpha: scaled(params.alpha),
            beta: scaled(params.beta),
            target: params.target.as_nanos().cast_signed(),
            // Without drops in overload the L queue marks everything at most, so that windows stay fair.
            most: if params.drop_on_overload {
                ONE
            } else {
                ONE / params.coupling_factor as u32
            },
            probability: 0,
            last: 0,
        }
    }

    pub(super) const fn probability(&self) -> u32 {
        self.probability
    }

    /// The queue's delay is now `delay`, the longer of the two queues'. Source: `calculate_probability`; RFC 9332
    /// section A.1, `dualpi2_update`.
    pub(super) fn update(&mut self, delay: Duration) {
        let delay = delay.as_nanos().cast_signed();
        let integral = (delay - self.target).wrapping_mul(self.alpha);
        let proportional = (delay - self.last).wrapping_mul(self.beta);
        let delta = integral.wrapping_add(proportional);
        self.last = delay;
        // As in the kernel, what does not fit into 32 bits is cut off before it is compared.
        let new = if delta > 0 {
            let new = unscaled(delta.unsigned_abs()).wrapping_add(self.probability);
            if new < self.probability { ONE } else { new }
        } else {
            let new = self.probability.wrapping_sub(unscaled(delta.unsigned_abs()));
            if new > self.probability { 0 } else { new }
        };
        self.probability = new.min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 41 * (2^32 - 1) / 4 / 10^9 = 44.02, and 819 gives 879.39.
    #[test]
    fn default_gains_are_the_kernels_integers() {
        assert_eq!((scaled(41), scaled(819), scaled(1)), (44, 879, 1));
    }

    /// By hand: 16 ms: (1 ms * 44 + 16 ms * 879) / 64 = 220437500. 32 ms: (17 ms * 44 + 16 ms * 879) / 64 = 231437500.
    /// 0: (-15 ms * 44 - 32 ms * 879) / 64 = -449812500. 0 again: -15 ms * 44 / 64 = -10312500.
    #[test]
    fn updates_follow_the_delay_and_its_change() {
        let mut controller = Controller::new(&DualPi2Params::LINUX);
        let mut after = |ms| {
            controller.update(Duration::from_millis(ms));
            controller.probability()
        };
        assert_eq!(after(16), 220_437_500);
        assert_eq!(after(32), 451_875_000);
        assert_eq!(after(0), 2_062_500);
        assert_eq!(after(0), 0);
    }

    /// (15 ms above the target) 985 ms * 44 / 64 = 677187500 an update, after a first one of 1 s * 879 / 64 more, which
    /// is 13734375000 and beyond 32 bits: the kernel keeps 13734375000 + 677187500 - 3 * 2^32 = 1526660612.
    #[test]
    fn a_jump_beyond_32_bits_is_cut_off_and_the_sum_saturates() {
        let mut controller = Controller::new(&DualPi2Params::LINUX);
        let mut after = || {
            controller.update(Duration::from_secs(1));
            controller.probability()
        };
        assert_eq!(after(), 1_526_660_612);
        assert_eq!(after(), 2_203_848_112);
        let last = (0..10).map(|_| after()).last();
        assert_eq!(last, Some(ONE));
    }

    #[test]
    fn without_drops_in_overload_the_low_latency_queue_marks_everything_at_most() {
        let params = DualPi2Params {
            drop_on_overload: false,
            coupling_factor: 4,
            ..DualPi2Params::LINUX
        };
        let mut controller = Controller::new(&params);
        for _ in 0..20 {
            controller.update(Duration::from_secs(1));
        }
        assert_eq!(controller.probability(), ONE / 4);
    }
}
