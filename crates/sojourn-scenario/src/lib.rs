//! A scenario: everything that a run depends on, as text that a person can write.
//!
//! This is the one place where a scenario is validated. Times, rates and sizes are in `tc`'s spelling; every key has a
//! default but `duration`; an unknown key is refused.

mod access;
mod backend;
mod bottleneck;
mod control;
mod cost;
mod download;
mod flusher;
mod limits;
mod load;
mod path;
mod policies;
mod reading;
mod tcp;
mod text;
mod wifi;
mod wifi_kernel;
mod wifi_latency;

pub use access::Access;
pub use backend::Backend;
pub use backend::not_modelled;
pub use control::CongestionControl;
pub use control::not_modelled as control_not_modelled;
pub use cost::{Cost, Part};
pub use download::DownloadScenario;
pub use flusher::{Bursts, FlusherScenario, Place};
use limits::BINS_MAX;
pub use limits::{Limits, NAMED as LIMITS};
pub use path::{EDGE_LIMIT, Impairment};
pub use wifi::WifiScenario;
pub use wifi_kernel::discipline as wifi_discipline;

use sojourn_qdisc::Discipline;
use sojourn_tcp::TcpParams;
use sojourn_units::{Bytes, Duration, Rate, format_duration, format_rate, parse_duration, parse_rate};
use std::collections::BTreeSet;
use tcp::TcpText;
use text::{Text, flow_text, probe_text, web_text};
use thiserror::Error;

/// A scenario that cannot be run: one sentence that names the field, its value and the rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ScenarioError(String);

impl ScenarioError {
    /// With a sentence of its own.
    #[must_use]
    pub const fn because(sentence: String) -> Self {
        Self(sentence)
    }
}

/// The refusal of a field's value, with the rule that it breaks.
///
/// # Errors
/// Always.
pub fn fail<T>(field: &str, value: impl std::fmt::Display, rule: impl std::fmt::Display) -> Result<T, ScenarioError> {
    Err(ScenarioError(format!("{field} is {value}, but must be {rule}")))
}

/// Longest run.
const DURATION_MAX: Duration = Duration::from_secs(86_400);
/// A bare acknowledgement with three SACK blocks, bytes.
const LARGEST_ACK: u64 = 94;
/// A datagram of a UDP flow on the wire, bytes: 1472 of payload in a packet of 1500.
pub const UDP_FRAME: u16 = 1514;
/// The payload in it.
pub const UDP_PAYLOAD: u16 = 1472;
/// Largest payload of a TCP segment in an MSDU of 2304 bytes, of which LLC and SNAP take 8, IPv4 20 and TCP 32. Source: IEEE
/// 802.11-2020 section 9.2.4.7.1.
const WIFI_MSS_MAX: u16 = 2304 - 8 - 20 - 32;

/// A direction through the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Client to server.
    Up,
    /// Server to client.
    Down,
}

impl Direction {
    /// `up` or `down`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }

    fn parse(field: &str, text: &str) -> Result<Self, ScenarioError> {
        match text {
            "up" => Ok(Self::Up),
            "down" => Ok(Self::Down),
            _ => fail(field, format!("{text:?}"), "\"up\" or \"down\""),
        }
    }
}

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

/// What carries a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A TCP connection.
    Tcp,
    /// Datagrams at a constant bit rate, whatever becomes of them.
    Udp,
}

/// A flow.
#[derive(Clone, Debug)]
pub struct FlowScenario {
    /// Unique name.
    pub name: String,
    /// What carries it.
    pub transport: Transport,
    /// Which way its data goes.
    pub direction: Direction,
    /// Congestion control of its sender; of no use to UDP.
    pub congestion_control: CongestionControl,
    /// Base RTT.
    pub rtt: Duration,
    /// When it starts, from the beginning of the measured window, before jitter.
    pub start: Duration,
    /// How much it sends; `None` for as much as it can.
    pub bytes: Option<u64>,
    /// At what rate its application writes; `None` for all at once. Always given for UDP: of payload.
    pub rate: Option<Rate>,
    /// How the application of a thin stream writes, from the start on; Nagle's algorithm is off.
    pub writes: Option<Writes>,
    /// Where its client is.
    pub access: Access,
}

/// The application writes so much at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writes {
    /// Of payload.
    pub bytes: Bytes,
    /// Between the beginnings of two writes.
    pub interval: Duration,
}

/// What a probe does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeKindScenario {
    /// An echo request every interval.
    Icmp(Duration),
    /// Request and response in turn, with this time-out; sampled with the series.
    UdpRr(Duration),
    /// A packet every interval one way.
    Isochronous(Direction, Duration),
    /// Packets one way, as a Poisson process with this mean interval.
    Poisson(Direction, Duration),
    /// One direction of a voice call.
    Voip(Direction, Voice),
}

/// A voice codec: names the rate that it has if none is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// 64 kbit/s (ITU-T G.711).
    G711,
    /// 24 kbit/s at a constant rate, between what RFC 7587 section 3.1.1 recommends for wide-band speech (16 to 20 kbit/s)
    /// and for full-band speech (28 to 40).
    Opus,
}

impl Codec {
    /// `g711` or `opus`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::G711 => "g711",
            Self::Opus => "opus",
        }
    }

    /// What it sends if nothing else is said.
    #[must_use]
    pub const fn bitrate(self) -> Rate {
        match self {
            Self::G711 => Rate::from_bps(64_000),
            Self::Opus => Rate::from_bps(24_000),
        }
    }
}

/// What a voice stream sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Voice {
    /// Its codec.
    pub codec: Codec,
    /// Time between packets, and of speech in each.
    pub frame: Duration,
    /// Rate of the coded speech.
    pub bitrate: Rate,
    /// Bytes beside it in each packet, on the IP level: RTP 12, UDP 8 and IPv4 20 by default.
    pub headers: u16,
}

/// A web client.
#[derive(Clone, Debug)]
pub struct WebScenario {
    /// Unique name.
    pub name: String,
    /// A free name of the page.
    pub page: String,
    /// Bytes of the main document, then of the other objects in the order in which they are asked for.
    pub objects: Vec<u64>,
    /// Most connections at a time.
    pub workers: usize,
    /// From the beginning of a fetch to that of the next; one that takes longer is followed at once.
    pub interval: Duration,
    /// Congestion control of both ends.
    pub congestion_control: CongestionControl,
    /// Base RTT.
    pub rtt: Duration,
    /// When the first fetch begins, from the beginning of the measured window, before jitter.
    pub start: Duration,
    /// What the server waits before it answers.
    pub think_time: Duration,
    /// Bytes of a request.
    pub request_bytes: u64,
    /// Bytes of an answer before the object's.
    pub header_bytes: u64,
    /// Whether names are looked up.
    pub dns: bool,
    /// Where its client is.
    pub access: Access,
}

/// A probe.
#[derive(Clone, Debug)]
pub struct ProbeScenario {
    /// Unique name.
    pub name: String,
    /// What it does.
    pub kind: ProbeKindScenario,
    /// Bytes on the wire.
    pub size: u16,
    /// Base RTT of its path.
    pub rtt: Duration,
    /// Where its client is.
    pub access: Access,
}

/// A valid scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// A free name.
    pub experiment: String,
    /// The measured window; it starts with the flows.
    pub duration: Duration,
    /// How long before that the probes begin.
    pub lead: Duration,
    /// Client to server.
    pub up: BottleneckScenario,
    /// Server to client.
    pub down: BottleneckScenario,
    /// Base RTT.
    pub rtt: Duration,
    /// Rate of the links at the edges; `None` for infinitely fast.
    pub edge_rate: Option<Rate>,
    /// Depth of their token buckets; `None` for wires, over which a frame has arrived when its last bit has.
    pub edge_burst: Option<Bytes>,
    /// Packets that the queue before each of them holds.
    pub edge_limit: u32,
    /// The delay box lets packets out at multiples of this only; zero for at once.
    pub delay_tick: Duration,
    /// Flows start this much later at most, uniformly drawn.
    pub start_jitter: Duration,
    /// Ablation: bare acknowledgements are not lost at the bottleneck.
    pub spare_acks: bool,
    /// Width of the bins of all series.
    pub sample_interval: Duration,
    /// TCP parameters of all flows (but congestion control).
    pub tcp: TcpParams,
    /// Hosts remember of each other what [`sojourn_tcp::Metrics`] says, from one connection to the next.
    pub save_metrics: bool,
    /// The flows.
    pub flows: Vec<FlowScenario>,
    /// The probes.
    pub probes: Vec<ProbeScenario>,
    /// The web clients.
    pub web: Vec<WebScenario>,
    /// Files that are sent one after the other.
    pub downloads: Vec<DownloadScenario>,
    /// The cell through which the clients reach the first router; `None` for wires.
    pub wifi: Option<WifiScenario>,
    /// A queue flusher; `None` for none.
    pub flusher: Option<FlusherScenario>,
    /// Seed of all random streams.
    pub seed: u64,
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
        let text = reading::read(json)?;
        let scenario = Self::from_text(text, backend)?;
        limits.check(&scenario.cost(backend))?;
        Ok(scenario)
    }

    fn from_text(t: Text, backend: Backend) -> Result<Self, ScenarioError> {
        load::check_title("experiment", &t.experiment)?;
        let Some(duration) = &t.duration else {
            return fail("duration", "missing", "given, such as 60s");
        };
        let duration = time("duration", duration, Duration::from_millis(1), DURATION_MAX)?;
        let rtt = time("rtt", &t.rtt, Duration::from_micros(1), Duration::from_secs(60))?;
        let sample_interval = time(
            "sample_interval",
            &t.sample_interval,
            Duration::from_millis(1),
            DURATION_MAX,
        )?;
        if duration.as_nanos() / sample_interval.as_nanos() > BINS_MAX {
            return fail(
                "sample_interval",
                sample_interval,
                format!("at least a {BINS_MAX}th of the duration"),
            );
        }
        let mut tcp = t.tcp.read()?;
        let delay_tick = time("delay_tick", &t.delay_tick, Duration::ZERO, Duration::from_millis(100))?;
        if backend.has_real_hosts() {
            backend::check_real(&t, &tcp, delay_tick, backend)?;
        } else {
            backend::check_sim(&t)?;
        }
        let wifi = t.wifi.as_ref().map(WifiScenario::read).transpose()?;
        let cell = wifi.as_ref();
        tcp.heads = cell.map_or_else(|| tcp.variant.heads(), WifiScenario::heads);
        if let (Some(wifi), Backend::Linux) = (cell, backend) {
            wifi_kernel::check(&wifi.cell)?;
        }
        if cell.is_some() && tcp.mss > WIFI_MSS_MAX {
            let rule = format!("at most {WIFI_MSS_MAX} with wifi, whose MSDUs have 2304 bytes at most");
            return fail("tcp.mss", tcp.mss, rule);
        }
        let probes = t.probes.iter().enumerate().map(|(i, p)| load::probe(i, p, rtt, cell));
        let probes: Vec<ProbeScenario> = probes.collect::<Result<_, _>>()?;
        let datagrams = t.flusher.is_some() || t.flows.iter().any(|f| f.protocol.as_deref() == Some("udp"));
        let data = (u64::from(tcp.mss) + 66).max(if datagrams { u64::from(UDP_FRAME) } else { 0 });
        let largest_probe = probes.iter().map(|p| u64::from(p.size)).max().unwrap_or(0);
        let frame = data.max(LARGEST_ACK).max(largest_probe);
        let mut scenario = Self {
            up: bottleneck::bottleneck(Direction::Up, &t, frame, backend)?,
            down: bottleneck::bottleneck(Direction::Down, &t, frame, backend)?,
            edge_burst: path::edge_burst(&t, frame)?,
            edge_limit: path::edge_limit(&t)?,
            delay_tick,
            edge_rate: t.edge_rate.as_deref().map(|x| rate("edge_rate", x)).transpose()?,
            lead: time("lead", &t.lead, Duration::ZERO, Duration::from_secs(3600))?,
            start_jitter: time("start_jitter", &t.start_jitter, Duration::ZERO, duration)?,
            flows: t
                .flows
                .iter()
                .enumerate()
                .map(|(i, f)| load::flow(i, f, rtt, duration, backend, cell))
                .collect::<Result<_, _>>()?,
            probes,
            web: t
                .web
                .iter()
                .enumerate()
                .map(|(i, w)| load::web(i, w, rtt, duration, backend, cell))
                .collect::<Result<_, _>>()?,
            downloads: t
                .downloads
                .iter()
                .enumerate()
                .map(|(i, d)| download::download(i, d, rtt, duration, backend, cell))
                .collect::<Result<_, _>>()?,
            experiment: t.experiment,
            spare_acks: t.spare_acks,
            seed: t.seed,
            wifi,
            flusher: None,
            duration,
            rtt,
            sample_interval,
            tcp,
            save_metrics: t.tcp.save_metrics,
        };
        scenario.check_names()?;
        scenario.flusher = t
            .flusher
            .as_ref()
            .map(|f| scenario.read_flusher(f, backend))
            .transpose()?;
        Ok(scenario)
    }

    fn read_flusher(&self, text: &flusher::FlusherText, backend: Backend) -> Result<FlusherScenario, ScenarioError> {
        let traffic = flusher::Traffic {
            flows: &self.flows,
            web: &self.web,
            downloads: &self.downloads,
        };
        FlusherScenario::read(text, &traffic, self.duration, backend, self.wifi.is_some())
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
        !self.downloads.is_empty()
            || self.flows.iter().any(|f| f.writes.is_some())
            || !self.up.impairment.is_none()
            || !self.down.impairment.is_none()
            || self.edge_limit != EDGE_LIMIT
    }

    /// Whole bins of the series in the measured window.
    #[must_use]
    pub fn whole_bins(&self) -> usize {
        (self.duration.as_nanos() / self.sample_interval.as_nanos()) as usize
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

    /// The canonical JSON: every default written out, in the spelling that this module prints. Parsing it gives the same
    /// scenario again, so its text identifies a run.
    ///
    /// # Panics
    /// Never: the text form holds nothing that JSON cannot.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.to_value()).expect("a scenario is plain data")
    }

    /// The canonical form as a value.
    ///
    /// # Panics
    /// Never: the text form holds nothing that JSON cannot.
    #[must_use]
    pub fn to_value(&self) -> serde_json::Value {
        let lossy = |b: &BottleneckScenario| (b.impairment.loss > 0.0).then_some(b.impairment.loss);
        let jittery = |b: &BottleneckScenario| {
            let jitter = b.impairment.jitter;
            (!jitter.is_zero()).then(|| format_duration(jitter))
        };
        let mut text = Text {
            experiment: self.experiment.clone(),
            duration: Some(format_duration(self.duration)),
            lead: format_duration(self.lead),
            up: format_rate(self.up.rate),
            down: format_rate(self.down.rate),
            rtt: format_duration(self.rtt),
            qdisc_up: self.up.qdisc.to_string(),
            qdisc_down: self.down.qdisc.to_string(),
            burst_up: Some(self.up.burst.to_string()),
            burst_down: Some(self.down.burst.to_string()),
            delay_tick: format_duration(self.delay_tick),
            edge_rate: self.edge_rate.map(format_rate),
            edge_burst: self.edge_burst.map(|burst| burst.to_string()),
            edge_limit: (self.edge_limit != EDGE_LIMIT).then_some(self.edge_limit),
            loss_up: lossy(&self.up),
            loss_down: lossy(&self.down),
            jitter_up: jittery(&self.up),
            jitter_down: jittery(&self.down),
            start_jitter: format_duration(self.start_jitter),
            spare_acks: self.spare_acks,
            sample_interval: format_duration(self.sample_interval),
            tcp: TcpText::of(&self.tcp, self.save_metrics),
            flows: self.flows.iter().map(flow_text).collect(),
            probes: self.probes.iter().map(probe_text).collect(),
            web: self.web.iter().map(web_text).collect(),
            downloads: self.downloads.iter().map(download::download_text).collect(),
            wifi: self.wifi.as_ref().map(WifiScenario::text),
            flusher: self.flusher.as_ref().map(FlusherScenario::text),
            seed: self.seed,
        };
        if let Some(wifi) = &self.wifi {
            let place = |access: Access| {
                (
                    Some(wifi.cell.stations[access.station].name.clone()),
                    Some(access.dscp.into()),
                )
            };
            for (text, f) in text.flows.iter_mut().zip(&self.flows) {
                (text.station, text.dscp) = place(f.access);
            }
            for (text, p) in text.probes.iter_mut().zip(&self.probes) {
                (text.station, text.dscp) = place(p.access);
            }
            for (text, w) in text.web.iter_mut().zip(&self.web) {
                (text.station, text.dscp) = place(w.access);
            }
            for (text, d) in text.downloads.iter_mut().zip(&self.downloads) {
                (text.station, text.dscp) = place(d.access);
            }
        }
        // Through a Value: its maps are sorted, so the keys come in alphabetical order.
        serde_json::to_value(text).expect("a scenario is plain data")
    }
}

fn time(field: &str, text: &str, least: Duration, most: Duration) -> Result<Duration, ScenarioError> {
    let d = parse_duration(text).map_err(|e| ScenarioError(format!("{field}: {e}")))?;
    if d < least || d > most {
        return fail(field, text, format!("{least} to {most}"));
    }
    Ok(d)
}

fn rate(field: &str, text: &str) -> Result<Rate, ScenarioError> {
    let r = parse_rate(text).map_err(|e| ScenarioError(format!("{field}: {e}")))?;
    if r.as_bps() < 1_000 || r.as_bps() > 100_000_000_000 {
        return fail(field, text, "1kbit to 100gbit");
    }
    Ok(r)
}
