//! A link: an egress with a rate and a queue discipline, and a delay.

use crate::calendar::Slot;
use crate::grants::Grants;
use crate::identity::{WithIdentity, ack_facts};
use crate::meter::Meter;
use crate::network::{Hop, Shaping};
use crate::packet::{Packet, Segments};
use crate::spared::Spared;
use crate::wire::Wire;
use sojourn_qdisc::{AnyQdisc, ClassStats, DropSink, Dropped, Next, ParamError, Qdisc, Tbf};
use sojourn_scenario::Impairment;
use sojourn_units::{Bytes, Duration, Rate, Stream, Time};
use std::collections::VecDeque;

/// How an egress paces packets, over the discipline `Q`.
#[derive(Debug)]
pub(crate) enum Shaped<Q> {
    /// A token bucket before an infinitely fast device, as `tc`'s `tbf` over veth.
    Bucket(Box<Tbf<Packet, Q>>),
    /// A wire of this rate: a packet arrives when its last bit does.
    Wire { rate: Rate, qdisc: Box<Q>, free_at: Time },
    /// A link that serves in bursts.
    Grants(Box<Grants<Q>>),
}

/// How an egress paces packets.
#[derive(Debug)]
pub(crate) enum Pacing {
    /// Over a discipline that sees what a packet itself has.
    Plain(Shaped<AnyQdisc<Packet>>),
    /// Over one that sees code points and hosts, too.
    WithIdentity(Box<Shaped<WithIdentity>>),
}

/// A discipline below an egress.
pub(crate) trait Below: Qdisc<Packet> {
    /// Whether it is an empty FIFO, which has nothing to do when a wire falls free.
    fn rests(&self) -> bool;
}

impl Below for AnyQdisc<Packet> {
    #[inline]
    fn rests(&self) -> bool {
        matches!(self, Self::Fifo(fifo) if fifo.backlog().packets == 0)
    }
}

impl Below for WithIdentity {
    fn rests(&self) -> bool {
        false
    }
}

impl<Q: Below> Shaped<Q> {
    /// A shaper of this kind over `qdisc`.
    pub(crate) fn new(shaping: Shaping, rate: Rate, qdisc: Q) -> Result<Self, ParamError> {
        Ok(match shaping {
            Shaping::TokenBucket { burst } => Self::Bucket(Box::new(Tbf::new(rate, burst, qdisc)?)),
            Shaping::Wire => Self::Wire {
                rate,
                qdisc: Box::new(qdisc),
                free_at: Time::ZERO,
            },
            Shaping::Grants { every } => Self::Grants(Box::new(Grants::new(rate, every, qdisc))),
        })
    }

    fn child(&self) -> &Q {
        match self {
            Self::Bucket(tbf) => tbf.child(),
            Self::Wire { qdisc, .. } => qdisc,
            Self::Grants(grants) => grants.child(),
        }
    }

    fn child_mut(&mut self) -> &mut Q {
        match self {
            Self::Bucket(tbf) => tbf.child_mut(),
            Self::Wire { qdisc, .. } => qdisc,
            Self::Grants(grants) => grants.child_mut(),
        }
    }

    /// Changes the rate, and the depth of a bucket. On a wire, the packet that is being sent goes on at the old rate.
    fn set_rate(&mut self, to: Rate, burst: Bytes) -> Result<(), ParamError> {
        match self {
            Self::Bucket(tbf) => tbf.set_rate(to, burst)?,
            Self::Wire { rate, .. } => *rate = to,
            Self::Grants(grants) => grants.set_rate(to),
        }
        Ok(())
    }

    fn sending(&self, now: Time) -> Duration {
        match self {
            Self::Bucket(_) | Self::Grants(_) => Duration::ZERO,
            Self::Wire { free_at, .. } => free_at.since(now),
        }
    }

    #[inline]
    fn pass(&mut self, packet: &Packet, now: Time) -> Option<Duration> {
        let size = Bytes::new(u64::from(packet.size));
        let (rate, qdisc, free_at) = match self {
            Self::Bucket(tbf) => return tbf.pass(size, now).then_some(Duration::ZERO),
            Self::Wire { rate, qdisc, free_at } => (rate, qdisc, free_at),
            Self::Grants(_) => return None,
        };
        if *free_at > now || !qdisc.lets_pass(size) {
            return None;
        }
        qdisc.passed(size);
        let sending = rate.time_to_send(size);
        *free_at = now + sending;
        Some(sending)
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut dyn DropSink<Packet>) {
        match self {
            Self::Bucket(tbf) => tbf.enqueue(packet, now, drops),
            Self::Wire { qdisc, .. } => qdisc.enqueue(packet, now, drops),
            Self::Grants(grants) => grants.child_mut().enqueue(packet, now, drops),
        };
    }

    #[inline]
    fn next(&mut self, now: Time, drops: &mut dyn DropSink<Packet>) -> (Next<Packet>, Duration) {
        match self {
            Self::Bucket(tbf) => (tbf.next(now, drops), Duration::ZERO),
            Self::Grants(grants) => (grants.next(now, drops), Duration::ZERO),
            Self::Wire { rate, qdisc, free_at } => {
                if *free_at > now {
                    // An empty FIFO has nothing to do when the wire falls free; a packet that comes before finds it
                    // busy, and asks again. That saves most links half of their events. Others may
                    // change when they find themselves empty.
                    let next = if qdisc.rests() { Next::Idle } else { Next::At(*free_at) };
                    return (next, Duration::ZERO);
                }
                let Some(departure) = qdisc.dequeue(now, drops) else {
                    // A shaper may hold packets back.
                    let next = qdisc.ready_at(now, drops).map_or(Next::Idle, Next::At);
                    return (next, Duration::ZERO);
                };
                let sending = rate.time_to_send(Bytes::new(u64::from(departure.packet.size)));
                *free_at = now + sending;
                (Next::Departs(departure), sending)
            }
        }
    }
}

impl Pacing {
    /// The counters of the discipline under the shaper that only its kind has.
    pub(crate) fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        match self {
            Self::Plain(shaped) => shaped.child().extra_stats(),
            Self::WithIdentity(shaped) => shaped.child().extra_stats(),
        }
    }

    /// Changes the rate from now on. A bucket gets this depth, and is full.
    pub(crate) fn set_rate(&mut self, rate: Rate, burst: Bytes) -> Result<(), ParamError> {
        match self {
            Self::Plain(shaped) => shaped.set_rate(rate, burst),
            Self::WithIdentity(shaped) => shaped.set_rate(rate, burst),
        }
    }

    /// Whether a packet that comes may leave before those that wait for their time.
    #[inline]
    pub(crate) fn overtakes(&self) -> bool {
        match self {
            Self::Plain(shaped) => shaped.child().overtakes(),
            Self::WithIdentity(shaped) => shaped.child().overtakes(),
        }
    }

    /// The counters of the classes of the discipline under the shaper, if it has some.
    pub(crate) fn class_stats(&self) -> Vec<ClassStats> {
        match self {
            Self::Plain(shaped) => shaped.child().class_stats(),
            Self::WithIdentity(shaped) => shaped.child().class_stats(),
        }
    }

    /// Tells the discipline what the packet that comes next is as an acknowledgement, if it looks at these.
    #[inline]
    pub(crate) fn tell_ack(&mut self, packet: &Packet, segments: &Segments) {
        if let Self::WithIdentity(shaped) = self {
            let qdisc = shaped.child_mut();
            if qdisc.reads_acks && packet.is_tcp() {
                qdisc.next_ack = Some(ack_facts(&segments.peek(packet)));
            }
        }
    }

    /// The rate of the wire, if it is one.
    pub(crate) fn wire_rate(&self) -> Option<Rate> {
        match self {
            Self::Plain(Shaped::Wire { rate, .. }) => Some(*rate),
            Self::Plain(Shaped::Bucket(_) | Shaped::Grants(_)) => None,
            Self::WithIdentity(shaped) => match &**shaped {
                Shaped::Wire { rate, .. } => Some(*rate),
                Shaped::Bucket(_) | Shaped::Grants(_) => None,
            },
        }
    }

    /// How long a packet that leaves at `now` takes to be sent: what is left of the last one's time on a wire.
    pub(crate) fn sending(&self, now: Time) -> Duration {
        match self {
            Self::Plain(shaped) => shaped.sending(now),
            Self::WithIdentity(shaped) => shaped.sending(now),
        }
    }

    /// Takes a packet through at once, if there is an empty FIFO before a free wire or a bucket with enough in it:
    /// how long it takes to be sent.
    #[inline]
    pub(crate) fn pass(&mut self, packet: &Packet, now: Time) -> Option<Duration> {
        match self {
            Self::Plain(shaped) => shaped.pass(packet, now),
            // No discipline that looks at code points or hosts lets packets pass.
            Self::WithIdentity(_) => None,
        }
    }

    #[inline]
    pub(crate) fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut dyn DropSink<Packet>) {
        match self {
            Self::Plain(shaped) => shaped.enqueue(packet, now, drops),
            Self::WithIdentity(shaped) => shaped.enqueue(packet, now, drops),
        }
    }

    /// The next packet, and how long after the link's delay its last bit arrives.
    #[inline]
    pub(crate) fn next(&mut self, now: Time, drops: &mut dyn DropSink<Packet>) -> (Next<Packet>, Duration) {
        match self {
            Self::Plain(shaped) => shaped.next(now, drops),
            Self::WithIdentity(shaped) => shaped.next(now, drops),
        }
    }
}

/// The sending side of a link that has a rate.
#[derive(Debug)]
pub(crate) struct Egress {
    pub(crate) pacing: Pacing,
    pub(crate) meter: Meter,
    /// Whether what it measures is told.
    pub(crate) reported: bool,
    /// Its slot in the calendar, once the simulation runs.
    pub(crate) slot: Slot,
    /// If it is the own device of a host that runs TCP.
    pub(crate) own: Option<OwnDevice>,
}

/// A data segment that its host's own device is done with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Released {
    pub(crate) route: u16,
    /// Where it begins, if the device is a radio.
    ///
    /// Deviation: on wires TCP is not told which of its segments the device holds. Small queues let it hold a
    /// millisecond of them, or two; no timer goes off so soon.
    pub(crate) seq: Option<u64>,
}

impl Released {
    /// One that left a wired device.
    pub(crate) fn from_wire(route: u16) -> Self {
        Self { route, seq: None }
    }
}

/// What a host's own device must know to tell TCP what it is done with (small queues).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OwnDevice {
    /// The route of the data segment whose bits are being sent, and when its last one is.
    sending: Option<(u16, Time)>,
}

impl OwnDevice {
    /// A packet leaves the queue; its last bit `sending` later.
    pub(crate) fn takes(&mut self, packet: &Packet, now: Time, sending: Duration) {
        if packet.is_data() {
            self.sending = Some((packet.route, now + sending));
        }
    }

    /// When the last bit of a data segment is sent that has not been told of.
    pub(crate) fn until(&self) -> Option<Time> {
        self.sending.map(|(_, at)| at)
    }

    /// The route of the data segment that was sent by now, told once.
    pub(crate) fn done(&mut self, now: Time) -> Option<u16> {
        let (route, _) = self.sending.take_if(|(_, at)| *at <= now)?;
        Some(route)
    }
}

/// What a link is beside an egress and a delay.
#[derive(Debug)]
pub(crate) enum Air {
    /// Packets are lost, or late.
    Impaired(Box<Weather>),
    /// It leads through a cell.
    Cell(Hop),
}

/// What befalls packets after an egress.
#[derive(Debug)]
pub(crate) struct Weather {
    impairment: Impairment,
    losses: Stream,
    jitters: Stream,
    /// When the last packet arrives: none overtakes it.
    last: Time,
    /// Packets lost so far.
    pub(crate) lost: u64,
}

impl Weather {
    /// Its streams are those of `name`.
    pub(crate) fn new(impairment: Impairment, seed: u64, name: &str) -> Self {
        Self {
            impairment,
            losses: Stream::named(seed, &format!("loss {name}")),
            jitters: Stream::named(seed, &format!("jitter {name}")),
            last: Time::ZERO,
            lost: 0,
        }
    }

    /// Whether the next packet is lost.
    pub(crate) fn loses(&mut self) -> bool {
        let lost = self.impairment.loss > 0.0 && self.losses.unit() < self.impairment.loss;
        self.lost += u64::from(lost);
        lost
    }

    /// When a packet arrives that would arrive at `at`.
    pub(crate) fn arrival(&mut self, at: Time) -> Time {
        let jitter = self.impairment.jitter;
        if !jitter.is_zero() {
            // Below one more than the largest: that one is drawn too.
            let extra = Duration::from_nanos(self.jitters.below(jitter.as_nanos() + 1));
            self.last = self.last.max(at + extra);
            return self.last;
        }
        at
    }
}

/// One direction of a connection between two nodes.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) egress: Option<Egress>,
    pub(crate) delay: Duration,
    /// If something befalls packets here.
    pub(crate) air: Option<Air>,
    /// Arrivals are at multiples of this; zero for any time.
    pub(crate) tick: Duration,
    /// Packets under way, in the order of arrival. The delay is constant, so a FIFO with one wake-up serves them all.
    pub(crate) line: VecDeque<(Time, Packet)>,
    /// The line's slot in the calendar, once the simulation runs; `None` if no packet is ever under way here.
    pub(crate) slot: Option<Slot>,
    /// If the egress is a wire behind a plain FIFO at which nobody looks: it takes all packets, and the egress none.
    pub(crate) wire: Option<Wire>,
    /// A wire that it leads to takes its packets when they enter it.
    pub(crate) feeds: bool,
    /// Where a packet goes from here, by route: another link, or [`END`].
    pub(crate) next: Vec<u16>,
}

impl Link {
    /// What befalls packets after the egress, if something does.
    pub(crate) fn weather(&self) -> Option<&Weather> {
        match &self.air {
            Some(Air::Impaired(weather)) => Some(weather),
            Some(Air::Cell(_)) | None => None,
        }
    }
}

/// The packet has arrived at its host.
pub(crate) const END: u16 = u16::MAX;

/// Takes the drops of one call: counts them by route.
pub(crate) struct Sink<'a> {
    pub(crate) now: Time,
    pub(crate) meter: &'a mut Meter,
    pub(crate) segments: &'a mut Segments,
    /// With the ablation `spare_acks`.
    pub(crate) spared: Option<&'a mut Spared>,
    /// At a host's own device, data segments that it is done with.
    pub(crate) released: Option<&'a mut Vec<Released>>,
}

impl DropSink<Packet> for Sink<'_> {
    fn dropped(&mut self, drop: Dropped<Packet>) {
        let packet = drop.packet;
        let queued = !drop.sojourn.is_zero();
        if let Some(spared) = &mut self.spared {
            if queued {
                spared.on_leave();
            }
            if packet.is_pure_ack() {
                self.meter.on_spared(&packet, self.now);
                if queued {
                    spared.dropped(packet);
                } else {
                    spared.refused(packet, self.meter.backlog().packets);
                }
                return;
            }
        }
        self.meter.on_drop(&packet, drop.reason, self.now);
        if let Some(released) = &mut self.released
            && packet.is_data()
        {
            released.push(Released::from_wire(packet.route));
        }
        self.segments.discard(&packet);
    }
}
