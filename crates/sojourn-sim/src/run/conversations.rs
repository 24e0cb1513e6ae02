//! What a capture is told of a run before it begins: who talks to whom, and on which routes.

use crate::simulator::{Added, Simulator};
use crate::tap::{Conversation, Tap};
use crate::traffic::{opens_many, protocol};
use sojourn_scenario::{Access, Direction, IdentityKeys, Scenario, Traffic};
use sojourn_units::Duration;
use std::collections::{BTreeMap, BTreeSet};

/// Opens the conversation of each flow and each probe, and announces the web clients and
/// downloads, which open theirs as they go.
pub(super) fn open_all(s: &Scenario, added: &[Added], simulator: &Simulator, tap: &mut Tap) {
    let hosts = hosts(s);
    for (number, (one, added)) in s.traffic().zip(added).enumerate() {
        let hashes = added.routes.both().map(|route| simulator.hash(route));
        let conversation = Conversation {
            name: one.name().to_owned(),
            number: number as u32,
            client_opens: one.opens() == Direction::Up,
            protocol: protocol(s, one),
            hashes,
            port: hashes[0],
            hosts: hosts.as_ref().map(|all| all[number]),
            dscp: s.access(one.identity()).dscp,
        };
        if opens_many(one) {
            tap.announce(conversation, added.routes);
        } else {
            tap.open(conversation, added.routes, 0);
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
