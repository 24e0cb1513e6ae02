//! Versions of L4STeam's `tcp_prague.c`, which its module says (`MODULE_VERSION`).

use sojourn_units::words;

words! {
    /// Whose Prague it is. Mainline Linux has none.
    #[derive(Default)]
    pub enum PragueVersion {
        /// The older 0.6: it counts by what the window is to change yet (`cwnd_cnt`).
        #[default]
        V06 = "0.6",
        /// The later 0.6: it counts what the window is to be, with a fraction (`frac_cwnd`).
        V06Fraction = "0.6-fraction",
        /// 0.7: the same; the first mark halves the window, trains may have one segment, flows below 25 ms count as one
        /// with 25 ms after 4 rounds, and a window of 4 segments or fewer is steered by its rate.
        V07 = "0.7",
    }
}

impl PragueVersion {
    /// Rounds after slow start until the control depends less on the RTT (`prague_rtt_transition`).
    pub(super) const fn transition(self) -> u32 {
        match self {
            Self::V06 | Self::V06Fraction => 500,
            Self::V07 => 4,
        }
    }

    /// Segments of a train at least (`prague_tso_segs`): `net.ipv4.tcp_min_tso_segs`, or one.
    pub(super) const fn shortest_train(self) -> u32 {
        match self {
            Self::V06 | Self::V06Fraction => 2,
            Self::V07 => 1,
        }
    }
}
