//! One direction of the bottleneck, without a clock or a socket: shaper, discipline, loss and delay.
//!
//! A way is told the time, and it catches up: what was due between two calls happens at its own time, not at that of
//! the call. So a thread that wakes up late makes a packet late, but the rate stays exact, and the discipline sees
//! the times of a link that is never late.

#[cfg(test)]
mod tests;

use super::frame::Frame;
use super::settings::{Settings, Share};
use sojourn_qdisc::{AnyQdisc, Backlog, DropReason, Dropped, Next, ParamError, Qdisc, QdiscStats, Tbf, Traced};
use sojourn_units::{Duration, Stream, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::IpAddr;

/// What is told of packets as they pass, in the order in which it happens on a way.
pub trait Observer {
    /// A packet came to the queue.
    fn came(&mut self, frame: &Frame, at: Time);
    /// It left the queue (it may be lost behind it).
    fn left(&mut self, frame: &Frame, at: Time);
}

/// Nobody watches.
impl Observer for () {
    fn came(&mut self, _frame: &Frame, _at: Time) {}
    fn left(&mut self, _frame: &Frame, _at: Time) {}
}

/// What passed a way since it began, whatever disciplines it had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Packets that left the shaper.
    pub packets: u64,
    /// Their bytes, as the shaper counts them.
    pub bytes: u64,
    /// Of them, lost behind it.
    pub lost: u64,
    /// Packets that were in a discipline when another took its place.
    pub replaced: u64,
}

/// A packet behind the shaper.
#[derive(Debug)]
struct UnderWay {
    due: Time,
    /// Of those that are due at one time the first goes first.
    number: u64,
    frame: Frame,
}

impl UnderWay {
    fn key(&self) -> (Time, u64) {
        (self.due, self.number)
    }
}

impl PartialEq for UnderWay {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for UnderWay {}
impl PartialOrd for UnderWay {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for UnderWay {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// What lets packets out of the discipline.
#[derive(Debug)]
enum Shaper {
    Bucket(Tbf<Frame, AnyQdisc<Frame>>),
    Trace(Traced<Frame, AnyQdisc<Frame>>),
}

impl Shaper {
    fn new(settings: &Settings, seed: u64) -> Result<Self, ParamError> {
        let child = settings.qdisc.build(seed);
        Ok(match &settings.trace {
            None => Self::Bucket(Tbf::new(settings.rate, settings.burst, child)?),
            Some(trace) => Self::Trace(Traced::new(trace.clone(), child)),
        })
    }

    fn child(&self) -> &AnyQdisc<Frame> {
        match self {
            Self::Bucket(bucket) => bucket.child(),
            Self::Trace(link) => link.child(),
        }
    }

    fn enqueue(&mut self, frame: Frame, now: Time, drops: &mut Vec<Dropped<Frame>>) {
        match self {
            Self::Bucket(bucket) => {
                bucket.enqueue(frame, now, drops);
            }
            Self::Trace(link) => link.enqueue(frame, now, drops),
        }
    }

    fn next(&mut self, now: Time, drops: &mut Vec<Dropped<Frame>>) -> Next<Frame> {
        match self {
            Self::Bucket(bucket) => bucket.next(now, drops),
            Self::Trace(link) => link.next(now, drops),
        }
    }

    fn replace_child(&mut self, child: AnyQdisc<Frame>) -> AnyQdisc<Frame> {
        match self {
            Self::Bucket(bucket) => bucket.replace_child(child),
            Self::Trace(link) => std::mem::replace(link.child_mut(), child),
        }
    }

    fn stats(&self) -> QdiscStats {
        match self {
            Self::Bucket(bucket) => bucket.stats(),
            Self::Trace(link) => link.child().stats(),
        }
    }
}

/// One direction.
#[derive(Debug)]
pub struct Way {
    settings: Settings,
    shaper: Shaper,
    seed: u64,
    /// When the shaper is to be asked for a packet; `None` until one comes.
    ask: Option<Time>,
    losses: Stream,
    /// Delays of packets with an address of these, instead of the settings'.
    paths: Vec<(IpAddr, Duration)>,
    line: BinaryHeap<Reverse<UnderWay>>,
    number: u64,
    carried: Carried,
    dropped: Vec<Dropped<Frame>>,
}

impl Way {
    /// A way. Its random numbers are those of `name` in a run with `seed`.
    ///
    /// # Errors
    /// [`ParamError`] for a rate and a burst that do not fit.
    pub fn new(settings: Settings, seed: u64, name: &str) -> Result<Self, ParamError> {
        let seed = Stream::derive_seed(seed, &format!("bottleneck {name}"));
        let shaper = Shaper::new(&settings, seed)?;
        Ok(Self {
            settings,
            shaper,
            seed,
            ask: None,
            losses: Stream::named(seed, "loss"),
            paths: Vec::new(),
            line: BinaryHeap::new(),
            number: 0,
            carried: Carried::default(),
            dropped: Vec::new(),
        })
    }

    /// Gives packets from or to these addresses delays of their own.
    #[must_use]
    pub fn with_paths(mut self, paths: Vec<(IpAddr, Duration)>) -> Self {
        self.paths = paths;
        self
    }

    /// How it is set.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What passed.
    #[must_use]
    pub const fn carried(&self) -> Carried {
        self.carried
    }

    /// Counters of the discipline that it has now.
    #[must_use]
    pub fn stats(&self) -> QdiscStats {
        self.shaper.stats()
    }

    /// Counters of the discipline's kind.
    #[must_use]
    pub fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        self.shaper.child().extra_stats()
    }

    /// What waits in the discipline.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        self.shaper.child().backlog()
    }

    /// Packets behind the shaper, waiting for their time.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.line.len()
    }

    /// A packet comes at `now`, which is not before the time of any call before.
    pub fn offer(&mut self, frame: Frame, now: Time, observer: &mut impl Observer) {
        self.advance(now, observer);
        observer.came(&frame, now);
        self.shaper.enqueue(frame, now, &mut self.dropped);
        self.ask.get_or_insert(now);
        self.advance(now, observer);
    }

    /// Lets happen what is due until `now`.
    pub fn advance(&mut self, now: Time, observer: &mut impl Observer) {
        while let Some(at) = self.ask.filter(|at| *at <= now) {
            self.ask = match self.shaper.next(at, &mut self.dropped) {
                Next::Departs(departure) => {
                    observer.left(&departure.packet, at);
                    self.leave(departure.packet, at);
                    Some(at)
                }
                // A child that is a shaper itself may say a time that is too early.
                Next::At(next) => Some(next.max(at + Duration::from_nanos(1))),
                Next::Idle => None,
            };
        }
    }

    /// Behind the shaper. Source: Linux `sch_netem.c`: a packet is lost before it is delayed.
    fn leave(&mut self, frame: Frame, at: Time) {
        use sojourn_qdisc::Packet as _;
        self.carried.packets += 1;
        self.carried.bytes += frame.size().get();
        if self.settings.loss.hits(&mut self.losses) {
            self.carried.lost += 1;
            self.dropped.push(Dropped {
                packet: frame,
                reason: DropReason::QueueLimit,
                sojourn: Duration::ZERO,
            });
            return;
        }
        let due = at + self.delay_of(&frame);
        self.number += 1;
        let number = self.number;
        self.line.push(Reverse(UnderWay { due, number, frame }));
    }

    fn delay_of(&self, frame: &Frame) -> Duration {
        let own = |(address, _): &&(IpAddr, Duration)| frame.has_address(*address);
        self.paths.iter().find(own).map_or(self.settings.delay, |(_, d)| *d)
    }

    /// The next packet that is due until `now`, and when it was due. To be called after [`Way::advance`] to that
    /// time.
    pub fn due(&mut self, now: Time) -> Option<(Time, Frame)> {
        if self.line.peek().is_none_or(|Reverse(first)| first.due > now) {
            return None;
        }
        self.line.pop().map(|Reverse(first)| (first.due, first.frame))
    }

    /// When something is due next, if nothing comes.
    #[must_use]
    pub fn next_at(&self) -> Option<Time> {
        let first = self.line.peek().map(|Reverse(first)| first.due);
        self.ask.into_iter().chain(first).min()
    }

    /// The memory of a packet that was dropped or lost, to be used again.
    pub fn take_memory(&mut self) -> Option<Vec<u8>> {
        self.dropped.pop().map(|drop| drop.packet.into_bytes())
    }

    /// Changes how it is set, at `now`. A packet that is under way keeps its time, as netem has it. Another
    /// discipline begins empty: what was in the old one is gone, as with `tc qdisc replace`. The same text
    /// changes nothing.
    ///
    /// # Errors
    /// [`ParamError`] for a rate and a burst that do not fit; everything stays as it was.
    pub fn set(&mut self, settings: Settings, now: Time, observer: &mut impl Observer) -> Result<(), ParamError> {
        self.advance(now, observer);
        let old = &self.settings;
        if (settings.rate, settings.burst) != (old.rate, old.burst)
            && let Shaper::Bucket(bucket) = &mut self.shaper
        {
            bucket.set_rate(settings.rate, settings.burst)?;
        }
        if settings.qdisc != old.qdisc {
            let old = self.shaper.replace_child(settings.qdisc.build(self.seed));
            self.carried.replaced += old.backlog().packets;
        }
        self.settings = settings;
        // Tokens are there at another time.
        self.ask = Some(now);
        Ok(())
    }
}

impl Share {
    /// Whether the next packet is one of the share. Source: Linux `sch_netem.c`, `loss_event`.
    fn hits(self, stream: &mut Stream) -> bool {
        self.parts() > 0 && stream.u32() <= self.parts()
    }
}
