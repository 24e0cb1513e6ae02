//! How Prague's share depends on the round-trip time: growth is slower on short paths, and reductions are rarer.
//!
//! Source: L4STeam's `tcp_prague.c`, `rtt_scaling_heuristics`; RFC 9331 section 4.3 asks for less dependence on the RTT.

use super::ONE;
use sojourn_units::{Duration, words};

words! {
    /// How Prague's share depends on the RTT. Source: L4STeam's module parameter `prague_rtt_scaling`.
    #[derive(Default)]
    pub enum RttControl {
        /// The growth of Reno at any RTT (0).
        None = "none",
        /// Flows with less than 25 ms have the rate of one with 25 ms (1).
        #[default]
        Rate = "rate",
        /// A growth of at least an eighth of a segment a round trip, so that marks stay frequent on short paths (2).
        Scalable = "scalable",
        /// The rate of a flow whose RTT is longer by 25 ms (3).
        Additive = "additive",
    }
}

/// RTTs are reckoned in 128 µs (`RTT_UNIT`).
const UNIT_SHIFT: u32 = 7;
/// The round-trip time aimed at, µs (`prague_rtt_target`).
const TARGET_US: u64 = 25_000;
/// Beyond it nothing is scaled, µs (`MAX_SCALED_RTT`, which Linux compares with units of 128 µs; so it is 12.8 s).
const LARGEST: u64 = 100_000;
/// The scale of [`RttControl::Scalable`]: 16.4 ms and 1.5 ms, in units.
const R0: u64 = (1 << 14) >> UNIT_SHIFT;
const R1: u64 = ((1 << 10) + (1 << 9)) >> UNIT_SHIFT;

impl RttControl {
    /// The virtual round-trip time, units of 128 µs, with a smoothed one of so many.
    const fn target(self, units: u64) -> u64 {
        let target = TARGET_US >> UNIT_SHIFT;
        match self {
            Self::Additive => target + units,
            _ => target,
        }
    }

    /// The least time between two updates of the share of marks, and between two reductions.
    pub(super) fn least_round(self, srtt: Duration) -> Duration {
        if self == Self::None {
            return Duration::ZERO;
        }
        Duration::from_micros(self.target(units(srtt)) << UNIT_SHIFT)
    }

    /// What a window of acknowledged segments makes it larger by, 2^20ths of a segment.
    pub(super) fn growth(self, srtt: Duration) -> u64 {
        let rtt = units(srtt);
        if rtt == 0 || rtt > LARGEST {
            return ONE;
        }
        match self {
            Self::None => ONE,
            Self::Rate | Self::Additive => {
                let target = self.target(rtt);
                if rtt >= target {
                    return ONE;
                }
                let square = target * target;
                (ONE * rtt * rtt + square / 2) / square
            }
            Self::Scalable => {
                let above = rtt.saturating_sub(R1).min(R0);
                let square = R0 * R0;
                ((ONE / 8 * R0 + ONE * above) * rtt + square / 2) / square
            }
        }
    }
}

/// An RTT in units of 128 µs.
fn units(rtt: Duration) -> u64 {
    (rtt.as_nanos() / 1000) >> UNIT_SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// 10 ms are 78 units and 25 ms are 195: (78 / 195)^2 = 0.16.
    #[test]
    fn a_shorter_path_grows_by_the_square_of_its_part_of_25_ms() {
        assert_eq!(RttControl::Rate.growth(ms(10)), (ONE * 16 + 50) / 100);
        assert_eq!(RttControl::Rate.growth(ms(25)), ONE);
        assert_eq!(RttControl::Rate.growth(ms(80)), ONE);
        assert_eq!(RttControl::None.growth(ms(1)), ONE);
        assert_eq!(RttControl::Rate.least_round(ms(10)), Duration::from_micros(195 * 128));
        assert_eq!(RttControl::None.least_round(ms(10)), Duration::ZERO);
        assert_eq!(
            RttControl::Additive.least_round(ms(10)),
            Duration::from_micros((195 + 78) * 128)
        );
    }

    /// The rate W / RTT grows by growth / RTT^2: equal at all short RTTs with "rate".
    #[test]
    fn rates_grow_equally_on_short_paths() {
        let speed = |rtt: u64| RttControl::Rate.growth(ms(rtt)) as f64 / (rtt * rtt) as f64;
        for rtt in [5, 10, 20] {
            let ratio = speed(rtt) / speed(25);
            assert!((ratio - 1.0).abs() < 0.04, "{rtt} ms: {ratio}; units of 128 µs round");
        }
        let scalable = RttControl::Scalable.growth(Duration::from_micros(100 * 128));
        assert!(scalable >= ONE / 8, "{scalable}");
    }
}
