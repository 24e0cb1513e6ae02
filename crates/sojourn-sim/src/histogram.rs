//! A distribution of durations in constant space.

use sojourn_units::Duration;

/// Buckets a factor of two: quantiles are exact to 1/32.
const SUB: u32 = 5;

/// Counts of durations in buckets of a relative width of 1/32, with exact mean and maximum.
///
/// Recording costs a leading-zero count and an increment; it replaces a list of every packet's delay.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    count: u64,
    sum_ns: u128,
    max: Duration,
}

impl Histogram {
    #[inline]
    fn bucket(ns: u64) -> usize {
        if ns < 1 << SUB {
            return ns as usize;
        }
        let shift = ns.ilog2() - SUB;
        (((shift + 1) << SUB) + ((ns >> shift) as u32 - (1 << SUB))) as usize
    }

    /// The middle of a bucket.
    fn value(bucket: usize) -> u64 {
        let b = bucket as u64;
        if b < 1 << SUB {
            return b;
        }
        let shift = (b >> SUB) - 1;
        let low = ((1 << SUB) + (b & ((1 << SUB) - 1))) << shift;
        low + (1 << shift) / 2
    }

    #[inline]
    pub(crate) fn record(&mut self, d: Duration) {
        let b = Self::bucket(d.as_nanos());
        match self.counts.get_mut(b) {
            Some(count) => *count += 1,
            None => self.record_first(b),
        }
        self.count += 1;
        self.sum_ns += u128::from(d.as_nanos());
        self.max = self.max.max(d);
    }

    /// A bucket above all before.
    #[cold]
    #[inline(never)]
    fn record_first(&mut self, bucket: usize) {
        self.counts.resize(bucket + 1, 0);
        self.counts[bucket] = 1;
    }

    /// Durations recorded.
    #[cfg(test)]
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The mean, as all that follows `None` without samples.
    pub(crate) fn mean_ms(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e6)
    }

    pub(crate) fn max_ms(&self) -> Option<f64> {
        (self.count > 0).then(|| self.max.as_millis_f64())
    }

    /// The duration that a share `q` of the samples does not exceed.
    pub(crate) fn quantile_ms(&self, q: f64) -> Option<f64> {
        let wanted = (q * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (b, &n) in self.counts.iter().enumerate() {
            seen += n;
            if n > 0 && seen >= wanted {
                return Some((Self::value(b) as f64 / 1e6).min(self.max.as_millis_f64()));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_falls_into_a_bucket_near_it() {
        for ns in (0..10_000).chain([123_456_789, 1 << 40, u64::MAX / 2]) {
            let v = Histogram::value(Histogram::bucket(ns));
            assert!(v.abs_diff(ns) <= ns / 32, "{ns} -> {v}");
        }
        for b in 1..1500 {
            assert!(Histogram::bucket(Histogram::value(b)) == b, "{b}");
        }
    }

    #[test]
    fn quantiles_of_a_uniform_distribution() {
        let mut h = Histogram::default();
        for ms in 1..=1000 {
            h.record(Duration::from_millis(ms));
        }
        assert!((h.mean_ms().unwrap() - 500.5).abs() < 1e-9);
        for q in [0.01, 0.5, 0.95, 1.0] {
            let exact = 1000.0 * q;
            assert!((h.quantile_ms(q).unwrap() - exact).abs() <= exact / 32.0, "{q}");
        }
        assert!((h.max_ms().unwrap() - 1000.0).abs() < 1e-9);
    }
}
