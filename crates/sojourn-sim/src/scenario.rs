//! A scenario: everything that a run depends on, as text that a person can write.
//!
//! This is the one place where a scenario is validated. Times, rates and sizes are in `tc`'s spelling; every key has a
//! default but `duration`; an unknown key is refused.

mod reading;
mod text;

use sojourn_qdisc::QdiscSpec;
use sojourn_tcp::TcpParams;
use sojourn_tcp::cc::Algorithm;
use sojourn_units::{Bytes, Duration, Rate, format_duration, format_rate, parse_bytes, parse_duration, parse_rate};
use std::collections::BTreeSet;
use text::{FlowText, ProbeText, TcpText, Text, flow_text, probe_text};
use thiserror::Error;

/// A scenario that cannot be run: one sentence that names the field, its value and the rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ScenarioError(String);

fn fail<T>(field: &str, value: impl std::fmt::Display, rule: impl std::fmt::Display) -> Result<T, ScenarioError> {
    Err(ScenarioError(format!("{field} is {value}, but must be {rule}")))
}

/// Largest number of flows and probes together.
const FLOWS_MAX: usize = 10_000;
/// Longest run.
const DURATION_MAX: Duration = Duration::from_secs(86_400);
/// A bare acknowledgement with three SACK blocks, bytes.
const LARGEST_ACK: u64 = 94;
/// Most bins of a series.
const BINS_MAX: u64 = 1_000_000;

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
    pub qdisc: QdiscSpec,
    /// Depth of the token bucket.
    pub burst: Bytes,
}

/// A TCP flow.
#[derive(Clone, Debug)]
pub struct FlowScenario {
    /// Unique name.
    pub name: String,
    /// Which way its data goes.
    pub direction: Direction,
    /// Congestion control of its sender.
    pub congestion_control: Algorithm,
    /// Base RTT.
    pub rtt: Duration,
    /// When it starts, from the beginning of the measured window, before jitter.
    pub start: Duration,
    /// How much it sends; `None` for as much as it can.
    pub bytes: Option<u64>,
    /// At what rate its application writes; `None` for all at once.
    pub rate: Option<Rate>,
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
    /// The flows.
    pub flows: Vec<FlowScenario>,
    /// The probes.
    pub probes: Vec<ProbeScenario>,
    /// Seed of all random streams.
    pub seed: u64,
}

impl Scenario {
    /// Reads a scenario from JSON and checks it.
    ///
    /// # Errors
    /// [`ScenarioError`] for anything that cannot be run.
    pub fn from_json(json: &str) -> Result<Self, ScenarioError> {
        let text = reading::read(json)?;
        Self::from_text(text)
    }

    fn from_text(t: Text) -> Result<Self, ScenarioError> {
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
        let tcp = TcpParams {
            variant: t
                .tcp
                .variant
                .parse()
                .map_err(|e: sojourn_tcp::ParamError| ScenarioError(e.to_string()))?,
            mss: t.tcp.mss,
            initial_window: t.tcp.initial_window,
            receive_window: parse_bytes(&t.tcp.receive_window)
                .map_err(|e| ScenarioError(format!("tcp.receive_window: {e}")))?,
            congestion_control: Algorithm::Cubic,
            hystart: t.tcp.hystart,
            ecn: t.tcp.ecn,
            delayed_ack: t.tcp.delayed_ack,
            min_rto: time("tcp.min_rto", &t.tcp.min_rto, Duration::ZERO, DURATION_MAX)?,
        };
        tcp.validate().map_err(|e| ScenarioError(e.to_string()))?;
        let probes = t.probes.iter().enumerate().map(|(i, p)| probe(i, p, rtt));
        let probes: Vec<ProbeScenario> = probes.collect::<Result<_, _>>()?;
        let data = u64::from(tcp.mss) + 66;
        let largest_probe = probes.iter().map(|p| u64::from(p.size)).max().unwrap_or(0);
        let frame = data.max(LARGEST_ACK).max(largest_probe);
        let scenario = Self {
            up: bottleneck("up", &t.up, &t.qdisc_up, t.burst_up.as_deref(), frame)?,
            down: bottleneck("down", &t.down, &t.qdisc_down, t.burst_down.as_deref(), frame)?,
            delay_tick: time("delay_tick", &t.delay_tick, Duration::ZERO, Duration::from_millis(100))?,
            edge_rate: t.edge_rate.as_deref().map(|x| rate("edge_rate", x)).transpose()?,
            lead: time("lead", &t.lead, Duration::ZERO, Duration::from_secs(3600))?,
            start_jitter: time("start_jitter", &t.start_jitter, Duration::ZERO, duration)?,
            flows: t
                .flows
                .iter()
                .enumerate()
                .map(|(i, f)| flow(i, f, rtt, duration))
                .collect::<Result<_, _>>()?,
            probes,
            experiment: t.experiment,
            spare_acks: t.spare_acks,
            seed: t.seed,
            duration,
            rtt,
            sample_interval,
            tcp,
        };
        scenario.check_names()?;
        Ok(scenario)
    }

    fn check_names(&self) -> Result<(), ScenarioError> {
        let n = self.flows.len() + self.probes.len();
        if n > FLOWS_MAX {
            return fail("flows and probes", n, format!("at most {FLOWS_MAX} together"));
        }
        let mut seen = BTreeSet::new();
        for name in self
            .flows
            .iter()
            .map(|f| &f.name)
            .chain(self.probes.iter().map(|p| &p.name))
        {
            if !seen.insert(name) {
                return fail("name", format!("{name:?} twice"), "unique among flows and probes");
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

    pub(crate) fn to_value(&self) -> serde_json::Value {
        let text = Text {
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
            start_jitter: format_duration(self.start_jitter),
            spare_acks: self.spare_acks,
            sample_interval: format_duration(self.sample_interval),
            tcp: TcpText {
                variant: self.tcp.variant.name().into(),
                mss: self.tcp.mss,
                initial_window: self.tcp.initial_window,
                receive_window: self.tcp.receive_window.to_string(),
                hystart: self.tcp.hystart,
                ecn: self.tcp.ecn,
                delayed_ack: self.tcp.delayed_ack,
                min_rto: format_duration(self.tcp.min_rto),
            },
            flows: self.flows.iter().map(flow_text).collect(),
            probes: self.probes.iter().map(probe_text).collect(),
            seed: self.seed,
        };
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

fn bottleneck(
    name: &str,
    rate_text: &str,
    qdisc_text: &str,
    burst: Option<&str>,
    frame: u64,
) -> Result<BottleneckScenario, ScenarioError> {
    let rate = rate(name, rate_text)?;
    let qdisc = QdiscSpec::parse(qdisc_text, Some(rate)).map_err(|e| ScenarioError(format!("qdisc_{name}: {e}")))?;
    let burst = match burst {
        Some(text) => parse_bytes(text).map_err(|e| ScenarioError(format!("burst_{name}: {e}")))?,
        // Two frames, or what the link sends in half a millisecond: a late timer must not lose tokens on a real bed.
        None => rate.bytes_in(Duration::from_micros(500)).max(Bytes::new(2 * frame)),
    };
    if burst.get() < frame || burst.get() > 1 << 30 {
        return fail(
            &format!("burst_{name}"),
            burst,
            format!("at least the largest frame ({frame} bytes) and at most 1gb"),
        );
    }
    if rate.time_to_send(burst) > DURATION_MAX {
        return fail(
            &format!("burst_{name}"),
            burst,
            format!("at most what {rate} sends in a day"),
        );
    }
    Ok(BottleneckScenario { rate, qdisc, burst })
}

fn check_name(field: &str, name: &str) -> Result<(), ScenarioError> {
    let ok = !name.is_empty()
        && name.len() <= 64
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if ok {
        Ok(())
    } else {
        fail(field, format!("{name:?}"), "1 to 64 letters, digits, '_', '-' or '.'")
    }
}

fn flow(i: usize, f: &FlowText, rtt: Duration, duration: Duration) -> Result<FlowScenario, ScenarioError> {
    let field = |key: &str| format!("flows[{i}].{key}");
    check_name(&field("name"), &f.name)?;
    if let Some(kind) = &f.kind
        && kind != "tcp"
    {
        return fail(&field("kind"), format!("{kind:?}"), "\"tcp\"");
    }
    if f.bytes == Some(0) {
        return fail(&field("bytes"), 0, "at least 1");
    }
    let (least, most) = (Duration::from_micros(1), Duration::from_secs(60));
    Ok(FlowScenario {
        name: f.name.clone(),
        direction: Direction::parse(&field("direction"), &f.direction)?,
        congestion_control: f
            .congestion_control
            .as_deref()
            .map_or(Ok(Algorithm::Cubic), str::parse)
            .map_err(|e| ScenarioError(format!("flows[{i}].{e}")))?,
        rtt: f
            .rtt
            .as_deref()
            .map_or(Ok(rtt), |text| time(&field("rtt"), text, least, most))?,
        start: f.start.as_deref().map_or(Ok(Duration::ZERO), |text| {
            time(&field("start"), text, Duration::ZERO, duration)
        })?,
        bytes: f.bytes,
        rate: f.rate.as_deref().map(|text| rate(&field("rate"), text)).transpose()?,
    })
}

fn probe(i: usize, p: &ProbeText, rtt: Duration) -> Result<ProbeScenario, ScenarioError> {
    let field = |key: &str| format!("probes[{i}].{key}");
    check_name(&field("name"), &p.name)?;
    let (least, most) = (Duration::from_millis(1), Duration::from_secs(60));
    let interval = || {
        p.interval.as_deref().map_or(Ok(Duration::from_millis(200)), |text| {
            time(&field("interval"), text, least, most)
        })
    };
    let unused = |key: &str, given: bool| {
        if given {
            fail(&field(key), "given", format!("absent for kind {:?}", p.kind))
        } else {
            Ok(())
        }
    };
    // Sizes: ping's 64-byte ICMP message, netperf's one-byte UDP datagram (padded to the least Ethernet frame), and 160 bytes
    // of G.711 with RTP; each with its IP and Ethernet headers.
    let (kind, default_size) = match p.kind.as_str() {
        "icmp" => {
            unused("timeout", p.timeout.is_some())?;
            unused("direction", p.direction.is_some())?;
            (ProbeKindScenario::Icmp(interval()?), 98)
        }
        "udp_rr" => {
            unused("interval", p.interval.is_some())?;
            unused("direction", p.direction.is_some())?;
            let timeout = p.timeout.as_deref().map_or(Ok(Duration::from_secs(2)), |text| {
                time(&field("timeout"), text, least, most)
            })?;
            (ProbeKindScenario::UdpRr(timeout), 60)
        }
        "isochronous" | "poisson" => {
            unused("timeout", p.timeout.is_some())?;
            let direction = Direction::parse(&field("direction"), p.direction.as_deref().unwrap_or("up"))?;
            let kind = if p.kind == "poisson" {
                ProbeKindScenario::Poisson
            } else {
                ProbeKindScenario::Isochronous
            };
            (kind(direction, interval()?), 214)
        }
        other => {
            return fail(
                &field("kind"),
                format!("{other:?}"),
                "\"icmp\", \"udp_rr\", \"isochronous\" or \"poisson\"",
            );
        }
    };
    let size = p.size.unwrap_or(default_size);
    if !(60..=1514).contains(&size) {
        return fail(&field("size"), size, "60 to 1514 bytes");
    }
    let rtt = p.rtt.as_deref().map_or(Ok(rtt), |text| {
        time(&field("rtt"), text, Duration::from_micros(1), Duration::from_secs(60))
    })?;
    Ok(ProbeScenario {
        name: p.name.clone(),
        kind,
        size,
        rtt,
    })
}
