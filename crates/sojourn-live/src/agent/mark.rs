//! The code point of a socket's packets.

use super::AgentError;
use super::actor::Doing;
use rustix::fd::AsFd;
use rustix::net::sockopt::set_ip_tos;
use sojourn_bed::AccessPlan;

/// Classifies what `socket` of `who` sends; connections that it accepts take after it.
pub(super) fn mark(socket: impl AsFd, access: AccessPlan, who: &str) -> Result<(), AgentError> {
    if access.dscp == 0 {
        return Ok(());
    }
    set_ip_tos(socket, access.tos()).doing(|| format!("cannot set the code point {} for {who}", access.dscp))
}
