//! What was seen on a bed.

use crate::wifi::WifiMeasured;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// What the agent of a bed measured. Lists are in the order of the plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// [`crate::MEASURED_FORMAT`].
    pub format: String,
    /// The kernel it ran on.
    pub kernel: Kernel,
    /// The flows.
    pub flows: Vec<FlowMeasured>,
    /// The probes.
    pub probes: Vec<ProbeMeasured>,
    /// The web clients.
    pub web: Vec<WebMeasured>,
    /// The downloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<DownloadMeasured>,
    /// The discipline up.
    pub up: QdiscMeasured,
    /// And down.
    pub down: QdiscMeasured,
    /// The cell, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wifi: Option<WifiMeasured>,
    /// The counters of `/proc/net/netstat` and `/proc/net/snmp` (Tcp and TcpExt) by namespace, over the measured
    /// window.
    pub counters: BTreeMap<String, BTreeMap<String, u64>>,
    /// A queue flusher, and the round trips beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flusher: Option<FlusherMeasured>,
    /// The programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramMeasured>,
    /// Their flows at the bottleneck, by the numbers of [`crate::Conversation::Program`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub program_flows: Vec<ProgramFlow>,
}

/// What became of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramMeasured {
    /// When it was started; `None` if the run ended before.
    pub started_ns: Option<i64>,
    /// When it ended; `None` if it was not started, or only ended because it was told to.
    pub ended_ns: Option<i64>,
    /// Its exit status, if it ended by itself.
    pub status: Option<i32>,
    /// The number of the signal that ended it, if it was none of the agent's.
    pub signal: Option<i32>,
    /// What is kept of it, by name: `stdout`, `stderr`, and files by their paths in its folder; those that are not there are left
    /// out. Text where it is UTF-8, else base 64 (RFC 4648 section 4).
    pub outputs: BTreeMap<String, String>,
    /// Names of what is in base 64.
    pub base64: BTreeSet<String>,
}

/// A flow of programs: what has the same protocol, addresses and ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProgramFlow {
    /// Its number in the header of IP, such as 6 for TCP.
    pub protocol: u8,
    /// The end on the client's side; of ICMP the port is the identifier of an echo.
    pub client: SocketAddr,
    /// The end on the server's side.
    pub server: SocketAddr,
}

/// What a queue flusher did in the measured window, and what round-trip times the flows had.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlusherMeasured {
    /// The flows, in the order of the plan.
    pub flows: Vec<FlusherFlowMeasured>,
    /// Each flush proposed, in order.
    pub events: Vec<FlushMeasured>,
    /// RTT samples that it took.
    pub samples: u64,
    /// Flushes that it judged to have helped.
    pub helped: u64,
    /// And not to have helped.
    pub failed: u64,
    /// Times that it withheld one.
    pub withheld: u64,
    /// Datagrams that it sent.
    pub packets: u64,
    /// Their bytes, IP headers included.
    pub bytes: u64,
    /// Of the datagrams, those that came to the host behind the bottleneck.
    pub delivered: u64,
}

/// A flow beside a flusher.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlusherFlowMeasured {
    /// Round-trip times by synthetic packet pairs between captures at its two ends: when each was complete, and how
    /// long it is.
    pub pairs: Vec<(i64, u64)>,
    /// The flusher's smoothed RTT at the end of each bin, ns; `None` before the first sample.
    pub rtt_ns: Vec<Option<u64>>,
    /// Its base RTT.
    pub base_ns: Vec<Option<u64>>,
    /// The throughput that it measures, bit/s.
    pub throughput_bps: Vec<Option<u64>>,
}

/// A flush that was proposed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlushMeasured {
    /// When.
    pub at_ns: i64,
    /// How long it took until the system had taken all of its datagrams; `None` if it never did.
    pub took_ns: Option<u64>,
    /// For which flow of the plan, if it was one.
    pub flow: Option<usize>,
    /// Datagrams that were sent, or would have been.
    pub packets: u32,
    /// Whether the gate refused it.
    pub refused: bool,
    /// `threshold`, `forced` or `top_up`.
    pub reason: String,
    /// What its size was worked out from: throughput, bit/s.
    pub throughput_bps: u64,
    /// And round-trip time, ns.
    pub rtt_ns: u64,
    /// Base RTT of the flow, ns.
    pub base_ns: u64,
    /// Largest RTT that had been measured, ns.
    pub max_rtt_ns: u64,
}

/// A kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// As `uname -r` says it.
    pub release: String,
    /// As `uname -v` says it.
    pub version: String,
    /// Whether its clock is virtual.
    pub virtual_time: bool,
}

/// What a TCP flow did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowMeasured {
    /// When its connection was there, if it was.
    pub connected_ns: Option<i64>,
    /// Payload that the receiver has read so far, at the end of each bin.
    pub delivered: Vec<u64>,
    /// The sender's congestion window at the end of each bin, segments.
    pub cwnd: Vec<u32>,
    /// The sender's smoothed RTT at the end of each bin, microseconds.
    pub srtt_us: Vec<u32>,
    /// The sender's slow-start threshold at the end of each bin, segments.
    pub ssthresh: Vec<u32>,
    /// Payload that the receiver had read at the end of the window.
    pub delivered_total: u64,
    /// Segments with data sent, retransmissions included.
    pub segments_sent: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Retransmission time-outs, if the kernel counts them by connection (Linux 6.7 and newer).
    pub timeouts: Option<u64>,
    /// SYNs that were sent again.
    pub syn_retransmissions: u32,
    /// When the last byte was acknowledged, for a flow with a length.
    pub completed_ns: Option<i64>,
    /// The writes of a thin stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<WritesMeasured>,
    /// What the sender's kernel tells of ECN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnMeasured>,
    /// The datagrams of a UDP flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udp: Option<UdpMeasured>,
    /// Why it ended early, if it did.
    pub error: Option<String>,
}

/// What a kernel tells of the ECN of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EcnMeasured {
    /// Both ends have agreed on it.
    pub agreed: bool,
    /// Segments that were newly acknowledged by acknowledgements with an echo, if it counts them (Linux 4.18 and newer).
    pub delivered_ce: Option<u64>,
}

/// The datagrams of a UDP flow in the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UdpMeasured {
    /// Sent.
    pub sent: u64,
    /// Received.
    pub received: u64,
    /// Not received though one that was sent later was.
    pub lost: u64,
}

/// The writes of a thin stream in the measured window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WritesMeasured {
    /// How many.
    pub count: usize,
    /// From the write to its last byte at the receiver's application, of those that were there at the end, in order.
    pub delays_ns: Vec<u64>,
}

/// A file of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileMeasured {
    /// When its sender connected.
    pub start_ns: i64,
    /// From then to its last byte at the receiver's application; `None` if that was not there at the end.
    pub time_ns: Option<u64>,
}

/// What a download did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DownloadMeasured {
    /// In order.
    pub files: Vec<FileMeasured>,
    /// Payload that receivers had read at the end of the window.
    pub delivered: u64,
    /// Segments with data sent, retransmissions included.
    pub segments_sent: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// SYNs that were sent again.
    pub syn_retransmissions: u64,
    /// Why it ended early, if it did.
    pub error: Option<String>,
}

/// One packet of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// When it left.
    pub sent_ns: i64,
    /// Round-trip time, or one-way delay; `None` if it never arrived.
    pub delay_ns: Option<u64>,
}

/// What a probe saw: each packet, those before the measured window among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeMeasured {
    /// In the order of sending.
    pub samples: Vec<Sample>,
}

/// One page fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fetch {
    /// When it began.
    pub start_ns: i64,
    /// How long the first look-up took; 0 if names are not looked up.
    pub dns_ns: u64,
    /// How long the first handshake took.
    pub connect_ns: u64,
    /// From the beginning to the last byte of the last object.
    pub time_ns: u64,
    /// SYNs sent again.
    pub syn_retransmitted: u32,
    /// Queries sent again.
    pub dns_retried: u32,
}

/// What a web client did: the fetches that were completed in the measured window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebMeasured {
    /// In order.
    pub fetches: Vec<Fetch>,
}

/// The counters of a discipline at a time, as `tc -s qdisc` shows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QdiscSample {
    /// When.
    pub at_ns: i64,
    /// Packets sent.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Times the rate was exceeded, and for AQMs the marks.
    pub overlimits: u64,
    /// Packets queued.
    pub queued: u64,
    /// Bytes queued.
    pub backlog: u64,
}

/// How many frames the observer of a bottleneck saw in the whole run: so many records `packets.bin` holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
    /// Came to the queue.
    pub came: u64,
    /// Left it.
    pub left: u64,
}

impl Passed {
    /// Counts one that came to the queue, or `left` it.
    pub fn count(&mut self, left: bool) {
        *(if left { &mut self.left } else { &mut self.came }) += 1;
    }
}

/// How late packets left a bottleneck of ours, microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatenessMeasured {
    /// Half of them at most.
    pub p50_us: f64,
    /// 99 % of them at most.
    pub p99_us: f64,
    /// The latest.
    pub max_us: f64,
}

/// A discipline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QdiscMeasured {
    /// As the kernel calls it.
    pub kind: String,
    /// At the beginning of the measured window, then at the end of each bin.
    pub samples: Vec<QdiscSample>,
    /// Its own counters at the beginning of the measured window, by the names of `tc -s -j qdisc`.
    pub extra_begin: BTreeMap<String, f64>,
    /// And at its end.
    pub extra_end: BTreeMap<String, f64>,
    /// What passed, if packets were watched.
    #[serde(default)]
    pub passed: Option<Passed>,
    /// Drops in the measured window by reason, if the discipline tells them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasons: Option<BTreeMap<String, u64>>,
    /// How punctual the bottleneck was, if it was one of ours: how late packets left it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness: Option<LatenessMeasured>,
}
