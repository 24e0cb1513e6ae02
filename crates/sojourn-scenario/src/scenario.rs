//! A scenario as a whole.

use crate::error::within;
use crate::name::check_title;
use crate::path::{EDGE_LIMIT, check_bottleneck, check_edges};
use crate::reading::{self, Reading};
use crate::{
    Access, BINS_MAX, Backend, DURATION_MAX, Direction, DownloadScenario, Dscp, FlowScenario, FlusherScenario,
    Impairment, Limits, ProbeScenario, RATE, RTT, ScenarioError, Transport, UDP_FRAME, WebScenario, WifiScenario,
    backend, fail, limits, or_default, wifi_kernel,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_with::skip_serializing_none;
use sojourn_qdisc::Discipline;
use sojourn_tcp::TcpParams;
use sojourn_units::{Bytes, Duration, Rate};
use std::collections::BTreeSet;

/// A bare acknowledgement with three SACK blocks, bytes.
const LARGEST_ACK: u64 = 94;
/// Headers of a TCP segment on the wire, bytes.
const TCP_HEADERS: u64 = 66;
/// Largest payload of a TCP segment in an MSDU of 2304 bytes, of which LLC and SNAP take 8, IPv4 20 and TCP 32. Source: IEEE
/// 802.11-2020 section 9.2.4.7.1.
const WIFI_MSS_MAX: u16 = 2304 - 8 - 20 - 32;

/// One direction of the bottleneck.
#[derive(Clone, Debug)]
pub struct BottleneckScenario {
    /// Its rate.
    pub rate: Rate,
    /// The discipline, resolved at this rate.
    pub qdisc: Discipline,
    /// Depth of the token bucket.
    pub burst: Bytes,
    /// What befalls packets on the long link after it.
    pub impairment: Impairment,
}

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
    /// Discipline from client to server: `tc` text or a preset such as `"gbw:codel"`; those of `sojourn list linux`, such as
    /// `cake`, on `linux` only.
    #[schemars(extend("default" = QDISC))]
    pub qdisc_up: Discipline,
    /// Discipline from server to client.
    #[schemars(extend("default" = QDISC))]
    pub qdisc_down: Discipline,
    /// Depth of the token bucket: how much the rate limiter may send at once (default: two frames, or 0.5 ms of the rate).
    pub burst_up: Option<Bytes>,
    /// The same from server to client.
    pub burst_down: Option<Bytes>,
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
    pub wifi: Option<WifiScenario>,
    /// A queue flusher on the path (default: none).
    pub flusher: Option<FlusherScenario>,
    /// Seed of all random streams: the whole run is a function of the scenario, this number included.
    pub seed: u64,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
const fn is_edge_limit(limit: &u32) -> bool {
    *limit == EDGE_LIMIT
}

fn edge_limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(EDGE_LIMIT))
}

/// The discipline of each direction where none is named.
const QDISC: &str = "fq_codel";
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
            flusher: None,
            seed: 1,
        }
    }
}

impl Scenario {
    /// Reads a scenario from JSON and checks that the simulator can run it.
    ///
    /// # Errors
    /// [`ScenarioError`] for anything that cannot be run.
    pub fn from_json(json: &str) -> Result<Self, ScenarioError> {
        Self::for_backend(json, Backend::Sim)
    }

    /// Reads a scenario from JSON and checks that `backend` can run it.
    ///
    /// # Errors
    /// [`ScenarioError`] for anything that cannot be run.
    pub fn for_backend(json: &str, backend: Backend) -> Result<Self, ScenarioError> {
        Self::within(json, backend, Limits::DEFAULT)
    }

    /// As [`Scenario::for_backend`], for who allows a run to need more than most machines have, or less.
    ///
    /// # Errors
    /// [`ScenarioError`] for anything that cannot be run, or needs more than `limits`.
    pub fn within(json: &str, backend: Backend, limits: Limits) -> Result<Self, ScenarioError> {
        limits::check_text(json)?;
        let Reading {
            value,
            mut scenario,
            qdiscs,
        } = reading::read(json)?;
        scenario
            .complete(qdiscs, backend)
            .map_err(|error| error.spelled_as_in(&value))?;
        limits.check(&scenario.cost(backend))?;
        Ok(scenario)
    }

    /// Writes out what is left out, and checks that `backend` can run it.
    fn complete(&mut self, qdiscs: [Option<String>; 2], backend: Backend) -> Result<(), ScenarioError> {
        let heads = self.wifi.as_ref().map(WifiScenario::heads);
        self.tcp.heads = heads.unwrap_or_else(|| self.tcp.variant.heads());
        self.flows.iter_mut().for_each(FlowScenario::complete);
        self.probes.iter_mut().for_each(ProbeScenario::complete);
        // -0 is 0.
        self.loss_up += 0.0;
        self.loss_down += 0.0;
        if let Some(wifi) = &self.wifi {
            let first = wifi.cell.stations.first().map(|station| station.name.clone());
            for (station, dscp) in self.access_keys() {
                if station.is_none() {
                    station.clone_from(&first);
                }
                dscp.get_or_insert_default();
            }
        }
        self.check_hosts(backend)?;
        for (direction, text) in Direction::ALL.into_iter().zip(qdiscs) {
            self.complete_bottleneck(direction, text.as_deref().unwrap_or(QDISC), backend)?;
        }
        self.check_traffic(backend)
    }

    /// Resolves a discipline at the rate of its link, and sizes the token bucket.
    fn complete_bottleneck(&mut self, direction: Direction, text: &str, backend: Backend) -> Result<(), ScenarioError> {
        let name = direction.name();
        let rate = self.bottleneck(direction).rate;
        within(name, rate, RATE.0, RATE.1)?;
        let field = format!("qdisc_{name}");
        let qdisc = Discipline::parse(text, Some(rate));
        let qdisc = qdisc.map_err(|e| ScenarioError::because(format!("{field}: {e}")))?;
        let qdisc = backend::discipline(&field, qdisc, backend)?;
        let burst = self.bottleneck(direction).burst;
        match direction {
            Direction::Up => (self.qdisc_up, self.burst_up) = (qdisc, Some(burst)),
            Direction::Down => (self.qdisc_down, self.burst_down) = (qdisc, Some(burst)),
        }
        check_bottleneck(direction, &self.bottleneck(direction), self.largest_frame())
    }

    /// The keys `station` and `dscp` of all traffic.
    fn access_keys(&mut self) -> impl Iterator<Item = (&mut Option<String>, &mut Option<Dscp>)> {
        let flows = self.flows.iter_mut().map(|t| (&mut t.station, &mut t.dscp));
        let probes = self.probes.iter_mut().map(|t| (&mut t.station, &mut t.dscp));
        let web = self.web.iter_mut().map(|t| (&mut t.station, &mut t.dscp));
        let downloads = self.downloads.iter_mut().map(|t| (&mut t.station, &mut t.dscp));
        flows.chain(probes).chain(web).chain(downloads)
    }

    /// Checks the window, the hosts and the cell.
    fn check_hosts(&self, backend: Backend) -> Result<(), ScenarioError> {
        check_title("experiment", &self.experiment)?;
        within("duration", self.duration, Duration::from_millis(1), DURATION_MAX)?;
        within("rtt", self.rtt, RTT.0, RTT.1)?;
        within(
            "sample_interval",
            self.sample_interval,
            Duration::from_millis(1),
            DURATION_MAX,
        )?;
        if self.duration.as_nanos() / self.sample_interval.as_nanos() > BINS_MAX {
            let rule = format!("at least a {BINS_MAX}th of the duration");
            return fail("sample_interval", self.sample_interval, rule);
        }
        let checked = self.tcp.validate();
        checked.map_err(|error| ScenarioError::because(error.to_string()))?;
        within(
            "delay_tick",
            self.delay_tick,
            Duration::ZERO,
            Duration::from_millis(100),
        )?;
        if backend.has_real_hosts() {
            backend::check_real(self, backend)?;
        } else {
            backend::check_sim(self)?;
        }
        if let Some(wifi) = &self.wifi {
            let valid = wifi.cell.validate();
            valid.map_err(|error| ScenarioError::because(error.to_string()))?;
            if backend == Backend::Linux {
                wifi_kernel::check(&wifi.cell)?;
            }
            if self.tcp.mss > WIFI_MSS_MAX {
                let rule = format!("at most {WIFI_MSS_MAX} with wifi, whose MSDUs have 2304 bytes at most");
                return fail("tcp.mss", self.tcp.mss, rule);
            }
        }
        for (i, probe) in self.probes.iter().enumerate() {
            probe.check(i, self)?;
        }
        Ok(())
    }

    /// Checks the edges and what passes them.
    fn check_traffic(&self, backend: Backend) -> Result<(), ScenarioError> {
        check_edges(self, self.largest_frame())?;
        within("lead", self.lead, Duration::ZERO, Duration::from_secs(3600))?;
        within("start_jitter", self.start_jitter, Duration::ZERO, self.duration)?;
        for (i, flow) in self.flows.iter().enumerate() {
            flow.check(i, self, backend)?;
        }
        for (i, client) in self.web.iter().enumerate() {
            client.check(i, self, backend)?;
        }
        for (i, download) in self.downloads.iter().enumerate() {
            download.check(i, self, backend)?;
        }
        self.check_names()?;
        match &self.flusher {
            Some(flusher) => flusher.check(self, backend),
            None => Ok(()),
        }
    }

    fn check_names(&self) -> Result<(), ScenarioError> {
        let mut seen = BTreeSet::new();
        for name in self
            .flows
            .iter()
            .map(|f| &f.name)
            .chain(self.probes.iter().map(|p| &p.name))
            .chain(self.web.iter().map(|w| &w.name))
            .chain(self.downloads.iter().map(|d| &d.name))
        {
            if !seen.insert(name) {
                return fail(
                    "name",
                    format!("{name:?} twice"),
                    "unique among flows, probes, web clients and downloads",
                );
            }
        }
        Ok(())
    }

    /// The largest frame on the path, bytes.
    fn largest_frame(&self) -> u64 {
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
        let (rate, qdisc, burst, loss, jitter) = match direction {
            Direction::Up => (self.up, &self.qdisc_up, self.burst_up, self.loss_up, self.jitter_up),
            Direction::Down => (
                self.down,
                &self.qdisc_down,
                self.burst_down,
                self.loss_down,
                self.jitter_down,
            ),
        };
        // Two frames, or what the link sends in half a millisecond: a late timer must not lose tokens on a real bed.
        let usual = || {
            let frames = Bytes::new(2 * self.largest_frame());
            rate.bytes_in(Duration::from_micros(500)).max(frames)
        };
        BottleneckScenario {
            rate,
            qdisc: qdisc.clone(),
            burst: burst.unwrap_or_else(usual),
            impairment: Impairment { loss, jitter },
        }
    }

    /// Where the client of traffic with these two keys is.
    #[must_use]
    pub fn access(&self, station: Option<&str>, dscp: Option<Dscp>) -> Access {
        Access::new(station, dscp, self.wifi.as_ref())
    }

    /// The base RTTs of all paths in use, in increasing order.
    #[must_use]
    pub fn rtts(&self) -> Vec<Duration> {
        let flows = self.flows.iter().map(|f| f.rtt);
        let probes = self.probes.iter().map(|p| p.rtt);
        let web = self.web.iter().map(|w| w.rtt);
        let downloads = self.downloads.iter().map(|d| d.rtt);
        let mut rtts: Vec<Duration> = flows.chain(probes).chain(web).chain(downloads).collect();
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
            || self.flows.iter().any(|f| f.writes().is_some())
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
