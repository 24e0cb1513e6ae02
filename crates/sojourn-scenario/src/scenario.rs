//! A scenario as a whole.

use crate::edges::EDGE_LIMIT;
use crate::flat::flatten;
use crate::wifi_keys::Wifi;
use crate::{
    Access, BottleneckScenario, Direction, DownloadScenario, FlowScenario, FlusherScenario, GameScenario, IdentityKeys,
    LinkScenario, ProbeScenario, ProgramScenario, TopologyScenario, Traffic, Transport, UDP_FRAME, WebScenario,
    WifiScenario, is_default,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_with::skip_serializing_none;
use sojourn_tcp::TcpParams;
use sojourn_units::{Bytes, Duration, Rate};

/// A bare acknowledgement with three SACK blocks, bytes.
const LARGEST_ACK: u64 = 94;
/// Headers of a TCP segment on the wire, bytes.
const TCP_HEADERS: u64 = 66;
/// One run, in full. Each value is what a file says, or the default.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["duration"]))]
pub struct Scenario {
    /// A free name: at most 200 printable characters, without `$` (it heads terminals, pages and figures).
    #[schemars(extend("x-python" = {"required": true}))]
    pub experiment: String,
    /// The measured window; it starts with the flows.
    #[schemars(extend("default" = null, "x-python" = {"required": false}))]
    pub duration: Duration,
    /// Probes begin this long before; their early samples are in the series, not in the summary.
    pub lead: Duration,
    /// The bottleneck from client to server. In a file its keys stand among those of the scenario.
    pub up: LinkScenario,
    /// The bottleneck from server to client.
    pub down: LinkScenario,
    /// Base round-trip time of the path.
    pub rtt: Duration,
    /// Rate of the links at the edges (default: infinitely fast).
    pub edge_rate: Option<Rate>,
    /// Depth of the token buckets that shape those links, through which a frame passes at once if they are full, as on a kernel
    /// (default: wires, over which a frame has arrived when its last bit has); only with `edge_rate`.
    pub edge_burst: Option<Bytes>,
    /// Packets that the queue before each of those links holds (default 1000); only with `edge_rate`.
    #[serde(deserialize_with = "edge_limit", skip_serializing_if = "is_edge_limit")]
    pub edge_limit: u32,
    /// The path's delay lets packets out at multiples of this only, as an emulator with a timer tick does; `"0s"`: at once.
    pub delay_tick: Duration,
    /// Each flow starts this much later at most, drawn from the seed.
    pub start_jitter: Duration,
    /// Ablation: bare acknowledgements are not lost at the bottleneck.
    pub spare_acks: bool,
    /// Width of the bins of all series.
    pub sample_interval: Duration,
    /// What all TCP flows share.
    pub tcp: TcpParams,
    /// TCP flows, and UDP floods.
    pub flows: Vec<FlowScenario>,
    /// Measuring flows, which are not counted as goodput.
    pub probes: Vec<ProbeScenario>,
    /// Web clients.
    pub web: Vec<WebScenario>,
    /// Files that are sent one after the other.
    #[serde(skip_serializing_if = "is_default")]
    pub downloads: Vec<DownloadScenario>,
    /// Streams of games.
    #[serde(skip_serializing_if = "is_default")]
    pub games: Vec<GameScenario>,
    /// Programs of one's own; only on `linux`.
    #[serde(skip_serializing_if = "is_default")]
    pub programs: Vec<ProgramScenario>,
    /// The cell between the clients and the bottleneck (default: a wire); `edge_rate` is then that of the server's link.
    #[schemars(with = "Option<Wifi>")]
    pub wifi: Option<WifiScenario>,
    /// A network of any shape in place of the path with one bottleneck; `up`, `down`, `rtt`, the disciplines and what else
    /// describes that path are then left out (default: none). Only on `sim`.
    pub topology: Option<TopologyScenario>,
    /// A queue flusher on the path (default: none).
    pub flusher: Option<FlusherScenario>,
    /// Seed of all random streams: the whole run is a function of the scenario, this number included.
    pub seed: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
const fn is_edge_limit(limit: &u32) -> bool {
    *limit == EDGE_LIMIT
}

fn edge_limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(EDGE_LIMIT))
}

/// The rate and the discipline of each direction where none is named.
pub(crate) const DEFAULT_RATE: Rate = Rate::from_mbit(10);
pub(crate) const QDISC: &str = "fq_codel";
/// The base RTT of the path where none is given.
pub(crate) const DEFAULT_RTT: Duration = Duration::from_millis(50);

impl Default for Scenario {
    fn default() -> Self {
        Self {
            experiment: "custom".into(),
            duration: Duration::ZERO,
            lead: Duration::from_secs(2),
            up: LinkScenario::default(),
            down: LinkScenario::default(),
            rtt: DEFAULT_RTT,
            edge_rate: None,
            edge_burst: None,
            edge_limit: EDGE_LIMIT,
            delay_tick: Duration::ZERO,
            start_jitter: Duration::from_millis(50),
            spare_acks: false,
            sample_interval: Duration::from_millis(200),
            tcp: TcpParams::default(),
            flows: Vec::new(),
            probes: Vec::new(),
            web: Vec::new(),
            downloads: Vec::new(),
            games: Vec::new(),
            programs: Vec::new(),
            wifi: None,
            topology: None,
            flusher: None,
            seed: 1,
        }
    }
}

impl Scenario {
    /// The largest frame on the path, bytes.
    #[must_use]
    pub fn largest_frame(&self) -> u64 {
        let datagrams = self.flusher.is_some() || self.flows.iter().any(|f| f.transport() != Transport::Tcp);
        let sizes = self.probes.iter().map(ProbeScenario::size);
        let probe = sizes
            .chain(self.games.iter().map(|game| game.size))
            .map(u64::from)
            .max();
        (u64::from(self.tcp.mss) + TCP_HEADERS)
            .max(if datagrams { u64::from(UDP_FRAME) } else { 0 })
            .max(LARGEST_ACK)
            .max(probe.unwrap_or(0))
    }

    /// One direction of the bottleneck.
    ///
    /// # Panics
    /// Never for a scenario that was checked.
    #[must_use]
    pub fn bottleneck(&self, direction: Direction) -> BottleneckScenario {
        self.link(direction).bottleneck().expect("the path's links have rates")
    }

    /// The keys of that.
    #[must_use]
    pub fn link(&self, direction: Direction) -> &LinkScenario {
        direction.of(&self.up, &self.down)
    }

    /// Where the two ends of traffic with these keys are.
    #[must_use]
    pub fn access(&self, keys: IdentityKeys<'_>) -> Access {
        keys.access(self.wifi.as_ref())
    }

    /// The base RTTs of all paths in use, in increasing order.
    #[must_use]
    pub fn rtts(&self) -> Vec<Duration> {
        let mut rtts: Vec<Duration> = self.traffic().map(Traffic::rtt).collect();
        rtts.push(self.rtt);
        rtts.sort_unstable();
        rtts.dedup();
        rtts
    }

    /// Whether it has what is made for slow, long links: downloads, thin streams, loss, jitter, or short queues at the
    /// edges. The record of one that has not says no more than it did before there were such things.
    #[must_use]
    pub fn is_long_link(&self) -> bool {
        !self.downloads.is_empty()
            || self.flows.iter().any(|f| f.application().writes.is_some())
            || [&self.up, &self.down].iter().any(|link| !link.impairment().is_none())
            || self.edge_limit != EDGE_LIMIT
    }

    /// Whole bins of the series in the measured window.
    #[must_use]
    pub fn whole_bins(&self) -> usize {
        (self.duration.as_nanos() / self.sample_interval.as_nanos()) as usize
    }

    /// The canonical JSON: every default written out, in the spelling that this module prints, keys sorted. Parsing it gives the
    /// same scenario again, so its text identifies a run.
    ///
    /// # Panics
    /// Never: a scenario holds nothing that JSON cannot.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    /// The canonical form as a value.
    ///
    /// # Panics
    /// Never: a scenario holds nothing that JSON cannot.
    #[must_use]
    pub fn to_value(&self) -> serde_json::Value {
        let mut value = serde_json::to_value(self).expect("a scenario is plain data");
        flatten(&mut value);
        value
    }
}
