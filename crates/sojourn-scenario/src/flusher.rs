//! A queue flusher on the path: key `flusher`.

use crate::context::Context;
use crate::{Backend, ScenarioError, fail, is_default};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sojourn_flusher::FlusherParams;
use sojourn_units::{Duration, words};
use std::borrow::Cow;

/// Largest packet of a burst: the IP packet of a full frame.
const PACKET_MAX: u64 = 1500;

words! {
    /// Where a flusher sits.
    #[derive(Default)]
    pub enum Place {
        /// On the client's own link: it sees what leaves the client and what reaches it.
        #[default]
        Client = "client",
        /// Before the upstream bottleneck's queue, on its router.
        Router = "router",
        /// On the server's own link.
        Server = "server",
    }
}

words! {
    /// How a burst is handed over to its host.
    #[derive(Default)]
    pub enum Bursts {
        /// Packet by packet at the rate of the link.
        #[default]
        Paced = "paced",
        /// All at once.
        AtOnce = "at_once",
        /// As the daemon does it: when it looks at its frames, as much at once as its socket has memory for, the rest as that leaves
        /// the host. Deviation: at a router, whose own queue is the bottleneck's, the socket takes all.
        Daemon = "daemon",
    }
}

words! {
    /// Whether a flusher sends.
    #[derive(Default)]
    pub enum Mode {
        /// It sends what it decides.
        #[default]
        Active = "active",
        /// It only looks.
        Passive = "passive",
    }
}

words! {
    /// What judges a flush before it is sent.
    #[derive(Default)]
    pub enum Gate {
        /// Nothing: each is sent.
        #[default]
        None = "none",
        /// The daemon's gate, as wide as a configuration of the daemon can be.
        Widest = "widest",
    }
}

/// A queue flusher on the path. It is a program that fills a standing queue with a burst of UDP packets, so that senders back
/// off. A
/// burst leaves through the same links and queues as the flow's data, and is counted where that arrives. `sim` and `linux`,
/// without `wifi`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Flusher")]
pub struct FlusherScenario {
    /// A preset by name (`"as_written"`, `"as_described"`, `"adaptive"`), or an object of parameters, of which those left out are
    /// those of its key `preset`.
    #[serde(deserialize_with = "params")]
    #[schemars(with = "Value", extend("default" = "adaptive", "x-python" = {"type": "str | Parameters"}))]
    pub params: FlusherParams,
    /// `"client"`, `"router"` or `"server"`: on which link it is, or before the upstream bottleneck's queue. One that
    /// would not cross the bottleneck is refused; on `linux` an active one is not at the router.
    #[serde(rename = "at")]
    pub place: Place,
    /// `"all"`, or the names of the TCP flows, web clients and downloads that pass it; on `linux` all.
    pub watch: Watch,
    /// `"active"`, or `"passive"`, which only looks.
    pub mode: Mode,
    /// When it begins to look, from the beginning of the measured window.
    pub start: Duration,
    /// `"paced"` (default): a burst leaves a packet at a time at the rate of its link; `"at_once"`: all of it; `"daemon"`: as the
    /// daemon hands it over, when it looks at its frames, as much as its socket has memory for (185 full
    /// ones), the rest as those leave the host.
    ///
    /// Deviation: on the linux back end the daemon hands it over as it does in any case.
    #[serde(skip_serializing_if = "is_default")]
    pub bursts: Bursts,
    /// `"none"` (default): every flush is sent; `"widest"`: the daemon's gate judges it, as wide as a configuration can be.
    ///
    /// Deviation: on the linux back end the daemon has it in any case.
    #[serde(skip_serializing_if = "is_default")]
    pub gate: Gate,
}

impl Default for FlusherScenario {
    fn default() -> Self {
        Self {
            params: serde_json::from_str("\"adaptive\"").expect("a preset"),
            place: Place::default(),
            watch: Watch::All,
            mode: Mode::default(),
            start: Duration::ZERO,
            bursts: Bursts::default(),
            gate: Gate::default(),
        }
    }
}

/// What passes a flusher.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Watch {
    /// All TCP traffic.
    #[default]
    All,
    /// What has these names.
    Names(Vec<String>),
}

const WATCH_RULE: &str = "\"all\" or a list of names of TCP flows, web clients and downloads, each once";

impl Serialize for Watch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All => serializer.serialize_str("all"),
            Self::Names(names) => names.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Watch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let refuse = |field: &str, value: &Value| {
            Err(D::Error::custom(format!(
                "{field} is {value}, but must be {WATCH_RULE}"
            )))
        };
        match Value::deserialize(deserializer)? {
            Value::String(all) if all == "all" => Ok(Self::All),
            Value::Array(names) if !names.is_empty() => {
                let mut known = Vec::new();
                for (i, name) in names.into_iter().enumerate() {
                    match name {
                        Value::String(name) if !known.contains(&name) => known.push(name),
                        other => return refuse(&format!("flusher.watch[{i}]"), &other),
                    }
                }
                Ok(Self::Names(known))
            }
            other => refuse("flusher.watch", &other),
        }
    }
}

impl JsonSchema for Watch {
    fn schema_name() -> Cow<'static, str> {
        "Watch".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": ["string", "array"], "items": {"type": "string"}})
    }
}

impl FlusherScenario {
    /// `tcp` are the names of all TCP flows, web clients and downloads.
    pub(crate) fn check(&self, tcp: &[&str], on: &Context<'_>) -> Result<(), ScenarioError> {
        if on.backend == Backend::Live {
            let sentence = "flusher is given, but the live back end has none: use the sim or the linux back end";
            return Err(ScenarioError::because(sentence.to_owned()));
        }
        if on.wifi.is_some() {
            let sentence = "flusher is given with wifi, but its places are on wires: leave one of them out";
            return Err(ScenarioError::because(sentence.to_owned()));
        }
        if on.backend == Backend::Linux && self.active() && self.place == Place::Router {
            let rule = "\"client\" or \"server\" on the linux back end, where what a router itself sends is not seen to come to its queue";
            return fail("flusher.at", format!("{:?}", self.place.name()), rule);
        }
        if let Watch::Names(names) = &self.watch {
            for (i, name) in names.iter().enumerate() {
                if !tcp.contains(&name.as_str()) {
                    return fail(&format!("flusher.watch[{i}]"), format!("{name:?}"), WATCH_RULE);
                }
            }
            if on.backend == Backend::Linux && names.len() < tcp.len() {
                let rule = "\"all\" on the linux back end: the daemon sees all that passes its interface";
                return fail("flusher.watch", Value::from(names.clone()), rule);
            }
        }
        let valid = self.params.validate();
        valid.map_err(|e| ScenarioError::because(format!("flusher.params: {e}")))?;
        if self.params.packet.get() > PACKET_MAX {
            let rule = format!("at most {PACKET_MAX} bytes, a full packet");
            return fail("flusher.params.packet", self.params.packet, rule);
        }
        crate::error::within("flusher.start", self.start, Duration::ZERO, on.duration)
    }

    /// Whether it sends; else it only looks.
    #[must_use]
    pub fn active(&self) -> bool {
        self.mode == Mode::Active
    }

    /// Whether the daemon's gate judges each flush.
    #[must_use]
    pub fn gated(&self) -> bool {
        self.gate == Gate::Widest
    }

    /// Whether what has this name passes it.
    #[must_use]
    pub fn sees(&self, name: &str) -> bool {
        match &self.watch {
            Watch::All => true,
            Watch::Names(names) => names.iter().any(|n| n == name),
        }
    }
}

/// A preset by name, or an object: of all parameters, or of those that differ from the one that it names as `preset`.
fn params<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FlusherParams, D::Error> {
    let value = Value::deserialize(deserializer)?;
    if !value.is_string() && !value.is_object() {
        let rule = "the name of a preset or an object";
        return Err(D::Error::custom(format!("is {value}, but must be {rule}")));
    }
    // From its text: an object's key that is unknown has its place then.
    serde_json::from_str(&value.to_string()).map_err(|e| {
        let message = e.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        D::Error::custom(format!("flusher.params: {message}"))
    })
}
