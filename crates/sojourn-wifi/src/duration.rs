//! How long frames take: PPDUs, acknowledgments, interframe spaces.

use crate::{Format, Guard, PhyRate};
use sojourn_units::{Bytes, Duration, words};

/// The longest PPDU: aPPDUMaxTime of HT mixed format and VHT. Source: IEEE 802.11-2020 tables 19-25 and 21-28.
pub const PPDU_MAX: Duration = Duration::from_micros(5_484);

/// An Ack frame with FCS. Source: IEEE 802.11-2020 section 9.3.1.4.
pub const ACK: Bytes = Bytes::new(14);

/// A BlockAck frame of the compressed variant, 8 bytes of bitmap, with FCS. Source: IEEE 802.11-2020 section 9.3.1.8.
pub const BLOCK_ACK: Bytes = Bytes::new(32);

words! {
    /// A frequency band: what it says about interframe spaces.
    #[derive(Default)]
    pub enum Band {
        /// 5 GHz: SIFS 16 us.
        #[default]
        Ghz5 = "5ghz",
        /// 2.4 GHz without 802.11b stations: SIFS 10 us, short slots, and a signal extension of 6 us after each PPDU.
        Ghz2 = "2.4ghz",
    }
}

impl Band {
    /// aSlotTime: 9 us. Source: IEEE 802.11-2020 tables 17-21 and 18-5 (short slot time).
    #[must_use]
    pub const fn slot(self) -> Duration {
        Duration::from_micros(9)
    }

    /// aSIFSTime: 16 us, at 2.4 GHz 10 us. Source: IEEE 802.11-2020 tables 17-21 and 18-5.
    #[must_use]
    pub const fn sifs(self) -> Duration {
        match self {
            Self::Ghz5 => Duration::from_micros(16),
            Self::Ghz2 => Duration::from_micros(10),
        }
    }

    /// AIFS = SIFS + AIFSN slots; DIFS is that of AIFSN 2. Source: IEEE 802.11-2020 section 10.3.2.3.6.
    #[must_use]
    pub const fn aifs(self, aifsn: u8) -> Duration {
        Duration::from_nanos(self.sifs().as_nanos() + self.slot().as_nanos() * aifsn as u64)
    }

    /// EIFS - DIFS = SIFS + an Ack at the lowest mandatory rate: how much later than after a good frame the medium
    /// counts as idle after one that nobody could read. Source: IEEE 802.11-2020 section 10.3.2.3.7.
    ///
    /// Deviation: at 2.4 GHz the lowest mandatory rate is taken as 6 Mbit/s, not 1 Mbit/s, since there are no 802.11b
    /// stations.
    #[must_use]
    pub const fn eifs_less_difs(self) -> Duration {
        Duration::from_nanos(self.sifs().as_nanos() + legacy(ACK, 24, self).as_nanos())
    }

    const fn signal_extension(self) -> u64 {
        match self {
            Self::Ghz5 => 0,
            Self::Ghz2 => 6_000,
        }
    }
}

/// What answers a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Response {
    /// An Ack, for a single MPDU.
    Ack,
    /// A compressed BlockAck, for an aggregate.
    BlockAck,
}

/// A PPDU in OFDM format (clause 17) with this many data bits per symbol.
const fn legacy(psdu: Bytes, bits_per_symbol: u64, band: Band) -> Duration {
    let symbols = (16 + 8 * psdu.get() + 6).div_ceil(bits_per_symbol);
    Duration::from_nanos(20_000 + 4_000 * symbols + band.signal_extension())
}

impl PhyRate {
    /// The time from the start of the PPDU to its first data symbol.
    ///
    /// OFDM: L-STF 8, L-LTF 8, SIGNAL 4 us. HT mixed: L-STF 8, L-LTF 8, L-SIG 4, HT-SIG 8, HT-STF 4, and 4 us for
    /// each of 1, 2, 4 or 4 HT-LTFs. VHT: L-STF 8, L-LTF 8, L-SIG 4, VHT-SIG-A 8, VHT-STF 4, VHT-LTFs, VHT-SIG-B
    /// 4.
    ///
    /// Source: IEEE 802.11-2020 sections 17.4.3, 19.4.3 and 21.4.3, tables 19-13 and 21-13.
    #[must_use]
    pub const fn preamble(self) -> Duration {
        let training = match self.streams() {
            1 => 1,
            2 => 2,
            3 | 4 => 4,
            5 | 6 => 6,
            _ => 8,
        };
        Duration::from_micros(match self.format() {
            Format::Ofdm => 20,
            Format::Ht => 32 + 4 * training,
            Format::Vht => 36 + 4 * training,
        })
    }

    /// How long a PPDU with this PSDU takes: TXTIME.
    ///
    /// Preamble, then symbols with 16 service bits, the PSDU and 6 tail bits an encoder. With the short guard
    /// interval the symbols together are rounded up to 4 us, as the standard does, so that stations without HT
    /// agree about the end. Source: IEEE 802.11-2020 equations 17-29, 19-90, 19-92 and section 21.4.3; the signal
    /// extension of 2.4 GHz: section 18.5.4.
    ///
    /// ```
    /// use sojourn_units::{Bytes, Duration, words};
    /// use sojourn_wifi::{Band, PhyRate};
    /// // 1538 bytes: (16 + 12304 + 6) / 216 = 57.06, so 58 symbols of 4 us after 20 us.
    /// let rate = PhyRate::parse("ofdm 54mbit")?;
    /// assert_eq!(rate.ppdu(Bytes::new(1538), Band::Ghz5), Duration::from_micros(252));
    /// # Ok::<(), sojourn_wifi::RateError>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn ppdu(self, psdu: Bytes, band: Band) -> Duration {
        let bits = 16 + 8 * psdu.get() + 6 * self.encoders() as u64;
        let symbols = bits.div_ceil(self.bits_per_symbol() as u64);
        let data = match self.guard() {
            Guard::Long => 4_000 * symbols,
            Guard::Short => (3_600 * symbols).next_multiple_of(4_000),
        };
        Duration::from_nanos(self.preamble().as_nanos() + data + band.signal_extension())
    }

    /// The rate in Mbit/s at which a frame sent at this rate is answered: the highest of 6, 12 and 24 that is not
    /// above this rate, or for HT and VHT not above the OFDM rate of the same modulation and coding.
    ///
    /// Source: IEEE 802.11-2020 sections 10.6.6.5.2 and 10.6.11, with the mandatory rates as basic rate set.
    #[must_use]
    pub const fn response_mbit(self) -> u8 {
        match self.reference_mbit() {
            0..12 => 6,
            12..24 => 12,
            _ => 24,
        }
    }

    /// How long the answer to a frame at this rate takes, without the SIFS before it.
    #[must_use]
    #[inline]
    pub const fn response(self, response: Response, band: Band) -> Duration {
        let psdu = match response {
            Response::Ack => ACK,
            Response::BlockAck => BLOCK_ACK,
        };
        legacy(psdu, self.response_mbit() as u64 * 4, band)
    }

    /// A frame exchange: the PPDU, SIFS, and its answer.
    #[must_use]
    #[inline]
    pub fn exchange(self, psdu: Bytes, response: Response, band: Band) -> Duration {
        self.ppdu(psdu, band) + band.sifs() + self.response(response, band)
    }
}

#[cfg(test)]
mod tests;
