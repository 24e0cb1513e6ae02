//! How long frames are: from an Ethernet frame to an MPDU, and from MPDUs to an A-MPDU.

use crate::{Format, PhyRate};
use sojourn_units::Bytes;

/// The longest A-MPDU in HT: 2^16 - 1 bytes. Source: IEEE 802.11-2020 section 9.4.2.55.3.
///
/// Deviation: VHT allows up to 1 MiB; Linux drivers of the time that the papers measure stay below 64 KiB.
pub const AMPDU_MAX: Bytes = Bytes::new(65_535);

/// The most MPDUs in an A-MPDU, and the window of a Block Ack agreement. Source: IEEE 802.11-2020 section 10.25.6.
pub const BLOCK_ACK_WINDOW: u16 = 64;

/// Header of an Ethernet frame, which 802.11 does not carry.
const ETHERNET: u64 = 14;
/// LLC and SNAP, which carry the Ethernet type. Source: IEEE 802.11-2020 section 9.2.4.7; RFC 1042.
const LLC_SNAP: u64 = 8;
/// QoS Data header with three addresses. Source: IEEE 802.11-2020 section 9.3.2.1.
const MAC_HEADER: u64 = 26;
const FCS: u64 = 4;
const DELIMITER: u64 = 4;

/// The MPDU that carries an Ethernet frame of `wire` bytes: without the Ethernet header, with LLC/SNAP 8, MAC header
/// 26 and FCS 4. So an IP packet of 1500 bytes, 1514 on the wire, is an MPDU of 1538.
///
/// A frame below 14 bytes counts as 14. No encryption.
#[must_use]
#[inline]
pub const fn mpdu(wire: Bytes) -> Bytes {
    Bytes::new(wire.get().saturating_sub(ETHERNET) + LLC_SNAP + MAC_HEADER + FCS)
}

impl PhyRate {
    /// The PSDU of a single `mpdu`: the MPDU itself, in VHT with a delimiter, since each VHT PSDU is an A-MPDU.
    /// Source: IEEE 802.11-2020 section 10.12.8.
    #[must_use]
    pub const fn single(self, mpdu: Bytes) -> Bytes {
        match self.format() {
            Format::Vht => Bytes::new(DELIMITER + mpdu.get()),
            Format::Ofdm | Format::Ht => mpdu,
        }
    }
}

/// The length of an A-MPDU that is being built: each MPDU has a delimiter of 4 bytes before it, and all but the last
/// are padded to 4 bytes. Source: IEEE 802.11-2020 section 9.7.1.
///
/// ```
/// use sojourn_units::Bytes;
/// use sojourn_wifi::AmpduLength;
/// let mut length = AmpduLength::default();
/// length.push(Bytes::new(1538));
/// assert_eq!(length.bytes(), Bytes::new(1542));
/// assert_eq!(length.with(Bytes::new(1538)), Bytes::new(1544 + 1542));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AmpduLength {
    bytes: u64,
    mpdus: u16,
}

impl AmpduLength {
    /// The length with one more MPDU, which stays as it is.
    #[must_use]
    #[inline]
    pub const fn with(self, mpdu: Bytes) -> Bytes {
        Bytes::new(self.bytes.next_multiple_of(4) + DELIMITER + mpdu.get())
    }

    /// Adds an MPDU.
    #[inline]
    pub const fn push(&mut self, mpdu: Bytes) {
        self.bytes = self.with(mpdu).get();
        self.mpdus += 1;
    }

    /// The length so far.
    #[must_use]
    pub const fn bytes(self) -> Bytes {
        Bytes::new(self.bytes)
    }

    /// The MPDUs so far.
    #[must_use]
    pub const fn mpdus(self) -> u16 {
        self.mpdus
    }
}

#[cfg(test)]
mod tests;
