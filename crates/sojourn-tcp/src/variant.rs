//! Kernels by version: whose TCP the two ends have.

use crate::rules::Rules;
use sojourn_units::words;
use thiserror::Error;

/// A parameter with a value that the algorithm cannot work with.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} is {value}, but must be {rule}")]
pub struct ParamError {
    /// Which.
    pub field: &'static str,
    /// The value as given.
    pub value: String,
    /// What it must be.
    pub rule: &'static str,
}

words! {
    /// Whose loss recovery and acknowledgement policy the two ends have.
    #[derive(Default)]
    pub enum Variant {
        /// RACK-TLP, SACK compression: `linux-6.1`.
        #[default]
        Linux61 = "linux-6.1",
        /// The same with the memory of Linux 6.12, which takes more for each segment, so that small queues hold fewer, and
        /// whose receive window is what of its buffer segments fill with payload: `linux-6.12`.
        Linux612 = "linux-6.12",
        /// The memory of Linux 6.12, a receive window that grows as in Linux 7.3, and its acknowledgements: above a gap
        /// they are merged for up to a third of the round trip, not a twentieth: `linux-7.3`.
        Linux73 = "linux-7.3",
        /// As 6.1, but with the trains of Linux 5.15, whose ends no receiver hurries for, and with the AccECN receiver of
        /// L4STeam's Linux 5.15, which acknowledges most segments at once: `linux-5.15`.
        Linux515 = "linux-5.15",
        /// Forward acknowledgement, early retransmit, the first tail loss probe; every segment above a gap is acknowledged:
        /// `linux-3.14`, the kernel of seed 000.
        Linux314 = "linux-3.14",
    }
}

/// What a kernel reserves for the headers of each segment that it sends, by its version and by what it was built
/// with.
///
/// It counts against the send buffer and against TCP small queues. Measured with `INET_DIAG_SKMEMINFO` (`ss -tm`):
/// memory of a socket over segments in its device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Heads {
    /// Linux 6.1 without wireless and tunnels: 512 bytes.
    #[default]
    Lean61,
    /// Linux 6.1 with them: 1024 bytes.
    Large61,
    /// Linux 6.12 without wireless and tunnels: 576 bytes.
    Lean612,
    /// Linux 6.12 with wireless: 640 bytes.
    Wireless612,
}

impl Heads {
    /// What a full segment of 1448 bytes occupies, bytes: its head, an `sk_buff` of 256, and the payload in a page.
    #[must_use]
    pub const fn segment(self) -> u32 {
        let head = match self {
            Self::Lean61 => 512,
            Self::Large61 => 1024,
            Self::Lean612 => 576,
            Self::Wireless612 => 640,
        };
        head + 256 + 1448
    }

    /// Whether the receive window goes by what segments really occupy, as since Linux 6.6. Before, half of the buffer is
    /// window.
    pub(crate) const fn are_measured(self) -> bool {
        matches!(self, Self::Lean612 | Self::Wireless612)
    }

    /// What a received segment with so much payload occupies, bytes.
    ///
    /// On a wire between hosts it is what the sender made, and what a router on the way adds ([`Rules::routed`]). A
    /// radio's frame is copied, behind its headers (86 bytes) and a gap of 64, with
    /// 64-byte lines, the 320 bytes that end the data, and an `sk_buff` (`__netdev_alloc_skb`). Measured on 6.12: of a
    /// buffer of 6 MiB 4,177,920 bytes are offered in a cell, 170 of 256 parts. Deviation: in a cell of Linux 6.1 as on a
    /// wire.
    pub(crate) const fn received(self, payload: u64, rules: &Rules) -> u64 {
        match self {
            Self::Wireless612 => (payload + 86 + 64).next_multiple_of(64) + 320 + 256,
            _ => self.segment() as u64 - 1448 + rules.routed + payload,
        }
    }

    /// What counts of a received segment with so much payload when it enlarges the receive window: without its head,
    /// if that has no payload. Source: Linux `truesize_adjust`.
    pub(crate) const fn enlarging(self, payload: u64, rules: &Rules) -> u64 {
        match self {
            Self::Wireless612 => self.received(payload, rules),
            _ => payload,
        }
    }

    /// What is reckoned for a segment when the send buffer is enlarged, bytes: a power of two and an `sk_buff`.
    ///
    /// Source: `tcp_sndbuf_expand`.
    #[must_use]
    pub const fn reckoned(self) -> u32 {
        match self {
            Self::Lean61 | Self::Lean612 | Self::Wireless612 => 2048 + 256,
            Self::Large61 => 4096 + 256,
        }
    }
}
