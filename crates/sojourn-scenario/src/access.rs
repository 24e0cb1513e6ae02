//! Between which hosts traffic goes, and how its packets are classified: keys `client`, `server`, `station` and `dscp`.

use crate::context::Context;
use crate::{Backend, ScenarioError, WifiScenario, fail};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use sojourn_qdisc::{CODE_POINT_RULE, named_code_point};
use std::borrow::Cow;
use std::fmt;

/// A differentiated services code point, 0 to 63: in files a number, or the name that RFC 2474, 2597, 3246, 5865 or 8622 gives
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Dscp(pub u8);

struct DscpVisitor;

impl Visitor<'_> for DscpVisitor {
    type Value = Dscp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(CODE_POINT_RULE)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Dscp, E> {
        let found = u8::try_from(number).ok().filter(|&number| number < 64);
        found
            .map(Dscp)
            .ok_or_else(|| E::custom(format!("is {number}, but must be {CODE_POINT_RULE}")))
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Dscp, E> {
        let found = named_code_point(name);
        found
            .map(Dscp)
            .ok_or_else(|| E::custom(format!("is {name:?}, but must be {CODE_POINT_RULE}")))
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

/// Most hosts of each side, as many as a large conference has.
pub const HOSTS_MAX: u16 = 5000;
/// The same on a kernel: its beds give each host an address of its own network (10.N.0.0).
const HOSTS_OF_A_BED: u16 = 64;

/// Where the two ends of a flow, probe, web client or download are, and how its packets are classified, in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Index among the cell's stations; 0 without a cell.
    pub station: usize,
    /// Index among the hosts of the client's side.
    pub client: u16,
    /// Index among the hosts of the server's side.
    pub server: u16,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
}

/// The keys of traffic that say whose packets these are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdentityKeys<'a> {
    /// Key `client`, from 1 on.
    pub client: Option<u16>,
    /// Key `server`, from 1 on.
    pub server: Option<u16>,
    /// Key `station`.
    pub station: Option<&'a str>,
    /// Key `dscp`.
    pub dscp: Option<Dscp>,
}

impl IdentityKeys<'_> {
    /// Where the ends are, in this cell or on wires.
    pub(crate) fn access(self, wifi: Option<&WifiScenario>) -> Access {
        let place = |wifi: &WifiScenario| {
            let stations = &wifi.cell.stations;
            stations.iter().position(|s| Some(s.name.as_str()) == self.station)
        };
        let index = |number: Option<u16>| number.unwrap_or(1).saturating_sub(1);
        Access {
            station: wifi.and_then(place).unwrap_or(0),
            client: index(self.client),
            server: index(self.server),
            dscp: self.dscp.unwrap_or_default().0,
        }
    }

    /// Refuses a host or a station that is not there; `place` is such as `flows[2]`.
    pub(crate) fn check(self, place: &str, on: &Context) -> Result<(), ScenarioError> {
        let (wifi, field) = (on.wifi, |key: &str| format!("{place}.{key}"));
        let (most, rule) = match on.backend {
            Backend::Sim => (HOSTS_MAX, format!("1 to {HOSTS_MAX}")),
            Backend::Linux | Backend::Live => (
                HOSTS_OF_A_BED,
                format!("1 to {HOSTS_OF_A_BED} on a kernel; the simulator has {HOSTS_MAX}"),
            ),
        };
        for (key, number) in [("client", self.client), ("server", self.server)] {
            if let Some(number) = number.filter(|number| !(1..=most).contains(number)) {
                return fail(&field(key), number, rule);
            }
        }
        match (wifi, self.station) {
            (Some(_), _) if self.client.is_some() => {
                let rule = "absent with wifi, where each station is a client";
                fail(&field("client"), self.client.unwrap_or_default(), rule)
            }
            (None, Some(name)) => fail(&field("station"), format!("{name:?}"), "absent without wifi"),
            (Some(wifi), Some(name)) if !wifi.cell.stations.iter().any(|s| s.name == name) => {
                let rule = "the name of one of wifi.stations";
                fail(&field("station"), format!("{name:?}"), rule)
            }
            _ => Ok(()),
        }
    }
}

/// The same keys, to be completed.
pub(crate) struct IdentityKeysMut<'a> {
    pub(crate) client: &'a mut Option<u16>,
    pub(crate) server: &'a mut Option<u16>,
    pub(crate) station: &'a mut Option<String>,
    pub(crate) dscp: &'a mut Option<Dscp>,
}

impl IdentityKeysMut<'_> {
    /// Leaves out what says no more than the default, so that one scenario has one text. In a cell the code point of all traffic
    /// is written out.
    pub(crate) fn leave_out_defaults(self, cell: bool) {
        if !cell {
            self.client.take_if(|number| *number == 1);
            self.dscp.take_if(|Dscp(number)| *number == 0);
        }
        self.server.take_if(|number| *number == 1);
    }
}
