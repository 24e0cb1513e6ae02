//! How long a packet takes at a rate, and what a burst holds, with the kernel's arithmetic.

use sojourn_units::{Bytes, Rate};

/// The link layer that `linklayer` names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Layer {
    /// A packet takes its own size.
    #[default]
    Ethernet,
    /// A packet takes whole cells of 53 bytes, of which 48 are payload.
    Atm,
}

impl Layer {
    /// What a packet of this size takes.
    #[inline]
    pub(crate) const fn on_the_wire(self, size: u64) -> u64 {
        match self {
            Self::Ethernet => size,
            Self::Atm => size.div_ceil(48) * 53,
        }
    }
}

/// Nanoseconds of one tick, in which `tc` tells a kernel of times. Source: Linux `PSCHED_SHIFT`.
pub(crate) const TICK_NS: i64 = 64;
/// Ticks of a microsecond.
const TICKS_PER_US: f64 = 15.625;

/// A rate as the kernel keeps it: bytes a second as a factor and a shift, and what is added to a packet.
///
/// Source: Linux `psched_ratecfg_precompute__` and `psched_l2t_ns` (`sch_generic.c`, `sch_generic.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SendTime {
    factor: u32,
    shift: u32,
    overhead: u32,
    least: u32,
    layer: Layer,
}

impl SendTime {
    /// The rate, with bytes that are added to each packet and the least size that a packet counts with.
    pub(crate) fn new(rate: Rate, overhead: u32, least: u32, layer: Layer) -> Self {
        let rate = bytes_per_second(rate);
        let (mut numerator, mut shift) = (1_000_000_000_u64, 0);
        let factor = loop {
            // It has 31 bits or fewer before the last doubling.
            let factor = (numerator / rate) as u32;
            if factor >> 31 == 1 || numerator >> 63 == 1 {
                break factor;
            }
            numerator <<= 1;
            shift += 1;
        };
        Self {
            factor,
            shift,
            overhead,
            least,
            layer,
        }
    }

    /// Nanoseconds that a packet of `size` takes, rounded down.
    #[inline]
    pub(crate) fn of(&self, size: Bytes) -> i64 {
        let size = u32::try_from(size.get()).unwrap_or(u32::MAX);
        let size = size.saturating_add(self.overhead).max(self.least);
        let size = self.layer.on_the_wire(u64::from(size));
        // Less than 2^33 times less than 2^32; what is larger takes longer than any clamp below.
        let product = u128::from(size) * u128::from(self.factor);
        i64::try_from(product >> self.shift).unwrap_or(i64::MAX)
    }
}

/// The rate in the kernel's unit.
pub(crate) const fn bytes_per_second(rate: Rate) -> u64 {
    rate.as_bps() / 8
}

/// Ticks that `size` takes at `rate`, rounded up; `None` if they do not fit into 32 bits with one left over.
///
/// Source: iproute2 `tc_calc_xmittime`, operation by operation: a whole number can be rounded up to the next.
pub(crate) fn ticks(rate: Rate, size: Bytes) -> Option<u32> {
    let ticks = (1e6 * (size.get() as f64 / bytes_per_second(rate) as f64) * TICKS_PER_US).ceil();
    (ticks < f64::from(u32::MAX)).then_some(ticks as u32)
}

/// Whether `tc` can say what this size takes at this rate.
pub(crate) fn fits_in_ticks(rate: Rate, size: Bytes) -> bool {
    ticks(rate, size).is_some()
}

/// The burst that `tc` gives a class without one: what the rate sends in one tick of the machine's clock, a nanosecond,
/// and a packet of `mtu`. Source: iproute2 `htb_parse_class_opt`, and `get_hz` where timers have high resolution.
pub(crate) fn default_burst(rate: Rate, mtu: u32) -> Bytes {
    Bytes::new(bytes_per_second(rate) / 1_000_000_000 + u64::from(mtu))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: at 1 Mbit/s a byte takes 8 us. 1e9 * 2^18 / 125000 = 2097152000 has 31 bits, so the shift is 19.
    #[test]
    fn a_rate_is_a_factor_and_a_shift() {
        let time = SendTime::new(Rate::from_mbit(1), 0, 0, Layer::Ethernet);
        assert_eq!((time.factor, time.shift), (4_194_304_000, 19));
        assert_eq!(time.of(Bytes::new(1514)), 12_112_000);
    }

    /// By hand: 3 bytes a second. 1e9 * 2^3 / 3 = 2666666666.67, cut off; one byte takes 333333333 ns.
    #[test]
    fn a_rate_that_does_not_divide_is_cut_off() {
        let time = SendTime::new(Rate::from_bps(24), 0, 0, Layer::Ethernet);
        assert_eq!((time.factor, time.shift), (2_666_666_666, 3));
        assert_eq!(
            (time.of(Bytes::new(1)), time.of(Bytes::new(3))),
            (333_333_333, 999_999_999)
        );
    }

    /// At 8 Mbit/s a byte takes 1 us. 60 bytes with 44 of overhead are 104, three cells of 53.
    #[test]
    fn overhead_comes_before_the_least_size_and_both_before_cells() {
        let rate = Rate::from_mbit(8);
        let of = |overhead, least, layer| SendTime::new(rate, overhead, least, layer).of(Bytes::new(60));
        assert_eq!(of(0, 0, Layer::Ethernet), 60_000);
        assert_eq!(of(44, 0, Layer::Ethernet), 104_000);
        assert_eq!(of(44, 200, Layer::Ethernet), 200_000);
        assert_eq!(of(44, 0, Layer::Atm), 159_000);
        assert_eq!(of(44, 145, Layer::Atm), 212_000);
    }

    /// 1600 bytes at 1 Mbit/s take 12.8 ms, 200000 ticks of 64 ns; at 3 Mbit/s 66666.67.
    #[test]
    fn bursts_are_ticks_of_64_ns_rounded_up() {
        assert_eq!(ticks(Rate::from_mbit(1), Bytes::new(1600)), Some(200_000));
        assert_eq!(ticks(Rate::from_mbit(3), Bytes::new(1600)), Some(66_667));
        // 598 exactly, but `tc` says 599.
        assert_eq!(ticks(Rate::from_mbit(2000), Bytes::new(9568)), Some(599));
        assert_eq!(ticks(Rate::from_bps(8), Bytes::new(300)), None);
        assert_eq!(default_burst(Rate::from_mbit(1000), 1600), Bytes::new(1600));
        assert_eq!(default_burst(Rate::from_mbit(40_000), 1600), Bytes::new(1605));
    }
}
