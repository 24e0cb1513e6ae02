//! What travels through the simulated network.

use sojourn_qdisc::Packet as QdiscPacket;
use sojourn_qdisc::packet_without;
use sojourn_tcp::{Flags, Segment};
use sojourn_units::{Bytes, Ecn};

/// What a frame that was seen on a real network is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// A TCP segment with payload.
    Data,
    /// A SYN or SYN-ACK.
    Syn,
    /// Any other TCP segment.
    Ack,
    /// No TCP segment.
    Other,
}

/// A packet under way, in 16 bytes: what queues and links need of it, and where its TCP segment is kept.
///
/// A packet is copied five times on its way through a shaped queue and a delay. The 56 bytes of its segment, which
/// only its two hosts read, stay where they are: in a store of segments.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Where its segment or the payload of its datagram is; of a probe, its number.
    pub(crate) body: u32,
    /// Hash of the flow, as every hashing discipline sees it.
    pub(crate) hash: u32,
    /// Size on the wire, bytes.
    pub(crate) size: u16,
    /// Index of its route.
    pub(crate) route: u16,
    marks: u32,
}

const _: () = assert!(size_of::<Packet>() == 16);

// A plain integer: a smaller field beside the others would be written narrow and read wide at each copy.
const DATA: u32 = 1;
const PURE_ACK: u32 = 2;
const TCP: u32 = 4;
/// The two bits of the ECN field.
const ECN_SHIFT: u32 = 3;
const ECN: u32 = 3 << ECN_SHIFT;
const SYN: u32 = 32;
const DATAGRAM: u32 = 64;
const WASHED: u32 = 128;
/// Above these bits: the number of the connection that it belongs to, on a route that many connections take.
const CONNECTION_SHIFT: u32 = 8;

impl Packet {
    /// The packet of the segment kept at `body`.
    #[inline]
    pub(crate) fn of_segment(segment: &Segment, body: u32, hash: u32, route: u16) -> Self {
        let kind = if segment.len > 0 {
            DATA
        } else if segment.flags.has(Flags::SYN) {
            SYN
        } else if segment.flags.has(Flags::FIN) {
            0
        } else if segment.flags.has(Flags::ACK) {
            PURE_ACK
        } else {
            0
        };
        let ecn = u32::from(segment.flags.ecn().bits()) << ECN_SHIFT;
        Self {
            body,
            hash,
            size: segment.wire_size(),
            route,
            marks: TCP | kind | ecn,
        }
    }

    /// The number that it carries, if it carries no more than that.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.body
    }

    /// The same packet, of connection `number` (24 bits) of its route.
    pub(crate) fn of_connection(self, number: u32) -> Self {
        Self {
            marks: self.marks | number << CONNECTION_SHIFT,
            ..self
        }
    }

    /// The number of its connection.
    pub(crate) fn connection(&self) -> u32 {
        self.marks >> CONNECTION_SHIFT
    }

    /// A frame that was seen on a real network. It has neither segment nor hash.
    pub(crate) fn observed(size: u16, route: u16, kind: FrameKind) -> Self {
        let marks = match kind {
            FrameKind::Data => TCP | DATA,
            FrameKind::Syn => TCP | SYN,
            FrameKind::Ack => TCP | PURE_ACK,
            FrameKind::Other => 0,
        };
        Self {
            body: 0,
            hash: 0,
            size,
            route,
            marks,
        }
    }

    /// A probe, a frame of voice, or a look-up.
    pub(crate) fn probe(number: u32, hash: u32, size: u16, route: u16) -> Self {
        Self {
            body: number,
            hash,
            size,
            route,
            marks: 0,
        }
    }

    /// The datagram of an agent, whose payload is kept at `body`.
    pub(crate) fn datagram(size: u16, ecn: Ecn, body: u32, hash: u32, route: u16) -> Self {
        Self {
            body,
            hash,
            size,
            route,
            marks: DATAGRAM | u32::from(ecn.bits()) << ECN_SHIFT,
        }
    }

    /// Whether it is a TCP segment, which has a body to be given back.
    #[inline]
    pub(crate) fn is_tcp(&self) -> bool {
        self.marks & TCP != 0
    }

    /// 1 if it is a SYN or SYN-ACK, else 0.
    #[inline]
    pub(crate) fn syns(&self) -> u32 {
        (self.marks & SYN) / SYN
    }

    /// Whether it is a bare acknowledgement: a TCP segment without payload, SYN and FIN.
    #[inline]
    pub(crate) fn is_pure_ack(&self) -> bool {
        self.marks & PURE_ACK != 0
    }

    /// Whether it carries something: payload, or no TCP at all, as a probe.
    #[inline]
    pub(crate) fn has_payload(&self) -> bool {
        self.marks & (TCP | DATA) != TCP
    }

    /// A discipline sets its code point to 0, whatever its route has.
    #[inline]
    pub(crate) fn wash(&mut self) {
        self.marks |= WASHED;
    }

    /// Whether its code point is 0 because a discipline has set it.
    #[inline]
    pub(crate) fn is_washed(&self) -> bool {
        self.marks & WASHED != 0
    }

    /// Whether it is a TCP segment with payload.
    #[inline]
    pub(crate) fn is_data(&self) -> bool {
        self.marks & DATA != 0
    }
}

/// A packet as disciplines see it that read nothing of its identity; the others see an `IdentifiedPacket`.
impl QdiscPacket for Packet {
    packet_without!(dscp, hosts, ack, socket);

    #[inline]
    fn size(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }
    #[inline]
    fn flow_hash(&self) -> u32 {
        self.hash
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        Ecn::from_bits((self.marks >> ECN_SHIFT) as u8)
    }
    #[inline]
    fn set_ecn(&mut self, ecn: Ecn) {
        self.marks = self.marks & !ECN | u32::from(ecn.bits()) << ECN_SHIFT;
    }
}

/// The segments of all packets under way, and the payloads of agents' datagrams. The place given back last is taken
/// first, while it is still in the cache.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    all: Vec<Segment>,
    free: Vec<u32>,
    payloads: Vec<Vec<u8>>,
    free_payloads: Vec<u32>,
}

impl Segments {
    #[inline]
    pub(crate) fn keep(&mut self, segment: &Segment) -> u32 {
        let (body, place) = self.vacancy();
        *place = *segment;
        self.occupy();
        body
    }

    /// A place for a segment, with its number. It stays free until [`Segments::occupy`].
    #[inline]
    pub(crate) fn vacancy(&mut self) -> (u32, &mut Segment) {
        let body = match self.free.last() {
            Some(&body) => body,
            None => self.grow(),
        };
        (body, &mut self.all[body as usize])
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> u32 {
        let body = self.all.len() as u32;
        self.all.push(Segment::default());
        self.free.push(body);
        body
    }

    /// There is a segment in the place of [`Segments::vacancy`].
    #[inline]
    pub(crate) fn occupy(&mut self) {
        self.free.pop();
    }

    /// The packet has arrived: its segment, marked if a queue has marked the packet. It is there until
    /// [`Segments::free`].
    #[inline]
    pub(crate) fn arrived(&mut self, packet: &Packet) -> &Segment {
        let segment = &mut self.all[packet.body as usize];
        if packet.ecn() == Ecn::Ce {
            segment.flags |= Flags::CE;
        }
        segment
    }

    /// The segment of a packet that has arrived is read.
    #[inline]
    pub(crate) fn free(&mut self, packet: &Packet) {
        self.free.push(packet.body);
    }

    /// The segment of a packet that has arrived, as [`Segments::arrived`].
    #[inline]
    pub(crate) fn take(&mut self, packet: &Packet) -> Segment {
        self.free.push(packet.body);
        *self.arrived(packet)
    }

    /// The segment of a packet under way, marked as far as it has come.
    #[inline]
    pub(crate) fn peek(&self, packet: &Packet) -> Segment {
        let mut segment = self.all[packet.body as usize];
        if packet.ecn() == Ecn::Ce {
            segment.flags |= Flags::CE;
        }
        segment
    }

    /// How many are under way, payloads among them.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.all.len() - self.free.len() + self.payloads.len() - self.free_payloads.len()
    }

    /// The packet was dropped.
    pub(crate) fn discard(&mut self, packet: &Packet) {
        if packet.is_tcp() {
            self.free.push(packet.body);
        } else if packet.marks & DATAGRAM != 0 {
            self.take_payload(packet);
        }
    }

    /// Keeps the payload of a datagram.
    pub(crate) fn keep_payload(&mut self, payload: Vec<u8>) -> u32 {
        if let Some(i) = self.free_payloads.pop() {
            self.payloads[i as usize] = payload;
            return i;
        }
        self.payloads.push(payload);
        self.payloads.len() as u32 - 1
    }

    /// The datagram has arrived, or was dropped: its payload.
    pub(crate) fn take_payload(&mut self, packet: &Packet) -> Vec<u8> {
        self.free_payloads.push(packet.body);
        std::mem::take(&mut self.payloads[packet.body as usize])
    }
}
