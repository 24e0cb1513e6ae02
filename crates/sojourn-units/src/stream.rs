//! Random numbers, one stream per component.

use crate::Duration;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers that belongs to one component of one run.
///
/// Two components never share a stream, so adding one does not disturb the draws of another. The generator is
/// xoshiro256++, seeded by splitmix64 from the run's seed and the component's name.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream with this very seed; for a component that was handed its seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The seed that the component `name` of a run with seed `run_seed` has: FNV-1a over the name, mixed with the
    /// seed.
    #[must_use]
    pub fn derive_seed(run_seed: u64, name: &str) -> u64 {
        let mut h: u64 = 0xcbf2_9ce4_8422_2325;
        for b in run_seed.to_le_bytes().iter().chain(name.as_bytes()) {
            h = (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        // FNV's low bits are weak for short names; one splitmix64 round spreads them.
        h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        h ^ (h >> 31)
    }

    /// The stream of component `name` in the run with seed `run_seed`.
    #[must_use]
    pub fn named(run_seed: u64, name: &str) -> Self {
        Self::new(Self::derive_seed(run_seed, name))
    }

    /// Uniform over all 64-bit values.
    pub fn u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform over all 32-bit values.
    pub fn u32(&mut self) -> u32 {
        (self.0.next_u64() >> 32) as u32
    }

    /// Uniform in `[0, 1)` with 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// An exponential time of this mean: the inverse of the distribution, rounded to the nanosecond, at most 37 times
    /// the mean.
    ///
    /// 1 - unit() is never zero. The logarithm is Rust's own, because the C library's may differ between machines by
    /// the last bit.
    pub fn exponential(&mut self, mean: Duration) -> Duration {
        Duration::from_secs_f64(mean.as_secs_f64() * -libm::log(1.0 - self.unit()))
    }

    /// Uniform in `0..n`; 0 for `n` = 0. The bias is below n / 2^64.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_seeds_give_different_streams() {
        let mut all: Vec<u64> = Vec::new();
        for seed in 0..50 {
            for name in ["up", "down", "tcp_up_1", "tcp_up_2", ""] {
                all.push(Stream::named(seed, name).u64());
            }
        }
        let n = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), n);
    }

    #[test]
    fn unit_is_uniform_within_four_sigma() {
        let mut s = Stream::named(1, "test");
        let n = 100_000;
        let mean = (0..n).map(|_| s.unit()).sum::<f64>() / f64::from(n);
        assert!((mean - 0.5).abs() < 4.0 / (12.0 * f64::from(n)).sqrt(), "{mean}");
        assert!((0..n).all(|_| s.below(7) < 7));
    }
}
