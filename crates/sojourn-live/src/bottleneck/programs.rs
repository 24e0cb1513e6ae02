//! Programs in the hosts: started in their namespaces, and ended with all that they started.

use super::ends::End;
use crate::agent::AgentError;
use crate::agent::actor::Doing;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
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
    /// Starts the command of a user in a host, with this program's own input and output.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn command(words: &[OsString], host: &End, environment: &[(&str, String)]) -> Result<Self, AgentError> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(AgentError::Plan("the command has no words".into()));
        };
        let mut command = Command::new(program);
        command.args(arguments).envs(environment.iter().cloned());
        // In this group, so that a terminal gives it its keys.
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

    /// Waits until something listens in `host`, in which the server is; five seconds at most.
    ///
    /// # Errors
    /// If the server failed.
    pub fn wait_until_it_listens(&mut self, host: &End) -> Result<(), AgentError> {
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
            if listens() {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Waits until it ends. Once `stop` says so it is given three seconds, then told, then killed.
    ///
    /// # Errors
    /// If it cannot be waited for.
    pub fn wait(&mut self, stop: &dyn Fn() -> bool) -> io::Result<ExitStatus> {
        let pid = pid_of(&self.child)?;
        let descriptor = pidfd_open(pid, PidfdFlags::empty())?;
        let mut looks = 0;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if stop() {
                looks += 1;
                if looks == GRACE_LOOKS {
                    self.signal(Signal::TERM);
                } else if looks > 2 * GRACE_LOOKS {
                    self.signal(Signal::KILL);
                }
            }
            pause(&descriptor)?;
        }
    }

    /// Ends it.
    pub fn end(&mut self) {
        self.signal(Signal::TERM);
        for _ in 0..20 {
            if !matches!(self.child.try_wait(), Ok(None)) {
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
        if let Ok(pid) = pid_of(&self.child) {
            let _ = match (self.group, ended) {
                (true, _) => kill_process_group(pid, signal),
                (false, false) => kill_process(pid, signal),
                (false, true) => Ok(()),
            };
        }
    }
}

/// Waits a little, or until the process ends, or a signal comes.
fn pause(process: &rustix::fd::OwnedFd) -> io::Result<()> {
    let mut waiting = [PollFd::new(process, PollFlags::IN)];
    let time = Timespec::try_from(LOOK).map_err(io::Error::other)?;
    match poll(&mut waiting, Some(&time)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// Whether a socket of this thread's namespace is bound to wait for others: TCP that listens, or UDP.
fn listens() -> bool {
    let lines = |name: &str| std::fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default();
    let column = |line: &str, n: usize| line.split_whitespace().nth(n).map(str::to_owned);
    let tcp = ["tcp", "tcp6"].iter().any(|name| {
        lines(name)
            .lines()
            .skip(1)
            .any(|line| column(line, 3).as_deref() == Some("0A"))
    });
    tcp || ["udp", "udp6"].iter().any(|name| lines(name).lines().count() > 1)
}

/// The status that says how a program ended, as a shell tells it.
#[must_use]
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Kills all processes that were started and left behind: they are this process's children, if it was made their reaper.
pub fn end_orphans() {
    for _ in 0..100 {
        let left = children();
        if left.is_empty() {
            return;
        }
        for pid in left {
            let _ = kill_process(pid, Signal::KILL);
        }
        while matches!(rustix::process::wait(rustix::process::WaitOptions::NOHANG), Ok(Some(_))) {}
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn children() -> Vec<Pid> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|text| {
            let numbers = text.split_whitespace().filter_map(|n| n.parse().ok());
            numbers.filter_map(Pid::from_raw).collect::<Vec<_>>()
        })
        .collect()
}

fn pid_of(child: &Child) -> io::Result<Pid> {
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| io::Error::other("the process has no number"))
}
