//! What two endpoints tell each other.

use crate::accecn::AccEcnOption;
use sojourn_units::Ecn;
use std::ops::{BitOr, BitOrAssign};

/// Bytes per unit of [`Segment::window`]: a window scale of 8 (RFC 7323), fixed.
pub const WINDOW_UNIT: u64 = 256;

/// Ethernet, IPv4 and TCP headers with the timestamp option: what every segment occupies beside its payload.
const HEADERS: u16 = 14 + 20 + 20 + 12;

/// Where the ECN field begins in [`Flags`].
const ECN_SHIFT: u32 = 4;
/// Where the FIN is in [`Flags`]: the highest bit.
const FIN_SHIFT: u32 = 15;

/// TCP flag bits that the model uses, and the ECN field of IP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u16);

impl Flags {
    /// None.
    pub const NONE: Self = Self(0);
    /// Opens a connection.
    pub const SYN: Self = Self(1);
    /// `ack` is valid.
    pub const ACK: Self = Self(2);
    /// Echo of congestion experienced (RFC 3168).
    pub const ECE: Self = Self(4);
    /// The congestion window was reduced (RFC 3168).
    pub const CWR: Self = Self(8);
    /// IP: ECN-capable transport, ECT(0). A packet that is marked has this bit, too.
    pub const ECT0: Self = Self((Ecn::Ect0.bits() as u16) << ECN_SHIFT);
    /// IP: ECN-capable transport, ECT(1).
    pub const ECT1: Self = Self((Ecn::Ect1.bits() as u16) << ECN_SHIFT);
    /// IP: congestion experienced.
    pub const CE: Self = Self((Ecn::Ce.bits() as u16) << ECN_SHIFT);

    /// The sender's application has paused: Linux sets it on the last segment of a write.
    pub const PSH: Self = Self(64);
    /// The sender has nothing more to send. The highest bit, so that a segment's span is its length and one shift.
    pub const FIN: Self = Self(1 << FIN_SHIFT);
    /// There is no such connection, or no longer (RFC 9293 section 3.5.2).
    pub const RST: Self = Self(128);
    /// Accurate ECN (RFC 9768): the highest bit of ACE, whose others are [`Flags::CWR`] and [`Flags::ECE`].
    pub const AE: Self = Self(256);

    /// The ECN field of the IP header.
    #[must_use]
    #[inline]
    pub const fn ecn(self) -> Ecn {
        Ecn::from_bits((self.0 >> ECN_SHIFT) as u8)
    }

    /// AE, CWR and ECE as a number, 0 to 7 (RFC 9768 section 3.2.2).
    #[must_use]
    #[inline]
    pub const fn ace(self) -> u8 {
        // ECE and CWR are the bits 2 and 3, AE is bit 8.
        ((self.0 >> 2) & 3 | (self.0 >> 6) & 4) as u8
    }

    /// The flags that are this number.
    #[must_use]
    #[inline]
    pub const fn of_ace(ace: u8) -> Self {
        Self((ace as u16 & 3) << 2 | (ace as u16 & 4) << 6)
    }

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any bit of `other` is set.
    #[must_use]
    #[inline]
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}
impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, o: Self) -> Self {
        Self(self.0 | o.0)
    }
}
impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, o: Self) {
        self.0 |= o.0;
    }
}

/// A SACK block (RFC 2018), as offsets from the segment's `ack`; a D-SACK (RFC 2883) may lie below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First byte.
    pub start: i32,
    /// One past the last byte.
    pub end: i32,
}

/// A TCP segment: header facts and the number of payload bytes, in 72 bytes.
///
/// Sequence numbers are 64-bit and count from 0 (the SYN); payload begins at 1.
///
/// Deviation: real sequence numbers are 32-bit and wrap. Nothing in the protocol's behaviour depends on the wrap, and
/// 64 bits remove a class of bugs; an exporter writes the low 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Number of the first payload byte; without payload, of the FIN.
    pub seq: u64,
    /// Next byte expected from the other side; valid with [`Flags::ACK`].
    pub ack: u64,
    /// SACK blocks, the first `sack_count` valid; the most recent first (RFC 2018 section 4).
    pub sack: [SackBlock; 3],
    /// Timestamp value, ms (RFC 7323).
    pub ts_val: u32,
    /// Timestamp echo reply, ms.
    pub ts_ecr: u32,
    /// Receive window in [`WINDOW_UNIT`]s.
    pub window: u16,
    /// Payload bytes.
    pub len: u16,
    /// Flag bits.
    pub flags: Flags,
    /// Number of valid SACK blocks, 0 to 3.
    pub sack_count: u8,
    /// Bytes of the receive window beyond whole units. Our own receiver offers whole units; a peer with another window
    /// scale may not.
    pub window_rest: u8,
    /// The AccECN option (RFC 9768).
    pub accecn: AccEcnOption,
}

impl Segment {
    /// Bytes on the wire, Ethernet header included, as `tc` counts them: 1514 for a full segment, 66 for a bare ACK.
    #[inline]
    #[must_use]
    pub fn wire_size(&self) -> u16 {
        if self.sack_count == 0 && !self.flags.has(Flags::SYN) && self.accecn.is_empty() {
            return HEADERS + self.len;
        }
        self.wire_size_with_options()
    }

    #[inline(never)]
    fn wire_size_with_options(&self) -> u16 {
        // SYN: MSS, SACK-permitted, timestamps, window scale fill 20 bytes of options instead of 12.
        let syn = if self.flags.has(Flags::SYN) { 8 } else { 0 };
        let accecn = self.accecn.occupied(self.sack_count > 0);
        // Two NOPs, kind and length, then 8 bytes a block.
        let sack = if self.sack_count > 0 {
            4 + 8 * u16::from(self.sack_count)
        } else {
            0
        };
        HEADERS + self.len + syn + sack + accecn
    }

    /// Where the duplicate begins that it reports (RFC 2883 section 4): its first SACK block lies below the
    /// acknowledgement, or inside the second.
    pub(crate) fn duplicate(&self) -> Option<u64> {
        let mut blocks = self.sack_ranges();
        let (start, end) = blocks.next()?;
        let inside = blocks.next().is_some_and(|(s, e)| s <= start && end <= e);
        (end <= self.ack || inside).then_some(start)
    }

    /// The receive window, bytes.
    #[inline]
    #[must_use]
    pub fn window_bytes(&self) -> u64 {
        u64::from(self.window) * WINDOW_UNIT + u64::from(self.window_rest)
    }

    /// Sequence numbers that its payload and its FIN occupy (RFC 9293 section 3.4: SEG.LEN); the SYN has number 0.
    #[inline]
    #[must_use]
    pub fn span(&self) -> u64 {
        u64::from(self.len) + u64::from(self.flags.0 >> FIN_SHIFT)
    }

    /// The SACK blocks as absolute sequence numbers.
    pub(crate) fn sack_ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.sack.iter().take(usize::from(self.sack_count)).map(|b| {
            (
                self.ack.wrapping_add_signed(i64::from(b.start)),
                self.ack.wrapping_add_signed(i64::from(b.end)),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fin_takes_one_sequence_number_and_no_byte() {
        let fin = Segment {
            flags: Flags::FIN | Flags::ACK,
            ..Segment::default()
        };
        assert_eq!((fin.span(), fin.wire_size()), (1, 66));
        let last = Segment { len: 1448, ..fin };
        assert_eq!((last.span(), last.wire_size()), (1449, 1514));
        let data = Segment {
            flags: Flags::ACK | Flags::CE,
            ..last
        };
        assert_eq!(data.span(), 1448);
    }

    #[test]
    fn the_ace_field_is_ae_cwr_ece() {
        assert_eq!((Flags::AE | Flags::ECE).ace(), 0b101);
        assert_eq!(Flags::of_ace(0b110), Flags::AE | Flags::CWR);
        for ace in 0..8 {
            assert_eq!((Flags::of_ace(ace) | Flags::SYN | Flags::CE).ace(), ace);
        }
    }

    /// 66 bytes, 12 of the whole option; behind it a SACK block takes 12, because the padding is shared.
    #[test]
    fn the_accecn_option_takes_room() {
        let accecn = AccEcnOption::new(crate::accecn::FieldOrder::Ect1First, &[1, 0, 1]);
        let mut segment = Segment {
            accecn,
            ..Segment::default()
        };
        assert_eq!(segment.wire_size(), 78);
        segment.sack_count = 1;
        assert_eq!(segment.wire_size(), 90);
    }

    #[test]
    fn a_segment_is_small_and_full_frames_are_1514_bytes() {
        assert_eq!(size_of::<Segment>(), 72);
        assert_eq!(
            Segment {
                len: 1448,
                ..Segment::default()
            }
            .wire_size(),
            1514
        );
        assert_eq!(
            Segment {
                sack_count: 3,
                ..Segment::default()
            }
            .wire_size(),
            66 + 28
        );
        assert_eq!(
            Segment {
                flags: Flags::SYN,
                ..Segment::default()
            }
            .wire_size(),
            74
        );
    }
}
