//! The departure rate, measured while enough is queued. Source: RFC 8033 section 4.3 as Linux does it.

use super::ticks;
use sojourn_units::Time;

/// Rates are bytes per tick times 2^8. Linux `PIE_SCALE`.
const SCALE: u32 = 8;

/// The estimator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RateEstimator {
    /// A cycle starts, and ends, with so many bytes.
    threshold: u64,
    /// Bytes that left in the running cycle, and the tick at which it began.
    cycle: Option<(u64, u64)>,
    /// The average, bytes per tick times 2^8; 0 before the first.
    rate: u32,
}

impl RateEstimator {
    pub(super) const fn new(threshold: u64) -> Self {
        Self {
            threshold,
            cycle: None,
            rate: 0,
        }
    }

    /// `size` bytes leave, `backlog` bytes are left. Answers the length in ticks of a cycle that ends with this.
    pub(super) fn departed(&mut self, now: Time, size: u64, backlog: u64) -> Option<u64> {
        let tick = ticks::at(now);
        if backlog >= self.threshold && self.cycle.is_none() {
            self.cycle = Some((0, tick));
        }
        let (bytes, began) = self.cycle.as_mut()?;
        *bytes += size;
        if *bytes < self.threshold {
            return None;
        }
        let length = tick - *began;
        if length == 0 {
            return None;
        }
        let sample = ((*bytes << SCALE) / length) as u32;
        self.rate = if self.rate == 0 {
            sample
        } else {
            self.rate - (self.rate >> 3) + (sample >> 3)
        };
        // The next cycle starts at once if there is enough left to measure.
        self.cycle = (backlog >= self.threshold).then_some((0, tick));
        Some(length)
    }

    /// The delay of `backlog` bytes, ticks; `None` before the first measurement.
    pub(super) fn delay(&self, backlog: u64) -> Option<u64> {
        (self.rate > 0).then(|| (backlog << SCALE) / u64::from(self.rate))
    }

    pub(super) const fn is_known(&self) -> bool {
        self.rate > 0
    }

    pub(super) fn bytes_per_second(&self) -> f64 {
        f64::from(self.rate) * ticks::PER_SECOND as f64 / f64::from(1u32 << SCALE)
    }
}
