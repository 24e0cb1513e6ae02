//! How handles and code points are written.

use crate::ParamError;
use sojourn_units::tc;
use std::fmt;

/// The number of a discipline (`1:`) or of a class (`1:11`), both parts hexadecimal as in `tc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle {
    pub(crate) major: u16,
    /// 0 for the discipline.
    pub(crate) minor: u16,
}

impl Handle {
    /// Reads the value of `field`.
    pub(crate) fn parse(field: &str, text: &str) -> Result<Self, ParamError> {
        let part = |digits: &str| u16::try_from(tc::count(digits, 16)?).ok();
        let found = text.split_once(':').and_then(|(major, minor)| {
            let major = part(major).filter(|&major| major != 0 && major != u16::MAX)?;
            let minor = if minor.is_empty() { 0 } else { part(minor)? };
            Some(Self { major, minor })
        });
        found.ok_or_else(|| ParamError {
            field: field.to_owned(),
            value: format!("{text:?}"),
            rule: "a handle of hexadecimal numbers, such as 1: or 1:11".to_owned(),
        })
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.minor {
            0 => write!(f, "{:x}:", self.major),
            minor => write!(f, "{:x}:{minor:x}", self.major),
        }
    }
}

/// Code points with names. Source: RFC 2474 (CS), 2597 (AF), 3246 (EF), 5865 (VA), 8622 (LE).
const NAMES: &[(&str, u8)] = &[
    ("CS0", 0),
    ("LE", 1),
    ("CS1", 8),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("CS2", 16),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("CS3", 24),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("CS4", 32),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("CS5", 40),
    ("VA", 44),
    ("EF", 46),
    ("CS6", 48),
    ("CS7", 56),
];

/// What a code point may be, for sentences.
pub const CODE_POINT_RULE: &str = "0 to 63, or a name: CS0 to CS7, AF11 to AF43, EF, VA or LE";

/// The code point of a name in letters of any size.
///
/// ```
/// assert_eq!(sojourn_qdisc::named_code_point("af11"), Some(10));
/// ```
#[must_use]
pub fn named_code_point(name: &str) -> Option<u8> {
    let named = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    named.map(|&(_, code)| code)
}

/// The code point of a word: a name, or a number.
pub(crate) fn code_point(word: &str) -> Option<u8> {
    let plain = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    let number = || word.parse::<u8>().ok().filter(|&code| plain && code < 64);
    named_code_point(word).or_else(number)
}

/// What a filter says of its code points.
pub(crate) fn show_codes(codes: u64) -> String {
    if codes == u64::MAX {
        return "matchall".to_owned();
    }
    let mut text = "dscp".to_owned();
    for code in (0..64u8).filter(|code| codes >> code & 1 == 1) {
        text.push(' ');
        match NAMES.iter().find(|(_, named)| *named == code) {
            Some((name, _)) => text.push_str(name),
            None => text.push_str(&code.to_string()),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_hexadecimal_and_both_parts_fit_16_bits() {
        for (text, major, minor) in [
            ("1:", 1, 0),
            ("1:11", 1, 0x11),
            ("0x1:0x11", 1, 0x11),
            ("ffe:FFFF", 0xffe, 0xffff),
        ] {
            assert_eq!(Handle::parse("x", text), Ok(Handle { major, minor }), "{text}");
        }
        for text in ["", "1", ":", ":1", "0:1", "ffff:1", "1:10000", "1:g", "1:-1", "1:1:1"] {
            let error = Handle::parse("class.parent", text).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("class.parent is {text:?}, but must be")),
                "{error}"
            );
        }
    }

    #[test]
    fn code_points_have_the_names_of_the_standards() {
        // Class selectors are multiples of 8; AFxy is 8x + 2y.
        for class in 0..8 {
            assert_eq!(code_point(&format!("cs{class}")), Some(8 * class));
        }
        for (class, precedence) in [(1, 1), (2, 3), (3, 2), (4, 2)] {
            assert_eq!(
                code_point(&format!("AF{class}{precedence}")),
                Some(8 * class + 2 * precedence)
            );
        }
        assert_eq!(
            (code_point("ef"), code_point("63"), code_point("64"), code_point("+1")),
            (Some(46), Some(63), None, None)
        );
        assert_eq!(show_codes(1 << 46 | 1 << 3), "dscp 3 EF");
        for (name, value) in [
            ("CS0", Some(0)),
            ("CS7", Some(56)),
            ("AF11", Some(10)),
            ("AF43", Some(38)),
            ("EF", Some(46)),
            ("VA", Some(44)),
            ("LE", Some(1)),
            ("CS8", None),
            ("CS", None),
            ("CS+1", None),
            ("AF14", None),
            ("AF51", None),
            ("AF1", None),
            ("BE", None),
            ("46", None),
        ] {
            assert_eq!(named_code_point(name), value, "{name}");
        }
    }
}
