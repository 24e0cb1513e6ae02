//! Packets in one direction: every so often, as a Poisson process, or as the frames of a voice call.
//!
//! Both ends are in this process and use one clock, so a delay one way is the difference of two of its readings: that
//! of the wake-up in which it was sent (see [`crate::agent::traffic::icmp`]), and that of the kernel when it reached the other host.
//!
//! Packets of the window may come home after it, for three seconds. Voice is waited for as long as one of its frames
//! may still stand in a queue, 600 s at most. The simulator knows what stands in its queues; here a last word goes
//! after the frames, every 100 ms. Disciplines keep the order of the packets of one flow, so once a last word arrives
//! no frame can follow it.

use crate::agent::actor::{Actor, AgentError, Doing, World};
use crate::agent::traffic::mark::mark;
use crate::agent::traffic::probe::{Identity, LINGER_NS, LINGER_VOICE_NS, Samples, Stamp};
use crate::agent::traffic::receive::{Inbox, stamp};
use crate::agent::traffic::route::Route;
use rustix::fd::AsFd;
use sojourn_bed::{LoadPlan, Measured, ProbePlan};
use sojourn_scenario::ProbeKindScenario;
use sojourn_units::{Duration, Stream};
use std::net::UdpSocket;

/// Timers.
const SEND: u32 = 0;
const LINGER: u32 = 1;
const LAST_WORD: u32 = 2;
/// The receiving socket.
const ARRIVALS: u32 = 0;

/// Between last words of a voice stream.
const LAST_WORD_NS: i64 = 100_000_000;

/// The times between packets.
#[derive(Debug)]
enum Gaps {
    Equal(i64),
    /// Exponential and independent.
    Poisson(Duration, Stream),
}

impl Gaps {
    fn next(&mut self) -> i64 {
        match self {
            Self::Equal(ns) => *ns,
            // As the simulator draws them: the same seed gives the same times.
            Self::Poisson(mean, stream) => i64::try_from(stream.exponential(*mean).as_nanos()).unwrap_or(i64::MAX),
        }
    }
}

/// A one-way probe.
#[derive(Debug)]
pub struct OneWay {
    me: Identity,
    route: Route,
    gaps: Gaps,
    voice: bool,
    sender: Option<UdpSocket>,
    receiver: Option<UdpSocket>,
    samples: Samples,
    /// When the next packet is to leave.
    due: i64,
    stopped: bool,
    /// Last words sent.
    last_words: u32,
    payload: Vec<u8>,
    inbox: Inbox,
}

impl OneWay {
    /// The probe at place `index` of the plan.
    ///
    /// # Errors
    /// [`AgentError::Plan`] if the plan is of another kind of probe, or cannot be carried out.
    pub fn new(index: usize, plan: &ProbePlan, load: &LoadPlan) -> Result<Self, AgentError> {
        let me = Identity::new(index, plan, load)?;
        let (direction, gaps, voice) = match plan.kind() {
            ProbeKindScenario::Isochronous(direction, interval) => {
                (direction, Gaps::Equal(me.time("interval", interval)?), false)
            }
            ProbeKindScenario::Voip(direction, voice) => (direction, Gaps::Equal(me.time("frame", voice.frame)?), true),
            ProbeKindScenario::Poisson(direction, interval) => {
                me.time("interval", interval)?;
                let stream = Stream::named(load.seed, &format!("gaps {}", plan.name));
                (direction, Gaps::Poisson(interval, stream), false)
            }
            ProbeKindScenario::Icmp(_) | ProbeKindScenario::UdpRr(_) => {
                return Err(me.wrong_kind("isochronous, poisson or voip"));
            }
        };
        Ok(Self {
            due: me.start_ns,
            payload: vec![0; me.payload],
            route: Route::of(plan, direction, me.port()),
            me,
            gaps,
            voice,
            sender: None,
            receiver: None,
            samples: Samples::default(),
            stopped: false,
            last_words: 0,
            inbox: Inbox::default(),
        })
    }

    fn send(&mut self, number: u32, sent_ns: i64) -> Result<(), AgentError> {
        let Some(socket) = &self.sender else { return Ok(()) };
        let stamp = Stamp {
            index: self.me.index,
            number,
            sent_ns,
        };
        stamp.write(&mut self.payload);
        let sent = socket.send(&self.payload);
        sent.doing(|| format!("sending a packet of {}", self.me.what)).map(drop)
    }
}

impl Actor for OneWay {
    fn start(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        let ((from, to), (source, address)) = (self.route.hosts(), self.route.addresses(world));
        let what = |end: &str| format!("opening the {end} socket of {}", self.me.what);
        world.enter(to)?;
        let receiver = UdpSocket::bind(address).doing(|| what("receiving"))?;
        receiver.set_nonblocking(true).doing(|| what("receiving"))?;
        stamp(&receiver, &self.me.what)?;
        world.register(ARRIVALS, receiver.as_fd(), false)?;
        world.enter(from)?;
        let sender = UdpSocket::bind((source, 0)).doing(|| what("sending"))?;
        sender.set_nonblocking(true).doing(|| what("sending"))?;
        sender.connect(address).doing(|| what("sending"))?;
        mark(&sender, self.me.access, &self.me.what)?;
        world.set_timer(SEND, self.due);
        (self.sender, self.receiver) = (Some(sender), Some(receiver));
        Ok(())
    }

    fn ready(&mut self, _key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        let Some(socket) = &self.receiver else { return Ok(()) };
        while let Some((payload, at)) = self.inbox.next(socket, world, &self.me.what)? {
            let Some(stamp) = Stamp::read(payload) else { continue };
            if payload.len() != self.me.payload || stamp.index != self.me.index {
                continue;
            }
            if self.stopped && stamp.number >= self.samples.next() && stamp.sent_ns >= world.end() {
                // A last word.
                self.samples.dismiss();
                world.cancel_timer(LAST_WORD);
            } else {
                self.samples.arrive(&stamp, at, &self.me.what)?;
            }
        }
        Ok(())
    }

    fn due(&mut self, key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        let now = world.now();
        match key {
            LINGER => self.samples.dismiss(),
            LAST_WORD if self.samples.awaits() => {
                world.set_timer(LAST_WORD, now + LAST_WORD_NS);
                self.last_words += 1;
                return self.send(self.samples.next() + self.last_words, now);
            }
            SEND if !self.stopped && now < world.end() => {
                // From the time at which it was due: a wake-up that is late does not put off those that follow.
                self.due = self.due.saturating_add(self.gaps.next());
                world.set_timer(SEND, self.due);
                let number = self.samples.next();
                self.samples.send(now);
                return self.send(number, now);
            }
            _ => {}
        }
        Ok(())
    }

    fn window_ends(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        self.stopped = true;
        world.cancel_timer(SEND);
        world.set_timer(LINGER, world.end() + self.linger_ns());
        if self.voice {
            world.set_timer(LAST_WORD, world.end() + LAST_WORD_NS);
        }
        Ok(())
    }

    fn awaits(&self) -> bool {
        self.samples.awaits()
    }

    fn linger_ns(&self) -> i64 {
        if self.voice { LINGER_VOICE_NS } else { LINGER_NS }
    }

    fn finish(&mut self, measured: &mut Measured) {
        self.samples.finish(self.me.index, measured);
    }
}

#[cfg(test)]
mod tests;
