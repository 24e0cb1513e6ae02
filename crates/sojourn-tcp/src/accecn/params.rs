//! What may be set of ECN.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// The value that is a word.
const ACCURATE: &str = "accecn";

/// Which feedback of congestion an end wants, or both have agreed on. Written `false`, `true` or `"accecn"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EcnMode {
    /// None: a full queue drops.
    #[default]
    Off,
    /// One echo until the window is reduced (RFC 3168).
    Classic,
    /// A count of the marks (AccECN, RFC 9768).
    Accurate,
}

impl EcnMode {
    /// Whether packets may be marked.
    #[must_use]
    pub fn is_on(self) -> bool {
        self != Self::Off
    }

    /// The value of Linux's `net.ipv4.tcp_ecn` that asks for it and agrees to it.
    #[must_use]
    pub const fn sysctl(self) -> u8 {
        match self {
            Self::Off => 0,
            Self::Classic => 1,
            Self::Accurate => 3,
        }
    }
}

impl From<bool> for EcnMode {
    fn from(on: bool) -> Self {
        if on { Self::Classic } else { Self::Off }
    }
}

/// Reads what the key says.
struct Reader;

impl Visitor<'_> for Reader {
    type Value = EcnMode;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "true, false or {ACCURATE:?}")
    }

    fn visit_bool<E: Error>(self, on: bool) -> Result<EcnMode, E> {
        Ok(on.into())
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<EcnMode, E> {
        if word == ACCURATE {
            Ok(EcnMode::Accurate)
        } else {
            Err(E::invalid_value(Unexpected::Str(word), &self))
        }
    }
}

impl Serialize for EcnMode {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => to.serialize_bool(false),
            Self::Classic => to.serialize_bool(true),
            Self::Accurate => to.serialize_str(ACCURATE),
        }
    }
}

impl<'a> Deserialize<'a> for EcnMode {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

/// Python knows the word, too.
impl JsonSchema for EcnMode {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "EcnMode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["boolean", "string"], "x-python": {"type": "bool | Literal[\"accecn\"]"}})
    }
}

/// When the AccECN option is sent. Source: Linux `net.ipv4.tcp_ecn_option`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptionUse {
    /// Never (0): the three bits of the header have to do.
    Never,
    /// After a change of what comes, and now and then (1).
    Minimum,
    /// With each segment, until something shows that it is lost for that (2).
    #[default]
    Always,
    /// The same, whatever shows (3).
    Persist,
}

/// What may be set on AccECN. The default is Linux 7.3's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcnParams {
    /// When the option is sent.
    pub option: OptionUse,
    /// With [`OptionUse::Minimum`] it is sent at least so often a round trip; 0 for never. Source: Linux
    /// `net.ipv4.tcp_ecn_option_beacon`.
    pub beacon: u8,
    /// Whether a SYN that is lost again and again stops asking for ECN, classic ECN too, and whether a codepoint that
    /// the network may not have made ends ECN-capable sending. Source: Linux `net.ipv4.tcp_ecn_fallback`.
    pub fallback: bool,
}

impl Default for AccEcnParams {
    fn default() -> Self {
        Self {
            option: OptionUse::default(),
            beacon: 3,
            fallback: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TcpParams;

    #[test]
    fn the_mode_is_a_truth_value_or_a_word() {
        for (text, mode) in [
            ("false", EcnMode::Off),
            ("true", EcnMode::Classic),
            ("\"accecn\"", EcnMode::Accurate),
        ] {
            assert_eq!(serde_json::from_str::<EcnMode>(text).expect("it is one"), mode);
            assert_eq!(serde_json::to_string(&mode).expect("it is text"), text);
        }
        let refused = serde_json::from_str::<TcpParams>("{\"ecn\": \"acecn\"}").expect_err("no such mode");
        assert!(
            refused
                .to_string()
                .starts_with("invalid value: string \"acecn\", expected true, false or \"accecn\""),
            "{refused}"
        );
    }
}
