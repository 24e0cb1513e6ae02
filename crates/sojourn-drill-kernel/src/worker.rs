//! A thread that makes the system calls of a script, so that one that blocks does not hold up the script.

use crate::output::Output;
use nix::sys::prctl::set_timerslack;
use rustix::pipe::pipe;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// A call that is made: what it returns, or the number of the error.
pub(crate) type Job = Box<dyn FnOnce() -> Result<Output, i32> + Send>;

/// The thread.
#[derive(Debug)]
pub(crate) struct Worker {
    jobs: Sender<Job>,
    answers: Receiver<Result<Output, i32>>,
    bell: OwnedFd,
}

impl Worker {
    /// Starts it.
    ///
    /// # Errors
    /// If the kernel refuses a pipe or a thread.
    pub(crate) fn start() -> io::Result<Self> {
        let (jobs, inbox) = channel::<Job>();
        let (outbox, answers) = channel();
        let (bell, ring) = pipe()?;
        thread::Builder::new().name("calls".into()).spawn(move || {
            // Timers of calls go off when they should.
            let _ = set_timerslack(1);
            while let Ok(job) = inbox.recv() {
                if outbox.send(job()).is_err() || rustix::io::write(&ring, &[0]).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { jobs, answers, bell })
    }

    /// Makes a call.
    pub(crate) fn make(&self, job: Job) {
        // The thread lives as long as this.
        let _ = self.jobs.send(job);
    }

    /// What can be read when a call has ended.
    pub(crate) fn bell(&self) -> &OwnedFd {
        &self.bell
    }

    /// What the call has returned, after the bell has rung.
    pub(crate) fn answer(&self) -> Option<Result<Output, i32>> {
        let answer = self.answers.try_recv().ok()?;
        let _ = rustix::io::read(&self.bell, &mut [0_u8; 1][..]);
        Some(answer)
    }
}
