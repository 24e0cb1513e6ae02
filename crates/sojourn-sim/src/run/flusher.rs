//! A flusher is set up: what it sees, by route, and where its bursts go.

use super::conversations;
use super::paths::{Ends, Paths};
use crate::flusher::{FlusherHost, HostSpec, Sight, Socket, Subject, SubjectSeries, Way, way};
use crate::identity::Identity;
use crate::simulator::{Added, SimError, Simulator};
use crate::tap::hosts::service_port;
use crate::tap::{Conversation, Protocol, Tap};
use crate::traffic::protocol;
use sojourn_flusher::gate::{GateSettings, Watchman};
use sojourn_flusher::{Flusher, FlusherParams};
use sojourn_scenario::{AnyTraffic, Bursts, Direction, FlusherScenario, Place, Scenario, Transport};
use sojourn_units::Time;

/// Where all hosts are: see [`crate::tap::hosts::address`].
const HOSTS: &str = "10.0.0.0/8";

/// The flusher of `scenario`. All routes of its traffic are there; those of the bursts come after them.
pub(super) fn host(
    scenario: &Scenario,
    flusher: &FlusherScenario,
    paths: &Paths,
    added: &[Added],
    simulator: &mut Simulator,
    begin: Time,
) -> Result<FlusherHost, SimError> {
    let mut ways = vec![None; simulator.routes()];
    let hosts = conversations::hosts(scenario);
    let mut subjects = Vec::new();
    for (number, (one, added)) in scenario.traffic().zip(added).enumerate() {
        if one.transport() != Transport::Tcp {
            continue;
        }
        let hashes = added.routes.both().map(|route| simulator.hash(route));
        let service = service_port(protocol(scenario, one));
        for from_opener in [true, false] {
            ways[usize::from(added.routes.of(from_opener).0)] = Some(Way {
                subject: subjects.len() as u32,
                from_opener,
                client_opens: one.opens() == Direction::Up,
                isns: if from_opener { hashes } else { [hashes[1], hashes[0]] },
                port: hashes[0],
                service,
            });
        }
        let ends = Ends::of(scenario, one);
        let path = paths.dumbbell[paths.path(ends)];
        let seen = flusher.sees(one.name());
        let mut burst = None;
        for leads_up in [true, false] {
            if let Some(forth) = way(flusher.place, path, leads_up).filter(|_| seen && flusher.active()) {
                let back = if leads_up { path.down } else { path.up };
                let direction = if leads_up { Direction::Up } else { Direction::Down };
                let identity = Identity {
                    dscp: 0,
                    ..ends.identity(scenario.seed, direction)
                };
                let routes = simulator.add_burst_routes(one.name(), &forth, &back.links(), identity)?;
                burst = Some((routes, leads_up));
            }
        }
        subjects.push(Subject {
            name: one.name().to_owned(),
            number: number as u32,
            hosts: hosts.as_ref().map(|all| all[number]),
            seen,
            flow: matches!(one.any(), AnyTraffic::Flow(_)).then_some(added.index),
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
        for (routes, _) in taken.filter(|_| scenario.edge_rate.is_some() && flusher.place != Place::Router) {
            let route = routes.forth.0;
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
        sight: Sight::new(&paths.dumbbell, scenario.edge_rate, flusher.place),
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
        let Some((routes, up)) = subject.burst else { continue };
        let hashes = routes.both().map(|route| simulator.hash(route));
        let conversation = Conversation {
            name: subject.name.clone(),
            number: subject.number,
            client_opens: up,
            protocol: Protocol::Udp,
            hashes,
            port: hashes[0],
            hosts: subject.hosts,
            dscp: 0,
        };
        tap.open(conversation, routes, 0);
    }
}
