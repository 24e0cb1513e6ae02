//! The value of a word, as it was written.

use super::numbers::Numbers;
use crate::ParamError;
use crate::selector::Selector;
use sojourn_units::{Bytes, Duration, Rate, UnitError, parse_bytes, parse_duration, parse_rate};

/// The unit of a word that is a flag.
pub(crate) const FLAG: &str = "flag";
/// The unit of a word that takes several numbers, up to the next word that is none.
pub(crate) const NUMBERS: &str = "numbers";

/// A word as given, with its value.
pub(crate) struct Given<'a> {
    pub(super) kind: &'static str,
    pub(super) field: &'static str,
    /// The name used.
    pub(super) name: &'a str,
    pub(super) value: &'a str,
}

impl<'a> Given<'a> {
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

    /// A whole number, which may have a sign; packets may be written as `1000p`.
    pub(crate) fn signed(&self) -> Result<i64, ParamError> {
        let value = self.value.strip_suffix('p').unwrap_or(self.value);
        let digits = value.strip_prefix('-').unwrap_or(value);
        let plain = !digits.is_empty() && digits.len() <= 18 && digits.bytes().all(|b| b.is_ascii_digit());
        let number = value.parse().ok().filter(|_| plain);
        number.ok_or_else(|| ParamError::new(self.kind, self.field, format!("{:?}", self.value), "a whole number"))
    }

    pub(crate) fn error(&self, rule: impl Into<String>) -> ParamError {
        ParamError::new(self.kind, self.field, self.value, rule)
    }

    fn unit<T>(&self, result: Result<T, UnitError>) -> Result<T, ParamError> {
        result.map_err(|e| {
            let rule = e.rule.strip_prefix("it must be ").unwrap_or(e.rule);
            ParamError::new(self.kind, self.field, format!("{:?}", self.value), rule)
        })
    }

    /// A time in `tc`'s spelling.
    pub(crate) fn duration(&self) -> Result<Duration, ParamError> {
        self.unit(parse_duration(self.value))
    }

    /// A size in `tc`'s spelling.
    pub(crate) fn bytes(&self) -> Result<Bytes, ParamError> {
        self.unit(parse_bytes(self.value))
    }

    /// A rate in `tc`'s spelling.
    pub(crate) fn rate(&self) -> Result<Rate, ParamError> {
        self.unit(parse_rate(self.value))
    }

    /// A count; `tc` writes packets as `1000p`, which is understood too.
    pub(crate) fn count(&self) -> Result<u32, ParamError> {
        let digits = self.value.strip_suffix('p').unwrap_or(self.value);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(ParamError::new(
                self.kind,
                self.field,
                format!("{:?}", self.value),
                "a whole number >= 0",
            ));
        }
        digits.parse().map_err(|_| self.error(format!("<= {}", u32::MAX)))
    }

    /// A number of 16 bits in hexadecimal, as `tc` reads the parts of a handle.
    pub(crate) fn hexadecimal(&self) -> Result<u32, ParamError> {
        let digits = self.value.strip_prefix("0x").unwrap_or(self.value);
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let number = u16::from_str_radix(digits, 16).ok().filter(|_| plain);
        number.map(u32::from).ok_or_else(|| {
            let rule = "a hexadecimal number of at most four digits, such as 12";
            ParamError::new(self.kind, self.field, format!("{:?}", self.value), rule)
        })
    }

    /// What bits of a byte must be, such as `0x01/0x01`: a value, and the bits that are looked at.
    pub(crate) fn selector(&self) -> Result<Selector, ParamError> {
        let byte = |text: &str| match text.strip_prefix("0x") {
            Some(digits) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => u8::from_str_radix(digits, 16).ok(),
            None if text.bytes().all(|b| b.is_ascii_digit()) => text.parse().ok(),
            _ => None,
        };
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
            let number = Given { value: word, ..*self }.count()?;
            if place == Numbers::MOST {
                return Err(self.error(format!("at most {} numbers", Numbers::MOST)));
            }
            found = found.filled(place + 1, |_| number);
        }
        Ok(found)
    }

    /// A plain decimal number.
    pub(crate) fn number(&self) -> Result<f64, ParamError> {
        let plain = self.value.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let number = self.value.parse::<f64>().ok().filter(|n| plain && n.is_finite());
        number.ok_or_else(|| ParamError::new(self.kind, self.field, format!("{:?}", self.value), "a number >= 0"))
    }
}
