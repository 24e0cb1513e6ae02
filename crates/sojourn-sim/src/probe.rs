//! Latency probes: echo requests, request-response transactions, isochronous and Poisson streams.

use crate::network::LinkId;
use crate::source::{Context, Packet, Source};
use sojourn_units::{Duration, Stream, Time};

/// What a probe does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeKind {
    /// An echo request every so often, whether or not the last was answered; as ping.
    Echo {
        /// Time between requests.
        interval: Duration,
    },
    /// The next request leaves when the answer to the last has come, or after a time-out; as netperf's UDP_RR.
    RequestResponse {
        /// How long to wait for an answer.
        timeout: Duration,
    },
    /// A packet every so often in one direction; as a voice stream. Its delay is one-way.
    Isochronous {
        /// Time between packets.
        interval: Duration,
    },
    /// Packets in one direction as a Poisson process: the times between them are exponential and independent. What
    /// they see is the time average of the path (Poisson arrivals see time averages), and queueing theory has
    /// formulas for them.
    Poisson {
        /// Mean time between packets.
        interval: Duration,
    },
}

/// A probe from one node to another.
#[derive(Clone, Debug)]
pub struct ProbeSpec {
    /// Unique name.
    pub name: String,
    /// What it does.
    pub kind: ProbeKind,
    /// To the other node.
    pub route: Vec<LinkId>,
    /// And back.
    pub back: Vec<LinkId>,
    /// Bytes on the wire, of request and answer.
    pub size: u16,
    /// When it begins.
    pub start: Time,
    /// Samples sent before this are for warming up: they are in the series, not in the summary.
    pub measured_from: Time,
}

/// One probe packet: when it was sent, and what it measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) sent: Time,
    /// Round-trip time, or one-way delay; `None` if nothing came back.
    pub(crate) delay: Option<Duration>,
}

/// A probe under way.
#[derive(Debug)]
pub(crate) struct Probe {
    pub(crate) spec: ProbeSpec,
    pub(crate) samples: Vec<Sample>,
    due: Option<Time>,
    /// Request-response: the transaction under way.
    pending: Option<u64>,
    outstanding: u64,
    stopped: bool,
    /// What still comes home is no longer counted.
    dismissed: bool,
    /// Of the times between Poisson packets.
    gaps: Stream,
}

impl Probe {
    /// A probe that has not begun, with random times by `seed` and its name.
    pub(crate) fn new(spec: ProbeSpec, seed: u64) -> Self {
        let gaps = Stream::named(seed, &format!("gaps {}", spec.name));
        let due = Some(spec.start);
        Self {
            spec,
            samples: Vec::new(),
            due,
            pending: None,
            outstanding: 0,
            stopped: false,
            dismissed: false,
            gaps,
        }
    }

    fn echoes(&self) -> bool {
        !matches!(
            self.spec.kind,
            ProbeKind::Isochronous { .. } | ProbeKind::Poisson { .. }
        )
    }

    /// The probe's time has come: answers the number of the packet to send, if it is to send one.
    fn on_due(&mut self, now: Time) -> Option<u64> {
        if self.stopped {
            self.due = None;
            return None;
        }
        self.due = Some(match self.spec.kind {
            ProbeKind::Echo { interval } | ProbeKind::Isochronous { interval } => now + interval,
            ProbeKind::RequestResponse { timeout } => now + timeout,
            ProbeKind::Poisson { interval } => now + self.gaps.exponential(interval),
        });
        let number = self.samples.len() as u64;
        self.samples.push(Sample { sent: now, delay: None });
        if now >= self.spec.measured_from {
            self.outstanding += 1;
        }
        self.pending = Some(number);
        Some(number)
    }

    /// Packet `number` has come home. Answers whether the next is to be sent at once.
    fn on_answer(&mut self, number: u64, now: Time) -> bool {
        let Some(sample) = self.samples.get_mut(number as usize) else {
            return false;
        };
        if sample.delay.is_some() {
            return false;
        }
        let closed_loop = matches!(self.spec.kind, ProbeKind::RequestResponse { .. });
        if closed_loop && self.pending != Some(number) {
            // The answer to a transaction that has timed out counts as lost, as its socket is gone.
            return false;
        }
        sample.delay = Some(now.since(sample.sent));
        if sample.sent >= self.spec.measured_from {
            self.outstanding -= 1;
        }
        if closed_loop {
            self.pending = None;
            return !self.stopped;
        }
        false
    }

    /// No more packets are sent.
    fn stop(&mut self) {
        self.stopped = true;
        if matches!(self.spec.kind, ProbeKind::RequestResponse { .. }) {
            // A transaction cut off by the end is no sample.
            if let Some(number) = self.pending.take() {
                self.samples.truncate(number as usize);
            }
            self.outstanding = 0;
        }
    }

    /// Whether a packet of the measured window is under way.
    pub(crate) fn awaits_answer(&self) -> bool {
        self.outstanding > 0
    }

    /// What comes home from now on counts as lost.
    pub(crate) fn dismiss(&mut self) {
        self.dismissed = true;
    }
}

impl Source for Probe {
    fn start(&self) -> Time {
        self.spec.start
    }

    fn on_wake(&mut self, context: &mut Context<'_>) {
        let sent = self.on_due(context.now());
        context.wake(self.due);
        if let Some(number) = sent {
            context.send(true, number as u32, self.spec.size);
        }
    }

    fn on_packet(&mut self, packet: &Packet, forth: bool, context: &mut Context<'_>) {
        if forth && self.echoes() {
            context.send(false, packet.number(), self.spec.size);
        } else if !self.dismissed && self.on_answer(u64::from(packet.number()), context.now()) {
            // A closed loop asks again at once.
            context.wake(Some(context.now()));
        }
    }

    fn end_window(&mut self) -> bool {
        self.stop();
        true
    }
}
