//! A link: an egress with a rate and a queue discipline, and a delay.

use crate::calendar::Slot;
use crate::fabric::Leaving;
use crate::grants::Grants;
use crate::identity::{WithIdentity, ack_facts};
use crate::meter::Meter;
use crate::network::{Hop, Shaping};
use crate::packet::{Packet, Segments};
use crate::spared::Spared;
use crate::wire::Wire;
use sojourn_qdisc::{AnyQdisc, ClassStats, DropSink, Dropped, Next, Outlet as _, ParamError, Qdisc, Tbf, Traced};
use sojourn_scenario::Impairment;
use sojourn_units::{Bytes, Duration, Rate, Stream, Time};
use std::collections::VecDeque;

/// What lets packets out of a discipline `Q` onto a link, at the link's rate.
pub(crate) trait LinkModel<Q: Below>: std::fmt::Debug + Send {
    /// The discipline.
    fn child(&self) -> &Q;
    fn child_mut(&mut self) -> &mut Q;

    /// Changes the rate, and the depth of a bucket, which is then full.
    fn set_rate(&mut self, rate: Rate, burst: Bytes) -> Result<(), ParamError>;

    /// The next packet, and how long after the link's delay its last bit arrives.
    fn next(&mut self, now: Time, drops: &mut dyn DropSink<Packet>) -> (Next<Packet>, Duration);

    #[inline]
    fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut dyn DropSink<Packet>) {
        self.child_mut().enqueue(packet, now, drops);
    }

    /// Takes a packet through at once, if there is an empty FIFO and the link is free: how long it takes to be sent.
    #[inline]
    fn pass(&mut self, _: &Packet, _: Time) -> Option<Duration> {
        None
    }

    /// How long a packet that leaves at `now` takes to be sent: what is left of the last one's time on a wire.
    fn sending(&self, _: Time) -> Duration {
        Duration::ZERO
    }

    /// The rate of the wire, if it is one.
    fn wire_rate(&self) -> Option<Rate> {
        None
    }
}

/// A token bucket before an infinitely fast device, as `tc`'s `tbf` over veth.
#[derive(Debug)]
pub(crate) struct Bucket<Q>(Box<Tbf<Packet, Q>>);

impl<Q: Below> LinkModel<Q> for Bucket<Q> {
    fn child(&self) -> &Q {
        self.0.child()
    }

    fn child_mut(&mut self) -> &mut Q {
        self.0.child_mut()
    }

    fn set_rate(&mut self, rate: Rate, burst: Bytes) -> Result<(), ParamError> {
        self.0.set_rate(rate, burst)
    }

    #[inline]
    fn next(&mut self, now: Time, drops: &mut dyn DropSink<Packet>) -> (Next<Packet>, Duration) {
        (self.0.next(now, drops), Duration::ZERO)
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut dyn DropSink<Packet>) {
        self.0.enqueue(packet, now, drops);
    }

    #[inline]
    fn pass(&mut self, packet: &Packet, now: Time) -> Option<Duration> {
        self.0.pass(packet, now).then_some(Duration::ZERO)
    }
}

/// A wire: a packet arrives when its last bit does.
#[derive(Debug)]
pub(crate) struct SerialLine<Q> {
    pub(crate) rate: Rate,
    pub(crate) qdisc: Box<Q>,
    free_at: Time,
}

impl<Q: Below> LinkModel<Q> for SerialLine<Q> {
    fn child(&self) -> &Q {
        &self.qdisc
    }

    fn child_mut(&mut self) -> &mut Q {
        &mut self.qdisc
    }

    /// The packet that is being sent goes on at the old rate.
    fn set_rate(&mut self, rate: Rate, _: Bytes) -> Result<(), ParamError> {
        self.rate = rate;
        Ok(())
    }

    #[inline]
    fn next(&mut self, now: Time, drops: &mut dyn DropSink<Packet>) -> (Next<Packet>, Duration) {
        if self.free_at > now {
            // An empty FIFO has nothing to do when the wire falls free; a packet that comes before finds it busy, and asks
            // again. That saves most links half of their events. Others may change when they find themselves empty.
            let next = if self.qdisc.rests() {
                Next::Idle
            } else {
                Next::At(self.free_at)
            };
            return (next, Duration::ZERO);
        }
        let Some(departure) = self.qdisc.dequeue(now, drops) else {
            // A shaper may hold packets back.
            let next = self.qdisc.ready_at(now, drops).map_or(Next::Idle, Next::At);
            return (next, Duration::ZERO);
        };
        let sending = self.rate.time_to_send(Bytes::new(u64::from(departure.packet.size)));
        self.free_at = now + sending;
        (Next::Departs(departure), sending)
    }

    #[inline]
    fn pass(&mut self, packet: &Packet, now: Time) -> Option<Duration> {
        let size = Bytes::new(u64::from(packet.size));
        if self.free_at > now || !self.qdisc.lets_pass(size) {
            return None;
        }
        self.qdisc.passed(size);
        let sending = self.rate.time_to_send(size);
        self.free_at = now + sending;
        Some(sending)
    }

    fn sending(&self, now: Time) -> Duration {
        self.free_at.since(now)
    }

    fn wire_rate(&self) -> Option<Rate> {
        Some(self.rate)
    }
}

/// A link that follows a trace.
#[derive(Debug)]
pub(crate) struct Opportunities<Q>(Traced<Packet, Q>);

impl<Q: Below> LinkModel<Q> for Opportunities<Q> {
    fn child(&self) -> &Q {
        self.0.child()
    }

    fn child_mut(&mut self) -> &mut Q {
        self.0.child_mut()
    }

    fn set_rate(&mut self, rate: Rate, _: Bytes) -> Result<(), ParamError> {
        self.0.set_rate(rate)
    }

    fn next(&mut self, now: Time, drops: &mut dyn DropSink<Packet>) -> (Next<Packet>, Duration) {
        (self.0.next(now, drops), Duration::ZERO)
    }

    fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut dyn DropSink<Packet>) {
        self.0.enqueue(packet, now, drops);
    }
}

/// A model of a link over the discipline `Q`.
#[derive(Debug)]
pub(crate) enum Model<Q> {
    Bucket(Bucket<Q>),
    Wire(SerialLine<Q>),
    /// One that few scenarios have.
    Other(Box<dyn LinkModel<Q>>),
}

impl<Q: Below> Model<Q> {
    /// The model of this kind, at this rate.
    pub(crate) fn new(shaping: &Shaping, rate: Rate, qdisc: Q) -> Result<Self, ParamError> {
        Ok(match shaping {
            Shaping::TokenBucket { burst } => Self::Bucket(Bucket(Box::new(Tbf::new(rate, *burst, qdisc)?))),
            Shaping::Wire => Self::Wire(SerialLine {
                rate,
                qdisc: Box::new(qdisc),
                free_at: Time::ZERO,
            }),
            Shaping::Trace(trace) => Self::Other(Box::new(Opportunities(Traced::new(trace.clone(), qdisc)))),
            Shaping::Grants { every } => Self::Other(Box::new(Grants::new(rate, *every, qdisc))),
        })
    }
}

/// How an egress paces packets.
#[derive(Debug)]
pub(crate) enum Pacing {
    /// Over a discipline that sees what a packet itself has.
    Plain(Model<AnyQdisc<Packet>>),
    /// Over one that sees code points and hosts, too.
    WithIdentity(Box<Model<WithIdentity>>),
}

/// Calls a method of [`LinkModel`], without a table of functions.
macro_rules! of_model {
    ($model:expr, $own:ident => $call:expr) => {
        match $model {
            Model::Bucket($own) => $call,
            Model::Wire($own) => $call,
            Model::Other($own) => $call,
        }
    };
}

impl<Q: Below> LinkModel<Q> for Model<Q> {
    fn child(&self) -> &Q {
        of_model!(self, own => own.child())
    }
    fn child_mut(&mut self) -> &mut Q {
        of_model!(self, own => own.child_mut())
    }
    fn set_rate(&mut self, rate: Rate, burst: Bytes) -> Result<(), ParamError> {
        of_model!(self, own => own.set_rate(rate, burst))
    }
    #[inline(never)]
    fn next(&mut self, now: Time, drops: &mut dyn DropSink<Packet>) -> (Next<Packet>, Duration) {
        of_model!(self, own => own.next(now, drops))
    }
    #[inline(never)]
    fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut dyn DropSink<Packet>) {
        of_model!(self, own => own.enqueue(packet, now, drops));
    }
    #[inline]
    fn pass(&mut self, packet: &Packet, now: Time) -> Option<Duration> {
        of_model!(self, own => own.pass(packet, now))
    }
    fn sending(&self, now: Time) -> Duration {
        of_model!(self, own => own.sending(now))
    }
    fn wire_rate(&self) -> Option<Rate> {
        of_model!(self, own => own.wire_rate())
    }
}

/// Calls a method of [`LinkModel`] over either discipline.
macro_rules! of_pacing {
    ($pacing:expr, $model:ident => $call:expr) => {
        match $pacing {
            Pacing::Plain($model) => $call,
            Pacing::WithIdentity($model) => $call,
        }
    };
}

/// A discipline below an egress.
pub(crate) trait Below: Qdisc<Packet> + std::fmt::Debug + Send + 'static {
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

impl Pacing {
    /// The counters of the discipline that only its kind has.
    pub(crate) fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        of_pacing!(self, model => model.child().extra_stats())
    }

    /// Changes the rate from now on. A bucket gets this depth, and is full.
    pub(crate) fn set_rate(&mut self, rate: Rate, burst: Bytes) -> Result<(), ParamError> {
        of_pacing!(self, model => model.set_rate(rate, burst))
    }

    /// Whether a packet that comes may leave before those that wait for their time.
    #[inline]
    pub(crate) fn overtakes(&self) -> bool {
        of_pacing!(self, model => model.child().overtakes())
    }

    /// The counters of the classes of the discipline, if it has some.
    pub(crate) fn class_stats(&self) -> Vec<ClassStats> {
        of_pacing!(self, model => model.child().class_stats())
    }

    /// Tells the discipline what the packet that comes next is as an acknowledgement, if it looks at these.
    #[inline]
    pub(crate) fn tell_ack(&mut self, packet: &Packet, segments: &Segments) {
        if let Self::WithIdentity(model) = self {
            Self::tell_ack_to(model, packet, segments);
        }
    }

    #[inline(never)]
    fn tell_ack_to(model: &mut Model<WithIdentity>, packet: &Packet, segments: &Segments) {
        let qdisc = model.child_mut();
        if qdisc.reads_acks && packet.is_tcp() {
            qdisc.next_ack = Some(ack_facts(&segments.peek(packet)));
        }
    }

    /// The rate of the wire, if it is one.
    pub(crate) fn wire_rate(&self) -> Option<Rate> {
        of_pacing!(self, model => model.wire_rate())
    }

    /// See [`LinkModel::sending`].
    pub(crate) fn sending(&self, now: Time) -> Duration {
        of_pacing!(self, model => model.sending(now))
    }

    /// See [`LinkModel::pass`]. No discipline that looks at code points or hosts lets packets pass.
    #[inline]
    pub(crate) fn pass(&mut self, packet: &Packet, now: Time) -> Option<Duration> {
        match self {
            Self::Plain(model) => of_model!(model, own => own.pass(packet, now)),
            Self::WithIdentity(_) => None,
        }
    }

    #[inline]
    pub(crate) fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut dyn DropSink<Packet>) {
        match self {
            Self::Plain(model) => of_model!(model, own => own.enqueue(packet, now, drops)),
            Self::WithIdentity(model) => model.enqueue(packet, now, drops),
        }
    }

    /// Lets out all that leaves from `at` to `until`, and answers when to ask again.
    #[inline]
    pub(crate) fn serve(&mut self, mut at: Time, until: Time, out: &mut Leaving<'_>) -> Time {
        if let Self::Plain(Model::Bucket(bucket)) = self {
            return bucket.0.serve_any(at, until, out);
        }
        while at <= until {
            out.set_now(at);
            let (next, sending) = self.next(at, out);
            match next {
                Next::Departs(departure) => out.leaves(&departure, sending),
                Next::At(then) => at = then,
                Next::Idle => at = Time::MAX,
            }
        }
        at
    }

    /// See [`LinkModel::next`].
    #[inline]
    pub(crate) fn next(&mut self, now: Time, drops: &mut dyn DropSink<Packet>) -> (Next<Packet>, Duration) {
        match self {
            Self::Plain(model) => of_model!(model, own => own.next(now, drops)),
            Self::WithIdentity(model) => model.next(now, drops),
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
    /// If it has no event of its own.
    pub(crate) deferred: Option<Deferred>,
}

/// An egress that is served later, as at the time that it was due: when the next packet comes, when a line waits for
/// what leaves it, or when somebody looks.
///
/// Nobody sees a packet that has left it before it comes out of a delay. So a bottleneck costs an event a packet less.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deferred {
    /// When it is to be served next; [`Time::MAX`] for not before a packet comes.
    pub(crate) due: Time,
    /// The link out of whose line its packets enter it, all of them, if they are taken from there later, too; else
    /// [`END`].
    pub(crate) inbox: u16,
    /// The link out of whose line its packets come first, and the least delay on the way there.
    pub(crate) line: u16,
    pub(crate) delay: Duration,
    /// All its packets enter that line next.
    pub(crate) is_straight: bool,
    /// See [`Qdisc::overtakes`].
    pub(crate) overtakes: bool,
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
    pub(crate) egress: Option<Box<Egress>>,
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
    /// The link with a deferred egress that is served when this line is empty; else [`END`].
    pub(crate) behind: u16,
    /// The link with a deferred egress that takes what comes out of this line; else [`END`].
    pub(crate) ahead: u16,
    /// Where a packet goes from here, by route: another link, or [`END`].
    pub(crate) next: Vec<u16>,
}

impl Link {
    /// Whether packets are only late here.
    pub(crate) fn delays_only(&self) -> bool {
        self.egress.is_none() && self.air.is_none() && !self.delay.is_zero()
    }

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
