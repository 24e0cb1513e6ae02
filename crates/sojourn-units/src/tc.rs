//! Numbers as `tc` reads them behind the words of a discipline: one function a reader, one table a unit.
//!
//! `None` is what `tc` refuses. Source: iproute2 6.1 and 7.1 (`get_size64`, `get_rate64`, `get_time`, `get_time64`,
//! `get_u32`, `parse_percent`), and `strtod` and `strtoul` of C.
//!
//! Deviation: infinite numbers are refused. `tc` takes them, and what it makes of them depends on the processor.

/// Units of a size, in bytes. A kbit of a size has 1024 bits.
pub(crate) const SIZES: &[(&str, f64)] = &[
    ("", 1.0),
    ("b", 1.0),
    ("k", 1024.0),
    ("kb", 1024.0),
    ("m", 1_048_576.0),
    ("mb", 1_048_576.0),
    ("g", 1_073_741_824.0),
    ("gb", 1_073_741_824.0),
    ("kbit", 128.0),
    ("mbit", 131_072.0),
    ("gbit", 134_217_728.0),
];

/// Units of a rate, in bit/s. A kbit of a rate has 1000 bits.
pub(crate) const RATES: &[(&str, f64)] = &[
    ("", 1.0),
    ("bit", 1.0),
    ("kibit", 1024.0),
    ("kbit", 1e3),
    ("mibit", 1_048_576.0),
    ("mbit", 1e6),
    ("gibit", 1_073_741_824.0),
    ("gbit", 1e9),
    ("tibit", 1_099_511_627_776.0),
    ("tbit", 1e12),
    ("bps", 8.0),
    ("kibps", 8192.0),
    ("kbps", 8e3),
    ("mibps", 8_388_608.0),
    ("mbps", 8e6),
    ("gibps", 8_589_934_592.0),
    ("gbps", 8e9),
    ("tibps", 8_796_093_022_208.0),
    ("tbps", 8e12),
];

/// Units of a time that counts microseconds.
const MICROS: &[(&str, f64)] = &[
    ("", 1.0),
    ("s", 1e6),
    ("sec", 1e6),
    ("secs", 1e6),
    ("ms", 1e3),
    ("msec", 1e3),
    ("msecs", 1e3),
    ("us", 1.0),
    ("usec", 1.0),
    ("usecs", 1.0),
];

/// Units of a time that counts nanoseconds.
const NANOS: &[(&str, f64)] = &[
    ("", 1.0),
    ("s", 1e9),
    ("sec", 1e9),
    ("secs", 1e9),
    ("ms", 1e6),
    ("msec", 1e6),
    ("msecs", 1e6),
    ("us", 1e3),
    ("usec", 1e3),
    ("usecs", 1e3),
    ("ns", 1.0),
    ("nsec", 1.0),
    ("nsecs", 1.0),
];

/// The unit of this name, in letters of any size.
pub(crate) fn unit(units: &[(&str, f64)], name: &str) -> Option<f64> {
    let found = units.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|&(_, factor)| factor)
}

/// The number at the beginning of `text`, and what stands behind it.
fn strtod(text: &str) -> Option<(f64, &str)> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = |text: &str, radix| text.bytes().take_while(|&b| char::from(b).is_digit(radix)).count();
    let (number, rest) = match unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        Some(hex) if digits(hex, 16) > 0 => {
            let (number, rest) = hex.split_at(digits(hex, 16));
            let value = number.bytes().fold(0.0, |sum, digit| {
                sum * 16.0 + f64::from(char::from(digit).to_digit(16).unwrap_or_default())
            });
            (value, rest)
        }
        _ => {
            let mut end = digits(unsigned, 10);
            let mut many = end;
            if unsigned[end..].starts_with('.') {
                let behind = digits(&unsigned[end + 1..], 10);
                many += behind;
                end += if many > 0 { 1 + behind } else { 0 };
            }
            if many == 0 {
                return None;
            }
            if let Some(power) = unsigned[end..].strip_prefix(['e', 'E']) {
                let sign = usize::from(power.starts_with(['+', '-']));
                let power = digits(&power[sign..], 10);
                end += if power > 0 { 1 + sign + power } else { 0 };
            }
            (unsigned[..end].parse().ok()?, &unsigned[end..])
        }
    };
    let number = if text.starts_with('-') { -number } else { number };
    number.is_finite().then_some((number, rest))
}

/// A number with one of the units; what is negative is refused.
fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (number, rest) = strtod(text)?;
    Some(number * unit(units, rest)?).filter(|number| *number >= 0.0)
}

/// A size in bytes, cut to whole ones.
///
/// ```
/// use sojourn_units::tc;
/// assert_eq!(tc::size("12kbit"), Some(1536));
/// assert_eq!((tc::size("1.7kb"), tc::size("0x40k"), tc::size("1e3")), (Some(1740), Some(65_536), Some(1000)));
/// assert_eq!((tc::size("-1"), tc::size("3kib"), tc::size("1e30")), (None, None, None));
/// ```
#[must_use]
pub fn size(text: &str) -> Option<u64> {
    scaled(text, SIZES)
        .filter(|&size| size < 2f64.powi(64))
        .map(|size| size as u64)
}

/// A rate in bytes a second, cut to whole ones.
///
/// ```
/// use sojourn_units::tc;
/// assert_eq!((tc::rate("1mbit"), tc::rate("300KiBps"), tc::rate("7bit")), (Some(125_000), Some(307_200), Some(0)));
/// ```
#[must_use]
pub fn rate(text: &str) -> Option<u64> {
    scaled(text, RATES).map(|rate| (rate / 8.0) as u64)
}

/// A time of a word that counts microseconds, cut to whole ones; without a unit it is microseconds.
///
/// ```
/// use sojourn_units::tc;
/// assert_eq!((tc::micros("5ms"), tc::micros("100"), tc::micros("5ns")), (Some(5000), Some(100), None));
/// ```
#[must_use]
pub fn micros(text: &str) -> Option<u64> {
    scaled(text, MICROS).map(|time| time as u64)
}

/// A time of a word that counts nanoseconds, cut to whole ones; without a unit it is nanoseconds.
///
/// ```
/// assert_eq!(sojourn_units::tc::nanos("3000000"), Some(3_000_000));
/// ```
#[must_use]
pub fn nanos(text: &str) -> Option<u64> {
    scaled(text, NANOS).map(|time| time as u64)
}

/// A part of the whole, 0 to 1: the number is a percentage, with or without the sign.
///
/// ```
/// use sojourn_units::tc;
/// assert_eq!((tc::percent("1"), tc::percent("20%"), tc::percent("101"), tc::percent("1%%")), (Some(0.01), Some(0.2), None, None));
/// ```
#[must_use]
pub fn percent(text: &str) -> Option<f64> {
    let (number, rest) = strtod(text)?;
    let part = number / 100.0;
    (matches!(rest, "" | "%") && (0.0..=1.0).contains(&part)).then_some(part)
}

/// A number that need not be whole, and nothing behind it.
///
/// ```
/// assert_eq!(sojourn_units::tc::real("2e-2"), Some(0.02));
/// ```
#[must_use]
pub fn real(text: &str) -> Option<f64> {
    strtod(text)
        .filter(|(_, rest)| rest.is_empty())
        .map(|(number, _)| number)
}

/// A whole number of 32 bits to this base; with base 0 its beginning tells the base, as in C: `0x` or `0`.
///
/// ```
/// use sojourn_units::tc;
/// assert_eq!((tc::count("0x200", 0), tc::count("010", 0), tc::count("010", 10)), (Some(512), Some(8), Some(10)));
/// assert_eq!((tc::count("1e3", 0), tc::count("4294967296", 0), tc::count("-1", 0)), (None, None, None));
/// ```
#[must_use]
pub fn count(text: &str, base: u32) -> Option<u32> {
    u32::try_from(integer(text, base)?).ok()
}

/// A whole number with a sign, otherwise as [`count`].
///
/// ```
/// assert_eq!(sojourn_units::tc::integer("-0x10", 0), Some(-16));
/// ```
#[must_use]
pub fn integer(text: &str, base: u32) -> Option<i64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let hex = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"));
    let (digits, radix) = match (base, hex) {
        (0 | 16, Some(digits)) => (digits, 16),
        (0, None) if unsigned.starts_with('0') => (unsigned, 8),
        (0, None) => (unsigned, 10),
        (base, _) => (unsigned, base),
    };
    let plain = !digits.is_empty() && digits.bytes().all(|b| char::from(b).is_digit(radix));
    let number = i64::from_str_radix(digits, radix).ok().filter(|_| plain)?;
    Some(if text.starts_with('-') { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `tc` 6.1 and 7.1 do with each, by `tc qdisc show`.
    #[test]
    fn numbers_are_those_of_strtod() {
        for (text, size) in [
            ("1.", Some(1)),
            (".5kb", Some(512)),
            ("2e3", Some(2000)),
            ("2E+3b", Some(2000)),
            ("+5", Some(5)),
            ("-0", Some(0)),
            ("0x10", Some(16)),
            ("0x1kb", Some(1024)),
            ("1e", None),
            (".", None),
            ("", None),
            ("kb", None),
            ("inf", None),
            ("1 kb", None),
            ("0x", None),
        ] {
            assert_eq!(super::size(text), size, "{text}");
        }
    }

    /// `1.001ms` is 1000.99... microseconds in floating point, and `tc` cuts it.
    #[test]
    fn a_fraction_is_cut_as_it_comes_out() {
        assert_eq!(
            (micros("1.001ms"), micros("5.7ms"), micros("0.9")),
            (Some(1000), Some(5700), Some(0))
        );
        assert_eq!(rate("7.777777mbit"), Some(972_222));
    }
}
