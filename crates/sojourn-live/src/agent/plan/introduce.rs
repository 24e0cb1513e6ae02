//! All neighbours on all paths come to know each other before there is a queue in which that would take time; and in
//! a cell the block-ack sessions begin, which its first frames start.

use crate::agent::actor::Doing;
use crate::agent::plan::build::Bed;
use crate::agent::{AgentError, Host};
use rustix::net::sockopt::set_ip_tos;
use sojourn_bed::{AccessPlan, LoadPlan};
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

/// The port that nobody listens on (RFC 863).
const DISCARD: u16 = 9;
/// Rounds of datagrams in a cell, and how long each has to go through the air.
const ROUNDS: u32 = 3;
const ROUND: Duration = Duration::from_millis(250);

/// Sends a datagram from each client to each address of the server; the error that nobody listens comes back. In a
/// cell datagrams go both ways, in every class that a station's traffic has, and again.
///
/// # Errors
/// If the kernel refuses.
pub(crate) fn introduce(bed: &mut Bed, load: &LoadPlan) -> Result<(), AgentError> {
    let (clients, servers) = (bed.clients.clone(), bed.server.clone());
    if load.wifi.is_none() {
        bed.enter(&Host::Client(0).name())?;
        let mut pairs = clients
            .iter()
            .flat_map(|&client| servers.iter().map(move |&server| (client, server)));
        return pairs.try_for_each(|(client, server)| send(client, server, 0, "client"));
    }
    let classes = classes(load, clients.len() as u16);
    let Some(&server) = servers.first() else { return Ok(()) };
    for _ in 0..ROUNDS {
        for &class in &classes {
            let (client, name) = (bed.client(class), Host::Client(class.station).name());
            let tos = class.tos();
            bed.enter(&name)?;
            send(client, server, tos, &name)?;
            bed.enter(&Host::Server.name())?;
            send(server, client, tos, "server")?;
        }
        std::thread::sleep(ROUND);
    }
    // The server's other addresses: neighbours are entered by hand, and routes are looked up.
    bed.enter(&Host::Client(0).name())?;
    servers
        .iter()
        .skip(1)
        .try_for_each(|&server| send(clients[0], server, 0, "client"))
}

/// The stations with the code points of their traffic, best effort among them.
fn classes(load: &LoadPlan, stations: u16) -> Vec<AccessPlan> {
    let all = load.traffic().map(|one| (one.access.station, one.access.dscp));
    let plain = (0..stations).map(|station| (station, 0));
    let classes: BTreeSet<(u16, u8)> = all.chain(plain).collect();
    classes
        .into_iter()
        .map(|(station, dscp)| AccessPlan {
            station,
            dscp,
            ..AccessPlan::default()
        })
        .collect()
}

fn send(from: Ipv4Addr, to: Ipv4Addr, tos: u8, host: &str) -> Result<(), AgentError> {
    let socket = UdpSocket::bind((from, 0)).doing(|| format!("cannot bind to {from} on {host}"))?;
    set_ip_tos(&socket, tos).doing(|| format!("cannot set a code point on {host}"))?;
    // Connected: else the kernel would number the datagram at random, and the error would quote that.
    let failed = || format!("cannot reach {to} from {host}");
    socket.connect((to, DISCARD)).doing(failed)?;
    socket.send(&[]).doing(failed).map(drop)
}
