//! Through which station traffic goes, and how its packets are classified: keys `station` and `dscp`.

use crate::{ScenarioError, WifiScenario, fail};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;

/// A differentiated services code point, 0 to 63: in files a number, or the name that RFC 2474, 2597, 3246, 5865 or 8622 gives
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Dscp(pub u8);

const DSCP_RULE: &str = "0 to 63, or a name: CS0 to CS7, AF11 to AF43, EF, VA or LE";

struct DscpVisitor;

impl Visitor<'_> for DscpVisitor {
    type Value = Dscp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(DSCP_RULE)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Dscp, E> {
        let found = u8::try_from(number).ok().filter(|&number| number < 64);
        found
            .map(Dscp)
            .ok_or_else(|| E::custom(format!("is {number}, but must be {DSCP_RULE}")))
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Dscp, E> {
        let found = named_dscp(&name.to_ascii_uppercase());
        found
            .map(Dscp)
            .ok_or_else(|| E::custom(format!("is {name:?}, but must be {DSCP_RULE}")))
    }
}

impl<'de> Deserialize<'de> for Dscp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DscpVisitor)
    }
}

impl JsonSchema for Dscp {
    fn schema_name() -> Cow<'static, str> {
        "Dscp".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["integer", "string"], "minimum": 0, "maximum": 63})
    }
}

/// Which station a flow, probe, web client or download is at, and how its packets are classified, in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Index among the cell's stations; 0 without a cell.
    pub station: usize,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
}

impl Access {
    /// Of traffic with these two keys.
    pub(crate) fn new(station: Option<&str>, dscp: Option<Dscp>, wifi: Option<&WifiScenario>) -> Self {
        let place = |wifi: &WifiScenario| wifi.cell.stations.iter().position(|s| Some(s.name.as_str()) == station);
        Self {
            station: wifi.and_then(place).unwrap_or(0),
            dscp: dscp.unwrap_or_default().0,
        }
    }

    /// Refuses a station that is not there, and both keys without a cell; `place` is such as `flows[2]`.
    pub(crate) fn check(
        place: &str,
        station: Option<&str>,
        dscp: Option<Dscp>,
        wifi: Option<&WifiScenario>,
    ) -> Result<(), ScenarioError> {
        let field = |key: &str| format!("{place}.{key}");
        match (wifi, station, dscp) {
            (None, Some(name), _) => fail(&field("station"), format!("{name:?}"), "absent without wifi"),
            (None, None, Some(Dscp(number))) => fail(&field("dscp"), number, "absent without wifi"),
            (Some(wifi), Some(name), _) if !wifi.cell.stations.iter().any(|s| s.name == name) => {
                let rule = "the name of one of wifi.stations";
                fail(&field("station"), format!("{name:?}"), rule)
            }
            _ => Ok(()),
        }
    }
}

fn named_dscp(name: &str) -> Option<u8> {
    match name {
        "EF" => return Some(46),
        "VA" => return Some(44),
        "LE" => return Some(1),
        _ => {}
    }
    let digit = |text: &str, least: u8, most: u8| {
        let n = text.parse::<u8>().ok()?;
        (text.len() == 1 && (least..=most).contains(&n)).then_some(n)
    };
    if let Some(class) = name.strip_prefix("CS") {
        return Some(8 * digit(class, 0, 7)?);
    }
    let (class, precedence) = name.strip_prefix("AF")?.split_at_checked(1)?;
    Some(8 * digit(class, 1, 4)? + 2 * digit(precedence, 1, 3)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_have_the_values_of_their_rfcs() {
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
        ] {
            assert_eq!(named_dscp(name), value, "{name}");
        }
    }
}
