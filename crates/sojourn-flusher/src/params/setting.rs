//! How each kind of parameter stands in a file.

use serde::{Deserialize, Serialize};
use sojourn_units::{Bytes, Duration, format_duration, parse_duration};
use std::fmt;

/// A parameter's type, and its form in JSON or TOML.
pub(crate) trait Setting: Sized {
    /// What stands in the file.
    type Form: Serialize + for<'de> Deserialize<'de> + fmt::Debug;
    /// Reads it; the error is the rule that it breaks.
    fn read(form: &Self::Form) -> Result<Self, &'static str>;
    /// Writes it.
    fn form(&self) -> Self::Form;
}

/// A factor in whole thousandths: 1.7 is 1700. Integers decide, so that every machine decides the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Factor(u32);

impl Factor {
    /// From thousandths.
    #[must_use]
    pub const fn from_thousandths(n: u32) -> Self {
        Self(n)
    }
    /// In thousandths.
    #[must_use]
    pub const fn thousandths(self) -> u32 {
        self.0
    }
    /// `d` times this, rounded down; saturates.
    #[must_use]
    pub fn of(self, d: Duration) -> Duration {
        let ns = u128::from(d.as_nanos()) * u128::from(self.0) / 1000;
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(self.0) / 1000.0)
    }
}

impl Setting for Factor {
    type Form = f64;
    fn read(form: &f64) -> Result<Self, &'static str> {
        let thousandths = form * 1000.0;
        if (0.0..=1e9).contains(&thousandths) && (thousandths - thousandths.round()).abs() < 1e-6 {
            Ok(Self(thousandths.round() as u32))
        } else {
            Err("a number of at most three decimals, from 0 to 1000000")
        }
    }
    fn form(&self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

const TIME: &str = "a time in tc's spelling, such as \"50ms\"";

impl Setting for Duration {
    type Form = String;
    fn read(form: &String) -> Result<Self, &'static str> {
        parse_duration(form).map_err(|_| TIME)
    }
    fn form(&self) -> String {
        format_duration(*self)
    }
}

impl Setting for Option<Duration> {
    type Form = String;
    fn read(form: &String) -> Result<Self, &'static str> {
        if form == "off" {
            return Ok(None);
        }
        parse_duration(form)
            .map(Some)
            .map_err(|_| "\"off\" or a time in tc's spelling, such as \"30s\"")
    }
    fn form(&self) -> String {
        self.map_or_else(|| "off".to_owned(), format_duration)
    }
}

impl Setting for Bytes {
    type Form = u64;
    fn read(form: &u64) -> Result<Self, &'static str> {
        Ok(Self::new(*form))
    }
    fn form(&self) -> u64 {
        self.get()
    }
}

/// A number of bytes, or `"off"`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum BytesOrOff {
    Bytes(u64),
    Word(String),
}

impl Setting for Option<Bytes> {
    type Form = BytesOrOff;
    fn read(form: &BytesOrOff) -> Result<Self, &'static str> {
        match form {
            BytesOrOff::Bytes(bytes) => Ok(Some(Bytes::new(*bytes))),
            BytesOrOff::Word(word) if word == "off" => Ok(None),
            BytesOrOff::Word(_) => Err("\"off\" or a number of bytes"),
        }
    }
    fn form(&self) -> BytesOrOff {
        self.map_or_else(
            || BytesOrOff::Word("off".to_owned()),
            |bytes| BytesOrOff::Bytes(bytes.get()),
        )
    }
}

/// Implements [`Setting`] for types that stand in a file as they are.
macro_rules! plain {
    ($($kind:ty),+) => {$(
        impl $crate::params::setting::Setting for $kind {
            type Form = Self;
            fn read(form: &Self) -> Result<Self, &'static str> {
                Ok(*form)
            }
            fn form(&self) -> Self {
                *self
            }
        }
    )+};
}
pub(crate) use plain;
plain!(u32, bool);
