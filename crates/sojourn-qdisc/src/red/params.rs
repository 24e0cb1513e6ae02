//! RED's parameters, and what `tc` computes from them before the kernel sees them.
//!
//! Source: iproute2 `q_red.c` and `tc_red.c`; Linux `red.h`, `red_check_params`.

use crate::ParamError;
use crate::param::in_range;
use sojourn_units::{Bytes, Rate, words};

words! {
    /// Which `red adaptive` is meant.
    #[derive(Default)]
    pub enum RedVariant {
        /// Linux 6.1 as iproute2 6.1 configures it: the word `adaptive` is accepted and shown, but nothing adapts.
        ///
        /// Since `tc` sends RED's flags in an attribute of their own (TCA_RED_FLAGS, 2020), the kernel, which starts the
        /// adaptation timer by the flags of the old structure, never starts it. Measured: `tc -d` shows probability 0.02
        /// after 20 s below the target, where adaptation would have brought it to 0.0096.
        #[default]
        Linux = "linux",
        /// Linux 3.14: `adaptive` adapts.
        Linux314 = "linux-3.14",
    }
}

/// Parameters of [`Red`](crate::Red), all resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the four independent flags of tc-red(8)")]
pub struct RedParams {
    /// Bytes that its FIFO holds.
    pub limit: Bytes,
    /// Average backlog below which nothing is dropped, bytes.
    pub min: u32,
    /// Average backlog from which everything is dropped, bytes. There is no gentle mode.
    pub max: u32,
    /// Average packet size, bytes; it scales the burst and the idle decay.
    pub avpkt: u32,
    /// Packets that may arrive at once without moving the average over `min`; it sets the average's weight.
    pub burst: u32,
    /// Rate that the idle decay assumes.
    pub bandwidth: Rate,
    /// Drop probability at `max`; with `adaptive` where it starts.
    pub probability: f64,
    /// Mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// With `ecn`: drop, not mark, above `max`.
    pub harddrop: bool,
    /// With `ecn`: queue, not drop, packets that are not ECN-capable.
    pub nodrop: bool,
    /// Adapt the probability every 500 ms so that the average stays amid `min` and `max`; see [`RedVariant`].
    pub adaptive: bool,
    /// Which behaviour.
    pub variant: RedVariant,
}

impl RedParams {
    /// `tc`'s default probability.
    pub const PROBABILITY: f64 = 0.02;
    /// `tc`'s default bandwidth.
    pub const BANDWIDTH: Rate = Rate::from_mbit(10);

    /// The burst that `tc` takes if none is given: (2 min + max) / (3 avpkt).
    #[must_use]
    pub const fn default_burst(min: u32, max: u32, avpkt: u32) -> u32 {
        ((2 * min as u64 + max as u64) / (3 * avpkt as u64)) as u32
    }

    /// Whether the probability really adapts.
    #[must_use]
    pub fn adapts(&self) -> bool {
        self.adaptive && self.variant == RedVariant::Linux314
    }

    /// Checks the parameters.
    ///
    /// Deviation: the kernel also refuses thresholds that exceed 31 bits when divided by the weight of the average,
    /// as at 1 Gbit/s with the default burst; here the average has 64 bits.
    ///
    /// # Errors
    /// [`ParamError`] for a value that `tc` or the kernel would refuse.
    pub fn validate(&self) -> Result<(), ParamError> {
        const KIND: &str = "red";
        in_range(KIND, "limit", self.limit.get(), 1, u64::from(u32::MAX))?;
        in_range(KIND, "avpkt", u64::from(self.avpkt), 1, 1 << 20)?;
        in_range(KIND, "min", u64::from(self.min), 1, u64::from(u32::MAX))?;
        if self.max <= self.min {
            return Err(ParamError::new(
                KIND,
                "max",
                self.max.to_string(),
                format!("> min = {}", self.min),
            ));
        }
        let smallest = f64::from(self.max - self.min) / f64::from(1u32 << 31);
        if !(self.probability > smallest && self.probability <= f64::from(u32::MAX)) {
            let rule = format!("> (max - min) / 2^31 = {smallest:.3e}");
            return Err(ParamError::new(KIND, "probability", self.probability.to_string(), rule));
        }
        if f64::from(self.burst) < f64::from(self.min) / f64::from(self.avpkt) {
            let rule = format!(">= min / avpkt, such as {}", 1 + self.min / self.avpkt);
            return Err(ParamError::new(KIND, "burst", self.burst.to_string(), rule));
        }
        if self.ewma_log().is_none() {
            let rule = "small enough for the average to have a weight of at least 2^-31";
            return Err(ParamError::new(KIND, "burst", self.burst.to_string(), rule));
        }
        Ok(())
    }

    /// The base-2 logarithm of 1/W, W being the weight of the newest sample: the smallest w >= 1 with
    /// burst + 1 - min/avpkt <= (1 - (1-W)^burst) / W. Source: `tc_red_eval_ewma`.
    #[must_use]
    pub fn ewma_log(&self) -> Option<u8> {
        let a = f64::from(self.burst) + 1.0 - f64::from(self.min) / f64::from(self.avpkt);
        (1..32).find(|&wlog| {
            let w = 1.0 / f64::from(1u32 << wlog);
            a <= (1.0 - power(1.0 - w, self.burst)) / w
        })
    }

    /// How often probability / (max - min) can be doubled without exceeding one: what the kernel knew the probability
    /// by before it had `max_p`. Source: `tc_red_eval_P`.
    pub(crate) fn probability_log(&self) -> u8 {
        let mut p = self.probability / f64::from(self.max - self.min);
        let mut log = 0;
        // It ends: the smallest probability that is valid is 2^-31 (max - min).
        while p <= 1.0 && log < 31 {
            p *= 2.0;
            log += 1;
        }
        log
    }

    /// The probability that a kernel has: `tc` tells it in 32 bits behind the point, and of none of them it takes
    /// (max - min) / 2^n. So 1 becomes more than a half and less than 1. Source: `red_parse_opt`; Linux `red_set_parms`.
    pub(crate) fn in_32_bits(&self) -> f64 {
        if self.probability < 1.0 {
            return self.probability;
        }
        let bits = (self.probability * 4_294_967_296.0) as u64 as u32;
        let known = match bits {
            0 => (u32::MAX >> self.probability_log()).wrapping_mul(self.max - self.min),
            bits => bits,
        };
        f64::from(known) / 4_294_967_296.0
    }

    /// The table of the idle decay. Source: `tc_red_eval_idle_damping`, `tc_calc_xmittime`.
    ///
    /// `tc` computes the transmission time in ticks of 64 ns and the kernel looks up microseconds, so the average
    /// decays 15.6 times slower than the formula says. That is what runs, so that is what is done here.
    pub(crate) fn idle_table(&self, wlog: u8) -> IdleTable {
        let bytes_per_second = self.bandwidth.as_bps() as f64 / 8.0;
        let xmit_ticks = (1e6 * (f64::from(self.avpkt) / bytes_per_second) * 15.625)
            .ceil()
            .max(1.0);
        let per_tick = minus_ln_one_minus(1.0 / f64::from(1u32 << wlog)) / xmit_ticks;
        let longest = 31.0 / per_tick;
        let cell_log = (0..31).find(|&c| longest / f64::from(1u32 << c) < 512.0).unwrap_or(31);
        let mut shifts = [0u8; 256];
        for (i, shift) in shifts.iter_mut().enumerate().skip(1) {
            *shift = (((i as u64) << cell_log) as f64 * per_tick).min(31.0) as u8;
        }
        shifts[255] = 31;
        IdleTable { cell_log, shifts }
    }
}

/// By how much the average shrinks in an idle time: a right shift per cell of 2^`cell_log` us.
#[derive(Clone, Debug)]
pub(crate) struct IdleTable {
    pub(crate) cell_log: u8,
    pub(crate) shifts: [u8; 256],
}

/// base^exponent by squaring: the same on every machine.
fn power(mut base: f64, mut exponent: u32) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

/// -ln(1-x) for 0 < x <= 1/2 as a power series: the same on every machine.
fn minus_ln_one_minus(x: f64) -> f64 {
    let (mut term, mut sum) = (x, 0.0);
    for k in 1..=60 {
        sum += term / f64::from(k);
        term *= x;
    }
    sum
}
