//! Sources of traffic: what the engine asks of them, and what they may ask of the network.

use crate::agent::Datagram;
use crate::calendar::Slot;
use crate::fabric::Fabric;
use crate::network::{Destination, RoutePair};
use sojourn_qdisc::Packet as _;
use sojourn_tcp::{Metrics, Segment};
use sojourn_units::Time;
use std::any::Any;
use std::fmt::Debug;

pub use crate::packet::Packet;

/// Traffic between two nodes, with both of its ends, as a plain value that is told the time: it opens no socket and
/// reads no clock. [`Simulator::add_source`](crate::Simulator::add_source) puts it onto a path.
///
/// Whatever is random in it must come from a seed; then a run repeats to the byte. In each call that has a
/// [`Context`] it may send, and set its one wake-up.
pub trait Source: Any + Debug + Send {
    /// When [`Source::on_wake`] is first called.
    fn start(&self) -> Time;

    /// The source starts, or its wake-up has come. It has no other one until it sets it.
    fn on_wake(&mut self, context: &mut Context<'_>);

    /// A packet has arrived: at the other end if it went `forth`, else at the opener.
    fn on_packet(&mut self, packet: &Packet, forth: bool, context: &mut Context<'_>);

    /// The measured window begins.
    fn begin_window(&mut self) {}

    /// A bin of the series ends.
    fn on_sample(&mut self) {}

    /// The measured window ends: the source sends nothing more. Answers whether it is still to be told of packets
    /// that arrive later, and of its wake-up.
    fn end_window(&mut self) -> bool {
        false
    }

    /// Whether it waits for packets of the measured window, as long as any are under way.
    fn awaits(&self) -> bool {
        false
    }
}

/// What a [`Source`] may do when it is called.
#[derive(Debug)]
pub struct Context<'a> {
    pub(crate) fabric: &'a mut Fabric,
    /// What is known of each destination.
    pub(crate) metrics: &'a mut [Metrics],
    pub(crate) slot: Slot,
    pub(crate) routes: RoutePair,
}

impl Context<'_> {
    /// The time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.fabric.now
    }

    /// Sends a packet of `size` bytes on the wire, which carries its number only: `forth` to the other end, or back.
    #[inline]
    pub fn send(&mut self, forth: bool, number: u32, size: u16) {
        let route = self.routes.of(forth);
        let packet = Packet::probe(number, self.fabric.hash(route), size, route.0);
        self.fabric.send(packet);
    }

    /// Sets the wake-up; `None` for never. A time that has passed is due at once.
    #[inline]
    pub fn wake(&mut self, at: Option<Time>) {
        match at {
            Some(at) => self.fabric.calendar.set(self.slot, at.max(self.fabric.now)),
            None => self.fabric.calendar.clear(self.slot),
        }
    }

    /// Sets the wake-up to `at` if it is later, or never: for a source that does no harm if it is woken early.
    #[inline]
    pub(crate) fn wake_by(&mut self, at: Option<Time>) {
        if let Some(at) = at
            && self.fabric.calendar.due(self.slot).is_none_or(|due| due > at)
        {
            self.fabric.calendar.set(self.slot, at.max(self.fabric.now));
        }
    }

    /// The wake-up.
    pub(crate) fn due(&self) -> Option<Time> {
        self.fabric.calendar.due(self.slot)
    }

    /// What is known of a destination.
    pub(crate) fn metrics(&mut self, of: Destination) -> &mut Metrics {
        &mut self.metrics[usize::from(of.0)]
    }

    /// The segment of a packet that has arrived, which is TCP.
    #[inline]
    pub(crate) fn take_segment(&mut self, packet: &Packet) -> Segment {
        self.fabric.segments.take(packet)
    }

    /// Sends a segment of connection `number`, whose packets of this direction have hash `hash`. A capture is told of
    /// the connection, of whose packets `hashes` are the hashes of both directions.
    #[inline]
    pub(crate) fn send_segment(
        &mut self,
        forth: bool,
        (number, hash): (u32, u32),
        segment: &Segment,
        hashes: impl FnOnce() -> Option<[u32; 2]>,
    ) {
        let body = self.fabric.segments.keep(segment);
        let packet = Packet::of_segment(segment, body, hash, self.routes.of(forth).0).of_connection(number);
        self.send_of(packet, number, hashes);
    }

    /// Sends a datagram of look-up `number`, as [`Context::send_segment`] does a segment.
    pub(crate) fn send_look_up(
        &mut self,
        forth: bool,
        (number, hash): (u32, u32),
        size: u16,
        hashes: impl FnOnce() -> Option<[u32; 2]>,
    ) {
        let packet = Packet::probe(number, hash, size, self.routes.of(forth).0);
        self.send_of(packet, number, hashes);
    }

    /// Sends a packet that may begin a conversation.
    #[inline]
    fn send_of(&mut self, packet: Packet, number: u32, hashes: impl FnOnce() -> Option<[u32; 2]>) {
        if let Some(watch) = &mut self.fabric.watch
            && let Some(tap) = &mut watch.tap
            && let Some(hashes) = hashes()
        {
            tap.open_next(packet, hashes, number, self.routes);
        }
        self.fabric.send(packet);
    }

    /// The datagram of a packet that has arrived, which is an agent's.
    pub(crate) fn take_datagram(&mut self, packet: &Packet) -> Datagram {
        Datagram {
            size: packet.size,
            ecn: packet.ecn(),
            payload: self.fabric.segments.take_payload(packet),
        }
    }

    /// Sends a datagram of an agent to the other one.
    pub(crate) fn send_datagram(&mut self, datagram: Datagram) {
        let Datagram { size, ecn, payload } = datagram;
        let (route, body) = (self.routes.forth, self.fabric.segments.keep_payload(payload));
        let packet = Packet::datagram(size, ecn, body, self.fabric.hash(route), route.0);
        self.fabric.send(packet);
    }
}
