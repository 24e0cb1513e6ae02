//! The value of a word, as it was written.

use super::numbers::Numbers;
use crate::ParamError;
use crate::selector::Selector;
use sojourn_units::{Bytes, Duration, Rate, tc};

/// The unit of a word that is a flag.
pub(crate) const FLAG: &str = "flag";
/// The unit of a word that takes several numbers, up to the next word that is none.
pub(crate) const NUMBERS: &str = "numbers";

const SIZE: &str = "a size in bytes, or one with unit b, k, kb, m, mb, g, gb (of 1024) or kbit, mbit, such as 150kb";
const RATE: &str = "a number > 0 with unit bit, kbit, mbit, gbit (or bps, kbps, mbps for bytes), such as 10mbit";
/// The fastest rate, bit/s.
const FASTEST: u64 = 1_000_000_000_000;
/// The longest times: what `tc` can hand to the kernel, and a hundred years.
const LONGEST_US: u64 = u32::MAX as u64;
const LONGEST_NS: u64 = 3_200_000_000_000_000_000;

/// A word as given, with its value.
pub(crate) struct RawValue<'a> {
    pub(super) kind: &'static str,
    pub(super) field: &'static str,
    /// The name used.
    pub(super) name: &'a str,
    pub(super) value: &'a str,
}

impl<'a> RawValue<'a> {
    /// The value given for `field` of `kind`.
    pub(crate) const fn new(kind: &'static str, field: &'static str, value: &'a str) -> Self {
        Self {
            kind,
            field,
            name: field,
            value,
        }
    }

    pub(crate) const fn kind(&self) -> &'static str {
        self.kind
    }

    /// Whether the name used is the canonical one: of a flag, whether it says that it is on.
    pub(crate) fn is_canonical(&self) -> bool {
        self.name == self.field
    }

    pub(crate) const fn value(&self) -> &'a str {
        self.value
    }

    pub(crate) fn error(&self, rule: impl Into<String>) -> ParamError {
        ParamError::new(self.kind, self.field, self.value, rule)
    }

    /// What a reader of `tc` makes of the value.
    fn read<T>(&self, reader: impl FnOnce(&str) -> Option<T>, rule: &str) -> Result<T, ParamError> {
        reader(self.value).ok_or_else(|| ParamError::new(self.kind, self.field, format!("{:?}", self.value), rule))
    }

    /// A time that `tc` takes in microseconds.
    pub(crate) fn duration(&self) -> Result<Duration, ParamError> {
        let us = self.read(tc::micros, "a number >= 0 with unit s, ms or us, such as 5ms")?;
        self.at_most(us, LONGEST_US, "at most 4294.967295s (32 bits of microseconds)")
            .map(Duration::from_micros)
    }

    /// A time that `tc` takes in nanoseconds.
    pub(crate) fn nanos(&self) -> Result<Duration, ParamError> {
        let ns = self.read(tc::nanos, "a number >= 0 with unit s, ms, us or ns, such as 5ms")?;
        self.at_most(ns, LONGEST_NS, "at most 100 years")
            .map(Duration::from_nanos)
    }

    fn at_most(&self, n: u64, most: u64, rule: &str) -> Result<u64, ParamError> {
        if n > most { Err(self.error(rule)) } else { Ok(n) }
    }

    /// A size.
    pub(crate) fn bytes(&self) -> Result<Bytes, ParamError> {
        self.read(tc::size, SIZE).map(Bytes::new)
    }

    /// A size, of 32 bits as `tc` takes it.
    pub(crate) fn size(&self) -> Result<u32, ParamError> {
        let size = self.bytes()?.get();
        u32::try_from(size).map_err(|_| self.error(format!("<= {}", u32::MAX)))
    }

    /// Packets that `tc` reads as a size; they may also be written as `1000p`, as it shows them.
    pub(crate) fn sized_packets(&self) -> Result<u32, ParamError> {
        let value = self.value.strip_suffix('p').unwrap_or(self.value);
        if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
            return self.count(10);
        }
        RawValue { value, ..*self }.size()
    }

    /// A size that may have the size of a cell behind a slash. That is of the tables of older kernels alone.
    pub(crate) fn size_and_cell(&self) -> Result<Bytes, ParamError> {
        let Some((size, cell)) = self.value.split_once('/') else {
            return self.bytes();
        };
        let whole = tc::integer(cell, 0).filter(|&cell| (1..=1 << 30).contains(&cell) && cell & (cell - 1) == 0);
        let size = tc::size(size).filter(|_| whole.is_some());
        self.read(|_| size, "a size, and behind the slash a power of two, such as 4k/8")
            .map(Bytes::new)
    }

    /// A rate, cut to whole bytes a second.
    pub(crate) fn rate(&self) -> Result<Rate, ParamError> {
        if self.value.contains('%') {
            return Err(self.error("a rate: a percentage is one of a device's speed, and a link here has none"));
        }
        let rate = self.read(tc::rate, RATE)?;
        if rate == 0 {
            let zero = !self.value.contains(|c: char| ('1'..='9').contains(&c));
            let rule = if zero { RATE } else { "at least 8bit, a byte a second" };
            let value = if zero {
                format!("{:?}", self.value)
            } else {
                self.value.to_owned()
            };
            return Err(ParamError::new(self.kind, self.field, value, rule));
        }
        self.at_most(rate, FASTEST / 8, "at most 1000gbit")
            .map(|rate| Rate::from_bps(8 * rate))
    }

    /// Checks a rate that may be 0.
    pub(crate) fn rate_or_zero(&self) -> Result<(), ParamError> {
        self.read(tc::rate, RATE).map(|_| ())
    }

    /// Checks that the value is this number.
    pub(crate) fn exactly(&self, n: u32) -> Result<(), ParamError> {
        self.read(|text| tc::count(text, 10).filter(|&found| found == n), &n.to_string())
            .map(|_| ())
    }

    /// A count to this base, as [`tc::count`] reads it. `tc` shows packets as `1000p`, which is understood too.
    pub(crate) fn count(&self, base: u32) -> Result<u32, ParamError> {
        let value = self.value.strip_suffix('p').unwrap_or(self.value);
        tc::count(value, base).ok_or_else(|| match tc::integer(value, base) {
            Some(1..) => self.error(format!("<= {}", u32::MAX)),
            _ => ParamError::new(
                self.kind,
                self.field,
                format!("{:?}", self.value),
                "a whole number >= 0",
            ),
        })
    }

    /// A whole number to this base, with a sign.
    pub(crate) fn signed(&self, base: u32) -> Result<i64, ParamError> {
        self.read(|text| tc::integer(text, base), "a whole number")
    }

    /// A number of 16 bits in hexadecimal, as `tc` reads the parts of a handle.
    pub(crate) fn hexadecimal(&self) -> Result<u32, ParamError> {
        let rule = "a hexadecimal number of at most four digits, such as 12";
        self.read(|text| tc::count(text, 16).filter(|&n| u16::try_from(n).is_ok()), rule)
    }

    /// What bits of a byte must be, such as `0x01/0x01`: a value, and the bits that are looked at.
    pub(crate) fn selector(&self) -> Result<Selector, ParamError> {
        let byte = |text: &str| u8::try_from(tc::count(text, 0)?).ok();
        let parts = self.value.split_once('/');
        let pair = parts.and_then(|(value, mask)| Some((byte(value)?, byte(mask)?)));
        let (value, mask) = pair.ok_or_else(|| {
            let rule = "a value and a mask, two bytes with a slash between, such as 0x01/0x01";
            ParamError::new(self.kind, self.field, format!("{:?}", self.value), rule)
        })?;
        if value & !mask != 0 {
            return Err(self.error("a value within its mask: no packet is like that"));
        }
        Ok(Selector { value, mask })
    }

    /// Whole numbers with gaps between them.
    pub(crate) fn numbers(&self) -> Result<Numbers, ParamError> {
        let mut found = Numbers::default();
        for (place, word) in self.value.split_whitespace().enumerate() {
            let number = RawValue { value: word, ..*self }.count(10)?;
            if place == Numbers::MOST {
                return Err(self.error(format!("at most {} numbers", Numbers::MOST)));
            }
            found = found.filled(place + 1, |_| number);
        }
        Ok(found)
    }

    /// A number that need not be whole.
    pub(crate) fn number(&self) -> Result<f64, ParamError> {
        self.read(|text| tc::real(text).filter(|&n| n >= 0.0), "a number >= 0")
    }

    /// A share, 0 to 1: a percentage, with or without the sign.
    pub(crate) fn percent(&self) -> Result<f64, ParamError> {
        self.read(tc::percent, "a percentage of at most 100, such as 10%")
    }
}
