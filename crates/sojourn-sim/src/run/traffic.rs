//! All traffic of a scenario is put onto its network.

use super::paths::{Ends, Paths};
use crate::draws;
use crate::probe::{ProbeKind, ProbeSpec};
use crate::simulator::{Added, FlowSpec, SimError, Simulator};
use crate::source::Source;
use crate::tap::Protocol;
use crate::traffic::download::{DownloadSpec, Downloader};
use crate::traffic::flood::{Flood, FloodSpec};
use crate::traffic::voip::{Voip, VoipSpec};
use crate::traffic::web::{WebClient, WebSpec};
use sojourn_scenario::{AnyTraffic, ProbeKindScenario, Scenario, Traffic, Transport, Voice};
use sojourn_tcp::cc::Algorithm;
use sojourn_tcp::{EcnMode, TcpParams};
use sojourn_units::{Duration, Stream, Time};

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

/// Adds all traffic of a scenario whose measured window begins at `begin`, in the order of [`Scenario::traffic`].
pub(super) fn add_all(
    s: &Scenario,
    paths: &Paths,
    simulator: &mut Simulator,
    begin: Time,
) -> Result<Vec<Added>, SimError> {
    s.traffic().map(|one| add(s, one, paths, simulator, begin)).collect()
}

fn add(
    s: &Scenario,
    one: &dyn Traffic,
    paths: &Paths,
    simulator: &mut Simulator,
    begin: Time,
) -> Result<Added, SimError> {
    let (ends, opens, name) = (Ends::of(s, one), one.opens(), one.name());
    simulator.set_identity(ends.identity(s.seed, opens));
    let (route, back) = paths.ways(ends, opens);
    let jittered = |start: Duration| begin + start + draws::start(s.seed, name, s.start_jitter);
    let source: Box<dyn Source> = match one.any() {
        AnyTraffic::Flow(f) if f.transport() == Transport::Tcp => {
            let control = f.congestion_control.unwrap_or_default();
            return simulator.add_flow(FlowSpec {
                name: name.to_owned(),
                route,
                back,
                tcp: tcp(s, name, control, f.ecn_mode(s.tcp.ecn)),
                start: jittered(f.start),
                application: f.application(),
                destination: paths.destination(ends, opens),
            });
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
                        measured_from: begin,
                    };
                    let voip = Voip::new(spec, simulator.empty_delay(&route, size));
                    return simulator.add_source(name, &route, &back, Box::new(voip));
                }
            };
            return simulator.add_probe(ProbeSpec {
                name: name.to_owned(),
                kind,
                route,
                back,
                size,
                start,
                measured_from: begin,
            });
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
                destination: paths.destination(ends, opens),
            };
            Box::new(Downloader::new(spec, name, s.seed)?)
        }
    };
    simulator.add_source(name, &route, &back, source)
}

/// What some traffic speaks.
pub(super) fn protocol(s: &Scenario, one: &dyn Traffic) -> Protocol {
    let tcp = |web| Protocol::Tcp { mss: s.tcp.mss, web };
    match one.any() {
        AnyTraffic::Flow(f) if f.transport() == Transport::Udp => Protocol::Udp,
        AnyTraffic::Flow(_) | AnyTraffic::Download(_) => tcp(false),
        AnyTraffic::Web(_) => tcp(true),
        AnyTraffic::Probe(p) => match p.kind() {
            ProbeKindScenario::Icmp(_) => Protocol::Icmp,
            ProbeKindScenario::UdpRr(_) => Protocol::UdpEcho,
            ProbeKindScenario::Isochronous(..) | ProbeKindScenario::Poisson(..) => Protocol::Udp,
            ProbeKindScenario::Voip(_, voice) => Protocol::Voice(voice),
        },
    }
}
