//! Building the bed: network namespaces, and the steps that fill them.

use super::AgentError;
use super::actor::Doing;
use super::job::{Action, BedPlan, Step};
use super::netlink::{Families, Netlink};
use nix::sched::{CloneFlags, unshare};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::collections::BTreeMap;
use std::fs::File;
use std::net::Ipv4Addr;

/// Namespace `i` is open as this descriptor plus `i` while the steps are carried out.
pub(super) const FIRST_DESCRIPTOR: i32 = 100;

/// A bed that is built: its namespaces live as long as this.
#[derive(Debug)]
pub(super) struct Bed {
    namespaces: Vec<(String, File)>,
    /// Where this thread is.
    inside: Option<usize>,
    /// The address of the client.
    pub client: Ipv4Addr,
    /// The addresses of the server, by path.
    pub server: Vec<Ipv4Addr>,
}

impl Bed {
    /// Makes the namespaces and carries out the steps.
    ///
    /// # Errors
    /// The first step that failed, by its own words.
    pub(super) fn build(plan: &BedPlan) -> Result<Self, AgentError> {
        let mut bed = Self {
            namespaces: Vec::with_capacity(plan.namespaces.len()),
            inside: None,
            client: plan.client,
            server: plan.server.clone(),
        };
        let mut numbered: Vec<OwnedFd> = Vec::new();
        for name in &plan.namespaces {
            unshare(CloneFlags::CLONE_NEWNET).doing(|| format!("cannot make the network namespace {name}"))?;
            let file = namespace_of_this_thread()?;
            let number = (FIRST_DESCRIPTOR..)
                .nth(numbered.len())
                .expect("a bed has few namespaces");
            let copy = rustix::io::fcntl_dupfd_cloexec(&file, number)
                .doing(|| format!("cannot keep the network namespace {name}"))?;
            if copy.as_raw_fd() != number {
                return Err(AgentError::Plan(format!(
                    "descriptor {number} is in use, but must be free for {name}"
                )));
            }
            numbered.push(copy);
            bed.inside = Some(bed.namespaces.len());
            bed.namespaces.push((name.clone(), file));
        }
        let mut sockets = Sockets::default();
        for step in &plan.steps {
            bed.enter(&step.host)?;
            sockets
                .carry_out(step)
                .map_err(|e| AgentError::Plan(format!("{} on {}: {}", step.says, step.host, reason(&e))))?;
        }
        Ok(bed)
    }

    /// A bed of namespaces that are there: those of client and server.
    pub(super) fn of(namespaces: Vec<(String, File)>, client: Ipv4Addr, server: Vec<Ipv4Addr>) -> Self {
        Self {
            namespaces,
            inside: None,
            client,
            server,
        }
    }

    /// The names of all hosts.
    pub(super) fn hosts(&self) -> Vec<String> {
        self.namespaces.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Goes to the namespace of `host`.
    ///
    /// # Errors
    /// If there is none, or the kernel refuses.
    pub(super) fn enter(&mut self, host: &str) -> Result<(), AgentError> {
        let index = self.namespaces.iter().position(|(name, _)| name == host);
        let index = index.ok_or_else(|| AgentError::Plan(format!("the bed has no host {host}")))?;
        if self.inside != Some(index) {
            move_into_link_name_space(self.namespaces[index].1.as_fd(), Some(LinkNameSpaceType::Network))
                .doing(|| format!("cannot enter the network namespace {host}"))?;
            self.inside = Some(index);
        }
        Ok(())
    }
}

fn namespace_of_this_thread() -> Result<File, AgentError> {
    File::open("/proc/thread-self/ns/net").doing(|| "cannot open the network namespace of this thread".into())
}

/// What the kernel said, without what was being done, which the step says better.
fn reason(error: &AgentError) -> String {
    match error {
        AgentError::Io { what, source } if what.is_empty() => source.to_string(),
        other => other.to_string(),
    }
}

/// Netlink sockets of each host.
#[derive(Debug, Default)]
struct Sockets {
    route: BTreeMap<String, Netlink>,
    generic: BTreeMap<String, Netlink>,
    families: Families,
}

impl Sockets {
    /// Carries out a step in the namespace of its host, in which this thread is.
    fn carry_out(&mut self, step: &Step) -> Result<(), AgentError> {
        match &step.action {
            Action::Netlink(message) => {
                let socket = kept(&mut self.route, &step.host, Netlink::route)?;
                socket.request(message.clone()).doing(String::new)?;
            }
            Action::Genetlink(family, message) => {
                let socket = kept(&mut self.generic, &step.host, Netlink::generic)?;
                let id = self.families.id(family, socket)?;
                let mut message = message.clone();
                message[4..6].copy_from_slice(&id.to_ne_bytes());
                socket.request(message).doing(String::new)?;
            }
            Action::Parameter(path, value) => {
                if std::process::id() != 1 {
                    return Err(AgentError::Plan(
                        "it would change the whole machine, so it is done in a guest only".into(),
                    ));
                }
                let path = format!("/sys/module/{}", path.replacen('/', "/parameters/", 1));
                std::fs::write(&path, value).doing(|| format!("cannot write {value:?} to {path}"))?;
            }
            Action::Sysctl(path, value) => {
                let path = format!("/proc/sys/{path}");
                std::fs::write(&path, value).doing(|| format!("cannot write {value:?} to {path}"))?;
            }
        }
        Ok(())
    }
}

/// The socket of a host, opened when it is first asked for.
fn kept<'a>(
    sockets: &'a mut BTreeMap<String, Netlink>,
    host: &str,
    open: impl Fn() -> std::io::Result<Netlink>,
) -> Result<&'a mut Netlink, AgentError> {
    if !sockets.contains_key(host) {
        sockets.insert(host.to_owned(), open().doing(|| "cannot open a netlink socket".into())?);
    }
    Ok(sockets.get_mut(host).expect("it was put there above"))
}
