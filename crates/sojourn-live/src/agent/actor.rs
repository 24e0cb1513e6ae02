//! What the event loop and the traffic kinds agree on.

use rustix::fd::BorrowedFd;
use sojourn_bed::{AccessPlan, Measured};
use std::borrow::Cow;
use std::fmt::Display;
use std::io;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use thiserror::Error;

/// Why a run ended early: one sentence.
#[derive(Debug, Error)]
pub enum AgentError {
    /// A system call failed.
    #[error("{what}: {source}")]
    Io {
        /// What was being done, with the names of host and actor.
        what: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// A plan that cannot be carried out.
    #[error("{0}")]
    Plan(String),
}

impl AgentError {
    /// A field of a plan that cannot be carried out: what it is, and what it must be.
    pub(super) fn field(field: impl Display, value: impl Display, rule: impl Display) -> Self {
        Self::Plan(format!("{field} is {value}, but must be {rule}"))
    }
}

/// Refuses a field of a plan that is beyond a range; `unit` follows the range in the sentence.
pub(super) fn within<T: PartialOrd + Display>(
    field: impl Display,
    value: T,
    range: &RangeInclusive<T>,
    unit: &str,
) -> Result<(), AgentError> {
    if range.contains(&value) {
        return Ok(());
    }
    let rule = format!("{} to {}{unit}", range.start(), range.end());
    Err(AgentError::field(field, value, rule))
}

/// For results of system calls: says what was being done.
pub(crate) trait Doing<T> {
    /// What was being done, as a sentence begins.
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, AgentError>;
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, AgentError> {
        self.map_err(|e| AgentError::Io {
            what: what(),
            source: e.into(),
        })
    }
}

/// A time of a plan, all of which are below eleven days, on the scale of [`World::now`].
pub(crate) fn signed(ns: u64) -> i64 {
    i64::try_from(ns).expect("a job with longer times is refused")
}

/// A host of the bed that has sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host {
    /// `client`; with a cell the station of this number, `client2` and so on after the first.
    Client(u16),
    /// `r1`, whose egress is the bottleneck up.
    R1,
    /// `r2`, whose egress is the bottleneck down.
    R2,
    /// `server`.
    Server,
    /// The server of this number, counted from 0, in a namespace of its own for programs: `server2` and so on.
    FurtherServer(u16),
}

impl Host {
    /// The name of its namespace in a job.
    #[must_use]
    pub fn name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Client(0) => "client",
            Self::Client(station) => return Cow::Owned(format!("client{}", u32::from(station) + 1)),
            Self::R1 => "r1",
            Self::R2 => "r2",
            Self::Server => "server",
            Self::FurtherServer(number) => return Cow::Owned(format!("server{}", u32::from(number) + 1)),
        })
    }
}

/// What an actor may ask of the event loop. `key` is the actor's own number for a socket or timer; those of sockets
/// and of timers are apart, and those of different actors too.
pub trait World {
    /// Now, from the beginning of the measured window (negative before it).
    fn now(&self) -> i64;
    /// A kernel time stamp (`SO_TIMESTAMPNS`: the real-time clock, seconds and nanoseconds) on the same scale.
    fn at(&self, seconds: i64, nanoseconds: i64) -> i64;
    /// The end of the measured window.
    fn end(&self) -> i64;
    /// The address of a client of the plan: at a station, or one of the hosts on a wire.
    fn client(&self, access: AccessPlan) -> Ipv4Addr;
    /// The address of a server of the plan on a path.
    fn server(&self, path: usize, access: AccessPlan) -> Ipv4Addr;
    /// Goes to the namespace of `host`: sockets opened from now on belong to it.
    ///
    /// # Errors
    /// If the kernel refuses.
    fn enter(&mut self, host: Host) -> Result<(), AgentError>;
    /// Calls [`Actor::ready`] with `key` when `fd` can be read or has an error (level-triggered), and, if `write`,
    /// when it can be written. Registering a `key` again changes what is waited for.
    ///
    /// # Errors
    /// If the kernel refuses.
    fn register(&mut self, key: u32, fd: BorrowedFd<'_>, write: bool) -> Result<(), AgentError>;
    /// Undoes [`World::register`]; to be called before the socket is closed.
    ///
    /// # Errors
    /// If the kernel refuses.
    fn deregister(&mut self, key: u32, fd: BorrowedFd<'_>) -> Result<(), AgentError>;
    /// Calls [`Actor::due`] with `key` at a time (at once if it is over); replaces the time set before for this
    /// `key`.
    fn set_timer(&mut self, key: u32, at_ns: i64);
    /// Takes the timer back.
    fn cancel_timer(&mut self, key: u32);
}

/// A piece of traffic, or an observer. All of them live in one event loop; none may block.
pub trait Actor {
    /// Called once, in the order of the plan, before any traffic: opens listeners and sets the first timers.
    ///
    /// # Errors
    /// If the run cannot go on.
    fn start(&mut self, world: &mut dyn World) -> Result<(), AgentError>;
    /// A socket is ready. What has no socket is never called here.
    ///
    /// # Errors
    /// If the run cannot go on.
    fn ready(&mut self, _key: u32, _world: &mut dyn World) -> Result<(), AgentError> {
        Ok(())
    }
    /// A timer is due.
    ///
    /// # Errors
    /// If the run cannot go on.
    fn due(&mut self, key: u32, world: &mut dyn World) -> Result<(), AgentError>;
    /// The measured window ends (called once, at its end, before anything that arrives later).
    ///
    /// # Errors
    /// If the run cannot go on.
    fn window_ends(&mut self, world: &mut dyn World) -> Result<(), AgentError>;
    /// Whether it still waits for packets of the measured window, beyond its end.
    fn awaits(&self) -> bool {
        false
    }
    /// How long after the end of the window it may be waited for, in nanoseconds.
    fn linger_ns(&self) -> i64 {
        3_000_000_000
    }
    /// The run is over: puts what it saw at its place in `measured`.
    fn finish(&mut self, measured: &mut Measured);
}
