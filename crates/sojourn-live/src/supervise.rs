//! A guest's keeper: it ends a guest that takes too long, and one whose master is gone, and leaves nothing behind.
//!
//! A User-Mode Linux kernel is several processes, and those that it traces would outlive it if it were killed alone. So it
//! gets a process group, and all of the group is ended, whatever happens to whoever started it.

use nix::sys::personality::{self, Persona};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, getppid, kill_process_group, pidfd_open, set_child_subreaper};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often it looks whether it was told to stop, or its master is gone. (The kernel's own signal for that is of no use: it
/// comes when the thread that started it ends.)
const LOOK: Duration = Duration::from_millis(200);

/// What is to be kept.
#[derive(Clone, Debug)]
pub struct Charge {
    /// The process that wants it; when that is gone, the guest ends.
    pub master: i32,
    /// How long it may take.
    pub bound: Duration,
    /// A folder that is removed if the master is gone or a signal came; else its contents are the master's.
    pub folder: PathBuf,
    /// Program and arguments.
    pub command: Vec<OsString>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this status (`None` if by a signal).
    Exited(Option<i32>),
    /// It took longer than it might.
    TooLong,
    /// The master is gone, or told it to stop.
    Stopped,
}

/// Runs the command to its end, or ends it.
///
/// # Errors
/// If it cannot be started or watched.
pub fn supervise(charge: &Charge) -> io::Result<Ending> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGHUP,
    ] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    set_child_subreaper(Some(rustix::process::getpid()))?;
    let master_is_there = || getppid().is_some_and(|p| p.as_raw_nonzero().get() == charge.master);
    let (program, arguments) = charge
        .command
        .split_first()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "there is no command"))?;
    // A guest sizes its memory by where the machine has put its heap, so the same run would not have the same memory.
    personality::set(personality::get()? | Persona::ADDR_NO_RANDOMIZE)?;
    let mut child = Command::new(program).args(arguments).process_group(0).spawn()?;
    let ending = watch(&mut child, charge.bound, &|| {
        stop.load(Ordering::Relaxed) || !master_is_there()
    });
    end_group(&mut child);
    let ending = ending?;
    if ending == Ending::Stopped {
        let _ = std::fs::remove_dir_all(&charge.folder);
    }
    Ok(ending)
}

#[expect(
    clippy::disallowed_methods,
    reason = "what a guest may take is in this machine's time, whatever the time inside"
)]
fn watch(child: &mut Child, bound: Duration, stopped: &dyn Fn() -> bool) -> io::Result<Ending> {
    let began = Instant::now();
    let pid = pid_of(child)?;
    let descriptor = pidfd_open(pid, PidfdFlags::empty())?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ending::Exited(status.code()));
        }
        if stopped() {
            return Ok(Ending::Stopped);
        }
        let Some(left) = bound.checked_sub(began.elapsed()) else {
            return Ok(Ending::TooLong);
        };
        let mut waiting = [PollFd::new(&descriptor, PollFlags::IN)];
        let pause = Timespec::try_from(left.min(LOOK)).map_err(io::Error::other)?;
        match poll(&mut waiting, Some(&pause)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Ends what is left of the group, and waits for it.
fn end_group(child: &mut Child) {
    if let Ok(pid) = pid_of(child) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let _ = child.wait();
    // Those that the child left are ours now.
    while matches!(
        rustix::process::wait(rustix::process::WaitOptions::empty()),
        Ok(Some(_))
    ) {}
}

fn pid_of(child: &Child) -> io::Result<Pid> {
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| io::Error::other("the process has no number"))
}
