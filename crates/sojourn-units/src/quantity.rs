//! The four quantities, as integer newtypes.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// A length of time in whole nanoseconds; spans up to 584 years.
///
/// Deviation: not `std::time::Duration`, whose seconds-and-nanoseconds pair costs a division at each conversion in
/// the hot loop and offers no saturating difference of two [`Time`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest representable duration.
    pub const MAX: Self = Self(u64::MAX);

    /// From whole nanoseconds.
    #[must_use]
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }
    /// From whole microseconds.
    #[must_use]
    pub const fn from_micros(us: u64) -> Self {
        Self(us * 1_000)
    }
    /// From whole milliseconds.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }
    /// From whole seconds.
    #[must_use]
    pub const fn from_secs(s: u64) -> Self {
        Self(s * 1_000_000_000)
    }
    /// From seconds, rounded to the nearest nanosecond; negative and NaN become zero. For statistics and formulas
    /// quoted from a paper, not for user input.
    #[must_use]
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * 1e9).round() as u64)
    }
    /// Whole nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Whole microseconds, rounded down.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }
    /// Whole milliseconds, rounded down.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }
    /// Seconds as a float, for statistics.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// Milliseconds as a float, for statistics.
    #[must_use]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// Whether this is no time at all.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    /// The difference, or zero where `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// The product, or [`Duration::MAX`] where it does not fit.
    #[must_use]
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

/// A point in time: nanoseconds since the run began. There is no `now()`; whoever calls an algorithm tells it the
/// time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The beginning of the run.
    pub const ZERO: Self = Self(0);
    /// Later than every event.
    pub const MAX: Self = Self(u64::MAX);

    /// From nanoseconds since the run began.
    #[must_use]
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }
    /// From milliseconds since the run began.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }
    /// From seconds since the run began.
    #[must_use]
    pub const fn from_secs(s: u64) -> Self {
        Self(s * 1_000_000_000)
    }
    /// Nanoseconds since the run began.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Seconds since the run began, as a float, for statistics.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// How long after `earlier` this is; zero if it is not after it.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    fn add(self, d: Duration) -> Self {
        Self(self.0.saturating_add(d.0))
    }
}
impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}
impl Sub<Duration> for Time {
    type Output = Self;
    fn sub(self, d: Duration) -> Self {
        Self(self.0.saturating_sub(d.0))
    }
}
impl Add for Duration {
    type Output = Self;
    fn add(self, d: Self) -> Self {
        Self(self.0.saturating_add(d.0))
    }
}
impl AddAssign for Duration {
    fn add_assign(&mut self, d: Self) {
        *self = *self + d;
    }
}
impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, n: u64) -> Self {
        Self(self.0 * n)
    }
}
impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, n: u64) -> Self {
        Self(self.0 / n)
    }
}
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// None.
    pub const ZERO: Self = Self(0);

    /// From a count of bytes.
    #[must_use]
    pub const fn new(n: u64) -> Self {
        Self(n)
    }
    /// The count of bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
    /// The difference, or zero where `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self(self.0 + o.0)
    }
}
impl AddAssign for Bytes {
    fn add_assign(&mut self, o: Self) {
        self.0 += o.0;
    }
}
impl Sub for Bytes {
    type Output = Self;
    /// # Panics
    /// In debug builds if `o` is larger: a byte count that goes negative is a bug in the caller's accounting.
    fn sub(self, o: Self) -> Self {
        Self(self.0 - o.0)
    }
}
impl SubAssign for Bytes {
    fn sub_assign(&mut self, o: Self) {
        self.0 -= o.0;
    }
}
impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}b", self.0)
    }
}

/// A link or traffic rate in bit/s; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// From bit/s.
    ///
    /// # Panics
    /// If `bps` is zero: a link that never sends is not a rate. Text from a user goes through [`crate::parse_rate`],
    /// which answers with an error instead.
    #[must_use]
    pub const fn from_bps(bps: u64) -> Self {
        assert!(bps > 0, "a rate of zero never sends");
        Self(bps)
    }
    /// From Mbit/s (10^6 bit/s).
    #[must_use]
    pub const fn from_mbit(mbit: u64) -> Self {
        Self::from_bps(mbit * 1_000_000)
    }
    /// Bit/s.
    #[must_use]
    pub const fn as_bps(self) -> u64 {
        self.0
    }
    /// How long `size` takes at this rate, rounded up to a nanosecond.
    ///
    /// ```
    /// use sojourn_units::{Bytes, Duration, Rate};
    /// assert_eq!(Rate::from_mbit(1).time_to_send(Bytes::new(1500)), Duration::from_millis(12));
    /// ```
    #[must_use]
    pub const fn time_to_send(self, size: Bytes) -> Duration {
        const NS_BITS: u64 = 8_000_000_000;
        // 64-bit division where it fits (up to 2.3 GB): one instruction instead of a library call, once per packet.
        if size.0 < u64::MAX / NS_BITS {
            Duration((size.0 * NS_BITS).div_ceil(self.0))
        } else {
            let ns = (size.0 as u128 * NS_BITS as u128).div_ceil(self.0 as u128);
            Duration(if ns > u64::MAX as u128 { u64::MAX } else { ns as u64 })
        }
    }
    /// How many whole bytes this rate sends in `d`.
    #[must_use]
    pub const fn bytes_in(self, d: Duration) -> Bytes {
        Bytes((self.0 as u128 * d.0 as u128 / 8_000_000_000) as u64)
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_to_send_rounds_up() {
        assert_eq!(Rate::from_bps(3).time_to_send(Bytes::new(1)).as_nanos(), 2_666_666_667);
        assert_eq!(Rate::from_mbit(10).time_to_send(Bytes::new(1514)).as_nanos(), 1_211_200);
    }

    #[test]
    fn time_to_send_of_sizes_beyond_64_bit_products_agrees() {
        let bits_ns = u64::MAX / 8_000_000_000;
        for size in [bits_ns - 2, bits_ns, bits_ns + 2] {
            let exact = (u128::from(size) * 8_000_000_000).div_ceil(1_000);
            assert_eq!(
                u128::from(Rate::from_bps(1_000).time_to_send(Bytes::new(size)).as_nanos()),
                exact
            );
        }
    }

    #[test]
    fn differences_of_times_saturate() {
        assert_eq!(Time::from_nanos(3).since(Time::from_nanos(5)), Duration::ZERO);
        assert_eq!(Time::MAX + Duration::from_secs(1), Time::MAX);
    }
}
