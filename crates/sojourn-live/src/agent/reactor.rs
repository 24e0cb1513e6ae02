//! The event loop: one `epoll`, one timer, and the clock of the measured window.

use crate::agent::actor::Doing;
use crate::agent::plan::build::Bed;
use crate::agent::{Actor, AgentError, Host, World};
use crate::timer::{self, SECOND, Timer};
use rustix::event::epoll;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::{ClockId, TimerfdFlags};
use sojourn_bed::AccessPlan;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// What the timer's own events are called.
const TIMER: u64 = u64::MAX;
/// Most events taken from the kernel at a time.
const EVENTS: usize = 64;

/// Timers of all actors, in the order of time, actor and key.
#[derive(Debug, Default)]
struct Timers {
    order: BTreeSet<(i64, u32, u32)>,
    at: BTreeMap<(u32, u32), i64>,
}

impl Timers {
    fn set(&mut self, actor: u32, key: u32, at: i64) {
        if let Some(old) = self.at.insert((actor, key), at) {
            self.order.remove(&(old, actor, key));
        }
        self.order.insert((at, actor, key));
    }

    fn cancel(&mut self, actor: u32, key: u32) {
        if let Some(old) = self.at.remove(&(actor, key)) {
            self.order.remove(&(old, actor, key));
        }
    }

    fn first(&self) -> Option<i64> {
        self.order.first().map(|&(at, _, _)| at)
    }

    /// Takes out the first that is due at `until`.
    fn pop(&mut self, until: i64) -> Option<(u32, u32)> {
        let &(at, actor, key) = self.order.first()?;
        if at > until {
            return None;
        }
        self.order.pop_first();
        self.at.remove(&(actor, key));
        Some((actor, key))
    }
}

/// The event loop of a run.
///
/// Timers that are due go before sockets, in the order of (time, actor, key); sockets go in the order in which the
/// kernel found them ready. The clock is read when an actor asks for the time, and at most once for a wake-up: on a
/// virtual-time kernel reading it lets time pass.
pub struct Reactor {
    epoll: OwnedFd,
    timer: Timer,
    /// What the timer is set to.
    armed: Option<i64>,
    timers: Timers,
    registered: BTreeSet<u64>,
    ready: VecDeque<u64>,
    /// Monotonic time of the beginning of the measured window.
    begin: i64,
    /// Real-time clock less monotonic clock.
    real: i64,
    end: i64,
    now: Cell<Option<i64>>,
    /// Whose turn it is.
    actor: u32,
    bed: Bed,
}

impl fmt::Debug for Reactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reactor")
            .field("begin", &self.begin)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl Reactor {
    /// A loop for `bed`, whose measured window begins `until_begin` nanoseconds from now and lasts `duration`.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(super) fn new(bed: Bed, until_begin: i64, duration: i64) -> Result<Self, AgentError> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).doing(|| "cannot make an epoll instance".into())?;
        let timer = Timer::new(TimerfdFlags::NONBLOCK).doing(|| "cannot make a timer".into())?;
        epoll::add(&epoll, &timer, epoll::EventData::new_u64(TIMER), epoll::EventFlags::IN)
            .doing(|| "cannot wait for the timer".into())?;
        let (real, now) = timer::real_ahead();
        Ok(Self {
            epoll,
            timer,
            armed: None,
            timers: Timers::default(),
            registered: BTreeSet::new(),
            ready: VecDeque::with_capacity(EVENTS),
            begin: now + until_begin,
            real,
            end: duration,
            now: Cell::new(None),
            actor: 0,
            bed,
        })
    }

    /// The beginning of the measured window, nanoseconds on the monotonic clock.
    pub(super) const fn begin(&self) -> i64 {
        self.begin
    }

    /// Lets the actors run: to the end of the measured window, and on until none waits for packets of it.
    ///
    /// # Errors
    /// The first error of an actor.
    pub fn run(&mut self, actors: &mut [Box<dyn Actor>]) -> Result<(), AgentError> {
        self.each(actors, |actor, world| actor.start(world))?;
        let mut over = false;
        while !over || self.awaited(actors).is_some() {
            let next = if over { self.awaited(actors) } else { Some(self.end) };
            self.arm(next.into_iter().chain(self.timers.first()).min())?;
            let due = self.wait()?;
            self.now.set(None);
            if due {
                self.timers_due(actors, &mut over)?;
            }
            while let Some(token) = self.ready.pop_front() {
                self.actor = (token >> 32) as u32;
                actors[self.actor as usize].ready(token as u32, self)?;
            }
        }
        Ok(())
    }

    /// Until when some actor is waited for.
    fn awaited(&self, actors: &[Box<dyn Actor>]) -> Option<i64> {
        let waiting = actors.iter().filter(|a| a.awaits());
        let until = waiting.map(|a| self.end + a.linger_ns()).max()?;
        (until > self.now()).then_some(until)
    }

    fn each(
        &mut self,
        actors: &mut [Box<dyn Actor>],
        mut call: impl FnMut(&mut dyn Actor, &mut Self) -> Result<(), AgentError>,
    ) -> Result<(), AgentError> {
        for (i, actor) in actors.iter_mut().enumerate() {
            self.actor = i as u32;
            call(actor.as_mut(), self)?;
        }
        Ok(())
    }

    fn timers_due(&mut self, actors: &mut [Box<dyn Actor>], over: &mut bool) -> Result<(), AgentError> {
        let now = self.now();
        loop {
            let until = if *over { now } else { now.min(self.end) };
            if let Some((actor, key)) = self.timers.pop(until) {
                self.actor = actor;
                actors[actor as usize].due(key, self)?;
            } else if *over || now < self.end {
                return Ok(());
            } else {
                *over = true;
                self.each(actors, |actor, world| actor.window_ends(world))?;
            }
        }
    }

    /// Sets the timer, if it is not set so already.
    fn arm(&mut self, at: Option<i64>) -> Result<(), AgentError> {
        if self.armed == at {
            return Ok(());
        }
        let time = at.map(|at| self.begin + at);
        self.timer.set(time).doing(|| "cannot set the timer".into())?;
        self.armed = at;
        Ok(())
    }

    /// Waits for something; tells whether the timer is due.
    fn wait(&mut self) -> Result<bool, AgentError> {
        let mut events = [epoll::Event {
            flags: epoll::EventFlags::empty(),
            data: epoll::EventData::new_u64(0),
        }; EVENTS];
        let count = loop {
            match epoll::wait(&self.epoll, &mut events, None) {
                Ok(count) => break count,
                Err(Errno::INTR) => {}
                Err(e) => return Err(e).doing(|| "cannot wait for events".into()),
            }
        };
        let mut due = false;
        for event in &events[..count] {
            let data = event.data;
            match data.u64() {
                TIMER => {
                    // It stays ready until it is set again, which is sooner than it would be read.
                    self.armed = None;
                    due = true;
                }
                token => self.ready.push_back(token),
            }
        }
        Ok(due)
    }

    fn token(&self, key: u32) -> u64 {
        u64::from(self.actor) << 32 | u64::from(key)
    }
}

impl World for Reactor {
    fn now(&self) -> i64 {
        self.now.get().unwrap_or_else(|| {
            let now = timer::now(ClockId::Monotonic) - self.begin;
            self.now.set(Some(now));
            now
        })
    }

    fn at(&self, seconds: i64, nanoseconds: i64) -> i64 {
        seconds * SECOND + nanoseconds - self.real - self.begin
    }

    fn end(&self) -> i64 {
        self.end
    }

    fn client(&self, access: AccessPlan) -> std::net::Ipv4Addr {
        self.bed.client(access)
    }

    fn server(&self, path: usize, access: AccessPlan) -> std::net::Ipv4Addr {
        self.bed.server(path, access)
    }

    fn enter(&mut self, host: Host) -> Result<(), AgentError> {
        self.bed.enter(&host.name())
    }

    fn register(&mut self, key: u32, fd: BorrowedFd<'_>, write: bool) -> Result<(), AgentError> {
        let token = self.token(key);
        let mut flags = epoll::EventFlags::IN;
        flags.set(epoll::EventFlags::OUT, write);
        let data = epoll::EventData::new_u64(token);
        let known = !self.registered.insert(token);
        let modified = known.then(|| epoll::modify(&self.epoll, fd, data, flags));
        match modified {
            Some(Ok(())) => Ok(()),
            // Another socket by this key: the one before was closed, which took it out of the kernel's list.
            Some(Err(Errno::NOENT)) | None => epoll::add(&self.epoll, fd, data, flags),
            Some(e) => e,
        }
        .doing(|| "cannot wait for a socket".into())
    }

    fn deregister(&mut self, key: u32, fd: BorrowedFd<'_>) -> Result<(), AgentError> {
        let token = self.token(key);
        self.registered.remove(&token);
        self.ready.retain(|&t| t != token);
        epoll::delete(self.epoll.as_fd(), fd).doing(|| "cannot stop waiting for a socket".into())
    }

    fn set_timer(&mut self, key: u32, at_ns: i64) {
        self.timers.set(self.actor, key, at_ns);
    }

    fn cancel_timer(&mut self, key: u32) {
        self.timers.cancel(self.actor, key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_go_by_time_then_actor_then_key() {
        let mut timers = Timers::default();
        for (actor, key, at) in [(1, 0, 10), (0, 9, 10), (0, 2, 10), (5, 5, -3), (2, 2, 11)] {
            timers.set(actor, key, at);
        }
        assert_eq!(timers.first(), Some(-3));
        let due: Vec<_> = std::iter::from_fn(|| timers.pop(10)).collect();
        assert_eq!(due, [(5, 5), (0, 2), (0, 9), (1, 0)]);
        assert_eq!(timers.first(), Some(11));
    }

    #[test]
    fn a_timer_set_again_or_taken_back_does_not_go_off_as_before() {
        let mut timers = Timers::default();
        timers.set(0, 0, 5);
        timers.set(0, 0, 7);
        timers.set(0, 1, 6);
        timers.cancel(0, 1);
        timers.cancel(0, 2);
        assert_eq!(timers.pop(6), None);
        assert_eq!(timers.pop(7), Some((0, 0)));
        assert_eq!(timers.first(), None);
    }
}
