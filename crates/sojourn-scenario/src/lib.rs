//! A scenario: everything that a run depends on, as text that a person can write.
//!
//! This is the one place where a scenario is validated. Times, rates and sizes are in `tc`'s spelling; every key has a
//! default but `duration`; an unknown key is refused. The structs here are the keys: serde reads and writes them, and
//! [`schema`] describes them to other languages and to documents.

mod access;
mod backend;
mod check;
mod context;
mod cost;
mod download;
mod edges;
mod error;
mod flat;
mod flow;
mod flusher;
mod game;
mod hosts;
mod layout;
mod limits;
mod link;
mod name;
mod policies;
mod probe;
mod program;
mod reading;
mod scenario;
mod schema;
mod topology;
mod traffic;
mod web;
mod wifi;
mod wifi_kernel;
mod wifi_keys;
mod wifi_latency;

pub use access::{Access, Dscp, HOSTS_MAX, IdentityKeys};
pub use backend::Backend;
pub use cost::{Cost, Part};
pub use download::DownloadScenario;
pub use edges::EDGE_LIMIT;
pub use error::{ScenarioError, fail};
pub use flow::{Application, FlowProtocol, FlowScenario, Step, Transport, Writes};
pub use flusher::{Bursts, FlusherScenario, Gate, Mode, Place, Watch};
pub use game::GameScenario;
pub use limits::{Limits, NAMED as LIMITS};
pub use link::{BottleneckScenario, Impairment, LinkScenario, Shaping, usual_burst};
pub use probe::{Codec, ProbeKindScenario, ProbeScenario, Voice};
pub use program::{ProgramHost, ProgramScenario, Ready};
pub use scenario::Scenario;
pub use schema::schema;
pub use topology::{Directed, TopologyScenario};
pub use traffic::{AnyTraffic, Traffic};
pub use web::{LookUps, WebScenario};
pub use wifi::WifiScenario;
pub use wifi_kernel::discipline as wifi_discipline;

use limits::BINS_MAX;
use serde::{Deserialize, Deserializer};
use sojourn_units::{Duration, Rate, words};

/// Longest run.
const DURATION_MAX: Duration = Duration::from_secs(86_400);
/// Longest tick of a delay.
const DELAY_TICK_MAX: Duration = Duration::from_millis(100);
/// Least and longest base RTT.
const RTT: (Duration, Duration) = (Duration::from_micros(1), Duration::from_secs(60));
/// Least and highest rate.
const RATE: (Rate, Rate) = (Rate::from_bps(1_000), Rate::from_bps(100_000_000_000));
/// Largest object or file, bytes.
const OBJECT_MAX: u64 = 1 << 40;
/// A datagram of a UDP flow on the wire, bytes: 1472 of payload in a packet of 1500.
pub const UDP_FRAME: u16 = 1514;
/// The payload in it.
pub const UDP_PAYLOAD: u16 = 1472;

words! {
    /// A direction through the bottleneck.
    pub enum Direction {
        /// Client to server.
        Up = "up",
        /// Server to client.
        Down = "down",
    }
}

impl Direction {
    /// Of the two values for the directions that of this one.
    pub(crate) fn of<T>(self, up: T, down: T) -> T {
        match self {
            Self::Up => up,
            Self::Down => down,
        }
    }
}

/// Null stands for the default, as leaving a key out does.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Whether a key need not be written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
