//! The code point of a socket's packets, and the address that they come from.

use crate::agent::AgentError;
use crate::agent::actor::{Doing, World};
use rustix::fd::AsFd;
use rustix::net::bind;
use rustix::net::sockopt::set_ip_tos;
use sojourn_bed::AccessPlan;
use std::net::SocketAddrV4;

/// Classifies what `socket` of `who` sends; connections that it accepts take after it.
pub(crate) fn mark(socket: impl AsFd, access: AccessPlan, who: &str) -> Result<(), AgentError> {
    if access.dscp == 0 {
        return Ok(());
    }
    set_ip_tos(socket, access.tos()).doing(|| format!("cannot set the code point {} for {who}", access.dscp))
}

/// Has `socket` of `who`, which is about to connect, send from the address of its client. The first client's is the
/// kernel's own choice.
pub(crate) fn send_from(socket: impl AsFd, access: AccessPlan, who: &str, world: &dyn World) -> Result<(), AgentError> {
    if access.client == 0 {
        return Ok(());
    }
    let address = world.client(access);
    bind(socket, &SocketAddrV4::new(address, 0)).doing(|| format!("cannot bind to {address} for {who}"))
}
