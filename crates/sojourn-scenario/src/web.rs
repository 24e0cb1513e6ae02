//! Web clients.

use crate::context::Context;
use crate::cost::{CONNECTION, Estimate, HANDSHAKE, closing, times};
use crate::error::within;
use crate::flow::check_times;
use crate::name::check_name;
use crate::{Dscp, OBJECT_MAX, RTT, ScenarioError, Traffic as _, fail, is_default, or_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use sojourn_tcp::cc::Algorithm;
use sojourn_units::{Duration, words};

/// Most objects of a page, and connections of a client.
const OBJECTS_MAX: usize = 10_000;
const WORKERS_MAX: usize = 64;
/// Bytes of memory for each fetch of a page.
const FETCH: f64 = 1_500.0;
/// Largest request and header, bytes.
const MESSAGE_MAX: u64 = 1 << 20;

words! {
    /// Which connections of a page begin with a look-up of the server's name.
    #[derive(Default)]
    pub enum LookUps {
        /// Each, as separate processes do: `connection`.
        #[default]
        Connection = "connection",
        /// The first, whose answer the others use, as a browser with a cache of names does: `page`.
        Page = "page",
    }
}

impl LookUps {
    /// Whether the connection of this worker, of which the first is number 0, begins with a look-up.
    #[must_use]
    pub fn include(self, worker: usize) -> bool {
        worker == 0 || self == Self::Connection
    }
}

/// A web client that fetches one page again and again. Its traffic is not counted as goodput.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Web", extend("required" = ["name", "objects"]))]
pub struct WebScenario {
    /// Unique within the scenario.
    pub name: String,
    /// A free name of the page.
    pub page: String,
    /// Bytes of the main document, then of the other objects in the order in which they are asked for.
    pub objects: Vec<u64>,
    /// Most connections at a time.
    pub workers: usize,
    /// From the beginning of a fetch to that of the next; one that takes longer is followed at once.
    pub interval: Duration,
    /// Of client and server; as `sojourn list` names them.
    pub congestion_control: Algorithm,
    /// Base round-trip time to the server (default: the path's).
    #[schemars(extend("default" = null))]
    pub rtt: Duration,
    /// When the first fetch begins, from the beginning of the measured window, before jitter.
    pub start: Duration,
    /// What the server waits before each answer.
    pub think_time: Duration,
    /// Bytes of each request.
    pub request_bytes: u64,
    /// Bytes before the object in each answer.
    pub header_bytes: u64,
    /// Whether the server's name is looked up.
    pub dns: bool,
    /// `"connection"` (default): each connection of a page begins with a look-up. `"page"`: the first alone, and the others use its
    /// answer; only with `dns`.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub look_ups: LookUps,
    /// Which of the hosts on the client's side this is, 1 to 5000, or 64 on a kernel (default 1). Absent with `wifi`, where
    /// stations are the clients.
    pub client: Option<u16>,
    /// Which of the hosts on the server's side the other end is, 1 to 5000, or 64 on a kernel (default 1).
    pub server: Option<u16>,
    /// In a cell: at which station (default: the first).
    pub station: Option<String>,
    /// The code point of both directions' packets, 0 to 63, or `CS0` to `CS7`, `AF11` to `AF43`, `EF`, `VA`, `LE`
    /// (default 0).
    pub dscp: Option<Dscp>,
    /// With `topology`: the nodes of client and server (default: those of `topology.ends`).
    pub ends: Option<[String; 2]>,
}

impl Default for WebScenario {
    fn default() -> Self {
        Self {
            name: String::new(),
            page: "custom".into(),
            objects: Vec::new(),
            workers: 4,
            interval: Duration::from_millis(200),
            congestion_control: Algorithm::default(),
            rtt: Duration::ZERO,
            start: Duration::ZERO,
            think_time: Duration::ZERO,
            // cURL's GET of a path of some 20 letters: request line, Host, User-Agent, Accept.
            request_bytes: 100,
            // Status line and the ten or so header lines of a plain server.
            header_bytes: 300,
            dns: true,
            look_ups: LookUps::default(),
            client: None,
            server: None,
            station: None,
            dscp: None,
            ends: None,
        }
    }
}

impl WebScenario {
    /// What the web clients of a run need: a fetch takes two round trips at least, and another follows when its interval
    /// is over.
    pub(crate) fn cost(all: &[Self], run: &mut Estimate<'_>) {
        let (mut fetches, mut open) = (0.0, 0.0);
        let (duration, mss) = (run.s.duration, run.mss);
        for w in all {
            let n = times(duration, w.interval).min(times(duration, w.rtt * 2));
            fetches += n;
            let connections = w.workers.min(w.objects.len()) as f64;
            let living = connections * (1.0 + closing(n, w.rtt, duration));
            open += living;
            let segments = |bytes: u64| (bytes as f64 / mss).ceil();
            let answers: f64 = w.objects.iter().map(|object| segments(object + w.header_bytes)).sum();
            let requests = segments(w.request_bytes) * w.objects.len() as f64;
            let window = run.windowful(w.objects.iter().max().map_or(0.0, |object| *object as f64));
            for (way, data) in run.ways.iter_mut().zip([requests, answers]) {
                way.full += n * (data + HANDSHAKE * connections);
                way.windows += living * window;
            }
        }
        run.part(
            format!("{} web clients with {fetches:.0} fetches", all.len()),
            fetches * FETCH + open * CONNECTION,
            "lengthen their intervals or shorten duration",
        );
    }

    pub(crate) fn check(&self, i: usize, on: &Context<'_>) -> Result<(), ScenarioError> {
        let place = format!("web[{i}]");
        let field = |key: &str| format!("{place}.{key}");
        check_name(&field("name"), &self.name)?;
        check_name(&field("page"), &self.page)?;
        let count = self.objects.len();
        if !(1..=OBJECTS_MAX).contains(&count) {
            let rule = format!("a list of 1 to {OBJECTS_MAX} sizes in bytes");
            return fail(&field("objects"), format!("a list of {count}"), rule);
        }
        for (k, &bytes) in self.objects.iter().enumerate() {
            if !(1..=OBJECT_MAX).contains(&bytes) {
                return fail(
                    &field(&format!("objects[{k}]")),
                    bytes,
                    format!("1 to {OBJECT_MAX} bytes"),
                );
            }
        }
        within(&field("workers"), self.workers, 1, WORKERS_MAX)?;
        within(&field("request_bytes"), self.request_bytes, 1, MESSAGE_MAX)?;
        within(&field("header_bytes"), self.header_bytes, 0, MESSAGE_MAX)?;
        if self.look_ups == LookUps::Page && !self.dns {
            return fail(&field("look_ups"), "page", "absent with dns false");
        }
        within(
            &field("interval"),
            self.interval,
            Duration::from_millis(1),
            Duration::from_secs(3600),
        )?;
        check_times(&field("interval"), self.interval, on.duration)?;
        on.check_control(&place, self.congestion_control)?;
        within(&field("rtt"), self.rtt, RTT.0, RTT.1)?;
        within(&field("start"), self.start, Duration::ZERO, on.duration)?;
        within(
            &field("think_time"),
            self.think_time,
            Duration::ZERO,
            Duration::from_secs(60),
        )?;
        self.identity().check(&place, on)?;
        on.check_ends(&place, self.ends.as_ref())
    }
}
