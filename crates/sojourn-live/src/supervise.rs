//! A guest's keeper: it ends a guest that takes too long, and one whose master is gone, and leaves nothing behind.
//!
//! A User-Mode Linux kernel is several processes, and those that it traces would outlive it if it were killed alone.
//! So it gets a process group, and all of the group is ended, whatever happens to whoever started it. A keeper may be
//! killed, too, so there are two of them, [`supervise`] and below it [`keep`].

use crate::kin::{self, Parent, end_descendants, pid_of};
use nix::sys::personality::{self, Persona};
use rustix::process::{PidfdFlags, Signal, getpid, kill_process_group, pidfd_open, set_child_subreaper};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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

impl Ending {
    /// The exit status that tells of it.
    #[must_use]
    pub fn status(self) -> u8 {
        match self {
            Self::Exited(status) => status.and_then(|s| u8::try_from(s).ok()).unwrap_or(1),
            Self::TooLong => 3,
            Self::Stopped => 4,
        }
    }
}

/// Has the command run to its end, or ended, by a keeper below this one; gives the exit status.
///
/// # Errors
/// If the keeper cannot be started or watched.
pub fn supervise(charge: &Charge) -> io::Result<u8> {
    let stop = signals()?;
    let parent = Parent::of(charge.master);
    let mut arguments: Vec<OsString> = ["keep", "--master"].map(Into::into).to_vec();
    arguments.push(getpid().as_raw_nonzero().to_string().into());
    arguments.push("--seconds".into());
    arguments.push(charge.bound.as_secs_f64().to_string().into());
    arguments.push("--folder".into());
    arguments.push(charge.folder.clone().into());
    arguments.push("--".into());
    arguments.extend(charge.command.iter().cloned());
    let ended = kin::run_again(&arguments, Some(&parent), &|| stop.load(Ordering::Relaxed))?;
    if ended.stopped {
        // The keeper below has done so, unless it was killed.
        let _ = std::fs::remove_dir_all(&charge.folder);
        return Ok(Ending::Stopped.status());
    }
    Ok(Ending::Exited(ended.status.code()).status())
}

fn signals() -> io::Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT, SIGHUP, kin::AT_ONCE] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// Runs the command to its end, or ends it.
///
/// # Errors
/// If it cannot be started or watched.
pub fn keep(charge: &Charge) -> io::Result<Ending> {
    let stop = signals()?;
    let parent = Parent::of(charge.master);
    set_child_subreaper(Some(getpid()))?;
    let (program, arguments) = charge
        .command
        .split_first()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "there is no command"))?;
    // A guest sizes its memory by where the machine has put its heap, so the same run would not have the same memory.
    personality::set(personality::get()? | Persona::ADDR_NO_RANDOMIZE)?;
    let mut child = Command::new(program).args(arguments).process_group(0).spawn()?;
    let stopped = || stop.load(Ordering::Relaxed) || parent.is_gone();
    let ending = watch(&mut child, charge.bound, &parent, &stopped);
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
fn watch(child: &mut Child, bound: Duration, parent: &Parent, stopped: &dyn Fn() -> bool) -> io::Result<Ending> {
    let began = Instant::now();
    let descriptor = pidfd_open(pid_of(child), PidfdFlags::empty())?;
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
        kin::pause(&descriptor, Some(parent), left)?;
    }
}

/// Ends what is left of the group and of what left the group, and waits for it.
fn end_group(child: &mut Child) {
    let _ = kill_process_group(pid_of(child), Signal::KILL);
    let _ = child.wait();
    // Those that the child left are ours now.
    end_descendants();
}
