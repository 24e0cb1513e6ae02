//! The two hosts at the ends of the bottleneck: a network namespace each, with a TUN device whose other side this
//! program holds.
//!
//! TUN, not packet sockets on veths: what waits for this program waits in the device, whose queue is as long as its
//! owner says. The receive buffer of a packet socket is bounded by `net.core.rmem_max`, which root of a user
//! namespace cannot exceed: some 180 full packets, and what comes beyond them while this program is not scheduled
//! would be lost by nobody's choice. A TUN device also has no neighbours to look up and no Ethernet in the way. It
//! has no offloads unless one asks for them, so one packet is one packet.
//!
//! Namespaces and devices last as long as this program, and its children, so nothing is left behind.

use super::links::{Link, Links, Metric};
use crate::agent::AgentError;
use crate::agent::actor::Doing;
use nix::sched::{CloneFlags, setns, unshare};
use rustix::fd::OwnedFd;
use std::fmt;
use std::fs::File;
use std::net::IpAddr;
use std::path::Path;
use tun_rs::{DeviceBuilder, SyncDevice};

/// Packets that may wait between a device and this program: what a host sends while this program is not scheduled.
const QUEUE_LENGTH: u32 = 10_000;

/// How a host is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndPlan {
    /// The host's name, for errors.
    pub host: String,
    /// The device's.
    pub device: String,
    /// The largest IP packet.
    pub mtu: u32,
    /// The device's addresses, with their prefixes. Those of IPv6 are left out where the kernel has none.
    pub addresses: Vec<(IpAddr, u8)>,
    /// Routes all IPv4 through the device, with these metrics.
    pub default_route: Option<Vec<Metric>>,
    /// Files below `/proc/sys` and what is written to them.
    pub sysctls: Vec<(String, String)>,
}

/// A host.
pub struct End {
    /// Its namespace.
    pub namespace: File,
    /// The other side of its device, which does not block. It is there as long as this, or a copy of it.
    tun: SyncDevice,
}

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("End")
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

impl End {
    /// Makes a host. This thread is in its namespace afterwards.
    ///
    /// # Errors
    /// One sentence: what the kernel refused.
    pub fn make(plan: &EndPlan) -> Result<Self, AgentError> {
        unshare(CloneFlags::CLONE_NEWNET).doing(|| format!("cannot make the network namespace {}", plan.host))?;
        let path = "/proc/thread-self/ns/net";
        let namespace = File::open(path).doing(|| format!("cannot open {path}"))?;
        let tun = open(&plan.device)?;
        set_up(plan)?;
        Ok(Self { namespace, tun })
    }

    /// A descriptor of the other side of its device, for an engine.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn device(&self) -> Result<OwnedFd, AgentError> {
        rustix::io::fcntl_dupfd_cloexec(&self.tun, 0).doing(|| "cannot copy a descriptor".into())
    }

    /// Goes to the namespace of the host: what this thread starts and opens from now on belongs to it.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn enter(&self) -> Result<(), AgentError> {
        setns(&self.namespace, CloneFlags::CLONE_NEWNET).doing(|| "cannot enter a network namespace".into())
    }
}

fn open(device: &str) -> Result<SyncDevice, AgentError> {
    let node = "/dev/net/tun";
    if !Path::new(node).exists() {
        return Err(AgentError::Plan(format!(
            "{node} is not there, but a bottleneck needs it: load the kernel module tun, or have it in this container"
        )));
    }
    if let Err(error) = std::fs::File::options().read(true).write(true).open(node)
        && error.kind() == std::io::ErrorKind::PermissionDenied
    {
        return Err(AgentError::Plan(format!(
            "{node} may not be opened by this user, but a bottleneck needs it: have root make it open to all, as distributions do (chmod 666 {node})"
        )));
    }
    make(device)
}

/// A TUN device without packet information and offloads. It is down, does not block, and no program inherits it.
fn make(device: &str) -> Result<SyncDevice, AgentError> {
    let what = || format!("cannot make the TUN device {device:?}");
    let tun = DeviceBuilder::new()
        .name(device)
        .packet_information(false)
        .offload(false)
        .enable(false)
        .build_sync()
        .doing(what)?;
    tun.set_nonblocking(true).doing(what)?;
    Ok(tun)
}

fn set_up(plan: &EndPlan) -> Result<(), AgentError> {
    let device = &plan.device;
    let has_ipv6 = Path::new("/proc/sys/net/ipv6/conf").join(device).exists();
    let mut quiet = Vec::new();
    if has_ipv6 {
        // It sends nothing of its own accord: no look for routers, no address by itself.
        for (name, value) in [
            ("router_solicitations", "0"),
            ("addr_gen_mode", "1"),
            ("accept_dad", "0"),
        ] {
            quiet.push((format!("net/ipv6/conf/{device}/{name}"), value.to_owned()));
        }
    }
    for (name, value) in quiet.iter().chain(&plan.sysctls) {
        let path = format!("/proc/sys/{name}");
        std::fs::write(&path, value).doing(|| format!("cannot write {value:?} to {path}"))?;
    }
    let index = Links::index(device)?;
    let mut links = Links::here()?;
    links.loopback_up()?;
    for &(ip, prefix) in &plan.addresses {
        if ip.is_ipv4() || has_ipv6 {
            links.address(index, ip, prefix)?;
        }
    }
    links.up(Link {
        index,
        mtu: plan.mtu,
        queue_length: QUEUE_LENGTH,
    })?;
    match &plan.default_route {
        Some(metrics) => links.default_route(index, metrics),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_the_kernel_cannot_hold_is_refused() {
        for (name, sentence) in [
            (
                "sixteen-bytes-16",
                "cannot make the TUN device \"sixteen-bytes-16\": device name too long",
            ),
            ("nul\0", "cannot make the TUN device \"nul\\0\": "),
        ] {
            let refused = make(name).err().expect(name).to_string();
            assert!(refused.starts_with(sentence), "{refused}");
        }
    }
}
