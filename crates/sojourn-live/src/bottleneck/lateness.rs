//! How late packets leave: the time from when a packet was due to when it was handed to the device.

use hdrhistogram::Histogram;
use serde::Serialize;
use sojourn_units::Duration;

/// The longest lateness that is told apart from longer ones.
const LONGEST_NS: u64 = 60_000_000_000;

/// Counts departures by their lateness, with three digits.
#[derive(Clone, Debug)]
pub struct Lateness(Histogram<u64>);

/// What is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Punctuality {
    /// Departures.
    pub packets: u64,
    /// Half of them were at most so late, microseconds.
    pub p50_us: f64,
    /// 99 % of them.
    pub p99_us: f64,
    /// 99.9 % of them.
    pub p999_us: f64,
    /// The latest.
    pub max_us: f64,
}

impl Default for Lateness {
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("the bounds are a constant, and right"))
    }
}

impl Lateness {
    /// One departure.
    pub fn add(&mut self, late: Duration) {
        self.0.saturating_record(late.as_nanos());
    }

    /// What is told of it.
    #[must_use]
    pub fn punctuality(&self) -> Punctuality {
        let us = |ns: u64| ns as f64 / 1e3;
        Punctuality {
            packets: self.0.len(),
            p50_us: us(self.0.value_at_quantile(0.5)),
            p99_us: us(self.0.value_at_quantile(0.99)),
            p999_us: us(self.0.value_at_quantile(0.999)),
            max_us: us(self.0.max()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_departures() {
        let mut lateness = Lateness::default();
        for us in 1..=1000 {
            lateness.add(Duration::from_micros(us));
        }
        let told = lateness.punctuality();
        assert_eq!(told.packets, 1000);
        for (found, wanted) in [(told.p50_us, 500.0), (told.p99_us, 990.0), (told.max_us, 1000.0)] {
            assert!((found - wanted).abs() <= wanted * 1e-3, "{found} is not {wanted}");
        }
    }

    #[test]
    fn nothing_left_is_no_lateness() {
        let told = Lateness::default().punctuality();
        assert_eq!((told.packets, told.max_us.to_bits()), (0, 0));
    }
}
