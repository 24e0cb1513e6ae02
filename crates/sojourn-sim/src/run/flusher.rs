//! A flusher is set up: what it sees, by route, and where its bursts go.

use super::Paths;
use crate::flusher::{FlusherHost, HostSpec, Sight, Socket, Subject, SubjectSeries, Way, way};
use crate::simulator::{SimError, Simulator};
use crate::tap::hosts::service_port;
use crate::tap::{Conversation, Protocol, Tap};
use crate::topology::Path;
use sojourn_flusher::gate::{GateSettings, Watchman};
use sojourn_flusher::{Flusher, FlusherParams};
use sojourn_scenario::{Access, Bursts, Direction, FlusherScenario, Place, Scenario, Transport};
use sojourn_units::{Duration, Time};

/// Where all hosts are: see [`crate::tap::hosts::address`].
const HOSTS: &str = "10.0.0.0/8";

/// TCP traffic of a scenario: its number in the run, and what a flusher needs to know of it.
struct Traffic<'a> {
    number: u32,
    name: &'a str,
    opens: Direction,
    web: bool,
    access: Access,
    rtt: Duration,
    flow: Option<usize>,
}

/// All TCP traffic, by number.
fn traffic(s: &Scenario) -> Vec<Traffic<'_>> {
    let mut connections = 0..;
    let tcp = s
        .flows
        .iter()
        .enumerate()
        .filter(|(_, f)| f.transport() == Transport::Tcp);
    let flows = tcp.map(|(i, f)| Traffic {
        number: i as u32,
        name: &f.name,
        opens: f.direction,
        web: false,
        access: s.access(f.station.as_deref(), f.dscp),
        rtt: f.rtt,
        flow: connections.next(),
    });
    let first = s.flows.len() + s.probes.len();
    let web = s.web.iter().enumerate().map(|(i, w)| Traffic {
        number: (first + i) as u32,
        name: &w.name,
        opens: Direction::Up,
        web: true,
        access: s.access(w.station.as_deref(), w.dscp),
        rtt: w.rtt,
        flow: None,
    });
    let first = first + s.web.len();
    let downloads = s.downloads.iter().enumerate().map(|(i, d)| Traffic {
        number: (first + i) as u32,
        name: &d.name,
        opens: d.direction,
        web: false,
        access: s.access(d.station.as_deref(), d.dscp),
        rtt: d.rtt,
        flow: None,
    });
    flows.chain(web).chain(downloads).collect()
}

/// The flusher of `scenario`. All routes of its traffic are there; those of the bursts come after them.
pub(super) fn host(
    scenario: &Scenario,
    flusher: &FlusherScenario,
    paths: &Paths,
    simulator: &mut Simulator,
    begin: Time,
) -> Result<FlusherHost, SimError> {
    let mut ways = vec![None; simulator.hashes.len()];
    let mut subjects = Vec::new();
    for t in traffic(scenario) {
        // Routes come in pairs, in this order: from the opener, and to it.
        let routes = [2 * t.number as usize, 2 * t.number as usize + 1];
        let hashes = routes.map(|route| simulator.hashes[route]);
        let client_opens = t.opens == Direction::Up;
        let protocol = Protocol::Tcp {
            mss: scenario.tcp.mss,
            ecn: scenario.tcp.ecn,
            web: t.web,
        };
        for (route, from_opener) in routes.into_iter().zip([true, false]) {
            ways[route] = Some(Way {
                subject: subjects.len() as u32,
                from_opener,
                client_opens,
                isns: if from_opener { hashes } else { [hashes[1], hashes[0]] },
                port: hashes[0],
                service: service_port(protocol),
            });
        }
        let (up, down) = paths.ways(t.access, t.rtt, Direction::Up);
        let path = Path { up, down };
        let seen = flusher.sees(t.name);
        let mut burst = None;
        for leads_up in [true, false] {
            if let Some(forth) = way(flusher.place, &path, leads_up).filter(|_| seen && flusher.active()) {
                let back = if leads_up { &path.down } else { &path.up };
                burst = Some((simulator.add_burst_routes(t.name, forth, back)?, leads_up));
            }
        }
        subjects.push(Subject {
            name: t.name.to_owned(),
            number: t.number,
            seen,
            flow: t.flow,
            burst,
            pairing: crate::flusher::pairs::Pairing::default(),
            series: SubjectSeries::default(),
            flushes: 0,
            packets: 0,
        });
    }
    let socket = (flusher.bursts == Bursts::Daemon).then(|| {
        let mut socket = Socket::default();
        let taken = subjects.iter().filter_map(|subject: &Subject| subject.burst);
        // Without a rate no packet stays at the host.
        for (route, _) in taken.filter(|_| scenario.edge_rate.is_some() && flusher.place != Place::Router) {
            socket.open(route, simulator.entry_of(route));
        }
        socket
    });
    Ok(FlusherHost::new(HostSpec {
        // A gate learns from events whether flushes help.
        core: Flusher::new(FlusherParams {
            events: flusher.params.events || flusher.gated(),
            ..flusher.params
        })?,
        watchman: flusher.gated().then(|| Watchman::new(widest(), flusher.params.method)),
        slot: simulator.add_flusher_slot(),
        sight: Sight::new(&paths.each, scenario.edge_rate, flusher.place),
        subjects,
        ways,
        active: flusher.active(),
        from: begin + flusher.start,
        rate: scenario.edge_rate.filter(|_| flusher.bursts == Bursts::Paced),
        socket,
    }))
}

/// The daemon's gate towards any host of the simulation.
fn widest() -> GateSettings {
    GateSettings::widest(vec![HOSTS.parse().expect("a prefix")])
}

/// Tells a capture of the bursts: their packets go between the hosts of the flow that they are for.
pub(super) fn open_bursts(host: &FlusherHost, simulator: &Simulator, tap: &mut Tap) {
    for subject in &host.subjects {
        let Some((route, up)) = subject.burst else { continue };
        let routes = [route, route + 1];
        let hashes = routes.map(|r| simulator.hashes[usize::from(r)]);
        let conversation = Conversation {
            name: subject.name.clone(),
            number: subject.number,
            client_opens: up,
            protocol: Protocol::Udp,
            hashes,
            port: hashes[0],
        };
        tap.open(conversation, routes, 0);
    }
}
