//! The data rates of the OFDM, HT and VHT physical layers, and their spelling in scenarios.

use sojourn_units::{Duration, Rate, text, words};
use std::fmt;
use thiserror::Error;

words! {
    /// A channel width.
    #[derive(Default)]
    pub enum Width {
        /// 20 MHz.
        #[default]
        Mhz20 = "20mhz",
        /// 40 MHz.
        Mhz40 = "40mhz",
        /// 80 MHz, VHT only.
        Mhz80 = "80mhz",
        /// 160 MHz, VHT only.
        Mhz160 = "160mhz",
    }
}

impl Width {
    /// Data subcarriers, N_SD. Source: IEEE 802.11-2020 tables 19-6 and 21-5.
    pub(crate) const fn subcarriers(self) -> u32 {
        match self {
            Self::Mhz20 => 52,
            Self::Mhz40 => 108,
            Self::Mhz80 => 234,
            Self::Mhz160 => 468,
        }
    }
}

/// The guard interval between two symbols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// 800 ns: a symbol of 4 us.
    #[default]
    Long,
    /// 400 ns: a symbol of 3.6 us.
    Short,
}

/// The format of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// OFDM of IEEE 802.11-2020 clauses 17 and 18 (802.11a and g), 20 MHz.
    Ofdm,
    /// HT mixed format, clause 19 (802.11n).
    Ht,
    /// VHT, clause 21 (802.11ac).
    Vht,
}

/// A text, or a combination of numbers, that is no rate of the standard.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is not a Wi-Fi rate: {rule}")]
pub struct RateError {
    /// The rate as given.
    pub text: String,
    /// What it must be.
    pub rule: &'static str,
}

const GRAMMAR: &str =
    "it must be like \"ht mcs 15 20mhz sgi\", \"vht mcs 9 nss 2 80mhz sgi\" or \"ofdm 54mbit\", each word at most once";
const OFDM_RULE: &str = "OFDM has 6, 9, 12, 18, 24, 36, 48 and 54mbit";
const HT_MCS_RULE: &str = "HT has MCS 0 to 31";
const HT_WIDTH_RULE: &str = "HT has 20mhz and 40mhz";
const VHT_MCS_RULE: &str = "VHT has MCS 0 to 9";
const VHT_NSS_RULE: &str = "VHT has 1 to 8 spatial streams (nss)";
const VHT_HOLE_RULE: &str =
    "the standard leaves this combination of MCS, streams and width out (IEEE 802.11-2020 section 21.5)";

/// Bits per subcarrier and the code rate as a fraction, by MCS. Source: IEEE 802.11-2020 tables 19-27 and 21-29.
const MODULATIONS: [(u32, u32, u32); 10] = [
    (1, 1, 2),
    (2, 1, 2),
    (2, 3, 4),
    (4, 1, 2),
    (4, 3, 4),
    (6, 2, 3),
    (6, 3, 4),
    (6, 5, 6),
    (8, 3, 4),
    (8, 5, 6),
];

/// The OFDM rates in Mbit/s. Source: IEEE 802.11-2020 table 17-4.
const OFDM_MBIT: [u8; 8] = [6, 9, 12, 18, 24, 36, 48, 54];

/// One rate of the OFDM, HT or VHT physical layer: modulation and coding, streams, width and guard interval.
///
/// The text form is `ht mcs M [20mhz|40mhz] [lgi|sgi]`, `vht mcs M [nss N] [20mhz|40mhz|80mhz|160mhz] [lgi|sgi]` or
/// `ofdm Nmbit`. The words after the first may stand in any order; without them the width is 20 MHz, the guard
/// interval long and VHT has one stream. [`fmt::Display`] writes all words in the order above.
///
/// Not here: DSSS and CCK (802.11b), STBC, unequal modulation (HT MCS 33 to 76), HT MCS 32, 80+80 MHz.
///
/// ```
/// use sojourn_wifi::PhyRate;
/// let rate = PhyRate::parse("ht sgi mcs 15")?;
/// assert_eq!(rate.to_string(), "ht mcs 15 20mhz sgi");
/// assert_eq!(rate.nominal().as_bps(), 144_444_444);
/// assert_eq!(
///     PhyRate::parse("ht mcs 99").unwrap_err().to_string(),
///     "\"ht mcs 99\" is not a Wi-Fi rate: HT has MCS 0 to 31"
/// );
/// # Ok::<(), sojourn_wifi::RateError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhyRate {
    format: Format,
    /// HT: 0 to 31; VHT: 0 to 9; OFDM: Mbit/s.
    mcs: u8,
    streams: u8,
    width: Width,
    guard: Guard,
    /// BCC encoders, N_ES.
    encoders: u8,
    bits_per_symbol: u32,
}

impl PhyRate {
    /// A rate of clause 17: 6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s.
    ///
    /// # Errors
    /// [`RateError`] for any other number.
    pub fn ofdm(mbit: u8) -> Result<Self, RateError> {
        if !OFDM_MBIT.contains(&mbit) {
            return Err(error(format!("ofdm {mbit}mbit"), OFDM_RULE));
        }
        Ok(Self {
            bits_per_symbol: u32::from(mbit) * 4,
            ..Self::new(Format::Ofdm, mbit, 1, Width::Mhz20, Guard::Long)
        })
    }

    /// An HT rate with equal modulation: MCS 0 to 31, that is MCS / 8 + 1 streams.
    ///
    /// # Errors
    /// [`RateError`] for an MCS above 31 or a width above 40 MHz.
    pub fn ht(mcs: u8, width: Width, guard: Guard) -> Result<Self, RateError> {
        let rate = Self::new(Format::Ht, mcs, mcs / 8 + 1, width, guard);
        if mcs > 31 {
            return Err(error(rate.to_string(), HT_MCS_RULE));
        }
        if width > Width::Mhz40 {
            return Err(error(rate.to_string(), HT_WIDTH_RULE));
        }
        Ok(rate.with_bits(mcs % 8))
    }

    /// A VHT rate: MCS 0 to 9 with `streams` spatial streams.
    ///
    /// # Errors
    /// [`RateError`] for an MCS above 9, streams other than 1 to 8, and the combinations that the standard excludes:
    /// MCS 9 at 20 MHz except with 3 and 6 streams, at 80 MHz MCS 6 with 3 and 7 and MCS 9 with 6 streams, at 160 MHz
    /// MCS 9 with 3 streams. Source: IEEE 802.11-2020 section 21.5.
    pub fn vht(mcs: u8, streams: u8, width: Width, guard: Guard) -> Result<Self, RateError> {
        let rate = Self::new(Format::Vht, mcs, streams, width, guard);
        if mcs > 9 {
            return Err(error(rate.to_string(), VHT_MCS_RULE));
        }
        if !(1..=8).contains(&streams) {
            return Err(error(rate.to_string(), VHT_NSS_RULE));
        }
        let hole = matches!(
            (width, mcs, streams),
            (Width::Mhz20, 9, 1 | 2 | 4 | 5 | 7 | 8)
                | (Width::Mhz80, 6, 3 | 7)
                | (Width::Mhz80, 9, 6)
                | (Width::Mhz160, 9, 3)
        );
        if hole {
            return Err(error(rate.to_string(), VHT_HOLE_RULE));
        }
        Ok(rate.with_bits(mcs))
    }

    /// Reads the text form.
    ///
    /// # Errors
    /// [`RateError`] with the text and the rule that it breaks.
    pub fn parse(text: &str) -> Result<Self, RateError> {
        let wrong = |rule| error(text.to_owned(), rule);
        let mut words = text.split_ascii_whitespace();
        let rate = match words.next() {
            Some("ofdm") => {
                let mbit = words.next().and_then(|w| w.strip_suffix("mbit")).and_then(number);
                match (mbit, words.next()) {
                    (Some(mbit), None) => Self::ofdm(mbit),
                    _ => Err(wrong(GRAMMAR)),
                }
            }
            Some(first @ ("ht" | "vht")) => {
                let options = Options::parse(words).ok_or_else(|| wrong(GRAMMAR))?;
                let mcs = options.mcs.ok_or_else(|| wrong(GRAMMAR))?;
                let (width, guard) = (options.width.unwrap_or_default(), options.guard.unwrap_or_default());
                match (first, options.streams) {
                    ("ht", None) => Self::ht(mcs, width, guard),
                    ("ht", Some(_)) => Err(wrong("HT takes no nss: MCS / 8 + 1 is the number of streams")),
                    (_, streams) => Self::vht(mcs, streams.unwrap_or(1), width, guard),
                }
            }
            _ => Err(wrong(GRAMMAR)),
        };
        rate.map_err(|e| wrong(e.rule))
    }

    /// Every rate there is, in the order of format, width, guard interval, streams and MCS.
    pub fn all() -> impl Iterator<Item = Self> {
        let guards = [Guard::Long, Guard::Short];
        let ofdm = OFDM_MBIT.into_iter().map(Self::ofdm);
        let ht = [Width::Mhz20, Width::Mhz40]
            .into_iter()
            .flat_map(move |width| guards.map(|guard| (width, guard)))
            .flat_map(|(width, guard)| (0..32).map(move |mcs| Self::ht(mcs, width, guard)));
        let vht = Width::ALL
            .into_iter()
            .flat_map(move |width| guards.map(|guard| (width, guard)))
            .flat_map(|(width, guard)| (1..=8).map(move |streams| (width, guard, streams)))
            .flat_map(|(width, guard, streams)| (0..10).map(move |mcs| Self::vht(mcs, streams, width, guard)));
        ofdm.chain(ht).chain(vht).flatten()
    }

    /// The PPDU format.
    #[must_use]
    pub const fn format(self) -> Format {
        self.format
    }

    /// The MCS; for OFDM the rate in Mbit/s.
    #[must_use]
    pub const fn mcs(self) -> u8 {
        self.mcs
    }

    /// Spatial streams.
    #[must_use]
    pub const fn streams(self) -> u8 {
        self.streams
    }

    /// The channel width.
    #[must_use]
    pub const fn width(self) -> Width {
        self.width
    }

    /// The guard interval.
    #[must_use]
    pub const fn guard(self) -> Guard {
        self.guard
    }

    /// Data bits per symbol, N_DBPS.
    #[must_use]
    pub const fn bits_per_symbol(self) -> u32 {
        self.bits_per_symbol
    }

    /// BCC encoders, N_ES: each adds 6 tail bits to the PPDU.
    ///
    /// Source: IEEE 802.11-2020 section 19.5 (two above 300 Mbit/s) and section 21.5.
    #[must_use]
    pub const fn encoders(self) -> u8 {
        self.encoders
    }

    /// The length of a symbol: 4 us, or 3.6 us with the short guard interval.
    #[must_use]
    pub const fn symbol(self) -> Duration {
        match self.guard {
            Guard::Long => Duration::from_nanos(4_000),
            Guard::Short => Duration::from_nanos(3_600),
        }
    }

    /// Bits of data per second while data is sent, rounded to the nearest bit/s: 144.444444 Mbit/s for HT MCS 15 at
    /// 20 MHz with the short guard interval.
    #[must_use]
    pub const fn nominal(self) -> Rate {
        let symbol = self.symbol().as_nanos();
        Rate::from_bps((self.bits_per_symbol as u64 * 1_000_000_000 + symbol / 2) / symbol)
    }

    /// The OFDM rate with the same modulation and code rate (64-QAM 3/4 for what OFDM has not): the non-HT reference
    /// rate in Mbit/s. Source: IEEE 802.11-2020 section 10.6.11.
    pub(crate) const fn reference_mbit(self) -> u8 {
        let mcs = match self.format {
            Format::Ofdm => return self.mcs,
            Format::Ht => self.mcs % 8,
            Format::Vht => self.mcs,
        };
        match mcs {
            0 => 6,
            1 => 12,
            2 => 18,
            3 => 24,
            4 => 36,
            5 => 48,
            _ => 54,
        }
    }

    const fn new(format: Format, mcs: u8, streams: u8, width: Width, guard: Guard) -> Self {
        Self {
            format,
            mcs,
            streams,
            width,
            guard,
            encoders: 1,
            bits_per_symbol: 0,
        }
    }

    /// Fills in what follows from modulation `index`, streams and width.
    fn with_bits(mut self, index: u8) -> Self {
        let (bits, numerator, denominator) = MODULATIONS[usize::from(index)];
        self.bits_per_symbol = self.width.subcarriers() * u32::from(self.streams) * bits * numerator / denominator;
        self.encoders = self.count_encoders();
        self
    }

    /// HT: two encoders above 300 Mbit/s. VHT: one for each 600 Mbit/s begun (540 with the long guard interval), and
    /// as many more as it takes for the coded bits to divide evenly among them.
    ///
    /// Source: IEEE 802.11-2020 tables 19-28 to 19-36 and 21-30 to 21-61, from which the rule is read off; section
    /// 21.5.
    fn count_encoders(self) -> u8 {
        if self.format == Format::Ht {
            return if self.bits_per_symbol > 1080 { 2 } else { 1 };
        }
        let (bits, numerator, denominator) = MODULATIONS[usize::from(self.mcs)];
        let coded = self.width.subcarriers() * u32::from(self.streams) * bits;
        let mut encoders = self.bits_per_symbol.div_ceil(2160);
        while !coded.is_multiple_of(encoders * denominator)
            || !self.bits_per_symbol.is_multiple_of(encoders * numerator)
        {
            encoders += 1;
        }
        encoders as u8
    }
}

text!(PhyRate, |text: &str| PhyRate::parse(text)
    .map_err(|e| format!("is {text:?}, but {}", e.rule)));

impl fmt::Display for PhyRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let guard = match self.guard {
            Guard::Long => "lgi",
            Guard::Short => "sgi",
        };
        let (mcs, width) = (self.mcs, self.width.name());
        match self.format {
            Format::Ofdm => write!(f, "ofdm {mcs}mbit"),
            Format::Ht => write!(f, "ht mcs {mcs} {width} {guard}"),
            Format::Vht => write!(f, "vht mcs {mcs} nss {} {width} {guard}", self.streams),
        }
    }
}

/// The words after `ht` or `vht`.
#[derive(Debug, Default)]
struct Options {
    mcs: Option<u8>,
    streams: Option<u8>,
    width: Option<Width>,
    guard: Option<Guard>,
}

impl Options {
    /// `None` for an unknown word, a word given twice, or a number that is none.
    fn parse<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut options = Self::default();
        while let Some(word) = words.next() {
            let again = match word {
                "mcs" => options.mcs.replace(number(words.next()?)?).is_some(),
                "nss" => options.streams.replace(number(words.next()?)?).is_some(),
                "lgi" => options.guard.replace(Guard::Long).is_some(),
                "sgi" => options.guard.replace(Guard::Short).is_some(),
                _ => {
                    let width = Width::from_name(word)?;
                    options.width.replace(width).is_some()
                }
            };
            if again {
                return None;
            }
        }
        Some(options)
    }
}

/// A number of digits only; one above 255 counts as 255, which no field accepts.
fn number(word: &str) -> Option<u8> {
    let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| word.parse().unwrap_or(u8::MAX))
}

fn error(text: String, rule: &'static str) -> RateError {
    RateError { text, rule }
}

#[cfg(test)]
mod tests;
