//! A queue flusher on the path: key `flusher`.

use crate::{Backend, DownloadScenario, FlowScenario, ScenarioError, Transport, WebScenario, fail, time};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sojourn_flusher::FlusherParams;
use sojourn_units::{Duration, format_duration};

/// Largest packet of a burst: the IP packet of a full frame.
const PACKET_MAX: u64 = 1500;

/// A flusher.
#[derive(Clone, Debug)]
pub struct FlusherScenario {
    /// How it decides.
    pub params: FlusherParams,
    /// Where it is.
    pub place: Place,
    /// Names of the flows, web clients and downloads that pass it; `None` for all.
    pub watch: Option<Vec<String>>,
    /// Whether it sends; else it only looks.
    pub active: bool,
    /// When it begins to look, from the beginning of the measured window.
    pub start: Duration,
    /// How a burst is handed over.
    ///
    /// Deviation: on the linux back end the daemon hands it over as it does in any case.
    pub bursts: Bursts,
    /// Whether the daemon's gate judges each flush, as wide as a configuration of the daemon can be; else all are sent.
    ///
    /// Deviation: on the linux back end the daemon has it in any case.
    pub gated: bool,
}

/// Where a flusher sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the client's own link: it sees what leaves the client and what reaches it.
    Client,
    /// Before the upstream bottleneck's queue, on its router.
    Router,
    /// On the server's own link.
    Server,
}

impl Place {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Client, Self::Router, Self::Server];

    /// `client`, `router` or `server`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Router => "router",
            Self::Server => "server",
        }
    }
}

/// How a burst is handed over to its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bursts {
    /// Packet by packet at the rate of the link.
    Paced,
    /// All at once.
    AtOnce,
    /// As the daemon does it: when it looks at its frames, as much at once as its socket has memory for, the rest as that leaves the host.
    /// Deviation: at a router, whose own queue is the bottleneck's, the socket takes all.
    Daemon,
}

impl Bursts {
    const ALL: [Self; 3] = [Self::Paced, Self::AtOnce, Self::Daemon];

    /// As in a scenario.
    const fn name(self) -> &'static str {
        match self {
            Self::Paced => PACED,
            Self::AtOnce => "at_once",
            Self::Daemon => "daemon",
        }
    }
}

/// Its text form.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FlusherText {
    params: Value,
    at: String,
    watch: Value,
    mode: String,
    start: String,
    #[serde(skip_serializing_if = "is_paced")]
    bursts: String,
    #[serde(skip_serializing_if = "is_open")]
    gate: String,
}

/// Not written, so that the text of scenarios is what it was before there was a choice.
fn is_paced(bursts: &str) -> bool {
    bursts == PACED
}

/// As above.
fn is_open(gate: &str) -> bool {
    gate == OPEN
}

const PACED: &str = "paced";
const OPEN: &str = "none";
const WIDEST: &str = "widest";

impl Default for FlusherText {
    fn default() -> Self {
        Self {
            params: "adaptive".into(),
            at: "client".into(),
            watch: "all".into(),
            mode: "active".into(),
            start: "0s".into(),
            bursts: PACED.into(),
            gate: OPEN.into(),
        }
    }
}

/// The traffic of a scenario that a flusher may see.
pub(crate) struct Traffic<'a> {
    pub(crate) flows: &'a [FlowScenario],
    pub(crate) web: &'a [WebScenario],
    pub(crate) downloads: &'a [DownloadScenario],
}

impl Traffic<'_> {
    /// How many there are.
    fn count(&self) -> usize {
        let tcp = self.flows.iter().filter(|f| f.transport == Transport::Tcp);
        tcp.count() + self.web.len() + self.downloads.len()
    }

    /// Whether `name` is that of TCP traffic.
    fn has(&self, name: &str) -> bool {
        let tcp = |f: &FlowScenario| f.transport == Transport::Tcp && f.name == name;
        self.flows.iter().any(tcp)
            || self.web.iter().any(|w| w.name == name)
            || self.downloads.iter().any(|d| d.name == name)
    }
}

impl FlusherScenario {
    pub(crate) fn read(
        t: &FlusherText,
        traffic: &Traffic<'_>,
        duration: Duration,
        backend: Backend,
        wifi: bool,
    ) -> Result<Self, ScenarioError> {
        if backend == Backend::Live {
            return Err(ScenarioError(
                "flusher is given, but the live back end has none: use the sim or the linux back end".to_owned(),
            ));
        }
        if wifi {
            return Err(ScenarioError(
                "flusher is given with wifi, but its places are on wires: leave one of them out".to_owned(),
            ));
        }
        let place = Place::ALL.into_iter().find(|place| place.name() == t.at);
        let Some(place) = place else {
            return fail(
                "flusher.at",
                format!("{:?}", t.at),
                "\"client\", \"router\" or \"server\"",
            );
        };
        let active = match t.mode.as_str() {
            "active" => true,
            "passive" => false,
            other => return fail("flusher.mode", format!("{other:?}"), "\"active\" or \"passive\""),
        };
        if backend == Backend::Linux && active && place == Place::Router {
            let rule = "\"client\" or \"server\" on the linux back end, where what a router itself sends is not seen to come to its queue";
            return fail("flusher.at", format!("{:?}", t.at), rule);
        }
        let bursts = Bursts::ALL.into_iter().find(|bursts| bursts.name() == t.bursts);
        let Some(bursts) = bursts else {
            let rule = "\"paced\", \"at_once\" or \"daemon\"";
            return fail("flusher.bursts", format!("{:?}", t.bursts), rule);
        };
        let gated = match t.gate.as_str() {
            OPEN => false,
            WIDEST => true,
            other => return fail("flusher.gate", format!("{other:?}"), "\"none\" or \"widest\""),
        };
        let watch = watch(&t.watch, traffic)?;
        if backend == Backend::Linux && watch.as_ref().is_some_and(|names| names.len() < traffic.count()) {
            let rule = "\"all\" on the linux back end: the daemon sees all that passes its interface";
            return fail("flusher.watch", &t.watch, rule);
        }
        Ok(Self {
            params: params(&t.params)?,
            place,
            watch,
            active,
            start: time("flusher.start", &t.start, Duration::ZERO, duration)?,
            bursts,
            gated,
        })
    }

    pub(crate) fn text(&self) -> FlusherText {
        FlusherText {
            params: serde_json::to_value(self.params).expect("parameters are plain data"),
            at: self.place.name().into(),
            watch: self
                .watch
                .as_ref()
                .map_or_else(|| "all".into(), |names| names.clone().into()),
            mode: if self.active { "active" } else { "passive" }.into(),
            start: format_duration(self.start),
            bursts: self.bursts.name().into(),
            gate: if self.gated { WIDEST } else { OPEN }.into(),
        }
    }

    /// Whether what has this name passes it.
    #[must_use]
    pub fn sees(&self, name: &str) -> bool {
        self.watch.as_ref().is_none_or(|names| names.iter().any(|n| n == name))
    }
}

/// A preset by name, or an object: of all parameters, or of those that differ from the one that it names as `preset`.
fn params(value: &Value) -> Result<FlusherParams, ScenarioError> {
    let field = "flusher.params";
    if !value.is_string() && !value.is_object() {
        return fail(field, value, "the name of a preset or an object");
    }
    // From its text: an object's key that is unknown has its place then.
    let text = value.to_string();
    let params: FlusherParams = serde_json::from_str(&text).map_err(|e| {
        let message = e.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        ScenarioError(format!("{field}: {message}"))
    })?;
    params.validate().map_err(|e| ScenarioError(format!("{field}: {e}")))?;
    if params.packet.get() > PACKET_MAX {
        let rule = format!("at most {PACKET_MAX} bytes, a full packet");
        return fail("flusher.params.packet", params.packet, rule);
    }
    Ok(params)
}

/// `"all"`, or names of TCP traffic, each once.
fn watch(value: &Value, traffic: &Traffic<'_>) -> Result<Option<Vec<String>>, ScenarioError> {
    let rule = "\"all\" or a list of names of TCP flows, web clients and downloads, each once";
    let names = match value {
        Value::String(all) if all == "all" => return Ok(None),
        Value::Array(names) if !names.is_empty() => names,
        other => return fail("flusher.watch", other, rule),
    };
    let mut known: Vec<String> = Vec::new();
    for (i, name) in names.iter().enumerate() {
        match name {
            Value::String(name) if traffic.has(name) && !known.contains(name) => known.push(name.clone()),
            other => return fail(&format!("flusher.watch[{i}]"), other, rule),
        }
    }
    Ok(Some(known))
}
