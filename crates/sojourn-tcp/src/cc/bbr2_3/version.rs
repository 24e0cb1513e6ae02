//! In what versions 2 and 3 differ.

use crate::cc::bbr::model::GAIN_UNIT;

/// The version of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Version 2: google/bbr branch v2alpha, of Linux 5.13.
    Two,
    /// Version 2 of L4STeam's Linux, which has some of what version 3 has.
    TwoL4s,
    /// Version 3.
    Three,
}

/// The numbers in which versions differ. Gains are in 256ths.
///
/// Sources: google/bbr branch v2alpha `net/ipv4/tcp_bbr2.c`; L4STeam/linux `net/ipv4/tcp_bbr2.c`; google/bbr branch v3
/// `net/ipv4/tcp_bbr.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    /// Of the rate in start-up: 2/ln 2 or, the least with which the rate doubles each round trip, 4 ln 2.
    pub(super) startup_gain: u64,
    /// Of the window in start-up, and while its queue is drained.
    pub(super) startup_window_gain: u64,
    /// Of the window while the flow probes upwards.
    pub(super) up_window_gain: u64,
    /// Of the rate by which the flow drains what a probe has queued. The draft of version 3 has 0.90.
    pub(super) down_gain: u64,
    /// Start-up ends if so many acknowledgements of a round trip in recovery told of losses, and too much was lost.
    pub(super) full_losses: u32,
    /// Once marks cease, the first step of the long-term bound is this share of it; none if no probe follows them.
    pub(super) ecn_reprobe: Option<u64>,
}

/// Windows of bandwidth times delay that the congestion window has, of all versions.
pub(super) const WINDOW_GAIN: u64 = 2 * GAIN_UNIT;

const TWO: Numbers = Numbers {
    startup_gain: GAIN_UNIT * 2885 / 1000 + 1,
    startup_window_gain: GAIN_UNIT * 2885 / 1000 + 1,
    up_window_gain: WINDOW_GAIN,
    down_gain: GAIN_UNIT * 3 / 4,
    full_losses: 8,
    ecn_reprobe: None,
};

const TWO_L4S: Numbers = Numbers {
    up_window_gain: WINDOW_GAIN + GAIN_UNIT / 4,
    down_gain: GAIN_UNIT * 91 / 100,
    ..TWO
};

const THREE: Numbers = Numbers {
    startup_gain: GAIN_UNIT * 277 / 100 + 1,
    startup_window_gain: WINDOW_GAIN,
    up_window_gain: WINDOW_GAIN + GAIN_UNIT / 4,
    down_gain: GAIN_UNIT * 91 / 100,
    full_losses: 6,
    ecn_reprobe: Some(GAIN_UNIT / 2),
};

impl Version {
    pub(super) const fn numbers(self) -> &'static Numbers {
        match self {
            Self::Two => &TWO,
            Self::TwoL4s => &TWO_L4S,
            Self::Three => &THREE,
        }
    }

    /// Whether it has the rules of version 3, which are documented where they are asked for.
    pub(super) const fn is_third(self) -> bool {
        matches!(self, Self::Three)
    }

    /// Whether start-up looks at each sample for growth, and not at the largest rate once a round trip.
    pub(super) const fn sees_each_sample(self) -> bool {
        !matches!(self, Self::Two)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sources' own arithmetic: 256 x 2885 / 1000 + 1 = 739, 256 x 3 / 4 = 192, 256 x 91 / 100 = 232, 256 x 277 /
    /// 100 + 1 = 710; 2.25 are 576.
    #[test]
    fn the_numbers_are_the_kernels_integers() {
        let of = |version: Version| {
            let n = version.numbers();
            (
                n.startup_gain,
                n.startup_window_gain,
                n.up_window_gain,
                n.down_gain,
                n.full_losses,
            )
        };
        assert_eq!(of(Version::Two), (739, 739, 512, 192, 8));
        assert_eq!(of(Version::TwoL4s), (739, 739, 576, 232, 8));
        assert_eq!(of(Version::Three), (710, 512, 576, 232, 6));
        let reprobe = [Version::Two, Version::TwoL4s, Version::Three].map(|version| version.numbers().ecn_reprobe);
        assert_eq!(reprobe, [None, None, Some(128)]);
    }
}
