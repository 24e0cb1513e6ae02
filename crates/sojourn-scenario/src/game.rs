//! Streams of games: small datagrams at a constant rate, each of which should be there before the next picture is drawn.

use crate::context::Context;
use crate::cost::{Estimate, times};
use crate::error::within;
use crate::name::check_name;
use crate::probe::SIZES;
use crate::{Direction, Dscp, RTT, ScenarioError, Traffic as _, fail};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use sojourn_units::Duration;

/// Most packets a second.
const PER_SECOND_MAX: u32 = 1_000;
/// Bytes of memory for each packet.
const PACKET: f64 = 40.0;

/// A game's datagrams in one direction, at a constant rate, which are not counted as goodput. They begin as probes do.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Game", extend("required" = ["name", "direction"]))]
pub struct GameScenario {
    /// Unique within the scenario.
    #[serde(default)]
    pub name: String,
    /// `"up"` (what the player does) or `"down"` (what the server says of all players).
    pub direction: Direction,
    /// Packets a second.
    #[serde(default = "per_second")]
    pub per_second: u32,
    /// Bytes of each on the wire.
    #[serde(default = "size")]
    pub size: u16,
    /// Base round-trip time (default: the path's).
    #[serde(default)]
    #[schemars(extend("default" = null))]
    pub rtt: Duration,
    /// Which of the hosts on the client's side this is, 1 to 5000, or 64 on a kernel (default 1). Absent with `wifi`, where
    /// stations are the clients.
    pub client: Option<u16>,
    /// Which of the hosts on the server's side the other end is, 1 to 5000, or 64 on a kernel (default 1).
    pub server: Option<u16>,
    /// In a cell: at which station (default: the first).
    pub station: Option<String>,
    /// The code point of its packets, 0 to 63, or `CS0` to `CS7`, `AF11` to `AF43`, `EF`, `VA`, `LE` (default 0).
    pub dscp: Option<Dscp>,
    /// With `topology`: the nodes of client and server (default: those of `topology.ends`).
    pub ends: Option<[String; 2]>,
}

const fn per_second() -> u32 {
    30
}

const fn size() -> u16 {
    128
}

impl GameScenario {
    /// From one packet to the next.
    #[must_use]
    pub fn interval(&self) -> Duration {
        Duration::from_secs(1) / u64::from(self.per_second.max(1))
    }

    /// What the streams of games of a run need.
    pub(crate) fn cost(all: &[Self], run: &mut Estimate<'_>) {
        let packets: f64 = all.iter().map(|game| times(run.window(), game.interval())).sum();
        run.packets(packets);
        run.part(
            format!("{} streams of games with {packets:.0} packets", all.len()),
            packets * PACKET,
            "lower their per_second or shorten duration",
        );
    }

    pub(crate) fn check(&self, i: usize, on: &Context<'_>) -> Result<(), ScenarioError> {
        let place = format!("games[{i}]");
        let field = |key: &str| format!("{place}.{key}");
        check_name(&field("name"), &self.name)?;
        within(&field("per_second"), self.per_second, 1, PER_SECOND_MAX)?;
        if !SIZES.contains(&u64::from(self.size)) {
            return fail(&field("size"), self.size, "60 to 1514 bytes");
        }
        within(&field("rtt"), self.rtt, RTT.0, RTT.1)?;
        if on.backend.has_real_hosts() {
            let name = on.backend.name();
            let sentence = format!("games is given, but the {name} back end has no such traffic: use sim");
            return Err(ScenarioError::because(sentence));
        }
        self.identity().check(&place, on)?;
        on.check_ends(&place, self.ends.as_ref())
    }
}
