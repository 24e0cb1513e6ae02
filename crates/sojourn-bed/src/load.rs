//! What traffic a bed carries.

use crate::qdisc::QdiscPlan;
use crate::wifi::WifiPlan;
use serde::{Deserialize, Serialize};
use sojourn_scenario::{
    DownloadScenario, EDGE_LIMIT, FlowScenario, ProbeScenario, ProgramScenario, Traffic, WebScenario,
};
use sojourn_tcp::TcpParams;
use std::ops::Deref;

/// All traffic of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadPlan {
    /// [`crate::LOAD_FORMAT`].
    pub format: String,
    /// Seed of the run; streams of random numbers are named as the simulator's are.
    pub seed: u64,
    /// Probes begin this long before the measured window.
    pub lead_ns: u64,
    /// The measured window.
    pub duration_ns: u64,
    /// Width of the bins of all series.
    pub interval_ns: u64,
    /// Base RTT of each path, in increasing order. The server has an address for each.
    pub paths: Vec<u64>,
    /// Client to server. The agent reads neither this nor the next two, but for a bottleneck of ours.
    #[serde(default)]
    pub up: BottleneckPlan,
    /// Server to client.
    #[serde(default)]
    pub down: BottleneckPlan,
    /// Rate of the links at the edges, bit/s; `None` for as fast as they go.
    #[serde(default)]
    pub edge_rate_bps: Option<u64>,
    /// Depth of their token buckets, bytes; `None` for wires, in whose place a bed has buckets of one frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge_burst_bytes: Option<u64>,
    /// Packets that the queue before each of them holds.
    #[serde(default = "edge_limit", skip_serializing_if = "is_edge_limit")]
    pub edge_limit: u32,
    /// What may be set on the kernels' TCP.
    #[serde(default)]
    pub tcp: TcpParams,
    /// TCP flows.
    pub flows: Vec<FlowPlan>,
    /// Probes, voice streams among them.
    pub probes: Vec<ProbePlan>,
    /// Web clients.
    pub web: Vec<WebPlan>,
    /// Downloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<DownloadPlan>,
    /// The cell between the clients and `r1`; `None` for a wire, which has one client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wifi: Option<WifiPlan>,
    /// A queue flusher on the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flusher: Option<FlusherPlan>,
    /// Programs in the hosts, as the scenario has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramScenario>,
}

/// A queue flusher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlusherPlan {
    /// Where it is: `client`, `router` or `server`.
    pub at: String,
    /// Whether it sends.
    pub active: bool,
    /// When it begins to look.
    pub start_ns: u64,
    /// How it decides: the table `flusher` of the daemon's configuration, TOML.
    pub parameters: String,
}

const fn edge_limit() -> u32 {
    EDGE_LIMIT
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
const fn is_edge_limit(limit: &u32) -> bool {
    *limit == EDGE_LIMIT
}

fn is_zero<N: Default + PartialEq>(n: &N) -> bool {
    *n == N::default()
}

/// Where the two ends of a piece of traffic are, and how the packets of both directions are classified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessPlan {
    /// Index of its station in the cell; 0 without a cell.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub station: u16,
    /// Index of its client among the hosts of the client's side; 0 in a cell, where stations are the clients.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub client: u16,
    /// Index of its server among the hosts of the server's side.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub server: u16,
    /// Differentiated services code point, 0 to 63.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dscp: u8,
}

impl AccessPlan {
    /// The octet of the IPv4 header that bears the code point.
    #[must_use]
    pub const fn tos(self) -> u8 {
        self.dscp << 2
    }
}

/// One direction of the bottleneck.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BottleneckPlan {
    /// Its rate, bit/s.
    pub rate_bps: u64,
    /// Depth of the token bucket.
    pub burst_bytes: u64,
    /// The discipline.
    pub qdisc: QdiscPlan,
    /// Probability that a packet is lost on the long link after it, in parts of 2^32, as netem has it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub loss: u32,
    /// Each packet takes longer there by a time uniform in 0 to this; none overtakes another.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub jitter_ns: u64,
}

/// A piece of traffic of a scenario, and what was drawn and decided of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned<T> {
    /// As the scenario has it.
    pub spec: T,
    /// Index of its path.
    pub path: usize,
    /// When it connects, or when its first packet leaves; of a probe mostly before the measured window.
    pub start_ns: i64,
    /// At which client, and with which code point.
    #[serde(flatten)]
    pub access: AccessPlan,
    /// Of a download: from the end of each file to the start of the next; more than a run can need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps_ns: Vec<u64>,
}

impl<T> Deref for Planned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.spec
    }
}

/// What a plan says of any piece of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Common<'a> {
    /// Its name.
    pub name: &'a str,
    /// As in [`Planned`].
    pub path: usize,
    /// As in [`Planned`].
    pub start_ns: i64,
    /// As in [`Planned`].
    pub access: AccessPlan,
}

impl<T: Traffic> Planned<T> {
    fn common(&self) -> Common<'_> {
        Common {
            name: self.spec.name(),
            path: self.path,
            start_ns: self.start_ns,
            access: self.access,
        }
    }
}

impl LoadPlan {
    /// All traffic: flows, probes, downloads and web clients.
    pub fn traffic(&self) -> impl Iterator<Item = Common<'_>> + Clone {
        let flows = self.flows.iter().map(Planned::common);
        let probes = self.probes.iter().map(Planned::common);
        let downloads = self.downloads.iter().map(Planned::common);
        let web = self.web.iter().map(Planned::common);
        flows.chain(probes).chain(downloads).chain(web)
    }
}

/// A flow. The sender of a TCP flow connects.
pub type FlowPlan = Planned<FlowScenario>;
/// Files of one size, one after the other, each over a connection of its own. Its sender connects.
pub type DownloadPlan = Planned<DownloadScenario>;
/// A probe.
pub type ProbePlan = Planned<ProbeScenario>;
/// A web client: it fetches one page again and again.
pub type WebPlan = Planned<WebScenario>;
