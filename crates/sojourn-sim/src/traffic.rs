//! Traffic of all kinds, and how it comes about from what a scenario says: bulk TCP flows, probes, voice, games, web pages, files
//! one after the other, thin streams, and floods.

mod connection;
pub mod download;
pub mod flood;
pub mod flow;
pub(crate) mod thin;
pub(crate) mod voice_trace;
pub mod voip;
pub mod web;

use crate::agent::AgentEnd;
use crate::draws;
use crate::network::{Destination, LinkId};
use crate::probe::{Probe, ProbeKind, ProbeSpec};
use crate::simulator::SimError;
use crate::source::Source;
use crate::stack::{Opening, Stacks};
use crate::tap::Protocol;
use download::{DownloadSpec, Downloader};
use flood::{Flood, FloodSpec};
use flow::FlowSpec;
use sojourn_scenario::{AnyTraffic, ProbeKindScenario, Scenario, Traffic, Transport, Voice};
use sojourn_tcp::cc::Algorithm;
use sojourn_tcp::{EcnMode, TcpParams};
use sojourn_units::{Duration, Stream, Time};
use voip::{Voip, VoipSpec};
use web::{WebClient, WebSpec};

/// Where some traffic of a scenario is on its network.
pub(crate) struct Site<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) stacks: Stacks<'a>,
    /// The beginning of the measured window.
    pub(crate) begin: Time,
    /// From its opener to the other end, and back.
    pub(crate) route: &'a [LinkId],
    pub(crate) back: &'a [LinkId],
    /// What its sender remembers of the other end.
    pub(crate) destination: Option<Destination>,
    /// How long a packet of so many bytes takes along the empty route.
    pub(crate) empty_delay: &'a dyn Fn(u16) -> Duration,
}

/// What some traffic of a scenario is on the network.
pub(crate) enum Loaded {
    /// A TCP flow.
    Flow(Box<FlowSpec>),
    /// A flow of somebody else's transport, which starts then.
    Ends(Box<[AgentEnd; 2]>, Time),
    /// Anything else.
    Source(Box<dyn Source>),
}

/// What TCP is to a flow, web client or download: its control, and its own random numbers.
fn tcp(s: &Scenario, name: &str, control: Algorithm, ecn: EcnMode) -> TcpParams {
    let seed = Stream::derive_seed(s.seed, &format!("tcp {name}"));
    TcpParams {
        congestion_control: control,
        ecn,
        abe: s.tcp.abe && ecn.is_on(),
        ecn_low: s.tcp.ecn_low && ecn.is_on(),
        ..s.tcp.seeded(seed)
    }
}

/// Makes of some traffic of a scenario what the engine carries.
pub(crate) fn load(one: &dyn Traffic, at: &Site<'_>) -> Result<Loaded, SimError> {
    let (s, name) = (at.scenario, one.name());
    let jittered = |start: Duration| at.begin + start + draws::start(s.seed, name, s.start_jitter);
    let source: Box<dyn Source> = match one.any() {
        AnyTraffic::Flow(f) if f.transport() == Transport::Tcp => {
            let control = f.congestion_control.unwrap_or_default();
            return Ok(Loaded::Flow(Box::new(FlowSpec {
                tcp: tcp(s, name, control, f.ecn_mode(s.tcp.ecn)),
                start: jittered(f.start),
                application: f.application(),
                destination: at.destination,
                ..FlowSpec::bulk(name, at.route, at.back)
            })));
        }
        AnyTraffic::Flow(f) if f.stack.is_some() => {
            let stack = f.stack.as_deref().unwrap_or_default();
            let opening = Opening {
                seed: Stream::derive_seed(s.seed, &format!("stack {name}")),
                control: f.congestion_control,
                streams: f.streams.unwrap_or(1),
            };
            let ends = at.stacks.open(name, stack, &opening).map_err(SimError::NotModelled)?;
            let (start, not_ect) = (jittered(f.start), f.ecn == Some(EcnMode::Off));
            let ends = AgentEnd::of_flow(ends, start, f.application(), not_ect);
            return Ok(Loaded::Ends(Box::new(ends), start));
        }
        AnyTraffic::Flow(f) => Box::new(Flood::new(FloodSpec {
            application: f.application(),
            start: jittered(f.start),
        })),
        AnyTraffic::Probe(p) => {
            // Probes begin at once.
            let start = Time::ZERO + draws::phase(s.seed, p);
            let size = p.size();
            let kind = match p.kind() {
                ProbeKindScenario::Icmp(interval) => ProbeKind::Echo { interval },
                ProbeKindScenario::UdpRr(timeout) => ProbeKind::RequestResponse { timeout },
                ProbeKindScenario::Isochronous(_, interval) => ProbeKind::Isochronous { interval },
                ProbeKindScenario::Poisson(_, interval) => ProbeKind::Poisson { interval },
                ProbeKindScenario::Voip(_, Voice { frame, .. }) => {
                    let spec = VoipSpec {
                        frame,
                        size,
                        start,
                        measured_from: at.begin,
                    };
                    return Ok(Loaded::Source(Box::new(Voip::new(spec, (at.empty_delay)(size)))));
                }
            };
            let spec = ProbeSpec {
                name: name.to_owned(),
                kind,
                route: at.route.to_vec(),
                back: at.back.to_vec(),
                size,
                start,
                measured_from: at.begin,
            };
            Box::new(Probe::new(spec, s.seed))
        }
        AnyTraffic::Web(w) => {
            let spec = WebSpec {
                tcp: tcp(s, name, w.congestion_control, s.tcp.ecn),
                start: jittered(w.start),
                interval: w.interval,
                objects: w.objects.clone(),
                workers: w.workers,
                think_time: w.think_time,
                request: w.request_bytes,
                header: w.header_bytes,
                dns: w.dns,
                look_ups: w.look_ups,
            };
            Box::new(WebClient::new(spec, Stream::named(s.seed, &format!("ports {name}")))?)
        }
        AnyTraffic::Download(d) => {
            let spec = DownloadSpec {
                tcp: tcp(s, name, d.congestion_control, s.tcp.ecn),
                start: jittered(d.start),
                bytes: d.bytes,
                gap: d.gap,
                persistent: d.persistent,
                destination: at.destination,
            };
            Box::new(Downloader::new(spec, name, s.seed)?)
        }
        AnyTraffic::Game(g) => {
            let spec = VoipSpec {
                frame: g.interval(),
                size: g.size,
                start: Time::ZERO + draws::start(s.seed, name, g.interval()),
                measured_from: at.begin,
            };
            Box::new(Voip::new(spec, (at.empty_delay)(g.size)))
        }
    };
    Ok(Loaded::Source(source))
}

/// What some traffic speaks.
pub(crate) fn protocol(s: &Scenario, one: &dyn Traffic) -> Protocol {
    let tcp = |web| Protocol::Tcp { mss: s.tcp.mss, web };
    match one.any() {
        AnyTraffic::Flow(f) if f.transport() != Transport::Tcp => Protocol::Udp,
        AnyTraffic::Flow(_) | AnyTraffic::Download(_) => tcp(false),
        AnyTraffic::Web(_) => tcp(true),
        AnyTraffic::Game(_) => Protocol::Udp,
        AnyTraffic::Probe(p) => match p.kind() {
            ProbeKindScenario::Icmp(_) => Protocol::Icmp,
            ProbeKindScenario::UdpRr(_) => Protocol::UdpEcho,
            ProbeKindScenario::Isochronous(..) | ProbeKindScenario::Poisson(..) => Protocol::Udp,
            ProbeKindScenario::Voip(_, voice) => Protocol::Voice(voice),
        },
    }
}

/// Whether it has a conversation for each of its connections and look-ups, which it opens as it goes.
pub(crate) fn opens_many(one: &dyn Traffic) -> bool {
    matches!(one.any(), AnyTraffic::Web(_) | AnyTraffic::Download(_))
}
