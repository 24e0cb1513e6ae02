//! Files that are sent one after the other, with idle times between them.

use crate::context::Context;
use crate::cost::{CONNECTION, Estimate, HANDSHAKE, closing, times};
use crate::error::within;
use crate::flow::check_times;
use crate::name::check_name;
use crate::{Direction, Dscp, OBJECT_MAX, RTT, ScenarioError, Traffic as _, fail, is_default, or_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use sojourn_tcp::cc::Algorithm;
use sojourn_units::Duration;

/// Bytes of memory for each file.
const FILE: f64 = 500.0;

/// Files of one size, one after the other, each over a TCP connection of its own unless it is `persistent`. They are not counted
/// as goodput.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Download", extend("required" = ["name", "direction", "bytes", "gap"]))]
pub struct DownloadScenario {
    /// Unique within the scenario.
    #[serde(default)]
    pub name: String,
    /// `"up"` (the client sends) or `"down"`.
    pub direction: Direction,
    /// Bytes of each file.
    pub bytes: u64,
    /// Mean of the exponential time between the end of one file and the start of the next.
    pub gap: Duration,
    /// Of the senders; as `sojourn list` names them (default `"cubic"`).
    #[serde(default, deserialize_with = "or_default")]
    pub congestion_control: Algorithm,
    /// Base round-trip time (default: the path's).
    #[serde(default)]
    #[schemars(extend("default" = null))]
    pub rtt: Duration,
    /// When the first file starts, from the beginning of the measured window, before jitter.
    #[serde(default, deserialize_with = "or_default")]
    pub start: Duration,
    /// Whether all files go over one TCP connection, which stays between them (default: each over one of its own); on the simulator
    /// only.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub persistent: bool,
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

impl DownloadScenario {
    /// What the downloads of a run need: as many files as there are gaps, which are exponential, with four standard
    /// deviations of that.
    pub(crate) fn cost(all: &[Self], run: &mut Estimate<'_>) {
        let (mut files, mut open) = (0.0, 0.0);
        let duration = run.s.duration;
        for d in all {
            let mean = times(duration, d.gap + d.rtt);
            let n = mean + 4.0 * mean.sqrt();
            files += n;
            let living = 1.0 + closing(n, d.rtt, duration);
            open += living;
            let bytes = d.bytes as f64;
            let (window, segments) = (run.windowful(bytes), (bytes / run.mss).ceil() + HANDSHAKE);
            let way = run.way(d.direction);
            way.full += n * segments;
            way.windows += living * window;
        }
        run.part(
            format!("{} downloads with {files:.0} files", all.len()),
            files * FILE + open * CONNECTION,
            "lengthen their gaps or shorten duration",
        );
    }

    pub(crate) fn check(&self, i: usize, on: &Context<'_>) -> Result<(), ScenarioError> {
        let place = format!("downloads[{i}]");
        let field = |key: &str| format!("{place}.{key}");
        check_name(&field("name"), &self.name)?;
        if !(1..=OBJECT_MAX).contains(&self.bytes) {
            return fail(&field("bytes"), self.bytes, format!("1 to {OBJECT_MAX} bytes"));
        }
        within(
            &field("gap"),
            self.gap,
            Duration::from_millis(1),
            Duration::from_secs(86_400),
        )?;
        check_times(&field("gap"), self.gap, on.duration)?;
        on.check_control(&place, self.congestion_control)?;
        within(&field("rtt"), self.rtt, RTT.0, RTT.1)?;
        within(&field("start"), self.start, Duration::ZERO, on.duration)?;
        if self.persistent && on.backend.has_real_hosts() {
            return Err(ScenarioError::because(format!(
                "{} is true, but the {} back end opens a connection for each file: leave it out",
                field("persistent"),
                on.backend.name()
            )));
        }
        self.identity().check(&place, on)?;
        on.check_ends(&place, self.ends.as_ref())
    }
}
