//! From a frame to its IP packet.
//!
//! Source: tcpdump.org's list of link-layer header types (LINKTYPE_...), and the pages it leads to for LINUX_SLL and
//! LINUX_SLL2; IEEE 802.1Q-2018 clause 9 (tags).

use crate::Skip;
use sojourn_flusher::Station;

const VLAN_TAGS: usize = 4;

/// How a capture's frames begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// LINKTYPE_ETHERNET (1).
    Ethernet,
    /// LINKTYPE_LINUX_SLL (113): Linux "cooked", from the device `any` and from devices without a link header.
    LinuxSll,
    /// LINKTYPE_LINUX_SLL2 (276): its second version.
    LinuxSll2,
    /// LINKTYPE_RAW (101), and DLT_RAW as some systems number it (12, 14): an IPv4 or IPv6 packet.
    Raw,
    /// LINKTYPE_IPV4 (228).
    Ipv4,
    /// LINKTYPE_IPV6 (229).
    Ipv6,
    /// LINKTYPE_NULL (0) and LINKTYPE_LOOP (108): four bytes of address family, in either byte order.
    Null,
    /// Another, by number: its frames are skipped.
    Other(u32),
}

/// The version of IP that a link layer announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Announced {
    V4,
    V6,
    Either,
}

impl LinkType {
    /// From the number in a capture file, or the one libpcap gives for a device (`pcap_datalink`).
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        match number {
            1 => Self::Ethernet,
            113 => Self::LinuxSll,
            276 => Self::LinuxSll2,
            101 | 12 | 14 => Self::Raw,
            228 => Self::Ipv4,
            229 => Self::Ipv6,
            0 | 108 => Self::Null,
            other => Self::Other(other),
        }
    }

    /// The number in a capture file.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::Ethernet => 1,
            Self::LinuxSll => 113,
            Self::LinuxSll2 => 276,
            Self::Raw => 101,
            Self::Ipv4 => 228,
            Self::Ipv6 => 229,
            Self::Null => 0,
            Self::Other(number) => number,
        }
    }

    /// Who sent the frame, where the link layer says that.
    pub(crate) fn station(self, frame: &[u8]) -> Option<Station> {
        match self {
            Self::Ethernet => address(frame, 6, 6),
            // Both have eight bytes for it, and its length before.
            Self::LinuxSll => address(frame, 6, usize::from(*frame.get(5)?)),
            Self::LinuxSll2 => address(frame, 12, usize::from(*frame.get(11)?)),
            _ => None,
        }
    }

    /// Where the IP packet begins in `frame`, and what it is said to be. `Err(None)` says that the frame ends before
    /// that.
    pub(crate) fn strip(self, frame: &[u8]) -> Result<(Announced, usize), Option<Skip>> {
        match self {
            Self::Ethernet => by_type(frame, 12, 14),
            Self::LinuxSll => by_type(frame, 14, 16),
            Self::LinuxSll2 => by_type(frame, 0, 20),
            Self::Raw => Ok((Announced::Either, 0)),
            Self::Ipv4 => Ok((Announced::V4, 0)),
            Self::Ipv6 => Ok((Announced::V6, 0)),
            Self::Null => {
                let family = frame.first_chunk::<4>().ok_or(None)?;
                // The family is written in the byte order of the machine that captured; all known values are below 256.
                let family = u32::from_be_bytes(*family).min(u32::from_le_bytes(*family));
                match family {
                    2 => Ok((Announced::V4, 4)),
                    // BSD, FreeBSD, macOS and Linux number AF_INET6 differently.
                    10 | 24 | 28 | 30 => Ok((Announced::V6, 4)),
                    _ => Err(Some(Skip::NotIp)),
                }
            }
            Self::Other(_) => Err(Some(Skip::LinkType)),
        }
    }
}

/// The `length` bytes of an address at `at`; `None` if it is all zeros, as a loopback device's, or not there.
fn address(frame: &[u8], at: usize, length: usize) -> Option<Station> {
    let mut station = Station::default();
    station.get_mut(..length)?.copy_from_slice(frame.get(at..at + length)?);
    (station != Station::default()).then_some(station)
}

/// Follows the EtherType at `at` through VLAN tags; the first header ends at `end`.
fn by_type(frame: &[u8], at: usize, end: usize) -> Result<(Announced, usize), Option<Skip>> {
    let half = |at: usize| {
        frame
            .get(at..at + 2)
            .map(|b| u16::from_be_bytes([b[0], b[1]]))
            .ok_or(None)
    };
    let (mut kind, mut end) = (half(at)?, end);
    let mut tags = 0;
    loop {
        match kind {
            0x0800 => return Ok((Announced::V4, end)),
            0x86DD => return Ok((Announced::V6, end)),
            // 802.1Q, 802.1ad, and the number that stacked tags had before it.
            0x8100 | 0x88A8 | 0x9100 => {
                tags += 1;
                if tags > VLAN_TAGS {
                    return Err(Some(Skip::VlanTags));
                }
                kind = half(end + 2)?;
                end += 4;
            }
            _ => return Err(Some(Skip::NotIp)),
        }
    }
}
