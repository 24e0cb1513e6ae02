//! Programs in the hosts: started in their namespaces, and ended with all that they started.

use super::ends::End;
use crate::agent::AgentError;
use crate::agent::actor::Doing;
use crate::kin::{self, pid_of};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// How often it looks whether it was told to stop.
const LOOK: Duration = Duration::from_millis(50);
/// How long a program is let end by itself once it was told to.
const GRACE_LOOKS: u32 = 60;
/// How long a server may take until it listens.
const READY_LOOKS: u32 = 100;

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Go on.
    No,
    /// End, and let programs end by themselves if they do so soon.
    Soon,
    /// The process that wanted all this is gone: end at once.
    Now,
}

/// A program in a host.
#[derive(Debug)]
pub struct Program {
    name: String,
    child: Child,
    /// Whether it leads a group of processes of its own.
    group: bool,
}

fn start(name: String, mut command: Command, host: &End, group: bool) -> Result<Program, AgentError> {
    host.enter()?;
    let child = command.spawn().doing(|| format!("cannot start {name}"))?;
    Ok(Program { name, child, group })
}

impl Program {
    /// Starts the command of a user in a host, with this program's own input and output, in the process group
    /// `group`.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn command(
        words: &[OsString],
        host: &End,
        environment: &[(&str, String)],
        group: Pid,
    ) -> Result<Self, AgentError> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(AgentError::Plan("the command has no words".into()));
        };
        let mut command = Command::new(program);
        command.args(arguments).envs(environment.iter().cloned());
        // That of the program which the user started, so that a terminal gives it its keys.
        command.process_group(group.as_raw_nonzero().get());
        start(program.to_string_lossy().into_owned(), command, host, false)
    }

    /// Starts a server in a host by the shell: without input, and its output is not kept, but for its errors.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn server(line: &str, host: &End, environment: &[(&str, String)]) -> Result<Self, AgentError> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).envs(environment.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
        start(format!("the server {line:?}"), command, host, true)
    }

    /// Waits until something listens in `host`, in which the server is; five seconds at most, and not once `stop`
    /// says so.
    ///
    /// # Errors
    /// If the server failed.
    pub fn wait_until_it_listens(&mut self, host: &End, stop: &dyn Fn() -> Stop) -> Result<(), AgentError> {
        host.enter()?;
        for _ in 0..READY_LOOKS {
            if let Some(status) = self
                .child
                .try_wait()
                .doing(|| format!("cannot wait for {}", self.name))?
                && !status.success()
            {
                return Err(AgentError::Plan(format!("{} ended at once: {status}", self.name)));
            }
            if waits_at(None) || stop() != Stop::No {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Waits until it ends. Once `stop` says so it is given three seconds, then told, then killed; or killed at once.
    ///
    /// # Errors
    /// If it cannot be waited for.
    pub fn wait(&mut self, stop: &dyn Fn() -> Stop) -> io::Result<ExitStatus> {
        let descriptor = pidfd_open(pid_of(&self.child), PidfdFlags::empty())?;
        let mut looks = 0;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            let urgency = stop();
            if urgency == Stop::Soon {
                looks += 1;
            }
            if urgency == Stop::Now || looks > 2 * GRACE_LOOKS {
                self.signal(Signal::KILL);
            } else if looks == GRACE_LOOKS {
                self.signal(Signal::TERM);
            }
            kin::pause(&descriptor, None, LOOK)?;
        }
    }

    /// Ends it: it is told to, and killed a second later, or sooner if `stop` says so.
    pub fn end(&mut self, stop: &dyn Fn() -> Stop) {
        self.signal(Signal::TERM);
        for _ in 0..20 {
            if stop() == Stop::Now || !matches!(self.child.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(LOOK);
        }
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }

    fn signal(&mut self, signal: Signal) {
        // Its number is free for others once it was waited for, but that of a group is not while it has members.
        let ended = !matches!(self.child.try_wait(), Ok(None));
        let pid = pid_of(&self.child);
        let _ = match (self.group, ended) {
            (true, _) => kill_process_group(pid, signal),
            (false, false) => kill_process(pid, signal),
            (false, true) => Ok(()),
        };
    }
}

/// Whether a socket of this thread's namespace is bound to wait for others, at `port` or at any: TCP that listens, or UDP.
pub(crate) fn waits_at(port: Option<u16>) -> bool {
    let sockets = |name: &str, state: &str| {
        let text = std::fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default();
        text.lines().skip(1).any(|line| {
            let columns: Vec<&str> = line.split_whitespace().take(4).collect();
            let bound = columns.get(1).and_then(|address| address.rsplit_once(':'));
            let bound = bound.and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
            columns.get(3).is_some_and(|found| *found == state) && (port.is_none() || bound == port)
        })
    };
    // TCP_LISTEN, and TCP_CLOSE, which is all that UDP has without a peer.
    [("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")]
        .iter()
        .any(|(name, state)| sockets(name, state))
}

/// The status that says how a program ended, as a shell tells it.
#[must_use]
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
