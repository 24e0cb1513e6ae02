//! `tbf`: a token bucket that shapes any discipline to a rate.
//!
//! Source: Linux `sch_tbf.c`. Tokens are nanoseconds of sending time: the bucket holds what its burst takes at the
//! rate. The bucket looks at its child's next packet with [`Qdisc::peek`], as Linux does: an AQM child judges a
//! packet when it becomes the next to send, not when it is sent, and RED under a shaper never learns that it was
//! idle.

mod descriptor;
#[cfg(test)]
mod tests;

pub(crate) use descriptor::TbfWords;

use crate::fifo::{Fifo, FifoLimit};
use crate::htb::Layer;
use crate::kinds::{AnyQdisc, Visitor};
use crate::param::in_range;
use crate::{Admission, Backlog, Departure, DropReason, DropSink, Packet, ParamError, Qdisc, QdiscStats};
use sojourn_units::{Bytes, Duration, Rate, Time};
use std::fmt::Debug;
use std::marker::PhantomData;

/// Parameters of [`Tbf`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TbfParams {
    /// The rate.
    pub rate: Rate,
    /// The bucket's depth; a larger packet can never leave and is refused.
    pub burst: Bytes,
    /// For the kind `tbf` of the grammar: bytes its own FIFO holds. Not used for another child.
    pub limit: Bytes,
}

impl TbfParams {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`ParamError`] for a value out of its range.
    pub fn validate(&self) -> Result<(), ParamError> {
        check_burst(self.rate, self.burst)?;
        in_range("tbf", "limit", self.limit.get(), 1, u64::from(u32::MAX))
    }
}

fn check_burst(rate: Rate, burst: Bytes) -> Result<(), ParamError> {
    in_range("tbf", "burst", burst.get(), 1, u64::from(u32::MAX))?;
    if rate.time_to_send(burst) > Duration::from_secs(86_400) {
        return Err(ParamError::new(
            "tbf",
            "burst",
            burst.to_string(),
            format!("at most what {rate} sends in a day"),
        ));
    }
    Ok(())
}

/// How long a packet takes at the rate; without a division at the rates that people use.
#[derive(Clone, Copy, Debug)]
enum SendTime {
    /// A byte takes a whole number of nanoseconds.
    NsPerByte(u64),
    /// It does not; the sum is rounded up, so that the rate is never exceeded.
    Divide(Rate),
}

impl SendTime {
    fn new(rate: Rate) -> Self {
        let per_second = 8_000_000_000;
        if per_second % rate.as_bps() == 0 {
            Self::NsPerByte(per_second / rate.as_bps())
        } else {
            Self::Divide(rate)
        }
    }

    #[inline]
    fn of(self, size: Bytes) -> u64 {
        match self {
            Self::NsPerByte(ns) => size.get() * ns,
            Self::Divide(rate) => rate.time_to_send(size).as_nanos(),
        }
    }
}

/// What a packet counts with: Linux `psched_l2t_ns`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Framing {
    /// Bytes that are added to each packet.
    pub(crate) overhead: u32,
    /// The least size.
    pub(crate) least: u32,
    pub(crate) layer: Layer,
}

impl Framing {
    #[inline]
    fn of(self, size: Bytes) -> Bytes {
        if self == Self::default() {
            return size;
        }
        let size = size
            .get()
            .saturating_add(u64::from(self.overhead))
            .max(u64::from(self.least));
        Bytes::new(self.layer.on_the_wire(size))
    }
}

/// The bucket of a peak rate.
#[derive(Clone, Copy, Debug)]
struct Peak {
    send_time: SendTime,
    /// Depth, ns.
    buffer: u64,
    /// Tokens at the shaper's `checkpoint`, ns.
    tokens: u64,
}

/// What a shaper answers when asked for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<P> {
    /// This one leaves now.
    Departs(Departure<P>),
    /// None before this time.
    At(Time),
    /// None before another arrives.
    Idle,
}

/// Takes what a shaper lets out, and what is dropped on the way.
pub trait Outlet<P>: DropSink<P> {
    /// It is `now` from here on.
    fn set_now(&mut self, now: Time);

    /// A packet leaves.
    fn departs(&mut self, departure: Departure<P>);
}

/// The tokens of a shaper.
#[derive(Clone, Debug)]
struct Tokens {
    /// What a byte takes, ns, if it is a whole number and neither a framing nor a peak matters; else zero.
    ns_per_byte: u64,
    send_time: SendTime,
    framing: Framing,
    peak: Option<Box<Peak>>,
    /// Depth of the bucket, ns.
    buffer: u64,
    /// Tokens at `checkpoint`, ns.
    left: u64,
    checkpoint: Time,
    /// Whether the child's next packet is already counted in `overlimits`.
    waiting: bool,
    overlimits: u64,
    /// When the tokens suffice for a packet of this size, and none is left then.
    exact: (Time, Bytes),
}

/// No packet is so small.
const NEVER: (Time, Bytes) = (Time::MAX, Bytes::new(0));

impl Tokens {
    /// Tokens left at `now` in both buckets if a packet of `size` were sent, or how long they will not suffice for it.
    #[inline]
    fn after(&self, size: Bytes, now: Time) -> Result<(u64, u64), Duration> {
        if self.exact == (now, size) {
            return Ok((0, 0));
        }
        let elapsed = now.since(self.checkpoint).as_nanos();
        if self.ns_per_byte == 0 {
            return self.after_framing(size, elapsed);
        }
        left(self.left, elapsed, self.buffer, size.get() * self.ns_per_byte).map(|tokens| (tokens, 0))
    }

    #[inline(never)]
    fn after_framing(&self, size: Bytes, elapsed: u64) -> Result<(u64, u64), Duration> {
        let size = self.framing.of(size);
        let own = left(self.left, elapsed, self.buffer, self.send_time.of(size));
        let Some(peak) = &self.peak else {
            return own.map(|tokens| (tokens, 0));
        };
        match (own, left(peak.tokens, elapsed, peak.buffer, peak.send_time.of(size))) {
            (Ok(own), Ok(peak)) => Ok((own, peak)),
            (own, peak) => Err(own.err().max(peak.err()).unwrap_or_default()),
        }
    }

    /// The rate, the framing or the peak has changed.
    fn settle(&mut self) {
        self.exact = NEVER;
        self.ns_per_byte = match self.send_time {
            SendTime::NsPerByte(ns) if self.framing == Framing::default() && self.peak.is_none() => ns,
            SendTime::NsPerByte(_) | SendTime::Divide(_) => 0,
        };
    }

    #[inline]
    fn spend(&mut self, (own, peak): (u64, u64), now: Time) {
        self.checkpoint = now;
        self.left = own;
        self.exact = NEVER;
        if let Some(bucket) = &mut self.peak {
            bucket.tokens = peak;
        }
        self.waiting = false;
    }

    #[inline]
    fn wait(&mut self) {
        self.overlimits += u64::from(!self.waiting);
        self.waiting = true;
    }

    /// See [`Tbf::serve`].
    #[inline]
    fn serve<P: Packet, Q: Qdisc<P>>(
        &mut self,
        child: &mut Q,
        mut at: Time,
        until: Time,
        out: &mut impl Outlet<P>,
    ) -> Time {
        while at <= until {
            out.set_now(at);
            let size = child.peek(at, out);
            let departure = match size.map(|size| self.after(size, at)) {
                Some(Err(lacking)) => {
                    self.wait();
                    at += lacking;
                    if let Some(size) = size
                        && self.ns_per_byte > 0
                    {
                        self.exact = (at, size);
                    }
                    continue;
                }
                Some(Ok(tokens)) => child.dequeue(at, out).inspect(|_| self.spend(tokens, at)),
                None => None,
            };
            match departure {
                Some(departure) => out.departs(departure),
                // A child that delays has a packet and does not show it yet, and one that is a shaper itself does not let it
                // go yet.
                None => at = child.ready_at(at, out).unwrap_or(Time::MAX),
            }
        }
        at
    }
}

/// Tokens left of `tokens` after `elapsed` more and a packet that takes `cost`, or how long they will not suffice.
#[inline]
fn left(tokens: u64, elapsed: u64, depth: u64, cost: u64) -> Result<u64, Duration> {
    let tokens = tokens.saturating_add(elapsed).min(depth);
    tokens
        .checked_sub(cost)
        .ok_or_else(|| Duration::from_nanos(cost - tokens))
}

/// A token bucket over the discipline `Q`.
///
/// Deviation: `overlimits` counts packets that had to wait for tokens, each once; Linux counts each attempt to send,
/// so its number depends on how often it looks.
#[derive(Clone, Debug)]
pub struct Tbf<P, Q> {
    child: Q,
    tokens: Tokens,
    /// The largest packet that can leave.
    max_size: Bytes,
    oversize: u64,
    packet: PhantomData<fn() -> P>,
}

impl<P: Packet> Tbf<P, Fifo<P>> {
    /// A shaper with the FIFO of `params.limit` bytes that `tc` gives it.
    ///
    /// # Errors
    /// [`ParamError`] for parameters that cannot be used.
    pub fn with_fifo(params: TbfParams) -> Result<Self, ParamError> {
        params.validate()?;
        let child = Fifo::new(FifoLimit::Bytes(params.limit))?;
        Self::new(params.rate, params.burst, child)
    }
}

impl<P: Packet, Q: Qdisc<P>> Tbf<P, Q> {
    /// A shaper over `child`, its bucket full.
    ///
    /// # Errors
    /// [`ParamError`] if the burst is zero or takes more than a day at this rate.
    pub fn new(rate: Rate, burst: Bytes, child: Q) -> Result<Self, ParamError> {
        check_burst(rate, burst)?;
        let send_time = SendTime::new(rate);
        let buffer = send_time.of(burst);
        let mut shaper = Self {
            child,
            tokens: Tokens {
                ns_per_byte: 0,
                send_time,
                framing: Framing::default(),
                peak: None,
                buffer,
                left: buffer,
                checkpoint: Time::ZERO,
                waiting: false,
                overlimits: 0,
                exact: NEVER,
            },
            max_size: burst,
            oversize: 0,
            packet: PhantomData,
        };
        shaper.tokens.settle();
        Ok(shaper)
    }

    /// Packets count with what `framing` adds, and none leaves faster than at `peak`, whose bucket has this depth.
    ///
    /// Source: Linux `tbf_change`.
    pub(crate) fn with_framing(mut self, framing: Framing, peak: Option<(Rate, Bytes)>) -> Self {
        let tokens = &mut self.tokens;
        tokens.framing = framing;
        tokens.buffer = tokens.send_time.of(framing.of(self.max_size));
        tokens.left = tokens.buffer;
        if let Some((rate, depth)) = peak {
            let send_time = SendTime::new(rate);
            self.max_size = self.max_size.min(depth);
            let buffer = send_time.of(framing.of(depth));
            tokens.peak = Some(Box::new(Peak {
                send_time,
                buffer,
                tokens: buffer,
            }));
        }
        self.tokens.settle();
        self
    }

    /// The shaped discipline.
    #[must_use]
    pub fn child(&self) -> &Q {
        &self.child
    }

    /// The same, to be changed.
    pub fn child_mut(&mut self) -> &mut Q {
        &mut self.child
    }

    /// Changes the rate and the depth of the bucket, which is full then; what is queued stays.
    ///
    /// Source: Linux `sch_tbf.c`, `tbf_change`.
    ///
    /// # Errors
    /// [`ParamError`] as of [`Tbf::new`]; the shaper stays as it was.
    pub fn set_rate(&mut self, rate: Rate, burst: Bytes) -> Result<(), ParamError> {
        check_burst(rate, burst)?;
        self.max_size = burst;
        self.tokens.send_time = SendTime::new(rate);
        self.tokens.buffer = self.tokens.send_time.of(burst);
        self.tokens.left = self.tokens.buffer;
        self.tokens.settle();
        Ok(())
    }

    /// Puts another discipline in the place of the shaped one, which is handed back with what it holds.
    pub fn replace_child(&mut self, child: Q) -> Q {
        self.tokens.waiting = false;
        std::mem::replace(&mut self.child, child)
    }

    /// [`Qdisc::dequeue`] and, if nothing may leave now, [`Qdisc::ready_at`], in one look at the child.
    #[inline]
    pub fn next(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Next<P> {
        let Some(size) = self.child.peek(now, drops) else {
            // A child that delays has a packet and does not show it yet.
            return self.child.ready_at(now, drops).map_or(Next::Idle, Next::At);
        };
        match self.tokens.after(size, now) {
            Ok(tokens) => {
                let Some(departure) = self.child.dequeue(now, drops) else {
                    // A child that is a shaper itself has the packet and does not let it go yet.
                    return self.child.ready_at(now, drops).map_or(Next::Idle, Next::At);
                };
                self.tokens.spend(tokens, now);
                Next::Departs(departure)
            }
            Err(lacking) => {
                self.tokens.wait();
                Next::At(now + lacking)
            }
        }
    }
}

impl<P: Packet, Q: Qdisc<P>> Tbf<P, Q> {
    /// Lets out all that leaves from `at` to `until`, with no arrivals in between, and answers when to ask again, after
    /// `until`: [`Time::MAX`] for not before an arrival.
    pub fn serve(&mut self, at: Time, until: Time, out: &mut impl Outlet<P>) -> Time {
        self.tokens.serve(&mut self.child, at, until, out)
    }

    /// Takes a packet through an empty discipline if there are tokens for it: the same as `enqueue` and then
    /// [`Tbf::next`] at one time, and cheaper. Says whether it did.
    #[inline]
    pub fn pass(&mut self, packet: &P, now: Time) -> bool {
        let size = packet.size();
        if size > self.max_size || !self.child.lets_pass_alone(packet) {
            return false;
        }
        let Ok(tokens) = self.tokens.after(size, now) else {
            return false;
        };
        self.child.passed_alone(packet, now);
        self.tokens.spend(tokens, now);
        true
    }
}

impl<P: Packet> Tbf<P, AnyQdisc<P>> {
    /// [`Tbf::serve`], compiled for each discipline.
    #[inline]
    pub fn serve_any(&mut self, at: Time, until: Time, out: &mut impl Outlet<P>) -> Time {
        struct Serving<'a, O> {
            tokens: &'a mut Tokens,
            at: Time,
            until: Time,
            out: &'a mut O,
        }
        impl<P: Packet, O: Outlet<P>> Visitor<P> for Serving<'_, O> {
            type Output = Time;
            #[inline]
            fn visit<Q: Qdisc<P>>(self, q: &mut Q) -> Time {
                self.tokens.serve(q, self.at, self.until, self.out)
            }
        }
        let tokens = &mut self.tokens;
        self.child.visit(Serving { tokens, at, until, out })
    }
}

impl<P: Packet, Q: Qdisc<P>> Qdisc<P> for Tbf<P, Q> {
    #[inline]
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        if packet.size() > self.max_size {
            self.oversize += 1;
            drops.dropped(crate::Dropped {
                packet,
                reason: DropReason::QueueLimit,
                sojourn: Duration::ZERO,
            });
            return Admission::Refused;
        }
        self.child.enqueue(packet, now, drops)
    }

    #[inline]
    fn dequeue(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
        match self.next(now, drops) {
            Next::Departs(departure) => Some(departure),
            Next::At(_) | Next::Idle => None,
        }
    }

    #[inline]
    fn ready_at(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Time> {
        let Some(size) = self.child.peek(now, drops) else {
            return self.child.ready_at(now, drops);
        };
        match self.tokens.after(size, now) {
            // A child that is a shaper itself may have a packet and not let it go yet.
            Ok(_) => self.child.ready_at(now, drops),
            Err(lacking) => {
                self.tokens.wait();
                Some(now + lacking)
            }
        }
    }

    fn peek_size(&self) -> Option<Bytes> {
        self.child.peek_size()
    }

    fn peek(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Bytes> {
        self.child.peek(now, drops)
    }

    fn backlog(&self) -> Backlog {
        self.child.backlog()
    }

    /// The child's, but for what only the shaper sees: oversized packets and waits.
    fn stats(&self) -> QdiscStats {
        let mut stats = self.child.stats();
        stats.arrived += self.oversize;
        stats.drops[DropReason::QueueLimit.index()] += self.oversize;
        stats.overlimits = self.tokens.overlimits;
        stats
    }

    /// The child's.
    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        self.child.extra_stats()
    }
}
