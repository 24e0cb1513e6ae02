//! `tc`'s spellings of times, rates and sizes, as in tc(8), "PARAMETERS".

use crate::{Bytes, Duration, Rate, tc};
use std::fmt;
use thiserror::Error;

/// Text that is not a time, a rate or a size.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is not a {what}: {rule}")]
pub struct UnitError {
    /// The text as given.
    pub text: String,
    /// What was wanted: "time", "rate" or "size".
    pub what: &'static str,
    /// What it must look like.
    pub rule: &'static str,
}

const TIME_RULE: &str = "it must be a number >= 0 with unit s, ms, us or ns, such as 5ms";
const RATE_RULE: &str =
    "it must be a number > 0 with unit bit, kbit, mbit, gbit (or bps, kbps, mbps for bytes), such as 10mbit";
const SIZE_RULE: &str = "it must be a whole number of bytes >= 0, or one with unit b, k, kb, m, mb, g, gb (of 1024) or kbit, mbit, such as 150kb";

/// Splits "5.5ms" into 5.5 and "ms"; `None` unless the number is plain, finite and not negative.
fn split(text: &str) -> Option<(f64, String)> {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    if number.is_empty() || number.len() > 24 {
        return None;
    }
    Some((number.parse().ok()?, unit.to_ascii_lowercase()))
}

/// A time as `tc` writes it: `5ms`, `0.1s`, `100us`, `20ns`; a bare number is microseconds.
///
/// # Errors
/// [`UnitError`] if the text is anything else, negative, or longer than 100 years.
///
/// ```
/// use sojourn_units::{Duration, parse_duration};
/// assert_eq!(parse_duration("5ms"), Ok(Duration::from_millis(5)));
/// assert_eq!(parse_duration("100"), Ok(Duration::from_micros(100)));
/// assert_eq!(
///     parse_duration("5 parsecs").unwrap_err().to_string(),
///     "\"5 parsecs\" is not a time: it must be a number >= 0 with unit s, ms, us or ns, such as 5ms"
/// );
/// ```
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let fail = || UnitError {
        text: text.to_owned(),
        what: "time",
        rule: TIME_RULE,
    };
    let (n, unit) = split(text).ok_or_else(fail)?;
    let ns = match unit.as_str() {
        "s" | "sec" | "secs" => n * 1e9,
        "ms" | "msec" | "msecs" => n * 1e6,
        "us" | "usec" | "usecs" | "" => n * 1e3,
        "ns" | "nsec" | "nsecs" => n,
        _ => return Err(fail()),
    };
    if ns > 3.2e18 {
        return Err(fail());
    }
    Ok(Duration::from_nanos(ns.round() as u64))
}

/// A rate as `tc` writes it: `10mbit`, `1.5gbit`, `500kbit`; `bps` forms are bytes/s; a bare number is bit/s.
///
/// # Errors
/// [`UnitError`] if the text is anything else, zero, or above 1 Tbit/s.
///
/// ```
/// use sojourn_units::{Rate, parse_rate};
/// assert_eq!(parse_rate("10mbit"), Ok(Rate::from_mbit(10)));
/// assert_eq!(parse_rate("1mbps"), Ok(Rate::from_mbit(8)));
/// assert!(parse_rate("-1mbit").is_err());
/// ```
pub fn parse_rate(text: &str) -> Result<Rate, UnitError> {
    let fail = || UnitError {
        text: text.to_owned(),
        what: "rate",
        rule: RATE_RULE,
    };
    let (n, unit) = split(text).ok_or_else(fail)?;
    let unit = unit.strip_suffix("/s").unwrap_or(&unit);
    let factor = tc::unit(tc::RATES, unit).ok_or_else(fail)?;
    let bps = (n * factor).round();
    if !(1.0..=1e12).contains(&bps) {
        return Err(fail());
    }
    Ok(Rate::from_bps(bps as u64))
}

/// A size as `tc` writes it: `1514`, `150kb` (of 1024), `1mb`, `10kbit` (of 1024 bits). Parts of a byte are refused.
///
/// # Errors
/// [`UnitError`] if the text is anything else or above 2^53 bytes.
///
/// ```
/// use sojourn_units::{Bytes, parse_bytes};
/// assert_eq!(parse_bytes("150kb"), Ok(Bytes::new(150 * 1024)));
/// assert_eq!(parse_bytes("10kbit"), Ok(Bytes::new(1280)));
/// ```
pub fn parse_bytes(text: &str) -> Result<Bytes, UnitError> {
    let fail = || UnitError {
        text: text.to_owned(),
        what: "size",
        rule: SIZE_RULE,
    };
    let (n, unit) = split(text).ok_or_else(fail)?;
    let n = n * tc::unit(tc::SIZES, &unit).ok_or_else(fail)?;
    if n > (1u64 << 53) as f64 || n.fract() != 0.0 {
        return Err(fail());
    }
    Ok(Bytes::new(n as u64))
}

/// The shortest exact spelling of a duration: `5ms`, `1.5s`, `100us`, `0s`.
#[must_use]
pub fn format_duration(d: Duration) -> String {
    let ns = d.as_nanos();
    let (unit, name) = match ns {
        0 => return "0s".into(),
        _ if ns >= 1_000_000_000 => (1_000_000_000, "s"),
        _ if ns >= 1_000_000 => (1_000_000, "ms"),
        _ if ns >= 1_000 => (1_000, "us"),
        _ => (1, "ns"),
    };
    decimal(ns, unit, name)
}

/// The shortest exact spelling of a rate: `10mbit`, `1.5gbit`, `300bit`.
#[must_use]
pub fn format_rate(r: Rate) -> String {
    let bps = r.as_bps();
    let (unit, name) = match bps {
        _ if bps >= 1_000_000_000 => (1_000_000_000, "gbit"),
        _ if bps >= 1_000_000 => (1_000_000, "mbit"),
        _ if bps >= 1_000 => (1_000, "kbit"),
        _ => (1, "bit"),
    };
    decimal(bps, unit, name)
}

/// `value / unit` in decimal without a float (`unit` is a power of ten), trailing zeros cut.
fn decimal(value: u64, unit: u64, name: &str) -> String {
    let digits = unit.ilog10() as usize;
    let (whole, rest) = (value / unit, value % unit);
    if rest == 0 {
        return format!("{whole}{name}");
    }
    let fraction = format!("{rest:0digits$}");
    format!("{whole}.{}{name}", fraction.trim_end_matches('0'))
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_duration(*self))
    }
}
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_rate(*self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_survive_a_round_trip() {
        for text in ["0s", "5ms", "1.5s", "100us", "1ns", "13ms", "100s", "1.000000001s"] {
            assert_eq!(format_duration(parse_duration(text).unwrap()), text);
        }
    }

    #[test]
    fn rates_survive_a_round_trip() {
        for text in ["10mbit", "1.5gbit", "300bit", "100mbit", "1.234567mbit"] {
            assert_eq!(format_rate(parse_rate(text).unwrap()), text);
        }
    }

    #[test]
    fn nonsense_is_refused_with_the_rule() {
        for text in [
            "",
            "ms",
            "-5ms",
            "1e3ms",
            "nan",
            "inf",
            "5 ms",
            "5msx",
            "1..2s",
            "99999999999999999999999999s",
        ] {
            assert!(
                parse_duration(text)
                    .unwrap_err()
                    .to_string()
                    .contains("must be a number >= 0"),
                "{text}"
            );
        }
        for text in ["0", "0mbit", "-1mbit", "10mb", "2tbit", "10parsec"] {
            assert!(
                parse_rate(text)
                    .unwrap_err()
                    .to_string()
                    .contains("must be a number > 0"),
                "{text}"
            );
        }
        assert!(parse_bytes("1.5").is_err());
        assert!(parse_bytes("-1").is_err());
    }
}
