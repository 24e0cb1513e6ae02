//! The congestion controls that a kernel has.

use crate::agent::AgentError;
use crate::agent::actor::Doing;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt};
use sojourn_bed::LoadPlan;
use sojourn_tcp::cc::Algorithm;

/// Refuses traffic with a congestion control that a socket cannot have: it is not there, and no module has it.
pub(crate) fn has_controls(load: &LoadPlan, release: &str) -> Result<(), AgentError> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .doing(|| "cannot open a socket".into())?;
    let lacks = |control: Algorithm| sockopt::set_tcp_congestion(&socket, control.name()) == Err(Errno::NOENT);
    let flows = load.flows.iter().enumerate().filter_map(|(i, flow)| {
        let control = flow.congestion_control?;
        Some((format!("flows[{i}]"), control))
    });
    let web = load.web.iter().enumerate();
    let web = web.map(|(i, client)| (format!("web[{i}]"), client.congestion_control));
    let downloads = load.downloads.iter().enumerate();
    let downloads = downloads.map(|(i, one)| (format!("downloads[{i}]"), one.congestion_control));
    let mut used = flows.chain(web).chain(downloads);
    match used.find(|&(_, control)| lacks(control)) {
        Some((place, control)) => Err(AgentError::Plan(format!(
            "{place}.congestion_control is {:?}, but Linux {release} has {}: name a kernel that has it",
            control.name(),
            congestion_controls()?.join(", ")
        ))),
        None => Ok(()),
    }
}

/// The congestion controls that sockets of this namespace can have.
pub(crate) fn congestion_controls() -> Result<Vec<String>, AgentError> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let text = std::fs::read_to_string(path).doing(|| format!("cannot read {path}"))?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}
