//! Disciplines from outside these crates: a program registers a kind, and every text may name it from then on.

use crate::descriptor::Descriptor;
use crate::footprint::Footprint;
use crate::grammar::error::SpecError;
use crate::packet::{Departure, DropReason, DropSink, Dropped, Packet};
use crate::qdisc::{Admission, Backlog, Qdisc, QdiscStats};
use crate::{AckFacts, kinds, presets};
use sojourn_units::{Bytes, Ecn, Rate, Time};
use std::fmt::Debug;
use std::sync::{Arc, PoisonError, RwLock};

/// A packet as a discipline from outside sees it: what the packet answered when it came.
#[derive(Clone, Copy, Debug)]
pub struct PacketFacts {
    number: u32,
    since: Time,
    size: Bytes,
    flow_hash: u32,
    ecn: Ecn,
    band: u8,
    dscp: u8,
    source: u32,
    destination: u32,
    ack: Option<AckFacts>,
    priority: u8,
    pacing_rate: Option<Rate>,
    not_before: Option<Time>,
}

impl PacketFacts {
    fn of(packet: &impl Packet, number: u32, since: Time) -> Self {
        Self {
            number,
            since,
            size: packet.size(),
            flow_hash: packet.flow_hash(),
            ecn: packet.ecn(),
            band: packet.band(),
            dscp: packet.dscp(),
            source: packet.source(),
            destination: packet.destination(),
            ack: packet.ack(),
            priority: packet.priority(),
            pacing_rate: packet.pacing_rate(),
            not_before: packet.not_before(),
        }
    }

    /// When it came.
    #[must_use]
    pub const fn since(&self) -> Time {
        self.since
    }
}

impl Packet for PacketFacts {
    fn size(&self) -> Bytes {
        self.size
    }
    fn flow_hash(&self) -> u32 {
        self.flow_hash
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }
    fn band(&self) -> u8 {
        self.band
    }
    fn dscp(&self) -> u8 {
        self.dscp
    }
    fn source(&self) -> u32 {
        self.source
    }
    fn destination(&self) -> u32 {
        self.destination
    }
    fn set_dscp(&mut self, dscp: u8) {
        self.dscp = dscp;
    }
    fn ack(&self) -> Option<AckFacts> {
        self.ack
    }
    fn priority(&self) -> u8 {
        self.priority
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }
    fn not_before(&self) -> Option<Time> {
        self.not_before
    }
}

/// A discipline from outside, with its parameters.
pub trait OwnSpec: Debug + Send + Sync {
    /// The words after the kind's name, every parameter written out. Reading them gives the same again.
    fn words(&self) -> String;
    /// The most packets that it holds.
    fn most_packets(&self) -> u32;
    /// Makes the discipline, empty. It draws random numbers from the stream of `seed`.
    fn build(&self, seed: u64) -> Box<dyn OwnQdisc>;
}

/// Takes the packets that a discipline from outside drops.
pub type OwnDrops<'a> = dyn FnMut(PacketFacts, DropReason) + 'a;

/// A discipline from outside at work. It decides alone: packets are held, counted and timed for it.
///
/// It marks a packet by [`Packet::mark_ce`] before it lets it go. Each packet leaves it once, by
/// [`OwnQdisc::dequeue`] or as a drop. Times of successive calls do not decrease.
pub trait OwnQdisc: BoxedClone + Debug + Send + Sync {
    /// Takes a packet in, or drops it, or others.
    fn enqueue(&mut self, packet: PacketFacts, now: Time, drops: &mut OwnDrops<'_>);
    /// The next packet, if one may leave now.
    fn dequeue(&mut self, now: Time, drops: &mut OwnDrops<'_>) -> Option<PacketFacts>;
    /// When a packet may leave, while it holds some: now, unless it makes them wait. It may be too early, never too late.
    fn ready_at(&self, now: Time) -> Option<Time> {
        Some(now)
    }
    /// The size of the packet that it lets go next, where looking changes nothing, as in a FIFO. Of others a shaper above
    /// takes the packet ahead of time, as of `codel` in Linux; from then on it is not among those that they hold.
    fn peek_size(&self) -> Option<Bytes> {
        None
    }
    /// Counters of its own, by name.
    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// What can be cloned in a box, as any [`OwnQdisc`] can that is `Clone`.
pub trait BoxedClone {
    /// The same in the same state.
    fn boxed_clone(&self) -> Box<dyn OwnQdisc>;
}

impl<Q: OwnQdisc + Clone + 'static> BoxedClone for Q {
    fn boxed_clone(&self) -> Box<dyn OwnQdisc> {
        Box::new(self.clone())
    }
}

/// Reads the words after the name of a kind. The error ends a sentence that begins with the name.
pub type ReadOwn = fn(&[&str]) -> Result<Arc<dyn OwnSpec>, String>;

/// A kind from outside.
#[derive(Clone, Copy, Debug)]
struct OwnKind {
    about: &'static Descriptor,
    read: ReadOwn,
}

static REGISTRY: RwLock<Vec<OwnKind>> = RwLock::new(Vec::new());

/// Registers a kind for the whole program: every text may name it from then on, as
/// [`QdiscSpec::parse`](crate::QdiscSpec::parse) reads it. `summary` is one line about it.
///
/// Only the simulator has it; a kernel is never asked for it. The example `own_qdisc` of sojourn-sim shows one whole.
///
/// # Errors
/// A sentence if the name is that of another kind or a preset, or not made of small letters, digits and underscores.
pub fn register(kind: &str, summary: &str, read: ReadOwn) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if kind.is_empty() || !kind.chars().all(plain) {
        return Err(format!(
            "the kind is {kind:?}, but must be made of small letters, digits and underscores"
        ));
    }
    let mut kinds = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    let known = kinds::descriptor(kind).is_some() || kinds::UNMODELLED.contains(&kind);
    if known || presets::find(kind).is_some() || kinds.iter().any(|own| own.about.kind == kind) {
        return Err(format!("the kind is {kind:?}, but must be the name of no other one"));
    }
    // A kind is there for as long as the program.
    let leaked = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
    let about = Box::leak(Box::new(Descriptor {
        reads_identity: true,
        drops_arrivals_only: false,
        ..Descriptor::of(leaked(kind), leaked(summary), "")
    }));
    kinds.push(OwnKind { about, read });
    Ok(())
}

/// The names of the kinds that are registered.
pub(crate) fn names() -> Vec<&'static str> {
    let kinds = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
    kinds.iter().map(|own| own.about.kind).collect()
}

/// A discipline of a registered kind, as a text describes it.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    pub(crate) about: &'static Descriptor,
    spec: Arc<dyn OwnSpec>,
}

impl PartialEq for Registered {
    fn eq(&self, other: &Self) -> bool {
        self.about.kind == other.about.kind && self.spec.words() == other.spec.words()
    }
}

impl Registered {
    /// Reads the words after the name; `None` for the name of no registered kind.
    pub(crate) fn parse(kind: &str, words: &[&str]) -> Option<Result<Self, SpecError>> {
        let kinds = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
        let OwnKind { about, read } = *kinds.iter().find(|own| own.about.kind == kind)?;
        let spec = read(words).map_err(|why| SpecError::Own { kind: about.kind, why });
        Some(spec.map(|spec| Self { about, spec }))
    }

    pub(crate) fn show(&self) -> String {
        format!("{} {}", self.about.kind, self.spec.words())
            .trim_end()
            .to_owned()
    }

    pub(crate) fn footprint(&self) -> Footprint {
        Footprint::from(self.spec.most_packets())
    }

    pub(crate) fn build<P>(&self, seed: u64) -> Box<Own<P>> {
        Box::new(Own {
            qdisc: self.spec.build(seed),
            ahead: None,
            held: Held {
                packets: Vec::new(),
                free: Vec::new(),
                backlog: Backlog::default(),
                stats: QdiscStats::default(),
            },
        })
    }
}

/// A discipline from outside over packets of any type.
#[derive(Debug)]
pub struct Own<P> {
    qdisc: Box<dyn OwnQdisc>,
    /// What a shaper above has looked at: it was let go ahead of time.
    ahead: Option<PacketFacts>,
    held: Held<P>,
}

/// The packets that a discipline from outside holds, by number, and their counters.
#[derive(Clone, Debug)]
struct Held<P> {
    packets: Vec<Option<P>>,
    free: Vec<u32>,
    backlog: Backlog,
    stats: QdiscStats,
}

impl<P: Clone> Clone for Own<P> {
    fn clone(&self) -> Self {
        Self {
            qdisc: self.qdisc.boxed_clone(),
            ahead: self.ahead,
            held: self.held.clone(),
        }
    }
}

impl<P: Packet> Held<P> {
    fn put(&mut self, packet: P, now: Time) -> PacketFacts {
        let number = self.free.pop().unwrap_or_else(|| {
            self.packets.push(None);
            (self.packets.len() - 1) as u32
        });
        let facts = PacketFacts::of(&packet, number, now);
        self.packets[number as usize] = Some(packet);
        self.stats.arrived += 1;
        self.backlog.packets += 1;
        self.backlog.bytes += facts.size;
        facts
    }

    fn take(&mut self, facts: &PacketFacts) -> P {
        let packet = self.packets.get_mut(facts.number as usize).and_then(Option::take);
        self.free.push(facts.number);
        self.backlog.packets -= 1;
        self.backlog.bytes -= facts.size;
        packet.expect("each packet leaves a discipline once")
    }

    fn drop(&mut self, facts: &PacketFacts, reason: DropReason, now: Time, drops: &mut dyn DropSink<P>) {
        self.stats.drops[reason.index()] += 1;
        let (packet, sojourn) = (self.take(facts), now.since(facts.since));
        drops.dropped(Dropped {
            packet,
            reason,
            sojourn,
        });
    }

    fn depart(&mut self, facts: &PacketFacts, now: Time) -> Departure<P> {
        let mut packet = self.take(facts);
        let marked = packet.ecn() != facts.ecn;
        packet.set_ecn(facts.ecn);
        if packet.dscp() != facts.dscp {
            packet.set_dscp(facts.dscp);
        }
        self.stats.sent_packets += 1;
        self.stats.sent_bytes += facts.size.get();
        self.stats.marks += u64::from(marked);
        let sojourn = now.since(facts.since);
        Departure {
            packet,
            sojourn,
            marked,
        }
    }
}

impl<P: Packet> Own<P> {
    fn next(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<PacketFacts> {
        let held = &mut self.held;
        let ahead = self.ahead.take();
        ahead.or_else(|| {
            self.qdisc
                .dequeue(now, &mut |facts, reason| held.drop(&facts, reason, now, drops))
        })
    }
}

impl<P: Packet> Qdisc<P> for Own<P> {
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        let facts = self.held.put(packet, now);
        let (held, mut admission) = (&mut self.held, Admission::Queued);
        self.qdisc.enqueue(facts, now, &mut |gone, reason| {
            if gone.number == facts.number {
                admission = Admission::Refused;
            }
            held.drop(&gone, reason, now, drops);
        });
        admission
    }
    fn dequeue(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
        let facts = self.next(now, drops)?;
        Some(self.held.depart(&facts, now))
    }
    fn ready_at(&mut self, now: Time, _: &mut dyn DropSink<P>) -> Option<Time> {
        match self.ahead {
            Some(_) => Some(now),
            None if self.held.backlog.packets == 0 => None,
            None => self.qdisc.ready_at(now),
        }
    }
    fn peek_size(&self) -> Option<Bytes> {
        self.ahead.map(|facts| facts.size).or_else(|| self.qdisc.peek_size())
    }
    fn peek(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Bytes> {
        self.peek_size().or_else(|| {
            self.ahead = self.next(now, drops);
            self.ahead.map(|facts| facts.size)
        })
    }
    fn overtakes(&self) -> bool {
        true
    }
    fn backlog(&self) -> Backlog {
        self.held.backlog
    }
    fn stats(&self) -> QdiscStats {
        self.held.stats
    }
    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        self.qdisc.extra_stats()
    }
}
