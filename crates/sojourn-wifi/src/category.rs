//! Traffic identifiers, access categories, and who is who in a cell.

use crate::Variant;
use sojourn_units::words;

/// A node of a cell: 0 is the access point, station i (from 0) is i + 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u16);

impl NodeId {
    /// The access point.
    pub const ACCESS_POINT: Self = Self(0);

    /// Station `index`, counted from 0.
    #[must_use]
    pub const fn of_station(index: u16) -> Self {
        Self(index + 1)
    }

    /// The station's number, counted from 0; `None` for the access point.
    #[must_use]
    pub const fn station(self) -> Option<u16> {
        self.0.checked_sub(1)
    }
}

/// A traffic identifier, 0 to 7: the user priority of IEEE 802.1D. Source: IEEE 802.11-2020 section 9.2.4.5.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tid(u8);

impl Tid {
    /// Best effort.
    pub const BEST_EFFORT: Self = Self(0);

    /// `None` above 7.
    #[must_use]
    pub const fn new(value: u8) -> Option<Self> {
        if value < 8 { Some(Self(value)) } else { None }
    }

    /// The TID that Linux gives a packet with this DSCP: its three most significant bits; with [`Variant::Linux612`]
    /// other values for the service classes that RFC 8325 has exceptions for, among them voice for EF and VA.
    ///
    /// Source: `cfg80211_classify8021d`; RFC 8325 sections 2.3 and 4, which that of Linux 6.12 follows. Above 63 only
    /// the six lower bits count.
    #[must_use]
    pub const fn of_dscp(dscp: u8, variant: Variant) -> Self {
        let dscp = dscp & 63;
        if let Variant::Linux612 = variant {
            match dscp {
                10 | 12 | 14 | 16 => return Self(0),
                18 | 20 | 22 => return Self(3),
                24 | 26 | 28 | 30 => return Self(4),
                44 | 46 => return Self(6),
                48 => return Self(7),
                _ => {}
            }
        }
        Self(dscp >> 3)
    }

    /// 0 to 7.
    #[must_use]
    pub const fn value(self) -> u8 {
        self.0
    }

    /// Source: IEEE 802.11-2020 table 10-1: 1 and 2 background, 0 and 3 best effort, 4 and 5 video, 6 and 7 voice.
    #[must_use]
    pub const fn access_category(self) -> AccessCategory {
        match self.0 {
            1 | 2 => AccessCategory::Background,
            0 | 3 => AccessCategory::BestEffort,
            4 | 5 => AccessCategory::Video,
            _ => AccessCategory::Voice,
        }
    }
}

words! {
    /// An EDCA access category, the most urgent first.
    pub enum AccessCategory {
        /// `AC_VO`.
        Voice = "vo",
        /// `AC_VI`.
        Video = "vi",
        /// `AC_BE`.
        BestEffort = "be",
        /// `AC_BK`.
        Background = "bk",
    }
}

impl AccessCategory {
    /// Position in [`AccessCategory::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Position of a station in tables over all categories of all stations.
    #[inline]
    pub(crate) fn of(self, station: u16) -> usize {
        usize::from(station) * 4 + self.index()
    }

    /// The two traffic identifiers of an access category, the higher first. Source: IEEE 802.11-2020 table 10-1.
    #[inline]
    pub(crate) const fn tids(self) -> [Tid; 2] {
        match self {
            Self::Voice => [Tid(7), Tid(6)],
            Self::Video => [Tid(5), Tid(4)],
            Self::BestEffort => [Tid(3), Tid(0)],
            Self::Background => [Tid(2), Tid(1)],
        }
    }
}

/// One traffic identifier of one peer, the `tid` of the listings. A peer goes by its place in the sender's list of
/// peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerTid {
    /// The peer's place.
    pub peer: u16,
    /// The traffic identifier.
    pub tid: Tid,
}

impl PeerTid {
    /// Position in tables over all traffic identifiers of all peers.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.peer) * 8 + usize::from(self.tid.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dscps_map_as_in_linux() {
        let category = |dscp| Tid::of_dscp(dscp, Variant::Paper).access_category();
        assert_eq!(category(0), AccessCategory::BestEffort);
        assert_eq!(category(8), AccessCategory::Background, "CS1");
        assert_eq!(category(40), AccessCategory::Video, "CS5");
        assert_eq!(category(46), AccessCategory::Video, "EF");
        assert_eq!(category(48), AccessCategory::Voice, "CS6");
    }

    /// RFC 8325 figure 1, row by row: service class, DSCP, access category.
    #[test]
    fn service_classes_have_the_categories_of_rfc_8325() {
        use AccessCategory::{Background, BestEffort, Video, Voice};
        for (class, dscp, expected) in [
            ("network control CS7", 56, Voice),
            ("network control CS6", 48, Voice),
            ("telephony EF", 46, Voice),
            ("voice admit", 44, Voice),
            ("signalling CS5", 40, Video),
            ("multimedia conferencing AF41", 34, Video),
            ("AF42", 36, Video),
            ("AF43", 38, Video),
            ("real-time interactive CS4", 32, Video),
            ("multimedia streaming AF31", 26, Video),
            ("AF32", 28, Video),
            ("AF33", 30, Video),
            ("broadcast video CS3", 24, Video),
            ("low-latency data AF21", 18, BestEffort),
            ("AF22", 20, BestEffort),
            ("AF23", 22, BestEffort),
            ("OAM CS2", 16, BestEffort),
            ("high-throughput data AF11", 10, BestEffort),
            ("AF12", 12, BestEffort),
            ("AF13", 14, BestEffort),
            ("standard DF", 0, BestEffort),
            ("low-priority data CS1", 8, Background),
        ] {
            let found = Tid::of_dscp(dscp, Variant::Linux612).access_category();
            assert_eq!(found, expected, "{class}");
        }
    }

    #[test]
    fn stations_are_counted_from_one() {
        assert_eq!(NodeId::ACCESS_POINT.station(), None);
        assert_eq!(NodeId::of_station(4).station(), Some(4));
    }
}
