//! A scenario as a whole.

use crate::path::{BottleneckScenario, EDGE_LIMIT, usual_burst};
use crate::wifi_keys::Wifi;
use crate::{
    Access, Direction, DownloadScenario, FlowScenario, FlusherScenario, IdentityKeys, Impairment, ProbeScenario,
    TopologyScenario, Traffic, Transport, UDP_FRAME, WebScenario, WifiScenario, is_default, or_default,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_with::skip_serializing_none;
use sojourn_qdisc::Discipline;
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
    /// Rate of the bottleneck from client to server.
    pub up: Rate,
    /// Rate of the bottleneck from server to client.
    pub down: Rate,
    /// Base round-trip time of the path.
    pub rtt: Duration,
    /// Discipline from client to server: `tc` text or a preset such as `"gbw:codel"`; those of `sojourn list linux` on `linux`
    /// only.
    #[schemars(extend("default" = QDISC))]
    pub qdisc_up: Discipline,
    /// Discipline from server to client.
    #[schemars(extend("default" = QDISC))]
    pub qdisc_down: Discipline,
    /// Depth of the token bucket: how much the rate limiter may send at once (default: two frames, or 0.5 ms of the rate).
    pub burst_up: Option<Bytes>,
    /// The same from server to client.
    pub burst_down: Option<Bytes>,
    /// If not zero, the link serves in bursts only, at multiples of this, as links do that aggregate or are granted their
    /// time (Wi-Fi, DOCSIS): each burst carries what the rate carries in that time, and what the queue does not fill of it is
    /// lost. At least 100 us, at most 100 ms; it takes the place of the token bucket. Only on `sim`.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "0s"))]
    pub service_interval_up: Duration,
    /// The same from server to client.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "0s"))]
    pub service_interval_down: Duration,
    /// Rate of the links at the edges (default: infinitely fast).
    pub edge_rate: Option<Rate>,
    /// Depth of the token buckets that shape those links, through which a frame passes at once if they are full, as on a kernel
    /// (default: wires, over which a frame has arrived when its last bit has); only with `edge_rate`.
    pub edge_burst: Option<Bytes>,
    /// Packets that the queue before each of those links holds (default 1000); only with `edge_rate`.
    #[serde(deserialize_with = "edge_limit", skip_serializing_if = "is_edge_limit")]
    pub edge_limit: u32,
    /// Probability that a packet is lost on the long link, after the bottleneck's queue (default 0).
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub loss_up: f64,
    /// The same from server to client (default 0).
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub loss_down: f64,
    /// Each packet takes longer there by a time uniform in 0 to this; none overtakes another (default 0). On `linux` it is
    /// at most 4 s, on `live` there is none.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub jitter_up: Duration,
    /// The same from server to client (default 0).
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub jitter_down: Duration,
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

/// The discipline of each direction where none is named.
pub(crate) const QDISC: &str = "fq_codel";
/// The base RTT of the path where none is given.
pub(crate) const DEFAULT_RTT: Duration = Duration::from_millis(50);

impl Default for Scenario {
    fn default() -> Self {
        let qdisc = Discipline::parse(QDISC, None).expect("it has defaults");
        Self {
            experiment: "custom".into(),
            duration: Duration::ZERO,
            lead: Duration::from_secs(2),
            up: Rate::from_mbit(10),
            down: Rate::from_mbit(10),
            rtt: DEFAULT_RTT,
            qdisc_up: qdisc.clone(),
            qdisc_down: qdisc,
            burst_up: None,
            burst_down: None,
            service_interval_up: Duration::ZERO,
            service_interval_down: Duration::ZERO,
            edge_rate: None,
            edge_burst: None,
            edge_limit: EDGE_LIMIT,
            loss_up: 0.0,
            loss_down: 0.0,
            jitter_up: Duration::ZERO,
            jitter_down: Duration::ZERO,
            delay_tick: Duration::ZERO,
            start_jitter: Duration::from_millis(50),
            spare_acks: false,
            sample_interval: Duration::from_millis(200),
            tcp: TcpParams::default(),
            flows: Vec::new(),
            probes: Vec::new(),
            web: Vec::new(),
            downloads: Vec::new(),
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
        let datagrams = self.flusher.is_some() || self.flows.iter().any(|f| f.transport() == Transport::Udp);
        let probe = self.probes.iter().map(|p| u64::from(p.size())).max();
        (u64::from(self.tcp.mss) + TCP_HEADERS)
            .max(if datagrams { u64::from(UDP_FRAME) } else { 0 })
            .max(LARGEST_ACK)
            .max(probe.unwrap_or(0))
    }

    /// One direction of the bottleneck.
    #[must_use]
    pub fn bottleneck(&self, direction: Direction) -> BottleneckScenario {
        let rate = direction.of(self.up, self.down);
        let burst = direction.of(self.burst_up, self.burst_down);
        BottleneckScenario {
            rate,
            qdisc: direction.of(&self.qdisc_up, &self.qdisc_down).clone(),
            burst: burst.unwrap_or_else(|| usual_burst(rate, Bytes::new(self.largest_frame()))),
            impairment: Impairment {
                loss: direction.of(self.loss_up, self.loss_down),
                jitter: direction.of(self.jitter_up, self.jitter_down),
            },
            service_interval: direction.of(self.service_interval_up, self.service_interval_down),
        }
    }

    /// Gives one direction of the bottleneck these numbers; its discipline is resolved apart.
    pub(crate) fn set_bottleneck(&mut self, direction: Direction, side: &BottleneckScenario) {
        *direction.of(&mut self.up, &mut self.down) = side.rate;
        *direction.of(&mut self.burst_up, &mut self.burst_down) = Some(side.burst);
        *direction.of(&mut self.loss_up, &mut self.loss_down) = side.impairment.loss;
        *direction.of(&mut self.jitter_up, &mut self.jitter_down) = side.impairment.jitter;
        *direction.of(&mut self.service_interval_up, &mut self.service_interval_down) = side.service_interval;
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
        let impaired = |direction| !self.bottleneck(direction).impairment.is_none();
        !self.downloads.is_empty()
            || self.flows.iter().any(|f| f.application().writes.is_some())
            || Direction::ALL.into_iter().any(impaired)
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
        serde_json::to_value(self).expect("a scenario is plain data")
    }
}
