//! Building the bed: network namespaces, and the steps that fill them.

use crate::agent::AgentError;
use crate::agent::actor::Doing;
use crate::agent::kernel::netlink::{Families, Netlink};
use crate::agent::plan::job::{BedPlan, OUTSIDE};
use crate::agent::plan::programs::{self, DEBUGFS, Programs};
use crate::agent::plan::step::{Action, Message, Step, Sysctl};
use crate::bottleneck::links::Links;
use nix::sched::{CloneFlags, setns, unshare};
use rustix::fd::{AsRawFd, OwnedFd};
use sojourn_bed::AccessPlan;
use std::collections::BTreeMap;
use std::fs::File;
use std::net::Ipv4Addr;
use std::time::Duration;

/// Namespace `i` is open as this descriptor plus `i` while the steps are carried out.
pub(crate) const FIRST_DESCRIPTOR: i32 = 100;

/// Where a message has the number of its device: in `struct ifinfomsg`, `ifaddrmsg`, `ndmsg` and `tcmsg`, and as the
/// first attribute of a generic one.
const INDEX_OF_ROUTE: usize = 20;
const INDEX_OF_GENERIC: usize = 24;
/// How long an access point may take to come up, and a station to join it, and how often it may try.
const CARRIER_AFTER: Duration = Duration::from_secs(20);
const JOINED_AFTER: Duration = Duration::from_secs(5);
const JOIN_TRIES: u32 = 4;

/// A bed that is built: its namespaces live as long as this.
#[derive(Debug)]
pub(crate) struct Bed {
    namespaces: Vec<(String, File)>,
    /// Where this thread is.
    inside: Option<usize>,
    /// The addresses of the clients: by station, or of the hosts on a wire.
    pub clients: Vec<Ipv4Addr>,
    /// The addresses of the servers: of each host one by path.
    pub server: Vec<Ipv4Addr>,
    /// How many paths there are.
    paths: usize,
    /// Devices of radios.
    pub radios: Vec<String>,
}

impl Bed {
    /// Makes the namespaces and carries out the steps. The load has so many `paths`.
    ///
    /// # Errors
    /// The first step that failed, by its own words.
    pub(crate) fn build(plan: &BedPlan, paths: usize) -> Result<Self, AgentError> {
        let mut bed = Self {
            namespaces: Vec::with_capacity(plan.namespaces.len()),
            inside: None,
            clients: plan.clients.clone(),
            radios: Vec::new(),
            server: plan.server.clone(),
            paths,
        };
        let outside = plan.radio.as_ref().map(|_| namespace_of_this_thread()).transpose()?;
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
        bed.radios = plan.radio.as_ref().map_or_else(Vec::new, |radio| radio.devices.clone());
        bed.namespaces.extend(outside.map(|file| (OUTSIDE.to_owned(), file)));
        if plan.radio.is_some() {
            programs::mount_debugfs()?;
        }
        let mut sockets = Sockets::default();
        for step in &plan.steps {
            bed.enter(&step.host)?;
            sockets.carry_out(step).map_err(|e| step.failed(&e))?;
        }
        Ok(bed)
    }

    /// A bed of namespaces that are there, of clients and servers.
    pub(crate) fn of(
        namespaces: Vec<(String, File)>,
        clients: Vec<Ipv4Addr>,
        server: Vec<Ipv4Addr>,
        paths: usize,
    ) -> Self {
        Self {
            namespaces,
            inside: None,
            clients,
            radios: Vec::new(),
            server,
            paths,
        }
    }

    /// The address of a client. One of its two indices is 0.
    pub(crate) fn client(&self, access: AccessPlan) -> Ipv4Addr {
        self.clients[usize::from(access.station) + usize::from(access.client)]
    }

    /// The address of a server on a path.
    pub(crate) fn server(&self, path: usize, access: AccessPlan) -> Ipv4Addr {
        self.server[usize::from(access.server) * self.paths + path]
    }

    /// The names of all hosts.
    pub(crate) fn hosts(&self) -> Vec<String> {
        let names = self.namespaces.iter().map(|(name, _)| name);
        names.filter(|name| *name != OUTSIDE).cloned().collect()
    }

    /// Goes to the namespace of `host`.
    ///
    /// # Errors
    /// If there is none, or the kernel refuses.
    pub(crate) fn enter(&mut self, host: &str) -> Result<(), AgentError> {
        let index = self.namespaces.iter().position(|(name, _)| name == host);
        let index = index.ok_or_else(|| AgentError::Plan(format!("the bed has no host {host}")))?;
        if self.inside != Some(index) {
            setns(&self.namespaces[index].1, CloneFlags::CLONE_NEWNET)
                .doing(|| format!("cannot enter the network namespace {host}"))?;
            self.inside = Some(index);
        }
        Ok(())
    }
}

fn namespace_of_this_thread() -> Result<File, AgentError> {
    File::open("/proc/thread-self/ns/net").doing(|| "cannot open the network namespace of this thread".into())
}

/// Netlink sockets of each host.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    route: BTreeMap<String, Netlink>,
    generic: BTreeMap<String, Netlink>,
    families: Families,
    programs: Programs,
}

impl Sockets {
    /// Carries out a step in the namespace of its host, in which this thread is.
    pub(crate) fn carry_out(&mut self, step: &Step) -> Result<(), AgentError> {
        let device = step.device.as_deref().map(Links::index).transpose()?;
        match &step.action {
            Action::Netlink(message) => {
                let message = numbered(message, INDEX_OF_ROUTE, device)?;
                let socket = cached(&mut self.route, &step.host, Netlink::route)?;
                socket.request(message).doing(String::new)?;
            }
            Action::Genetlink(family) => self.generic(&step.host, family, &step.message, device)?,
            Action::Join(message) => {
                let (host, mut tries) = (&step.host, 0);
                let name = step.device.as_deref().unwrap_or_default();
                loop {
                    self.generic(host, "nl80211", message, device)?;
                    let route = cached(&mut self.route, host, Netlink::route)?;
                    match programs::carrier(name, route, JOINED_AFTER) {
                        Err(e) if tries + 1 == JOIN_TRIES => return Err(e),
                        Err(_) => tries += 1,
                        Ok(()) => break,
                    }
                }
            }
            Action::Carrier(name) => {
                let route = cached(&mut self.route, &step.host, Netlink::route)?;
                if let Err(e) = programs::carrier(name, route, CARRIER_AFTER) {
                    return Err(self.programs.last_words().map_or(e, AgentError::Plan));
                }
            }
            Action::Program(words) => self.programs.start(words)?,
            Action::File(name) => {
                in_guest()?;
                let path = format!("/tmp/{name}");
                std::fs::write(&path, &step.value).doing(|| format!("cannot write {path}"))?;
            }
            Action::Debugfs(path) => in_guest().and_then(|()| set(&format!("{DEBUGFS}/{path}"), &step.value))?,
            Action::Parameter(name) => {
                let path = format!("/sys/module/{}", name.replacen('/', "/parameters/", 1));
                in_guest().and_then(|()| set(&path, &step.value))?;
            }
            Action::Sysctl(Sysctl(path)) => set(&format!("/proc/sys/{path}"), &step.value)?,
        }
        Ok(())
    }

    /// Sends a message of a generic family.
    fn generic(&mut self, host: &str, family: &str, message: &Message, device: Option<u32>) -> Result<(), AgentError> {
        let socket = cached(&mut self.generic, host, Netlink::generic)?;
        let id = self.families.id(family, socket)?;
        let mut message = numbered(message, INDEX_OF_GENERIC, device)?;
        let place = message.get_mut(4..6);
        let place = place.ok_or_else(|| AgentError::Plan("it has no message for its family".into()))?;
        place.copy_from_slice(&id.to_ne_bytes());
        socket.request(message).doing(String::new).map(drop)
    }
}

/// Writes a value to a file of the kernel.
fn set(path: &str, value: &str) -> Result<(), AgentError> {
    std::fs::write(path, value).doing(|| format!("cannot write {value:?} to {path}"))
}

/// # Errors
/// Outside of a guest.
pub(crate) fn in_guest() -> Result<(), AgentError> {
    if std::process::id() == 1 {
        return Ok(());
    }
    Err(AgentError::Plan(
        "it would change the whole machine, so it is done in a guest only".into(),
    ))
}

/// The message with the number of a device in its place.
fn numbered(Message(message): &Message, at: usize, device: Option<u32>) -> Result<Vec<u8>, AgentError> {
    let mut message = message.clone();
    if let Some(device) = device {
        let place = message.get_mut(at..at + 4);
        let place =
            place.ok_or_else(|| AgentError::Plan("its message is too short for the number of a device".into()))?;
        place.copy_from_slice(&device.to_ne_bytes());
    }
    Ok(message)
}

/// The socket of a host, opened when it is first asked for.
fn cached<'a>(
    sockets: &'a mut BTreeMap<String, Netlink>,
    host: &str,
    open: impl Fn() -> std::io::Result<Netlink>,
) -> Result<&'a mut Netlink, AgentError> {
    if !sockets.contains_key(host) {
        sockets.insert(host.to_owned(), open().doing(|| "cannot open a netlink socket".into())?);
    }
    Ok(sockets.get_mut(host).expect("it was put there above"))
}
