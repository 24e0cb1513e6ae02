//! Units and words as they stand in files: text in `tc`'s spelling, read and written by serde.
//!
//! A refusal is a part of a sentence that begins with the name of the field: `is "x", but must be "up" or "down"`, or
//! the sentence of [`UnitError`](crate::UnitError).

use crate::{Bytes, Duration, Rate, parse_bytes, parse_duration, parse_rate};
use serde::Deserializer;
use serde::de::{self, Visitor};
use std::fmt;

/// Reads a text with a function whose error is a part of a sentence.
#[derive(Debug)]
struct Text<F>(F);

impl<T, E: fmt::Display, F: Fn(&str) -> Result<T, E>> Visitor<'_> for Text<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<R: de::Error>(self, text: &str) -> Result<T, R> {
        (self.0)(text).map_err(R::custom)
    }
}

/// Reads a text, for the code of [`text!`](crate::text).
///
/// # Errors
/// What `parse` says, which is a part of a sentence.
#[doc(hidden)]
pub fn read<'de, D: Deserializer<'de>, T, E: fmt::Display>(
    deserializer: D,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<T, D::Error> {
    deserializer.deserialize_str(Text(parse))
}

/// Serde, and the schema, of a type that stands in files as text: as it is displayed, read by a function. A word says
/// what the text is, such as `time`.
///
/// ```
/// struct Level(u8);
/// impl std::fmt::Display for Level {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         write!(f, "L{}", self.0)
///     }
/// }
/// sojourn_units::text!(Level, |text: &str| match text {
///     "L1" => Ok(Level(1)),
///     other => Err(format!("is {other:?}, but must be \"L1\"")),
/// });
/// ```
#[macro_export]
macro_rules! text {
    ($Type:ty, $parse:expr $(, $format:literal)?) => {
        impl $crate::macros::serde::Serialize for $Type {
            fn serialize<S: $crate::macros::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> $crate::macros::serde::Deserialize<'de> for $Type {
            fn deserialize<D: $crate::macros::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::macros::read(deserializer, $parse)
            }
        }

        impl $crate::macros::JsonSchema for $Type {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($Type).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut $crate::macros::SchemaGenerator) -> $crate::macros::Schema {
                $crate::macros::json_schema!({"type": "string" $(, "format": $format)?})
            }
        }
    };
}

text!(Duration, parse_duration, "time");
text!(Rate, parse_rate, "rate");
text!(Bytes, parse_bytes, "size");

/// The word that is meant, for the code of [`words!`](crate::words).
///
/// # Errors
/// The rest of a sentence that begins with the field.
#[doc(hidden)]
pub fn choose<'de, D: Deserializer<'de>, T: Copy>(deserializer: D, all: &[T], names: &[&str]) -> Result<T, D::Error> {
    read(deserializer, |text| {
        let found = names.iter().position(|name| *name == text);
        found
            .map(|i| all[i])
            .ok_or_else(|| format!("is {text:?}, but must be {}", listed(names)))
    })
}

/// `"a"`, `"a" or "b"`, `"a", "b" or "c"`.
fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_written_as_tc_spells_them() {
        let text = |value: serde_json::Value| value.as_str().map(str::to_owned);
        let written = serde_json::to_value(Duration::from_millis(50)).expect("text");
        assert_eq!(text(written).as_deref(), Some("50ms"));
        let written = serde_json::to_value(Rate::from_mbit(10)).expect("text");
        assert_eq!(text(written).as_deref(), Some("10mbit"));
        let written = serde_json::to_value(Bytes::new(3028)).expect("text");
        assert_eq!(text(written).as_deref(), Some("3028b"));
    }

    #[test]
    fn what_is_no_quantity_is_refused_with_the_rule() {
        let error = serde_json::from_str::<Duration>("\"10mbit\"").expect_err("no time");
        assert!(
            error.to_string().starts_with("\"10mbit\" is not a time: it must be"),
            "{error}"
        );
        let error = serde_json::from_str::<Rate>("5").expect_err("no text");
        assert!(error.to_string().contains("expected a string"), "{error}");
    }

    #[test]
    fn lists_of_words_are_read_aloud() {
        assert_eq!(listed(&["a"]), "\"a\"");
        assert_eq!(listed(&["a", "b"]), "\"a\" or \"b\"");
        assert_eq!(listed(&["a", "b", "c"]), "\"a\", \"b\" or \"c\"");
    }
}
