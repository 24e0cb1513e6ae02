//! Through which station traffic goes, and how its packets are classified: keys `station` and `dscp`.

use crate::{ScenarioError, WifiScenario, fail};
use serde_json::Value;

/// Which station a flow, probe, web client or download is at, and how its packets are classified, in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Index among the cell's stations; 0 without a cell.
    pub station: usize,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
}

impl Access {
    /// Reads `station` and `dscp` of `place`, such as `flows[2]`.
    pub(crate) fn read(
        place: &str,
        station: Option<&str>,
        dscp: Option<&Value>,
        wifi: Option<&WifiScenario>,
    ) -> Result<Self, ScenarioError> {
        let Some(wifi) = wifi else {
            let rule = "absent without wifi";
            if let Some(name) = station {
                return fail(&format!("{place}.station"), format!("{name:?}"), rule);
            }
            if let Some(value) = dscp {
                return fail(&format!("{place}.dscp"), value, rule);
            }
            return Ok(Self::default());
        };
        let station = match station {
            None => 0,
            Some(name) => {
                let found = wifi.cell.stations.iter().position(|s| s.name == name);
                let Some(found) = found else {
                    return fail(
                        &format!("{place}.station"),
                        format!("{name:?}"),
                        "the name of one of wifi.stations",
                    );
                };
                found
            }
        };
        let dscp = dscp.map_or(Ok(0), |value| read_dscp(&format!("{place}.dscp"), value))?;
        Ok(Self { station, dscp })
    }
}

/// A code point by number, or by the name that RFC 2474, 2597, 3246, 5865 or 8622 gives it.
fn read_dscp(field: &str, value: &Value) -> Result<u8, ScenarioError> {
    let number = match value {
        Value::Number(n) => n.as_u64().filter(|&n| n < 64).map(|n| n as u8),
        Value::String(name) => named_dscp(&name.to_ascii_uppercase()),
        _ => None,
    };
    number.map_or_else(
        || {
            fail(
                field,
                value,
                "0 to 63, or a name: CS0 to CS7, AF11 to AF43, EF, VA or LE",
            )
        },
        Ok,
    )
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
