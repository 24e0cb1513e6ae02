//! Real packets through the two ways: one thread, one `epoll`, one timer.
//!
//! Each turn reads what the devices have, up to a run of packets each, until there is nothing (`EAGAIN`), then lets
//! happen what is due, and writes. The timer is a `timerfd` with an absolute time on the monotonic clock, which the
//! kernel's timer slack does not touch. With a busy-poll time it is set so much earlier, and the rest is waited for
//! awake.

use super::lateness::Lateness;
use super::settings::Change;
use super::stats::{Direction, Report};
use super::way::{Observer, Way};
use super::{DOWN, UP, frame::Frame};
use crate::timer::{self, Timer};
use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::{ClockId, TimerfdFlags};
use sojourn_units::{Bytes, Duration, Time};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Packets read from a device in a turn.
const RUN: usize = 64;
/// The largest IP packet.
const LARGEST: usize = 65_535;
/// Pieces of memory that are kept for packets to come.
const KEPT: usize = 4_096;

/// What is watched on a way while it runs, beside packets.
pub trait Watch: Observer + Send + 'static {
    /// When the way's counters are to be looked at next.
    fn next_look(&self) -> Option<Time> {
        None
    }
    /// They are looked at, at that time.
    fn look(&mut self, _way: &Way) {}
}

impl Watch for () {}

/// What an engine is told beside its ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What the link adds to each packet, bytes.
    pub overhead: u32,
    /// The largest packet, as the shaper counts it.
    pub largest: Bytes,
    /// How long before something is due it waits awake.
    pub busy_poll: Duration,
    /// Secret of the flow hash.
    pub key: u64,
}

/// What an engine can be asked.
#[derive(Debug)]
enum Request {
    Set(Change, Sender<Result<(), String>>),
    Report(Sender<Report>),
    Stop,
}

/// The kernel's monotonic clock, nanoseconds.
#[must_use]
pub fn monotonic_ns() -> i64 {
    timer::now(ClockId::Monotonic)
}

/// A running engine.
#[derive(Debug)]
pub struct Handle<W> {
    remote: Remote,
    thread: Option<JoinHandle<Result<Finished<W>, io::Error>>>,
}

/// What an engine leaves.
#[derive(Debug)]
pub struct Finished<W> {
    /// What it did.
    pub report: Report,
    /// What was watched, up and down.
    pub watched: [W; 2],
}

/// Asks an engine, from any thread.
#[derive(Clone, Debug)]
pub struct Remote {
    requests: Sender<Request>,
    wake: Arc<OwnedFd>,
}

impl Remote {
    fn send(&self, request: Request) -> Result<(), String> {
        self.requests.send(request).map_err(|_| over())?;
        rustix::io::write(&*self.wake, &1_u64.to_ne_bytes())
            .map(drop)
            .map_err(|e| e.to_string())
    }

    /// Changes a field of one or both directions; both or none.
    ///
    /// # Errors
    /// One sentence.
    pub fn set(&self, change: Change) -> Result<(), String> {
        let (tell, told) = channel();
        self.send(Request::Set(change, tell))?;
        told.recv().map_err(|_| over())?
    }

    /// What it did so far.
    ///
    /// # Errors
    /// If it has ended.
    pub fn report(&self) -> Result<Report, String> {
        let (tell, told) = channel();
        self.send(Request::Report(tell))?;
        told.recv().map_err(|_| over())
    }
}

fn over() -> String {
    "the bottleneck has ended".to_owned()
}

impl<W: Watch> Handle<W> {
    /// What asks it from other threads.
    #[must_use]
    pub fn remote(&self) -> Remote {
        self.remote.clone()
    }

    /// Ends it.
    ///
    /// # Errors
    /// What the kernel refused while it ran.
    pub fn stop(mut self) -> io::Result<Finished<W>> {
        // One that has ended by itself says why below.
        let _ = self.remote.send(Request::Stop);
        let thread = self.thread.take().ok_or_else(|| io::Error::other(over()))?;
        thread
            .join()
            .map_err(|_| io::Error::other("the bottleneck's thread panicked"))?
    }

    /// Whether it has ended by itself, which only an error makes it do.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

/// What went wrong at the devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct AtDevices {
    not_forwarded: u64,
    not_written: u64,
}

/// What the timer is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alarm {
    /// It says that it is due until it is set again.
    GoneOff,
    Off,
    At(Time),
}

struct Engine<W> {
    ways: [Way; 2],
    watches: [W; 2],
    /// The client's and the server's.
    tuns: [OwnedFd; 2],
    options: Options,
    requests: Receiver<Request>,
    epoll: OwnedFd,
    timer: Timer,
    wake: Arc<OwnedFd>,
    alarm: Alarm,
    origin: i64,
    lateness: [Lateness; 2],
    at_devices: [AtDevices; 2],
    memory: Vec<Vec<u8>>,
    scratch: Vec<u8>,
    prior: bool,
}

impl<W> fmt::Debug for Engine<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// Starts an engine between two hosts. Its time begins at `origin`, a time of [`monotonic_ns`] that is over.
///
/// # Errors
/// If the kernel refuses.
pub fn start<W: Watch>(
    ways: [Way; 2],
    watches: [W; 2],
    tuns: [OwnedFd; 2],
    options: Options,
    origin: i64,
) -> io::Result<Handle<W>> {
    let (requests, received) = channel();
    let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let timer = Timer::new(TimerfdFlags::NONBLOCK)?;
    let add = |fd: rustix::fd::BorrowedFd<'_>, data: u64| {
        epoll::add(&epoll, fd, epoll::EventData::new_u64(data), epoll::EventFlags::IN)
    };
    add(timer.as_fd(), TIMER)?;
    add(wake.as_fd(), WAKE)?;
    for tun in &tuns {
        add(tun.as_fd(), DEVICE)?;
    }
    let remote = Remote {
        requests,
        wake: Arc::clone(&wake),
    };
    let engine = Engine {
        ways,
        watches,
        tuns,
        options,
        requests: received,
        epoll,
        timer,
        wake,
        alarm: Alarm::GoneOff,
        origin,
        lateness: Default::default(),
        at_devices: Default::default(),
        memory: Vec::new(),
        scratch: vec![0; LARGEST],
        prior: false,
    };
    let thread = std::thread::Builder::new()
        .name("bottleneck".into())
        .spawn(move || engine.run())?;
    Ok(Handle {
        remote,
        thread: Some(thread),
    })
}

const TIMER: u64 = 0;
const WAKE: u64 = 1;
const DEVICE: u64 = 2;

impl<W: Watch> Engine<W> {
    fn run(mut self) -> io::Result<Finished<W>> {
        // Before others that want this core, where that is allowed.
        self.prior = rustix::process::setpriority_process(None, -20).is_ok();
        loop {
            let more = self.read(UP)? | self.read(DOWN)?;
            let now = self.now();
            for way in [UP, DOWN] {
                self.catch_up(way, now);
                self.write(way, now);
            }
            if !self.answer() {
                break;
            }
            if !more {
                self.wait()?;
            }
        }
        let now = self.now();
        for way in [UP, DOWN] {
            self.catch_up(way, now);
        }
        Ok(Finished {
            report: self.report(now),
            watched: self.watches,
        })
    }

    fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(monotonic_ns() - self.origin).unwrap_or(0))
    }

    /// Reads a run of packets from the device at which a way begins; tells whether there may be more.
    fn read(&mut self, way: usize) -> io::Result<bool> {
        for _ in 0..RUN {
            let length = match rustix::io::read(&self.tuns[way], &mut self.scratch[..]) {
                Ok(length) => length,
                Err(Errno::AGAIN | Errno::INTR) => return Ok(false),
                Err(e) => return Err(e.into()),
            };
            let mut bytes = self.memory.pop().unwrap_or_default();
            bytes.clear();
            bytes.extend_from_slice(&self.scratch[..length]);
            match Frame::new(bytes, self.options.overhead, self.options.key) {
                Ok(frame) => {
                    let now = self.now();
                    self.catch_up(way, now);
                    self.ways[way].offer(frame, now, &mut self.watches[way]);
                }
                Err(bytes) => {
                    self.at_devices[way].not_forwarded += 1;
                    self.memory.push(bytes);
                }
            }
        }
        Ok(true)
    }

    /// Lets happen what is due on a way, and has its counters looked at on the way there.
    fn catch_up(&mut self, way: usize, now: Time) {
        while let Some(at) = self.watches[way].next_look().filter(|at| *at <= now) {
            self.ways[way].advance(at, &mut self.watches[way]);
            self.watches[way].look(&self.ways[way]);
        }
        self.ways[way].advance(now, &mut self.watches[way]);
    }

    /// Writes what is due to the device at which a way ends.
    fn write(&mut self, way: usize, now: Time) {
        while let Some((due, frame)) = self.ways[way].due(now) {
            self.lateness[way].add(self.now().since(due));
            // A host that does not want it, because its device is down, has it lost, as on any link.
            if rustix::io::write(&self.tuns[1 - way], frame.bytes()).is_err() {
                self.at_devices[way].not_written += 1;
            }
            self.keep(frame.into_bytes());
        }
        while let Some(bytes) = self.ways[way].take_memory() {
            self.keep(bytes);
        }
    }

    fn keep(&mut self, bytes: Vec<u8>) {
        if self.memory.len() < KEPT {
            self.memory.push(bytes);
        }
    }

    /// Answers what was asked; tells whether to go on.
    fn answer(&mut self) -> bool {
        while let Ok(request) = self.requests.try_recv() {
            let now = self.now();
            match request {
                // Who asked may be gone.
                Request::Set(change, tell) => drop(tell.send(self.set(&change, now))),
                Request::Report(tell) => drop(tell.send(self.report(now))),
                Request::Stop => return false,
            }
        }
        true
    }

    fn set(&mut self, change: &Change, now: Time) -> Result<(), String> {
        let largest = self.options.largest;
        let changed = |way: &Way| way.settings().changed(&change.field, &change.value, largest);
        // Both are checked before one is changed.
        let new: Vec<_> = [UP, DOWN]
            .into_iter()
            .filter(|&way| change.directions[way])
            .map(|way| changed(&self.ways[way]).map(|settings| (way, settings)))
            .collect::<Result<_, _>>()?;
        for (way, settings) in new {
            self.catch_up(way, now);
            self.ways[way]
                .set(settings, now, &mut self.watches[way])
                .map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    fn report(&self, now: Time) -> Report {
        let direction = |way: usize| {
            let at = self.at_devices[way];
            Direction::of(
                &self.ways[way],
                self.lateness[way].punctuality(),
                [at.not_forwarded, at.not_written],
            )
        };
        Report {
            seconds: now.as_secs_f64(),
            busy_poll_us: self.options.busy_poll.as_micros(),
            prior: self.prior,
            floor: None,
            up: direction(UP),
            down: direction(DOWN),
        }
    }

    /// Waits until something is due, or comes.
    fn wait(&mut self) -> io::Result<()> {
        let next = self.ways.iter().filter_map(Way::next_at).min();
        let awake = next.map(|at| at - self.options.busy_poll);
        if awake.is_some_and(|at| at <= self.now()) {
            return Ok(());
        }
        self.arm(awake)?;
        let mut events = [epoll::Event {
            flags: epoll::EventFlags::empty(),
            data: epoll::EventData::new_u64(0),
        }; 4];
        let count = match epoll::wait(&self.epoll, &mut events, None) {
            Ok(count) => count,
            Err(Errno::INTR) => 0,
            Err(e) => return Err(e.into()),
        };
        for event in &events[..count] {
            let data = event.data;
            match data.u64() {
                TIMER => self.alarm = Alarm::GoneOff,
                WAKE => drop(rustix::io::read(&*self.wake, &mut [0; 8])),
                _ => {}
            }
        }
        Ok(())
    }

    /// Sets the timer, if it is not set so already.
    fn arm(&mut self, at: Option<Time>) -> io::Result<()> {
        let alarm = at.map_or(Alarm::Off, Alarm::At);
        if self.alarm == alarm {
            return Ok(());
        }
        // Times are those of a run, and fit.
        let time = at.map(|at| self.origin + at.as_nanos().cast_signed());
        self.timer.set(time)?;
        self.alarm = alarm;
        Ok(())
    }
}
