//! Which packets a rule is for, by the byte of traffic class of their IP headers.

use crate::Packet;
use std::fmt;

/// Bits of the byte of traffic class (code point and ECN field) and what they must be.
///
/// Source: Linux `ce_threshold_selector` and `ce_threshold_mask`; tc-fq_codel(8): with `0x01/0x01` only packets of ECT(1)
/// and CE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector {
    /// What they must be.
    pub value: u8,
    /// Which are looked at; with none, every packet is selected.
    pub mask: u8,
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:02x}/0x{:02x}", self.value, self.mask)
    }
}

impl Selector {
    /// Whether a packet is selected.
    pub(crate) fn selects<P: Packet>(self, packet: &P) -> bool {
        (packet.dscp() << 2 | packet.ecn().bits()) & self.mask == self.value || self.mask == 0
    }

    /// Whether it looks at the code point, and not at the ECN field alone.
    pub(crate) const fn reads_dscp(self) -> bool {
        self.mask >> 2 != 0
    }
}
