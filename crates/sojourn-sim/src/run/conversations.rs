//! What a capture is told of a run before it begins: who talks to whom, and on which routes.

use crate::places::TrafficRoutes;
use crate::simulator::Simulator;
use crate::tap::{Conversation, Protocol, Tap};
use sojourn_scenario::{Access, Direction, IdentityKeys, ProbeKindScenario, Scenario, Traffic, Transport};
use sojourn_units::Duration;
use std::collections::{BTreeMap, BTreeSet};

/// Opens the conversation of each flow and each probe, and announces the web clients and
/// downloads, which open theirs as they go.
pub(super) fn open_all(s: &Scenario, routes: &TrafficRoutes, simulator: &Simulator, tap: &mut Tap) {
    let tcp = |web| Protocol::Tcp { mss: s.tcp.mss, web };
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
    let hosts = hosts(s);
    let mut access = s.traffic().map(|one| s.access(one.identity()));
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
            hosts: hosts.as_ref().map(|all| all[number]),
            dscp: access.next().unwrap_or_default().dscp,
        };
        if number < first_web {
            tap.open(conversation, routes, 0);
        } else {
            tap.announce(conversation, routes);
        }
    }
}

/// The hosts of each flow, probe, web client and download, if the scenario says which there are. On the shortest path a
/// server has the number that the scenario gives it. On each longer one it is another host, numbered after those.
pub(super) fn hosts(s: &Scenario) -> Option<Vec<[u32; 2]>> {
    let says = |keys: IdentityKeys<'_>| keys.client.is_some() || keys.server.is_some();
    if !s.traffic().map(Traffic::identity).any(says) {
        return None;
    }
    let shortest = s.traffic().map(Traffic::rtt).min();
    let ends = || {
        s.traffic()
            .map(|one| s.access(one.identity()))
            .zip(s.traffic().map(Traffic::rtt))
    };
    let far = |rtt| Some(rtt) != shortest;
    let servers = ends()
        .map(|(access, _)| u32::from(access.server) + 1)
        .max()
        .unwrap_or(1);
    let longer: BTreeSet<(Duration, u16)> = ends()
        .filter(|(_, rtt)| far(*rtt))
        .map(|(a, rtt)| (rtt, a.server))
        .collect();
    let numbers: BTreeMap<(Duration, u16), u32> = longer.into_iter().zip(servers..).collect();
    let of = |(access, rtt): (Access, Duration)| {
        let client = access.station as u32 + u32::from(access.client);
        let server = numbers.get(&(rtt, access.server)).copied();
        [client, server.unwrap_or_else(|| u32::from(access.server))]
    };
    Some(ends().map(of).collect())
}
