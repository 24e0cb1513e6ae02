//! What a capture is told of a run before it begins: who talks to whom, and on which routes.

use crate::places::TrafficRoutes;
use crate::simulator::Simulator;
use crate::tap::{Conversation, Protocol, Tap};
use sojourn_scenario::{Direction, ProbeKindScenario, Scenario, Transport};

/// Opens the conversation of each flow and each probe, and announces the web clients and
/// downloads, which open theirs as they go.
pub(super) fn open_all(s: &Scenario, routes: &TrafficRoutes, simulator: &Simulator, tap: &mut Tap) {
    let tcp = |web| Protocol::Tcp {
        mss: s.tcp.mss,
        ecn: s.tcp.ecn,
        web,
    };
    let flows = s.flows.iter().map(|f| {
        let protocol = match f.transport() {
            Transport::Tcp => tcp(false),
            Transport::Udp => Protocol::Udp,
        };
        (&f.name, f.direction, protocol)
    });
    let probes = s.probes.iter().map(|p| {
        let (direction, protocol) = match p.kind() {
            ProbeKindScenario::Icmp(_) => (Direction::Up, Protocol::Icmp),
            ProbeKindScenario::UdpRr(_) => (Direction::Up, Protocol::UdpEcho),
            ProbeKindScenario::Isochronous(direction, _) | ProbeKindScenario::Poisson(direction, _) => {
                (direction, Protocol::Udp)
            }
            ProbeKindScenario::Voip(direction, voice) => (direction, Protocol::Voice(voice)),
        };
        (&p.name, direction, protocol)
    });
    let web = s.web.iter().map(|w| (&w.name, Direction::Up, tcp(true)));
    let downloads = s.downloads.iter().map(|d| (&d.name, d.direction, tcp(false)));
    let first_web = s.flows.len() + s.probes.len();
    let all = flows.chain(probes).chain(web).chain(downloads).zip(routes.by_number());
    for (number, ((name, direction, protocol), routes)) in all.enumerate() {
        let hashes = routes.both().map(|route| simulator.hash(route));
        let conversation = Conversation {
            name: name.clone(),
            number: number as u32,
            client_opens: direction == Direction::Up,
            protocol,
            hashes,
            port: hashes[0],
        };
        if number < first_web {
            tap.open(conversation, routes, 0);
        } else {
            tap.announce(conversation);
        }
    }
}
