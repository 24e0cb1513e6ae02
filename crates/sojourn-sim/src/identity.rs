//! Disciplines that look at code points and hosts: what the packets of a route tell them.
//!
//! A [`Packet`] has 16 bytes and no room for a code point and two hosts. They are the same for all packets of a route,
//! so they stay in a table by route. Only below an egress whose discipline asks for them do packets carry them.
//!
//! A discipline that sets a code point to 0 (`wash` of `cake`) sets it for the rest of the packet's way. Deviation: what
//! answers a probe has the code point of its route again, where Linux answers an ICMP echo with that of the request.

use crate::packet::Packet;
use sojourn_qdisc::{
    AckFacts, Admission, AnyQdisc, Backlog, ClassStats, Departure, DropSink, Dropped, Packet as QdiscPacket, Qdisc,
    QdiscStats, band_of_dscp, packet_without, priority_of_dscp,
};
use sojourn_tcp::{Flags, Segment};
use sojourn_units::{Bytes, Ecn, Time};

/// Whose packets a route has, and their code point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// A hash of the sending host's address.
    pub source: u32,
    /// A hash of the receiving host's address.
    pub destination: u32,
}

impl Identity {
    /// That of the packets the other way.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self {
            dscp: self.dscp,
            source: self.destination,
            destination: self.source,
        }
    }

    /// Whether a discipline may be told nothing of these: there are no more than two hosts, and no code points.
    pub(crate) fn all_alike(all: &[Self]) -> bool {
        let Some(&first) = all.first() else { return true };
        all.iter()
            .all(|&one| one.dscp == 0 && (one == first || one == first.reversed()))
    }
}

/// A packet, and what its route tells of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdentifiedPacket {
    packet: Packet,
    identity: Identity,
    ack: Option<AckFacts>,
}

impl QdiscPacket for IdentifiedPacket {
    // A router's packets have no socket.
    packet_without!(socket);

    #[inline]
    fn size(&self) -> Bytes {
        self.packet.size()
    }
    #[inline]
    fn flow_hash(&self) -> u32 {
        self.packet.hash
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        self.packet.ecn()
    }
    #[inline]
    fn set_ecn(&mut self, ecn: Ecn) {
        self.packet.set_ecn(ecn);
    }
    #[inline]
    fn band(&self) -> u8 {
        band_of_dscp(self.identity.dscp)
    }
    #[inline]
    fn priority(&self) -> u8 {
        priority_of_dscp(self.identity.dscp)
    }
    #[inline]
    fn dscp(&self) -> u8 {
        self.identity.dscp
    }
    #[inline]
    fn source(&self) -> u32 {
        self.identity.source
    }
    #[inline]
    fn destination(&self) -> u32 {
        self.identity.destination
    }
    /// The packet keeps a 0 for all links that follow. No discipline writes another code point; it would hold until the
    /// packet leaves.
    #[inline]
    fn set_dscp(&mut self, dscp: u8) {
        self.identity.dscp = dscp;
        if dscp == 0 {
            self.packet.wash();
        }
    }
    #[inline]
    fn ack(&self) -> Option<AckFacts> {
        self.ack
    }
}

/// What an ACK filter reads of a segment.
pub(crate) fn ack_facts(segment: &Segment) -> AckFacts {
    // Bits of the header's flags. Source: RFC 9293 section 3.1, RFC 3168 section 6.1.
    let bits = [
        (Flags::FIN, 1),
        (Flags::SYN, AckFacts::SYN),
        (Flags::PSH, 8),
        (Flags::ACK, AckFacts::ACK),
        (Flags::ECE, 0x40),
        (Flags::CWR, 0x80),
    ];
    let flags = bits.iter().filter(|(flag, _)| segment.flags.has(*flag));
    let ack = segment.ack as u32;
    let mut facts = AckFacts {
        flags: flags.fold(0, |all, (_, bit)| all | bit),
        ack,
        payload: segment.len > 0,
        timestamps: Some((segment.ts_val, segment.ts_ecr)),
        sack_count: segment.sack_count,
        // A SYN tells the largest segment, the scale of windows, and that ranges are understood. AccECN's option and its
        // AE bit are not known to CAKE, which drops nothing that has them. Source: Linux 7.3 `cake_tcph_may_drop`.
        other_options: segment.flags.any(Flags::SYN | Flags::AE) || segment.accecn.is_present(),
        ..AckFacts::default()
    };
    for (range, block) in facts.sack.iter_mut().zip(&segment.sack) {
        *range = (ack.wrapping_add_signed(block.start), ack.wrapping_add_signed(block.end));
    }
    facts
}

/// A discipline that is told of each packet what its route tells.
#[derive(Debug)]
pub(crate) struct WithIdentity {
    qdisc: AnyQdisc<IdentifiedPacket>,
    /// Whose packets they are, by route.
    identities: Vec<Identity>,
    /// Whether the discipline looks at acknowledgements.
    pub(crate) reads_acks: bool,
    /// What the next packet is as an acknowledgement.
    pub(crate) next_ack: Option<AckFacts>,
}

impl WithIdentity {
    /// `qdisc` sees these identities, by route.
    pub(crate) fn new(qdisc: AnyQdisc<IdentifiedPacket>, identities: &[Identity], reads_acks: bool) -> Self {
        Self {
            qdisc,
            identities: identities.to_vec(),
            reads_acks,
            next_ack: None,
        }
    }
}

/// Takes drops as packets again.
struct Forgetting<'a>(&'a mut dyn DropSink<Packet>);

impl DropSink<IdentifiedPacket> for Forgetting<'_> {
    fn dropped(&mut self, drop: Dropped<IdentifiedPacket>) {
        self.0.dropped(Dropped {
            packet: drop.packet.packet,
            reason: drop.reason,
            sojourn: drop.sojourn,
        });
    }
}

impl Qdisc<Packet> for WithIdentity {
    fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut dyn DropSink<Packet>) -> Admission {
        let identity = self.identities.get(usize::from(packet.route)).copied();
        let mut identity = identity.unwrap_or_default();
        if packet.is_washed() {
            identity.dscp = 0;
        }
        let told = IdentifiedPacket {
            packet,
            identity,
            ack: self.next_ack.take(),
        };
        self.qdisc.enqueue(told, now, &mut Forgetting(drops))
    }
    fn dequeue(&mut self, now: Time, drops: &mut dyn DropSink<Packet>) -> Option<Departure<Packet>> {
        let departure = self.qdisc.dequeue(now, &mut Forgetting(drops))?;
        Some(Departure {
            packet: departure.packet.packet,
            sojourn: departure.sojourn,
            marked: departure.marked,
        })
    }
    fn ready_at(&mut self, now: Time, drops: &mut dyn DropSink<Packet>) -> Option<Time> {
        self.qdisc.ready_at(now, &mut Forgetting(drops))
    }
    fn peek_size(&self) -> Option<Bytes> {
        self.qdisc.peek_size()
    }
    fn peek(&mut self, now: Time, drops: &mut dyn DropSink<Packet>) -> Option<Bytes> {
        self.qdisc.peek(now, &mut Forgetting(drops))
    }
    fn overtakes(&self) -> bool {
        self.qdisc.overtakes()
    }
    fn backlog(&self) -> Backlog {
        self.qdisc.backlog()
    }
    fn stats(&self) -> QdiscStats {
        self.qdisc.stats()
    }
    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        self.qdisc.extra_stats()
    }
    fn class_stats(&self) -> Vec<ClassStats> {
        self.qdisc.class_stats()
    }
}
