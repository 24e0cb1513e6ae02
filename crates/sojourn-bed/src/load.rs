//! What traffic a bed carries.

use crate::wifi::WifiPlan;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A direction through the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Client to server.
    Up,
    /// Server to client.
    Down,
}

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
    pub tcp: TcpPlan,
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

/// What a queue at the edges holds if nothing is said, packets.
pub const EDGE_LIMIT: u32 = 1000;

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

/// Where the client of a piece of traffic is, and how the packets of both directions are classified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessPlan {
    /// Index of its station in the cell; 0 without a cell.
    #[serde(default, skip_serializing_if = "is_first")]
    pub station: u16,
    /// Differentiated services code point, 0 to 63.
    #[serde(default, skip_serializing_if = "is_default_forwarding")]
    pub dscp: u8,
}

impl AccessPlan {
    /// The octet of the IPv4 header that bears the code point.
    #[must_use]
    pub const fn tos(self) -> u8 {
        self.dscp << 2
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
const fn is_first(station: &u16) -> bool {
    *station == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
const fn is_default_forwarding(dscp: &u8) -> bool {
    *dscp == 0
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

/// What a kernel, or a bottleneck of ours, is told of a discipline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QdiscPlan {
    /// Its kind.
    pub kind: String,
    /// For a kernel: options by name, which ends in the unit.
    pub options: BTreeMap<String, OptionPlan>,
    /// For a bottleneck of ours: all of it, as one would type it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OptionPlan {
    /// On or off.
    Flag(bool),
    /// A number.
    Number(i64),
    /// A word, or bytes in hexadecimal.
    Text(String),
}

/// What may be set on the TCP of both hosts, by routes and kernel parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct TcpPlan {
    /// Payload of a full segment, bytes, with time stamps in the header.
    pub mss: u16,
    /// Initial congestion window, segments.
    pub initial_window: u32,
    /// The largest window that a receiver offers.
    pub receive_window_bytes: u64,
    /// HyStart in CUBIC's slow start.
    pub hystart: bool,
    /// Whether ECN is negotiated.
    pub ecn: bool,
    /// Whether receivers delay acknowledgements.
    pub delayed_ack: bool,
    /// Smallest retransmission time-out.
    pub min_rto_ns: u64,
    /// Whether hosts remember of each other, from one connection to the next, the slow-start threshold and the RTT.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub save_metrics: bool,
}

impl Default for TcpPlan {
    /// Linux 6.1's, as the simulator's default is.
    fn default() -> Self {
        Self {
            mss: 1448,
            initial_window: 10,
            receive_window_bytes: 3_145_728,
            hystart: true,
            ecn: false,
            delayed_ack: true,
            min_rto_ns: 200_000_000,
            save_metrics: false,
        }
    }
}

/// Payload of a datagram of a UDP flow, bytes.
pub const UDP_PAYLOAD: u16 = 1472;

/// A flow. The sender of a TCP flow connects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowPlan {
    /// Unique name.
    pub name: String,
    /// Which way its data goes.
    pub direction: Direction,
    /// As the kernel calls it: `cubic`, `reno`, `bbr`, `dctcp`.
    pub congestion_control: String,
    /// Index of its path.
    pub path: usize,
    /// When it connects.
    pub start_ns: u64,
    /// How much it sends before it closes; `None` for as much as it can until the end of the window.
    pub bytes: Option<u64>,
    /// At what rate its application writes, bit/s; `None` for all at once.
    pub rate_bps: Option<u64>,
    /// How much it writes at a time, if it is a thin stream: at its start and then at each interval, each write at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes: Option<u64>,
    /// Between the beginnings of two writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_interval_ns: Option<u64>,
    /// Datagrams of [`UDP_PAYLOAD`] bytes at `rate_bps` of payload, whatever becomes of them, in place of a connection.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub udp: bool,
    /// At which client, and with which code point.
    #[serde(flatten)]
    pub access: AccessPlan,
}

/// Files of one size, one after the other, each over a connection of its own. Its sender connects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DownloadPlan {
    /// Unique name.
    pub name: String,
    /// Which way the files go.
    pub direction: Direction,
    /// As the kernel calls it.
    pub congestion_control: String,
    /// Index of its path.
    pub path: usize,
    /// When the first file's sender connects.
    pub start_ns: u64,
    /// Bytes of each file.
    pub bytes: u64,
    /// From the end of each file to the start of the next; more than a run can need.
    pub gaps_ns: Vec<u64>,
    /// At which client, and with which code point.
    #[serde(flatten)]
    pub access: AccessPlan,
}

/// What a probe does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ProbeKind {
    /// An ICMP echo request every interval, from the client.
    Icmp {
        /// Between requests.
        interval_ns: u64,
    },
    /// A UDP request and its response in turn, from the client: the next leaves on the answer or the time-out.
    UdpRr {
        /// How long an answer is waited for.
        timeout_ns: u64,
    },
    /// A UDP packet every interval one way.
    Isochronous {
        /// Which way.
        direction: Direction,
        /// Between packets.
        interval_ns: u64,
    },
    /// UDP packets one way as a Poisson process.
    Poisson {
        /// Which way.
        direction: Direction,
        /// Mean time between packets.
        interval_ns: u64,
    },
    /// One direction of a voice call: a UDP packet every frame.
    Voip {
        /// Which way.
        direction: Direction,
        /// Time between packets.
        frame_ns: u64,
    },
}

/// A probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbePlan {
    /// Unique name.
    pub name: String,
    /// What it does.
    #[serde(flatten)]
    pub kind: ProbeKind,
    /// Bytes of a packet on the wire: Ethernet 14 and IPv4 20 among them.
    pub size: u16,
    /// Index of its path.
    pub path: usize,
    /// When its first packet leaves, mostly before the measured window.
    pub start_ns: i64,
    /// At which client, and with which code point.
    #[serde(flatten)]
    pub access: AccessPlan,
}

/// A web client: it fetches one page again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebPlan {
    /// Unique name.
    pub name: String,
    /// Bytes of the main document, then of the other objects in the order in which they are asked for.
    pub objects: Vec<u64>,
    /// Most connections at a time.
    pub workers: usize,
    /// From the beginning of a fetch to that of the next; one that takes longer is followed at once.
    pub interval_ns: u64,
    /// Congestion control of both ends.
    pub congestion_control: String,
    /// Index of its path.
    pub path: usize,
    /// When the first fetch begins.
    pub start_ns: u64,
    /// What the server waits before it answers.
    pub think_ns: u64,
    /// Bytes of a request.
    pub request_bytes: u64,
    /// Bytes of an answer before the object's.
    pub header_bytes: u64,
    /// Whether names are looked up.
    pub dns: bool,
    /// At which client, and with which code point.
    #[serde(flatten)]
    pub access: AccessPlan,
}
