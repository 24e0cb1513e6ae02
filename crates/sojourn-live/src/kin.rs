//! Programs that shall not outlive the one that started them, even if that is killed by `kill -9`.
//!
//! Two processes stand guard. The outer one is the program that was started, the inner one the same program again,
//! which does the work and starts all others. If the outer one is gone, the inner one ends what it has started, and
//! itself; if the inner one is gone, what it had started becomes the outer one's children, which ends them. Each has
//! a process group of its own, so that a signal for one's group leaves the other to do so. A process cannot be told
//! of the end of another by a signal that it could act on safely (`PR_SET_PDEATHSIG` comes when the parent's *thread*
//! ends), so it looks.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, getppid, kill_process, pidfd_open, set_child_subreaper, wait,
};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// How often it is looked whether there was a signal; the end of a process is noticed at once.
const LOOK: Duration = Duration::from_millis(200);
/// How many looks the inner process has to end what it started, once it was told to: longer than it may need.
const LOOKS: u32 = 75;
/// How often it is looked whether what was killed has ended.
const END_LOOK: Duration = Duration::from_millis(5);
/// How many such looks there are: a process that cannot end (one that waits for a disk, say) holds nobody for ever.
const END_LOOKS: u32 = 3000;
/// What tells the inner process that nobody waits for it any more. It has a handler for it.
pub(crate) const AT_ONCE: i32 = signal_hook::consts::SIGUSR1;
/// The program that runs, even if its file was replaced meanwhile.
const MYSELF: &str = "/proc/self/exe";

/// The process whose end ends this one.
#[derive(Debug)]
pub(crate) struct Parent {
    pid: i32,
    /// Readable once it is gone. Without one (it is gone already, say) there is still [`Self::is_gone`].
    descriptor: Option<OwnedFd>,
}

impl Parent {
    /// Watches the parent of this process, which must be `pid`: one that is not is gone.
    pub(crate) fn of(pid: i32) -> Self {
        let descriptor = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Self { pid, descriptor }
    }

    /// Whether it is gone. A process that has lost its parent has another, so no end comes too early to be noticed.
    pub(crate) fn is_gone(&self) -> bool {
        getppid().is_none_or(|parent| parent.as_raw_nonzero().get() != self.pid)
    }
}

/// The process number of a child.
pub(crate) fn pid_of(child: &Child) -> Pid {
    Pid::from_child(child)
}

/// Waits until one of the processes ends, a signal comes, or a fifth of a second is over.
///
/// # Errors
/// If the kernel refuses.
pub(crate) fn pause(child: &OwnedFd, parent: Option<&Parent>, most: Duration) -> io::Result<()> {
    let mut waiting = vec![PollFd::new(child, PollFlags::IN)];
    if let Some(descriptor) = parent.and_then(|parent| parent.descriptor.as_ref()) {
        waiting.push(PollFd::from_borrowed_fd(descriptor.as_fd(), PollFlags::IN));
    }
    let time = Timespec::try_from(most.min(LOOK)).map_err(io::Error::other)?;
    match poll(&mut waiting, Some(&time)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// How the inner process ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// Whether it was told to.
    pub(crate) stopped: bool,
}

/// Runs this program again with these arguments, as the inner of the two, and waits for its end.
///
/// It is told to end (SIGTERM) once `stop` says so, and at once ([`AT_ONCE`]) if the parent of this process, if one
/// is given, is gone. Whatever it leaves is ended. To be called while there is one thread.
///
/// # Errors
/// If it cannot be started or waited for.
pub(crate) fn run_again(arguments: &[OsString], parent: Option<&Parent>, stop: &dyn Fn() -> bool) -> io::Result<Ended> {
    set_child_subreaper(Some(getpid()))?;
    let mut command = Command::new(MYSELF);
    command.args(arguments).process_group(0);
    if let Some(name) = std::env::args_os().next() {
        command.arg0(name);
    }
    let mut child = command.spawn()?;
    let status = watch(&mut child, parent, stop);
    if status.is_err() {
        let _ = child.kill();
    }
    end_descendants();
    status
}

fn watch(child: &mut Child, parent: Option<&Parent>, stop: &dyn Fn() -> bool) -> io::Result<Ended> {
    let descriptor = pidfd_open(pid_of(child), PidfdFlags::empty())?;
    let mut looks = 0;
    loop {
        if let Some(status) = child.try_wait()? {
            let stopped = looks > 0;
            return Ok(Ended { status, stopped });
        }
        let alone = parent.is_some_and(Parent::is_gone);
        if alone || stop() {
            looks += 1;
            if alone {
                let _ = kill_process(pid_of(child), Signal::USR1);
            } else if looks == 1 {
                let _ = kill_process(pid_of(child), Signal::TERM);
            }
            if looks > LOOKS {
                child.kill()?;
            }
            // The parent's descriptor stays readable now, and would make this a busy loop.
            pause(&descriptor, None, LOOK)?;
        } else {
            pause(&descriptor, parent, LOOK)?;
        }
    }
}

/// Kills all processes that were started and left behind: they are this process's children, if it was made their
/// reaper. Waits for their ends, on a busy machine as well.
///
/// That none is left is what [`wait`] says. `/proc/self/task/*/children` may leave children out while one of them ends
/// (`proc_tid_children(5)`), so an empty list there says nothing.
pub(crate) fn end_descendants() {
    for _ in 0..END_LOOKS {
        for pid in children() {
            let _ = kill_process(pid, Signal::KILL);
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        std::thread::sleep(END_LOOK);
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
