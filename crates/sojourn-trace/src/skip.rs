//! Why a frame is no segment, and how often.

use serde::Serialize;
use serde::ser::SerializeMap as _;
use sojourn_units::words;

words! {
    /// Why a frame gives no segment.
    pub enum Skip {
        /// The capture's link type is one that this reader does not know.
        LinkType = "link_type",
        /// The frame carries neither IPv4 nor IPv6 (ARP, say, or IEEE 802.3 with a length).
        NotIp = "not_ip",
        /// The packet carries no TCP, or what it carries is encrypted.
        NotTcp = "not_tcp",
        /// A fragment without the TCP header: only the first one has it.
        LaterFragment = "later_fragment",
        /// The capture kept too few bytes of the frame (its snap length).
        Cut = "cut",
        /// The frame itself is shorter than the headers that it announces.
        Short = "short",
        /// More than four VLAN tags.
        VlanTags = "vlan_tags",
        /// The version in the IP header contradicts the frame's type, or is neither 4 nor 6.
        IpVersion = "ip_version",
        /// The IPv4 header is said to be shorter than 20 bytes, or longer than its packet.
        IpHeaderLength = "ip_header_length",
        /// More than eight IPv6 extension headers, or headers longer than their packet.
        ExtensionHeaders = "extension_headers",
        /// The TCP header is said to be shorter than 20 bytes, or longer than its packet.
        TcpHeaderLength = "tcp_header_length",
        /// The capture does not say when the frame was captured (pcapng's simple packet blocks).
        NoTime = "no_time",
        /// The time stamp is not between 1970 and 2554, or its unit is none that 64 bits hold.
        TimeRange = "time_range",
        /// The frame is of an interface that the capture does not describe.
        NoInterface = "no_interface",
        /// A custom block of pcapng, whose contents its vendor alone knows.
        CustomBlock = "custom_block",
    }
}

impl Skip {
    /// Whether the frame breaks its own protocol, other than by being of no interest or cut by the capture.
    #[must_use]
    pub const fn is_malformed(self) -> bool {
        matches!(
            self,
            Self::Short
                | Self::VlanTags
                | Self::IpVersion
                | Self::IpHeaderLength
                | Self::ExtensionHeaders
                | Self::TcpHeaderLength
        )
    }
}

/// How many frames gave no segment, by reason. Serialized as a map of the reasons that occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped([u64; Skip::ALL.len()]);

impl Skipped {
    /// Counts one.
    pub fn count(&mut self, reason: Skip) {
        self.0[reason as usize] += 1;
    }
    /// Adds those that were counted elsewhere.
    pub fn add(&mut self, other: Self) {
        for (own, others) in self.0.iter_mut().zip(other.0) {
            *own += others;
        }
    }
    /// How many for this reason.
    #[must_use]
    pub const fn of(&self, reason: Skip) -> u64 {
        self.0[reason as usize]
    }
    /// How many for any reason.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
    /// How many were malformed.
    #[must_use]
    pub fn malformed(&self) -> u64 {
        Skip::ALL.iter().filter(|s| s.is_malformed()).map(|&s| self.of(s)).sum()
    }
}

impl Serialize for Skipped {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for reason in Skip::ALL.into_iter().filter(|&r| self.of(r) > 0) {
            map.serialize_entry(reason.name(), &self.of(reason))?;
        }
        map.end()
    }
}
