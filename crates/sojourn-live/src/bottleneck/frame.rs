//! A packet of the real world in a queue discipline: its size, its flow and hosts, its code point and its ECN field.

#[cfg(test)]
mod tests;

use etherparse::{Icmpv4Type, Icmpv6Type, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use sojourn_qdisc::{AckFacts, Packet, band_of_dscp, packet_without, priority_of_dscp};
use sojourn_units::{Bytes, Ecn};
use std::hash::{DefaultHasher, Hasher};
use std::net::IpAddr;

/// An IP packet as it came out of a TUN device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    bytes: Vec<u8>,
    /// What the link adds to each packet.
    overhead: u32,
    hash: u32,
    /// The secret of its hashes.
    key: u64,
}

impl Frame {
    /// The packet `bytes`, which takes `overhead` bytes more on the link; `key` is the secret of the flow hash.
    ///
    /// `None` if a router would not forward it: it is no IPv4 or IPv6, or its destination is a link's own (multicast,
    /// broadcast, or an IPv6 link-local address).
    ///
    /// # Errors
    /// Hands the bytes back, so that their memory is used again.
    pub fn new(bytes: Vec<u8>, overhead: u32, key: u64) -> Result<Self, Vec<u8>> {
        match flow_hash(&bytes, key) {
            Some(hash) => Ok(Self {
                bytes,
                overhead,
                hash,
                key,
            }),
            None => Err(bytes),
        }
    }

    /// The packet, from its IP header on.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The packet's memory.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Whether it is from or to `address`.
    #[must_use]
    pub fn has_address(&self, address: IpAddr) -> bool {
        let is = |wanted: &[u8], from: usize| {
            let ends = [from, from + wanted.len()];
            ends.iter()
                .any(|&at| self.bytes.get(at..at + wanted.len()) == Some(wanted))
        };
        match address {
            IpAddr::V4(v4) => self.version() == 4 && is(&v4.octets(), 12),
            IpAddr::V6(v6) => self.version() == 6 && is(&v6.octets(), 8),
        }
    }

    fn version(&self) -> u8 {
        self.bytes[0] >> 4
    }

    /// The type of service of IPv4, or the traffic class of IPv6.
    fn class(&self) -> u8 {
        match self.version() {
            4 => self.bytes[1],
            _ => self.bytes[0] << 4 | self.bytes[1] >> 4,
        }
    }

    /// Writes it, and corrects the checksum.
    fn set_class(&mut self, class: u8) {
        if self.version() == 4 {
            // Both are the first 16 bits of the header, in network order.
            let old = u16::from_be_bytes([self.bytes[0], self.bytes[1]]);
            self.bytes[1] = class;
            let new = u16::from_be_bytes([self.bytes[0], self.bytes[1]]);
            let checksum = u16::from_be_bytes([self.bytes[10], self.bytes[11]]);
            self.bytes[10..12].copy_from_slice(&updated(checksum, old, new).to_be_bytes());
        } else {
            self.bytes[0] = self.bytes[0] & 0xf0 | class >> 4;
            self.bytes[1] = self.bytes[1] & 0xf | class << 4;
        }
    }

    /// The hash of one of its addresses: with the secret, as that of its flow.
    fn host(&self, at_v4: usize, at_v6: usize) -> u32 {
        let place = match self.version() {
            4 => at_v4..at_v4 + 4,
            _ => at_v6..at_v6 + 16,
        };
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.key);
        hasher.write(self.bytes.get(place).unwrap_or_default());
        folded(hasher.finish())
    }
}

/// The checksum of a header in which the word `old` became `new`. Source: RFC 1624 section 3, equation 3.
fn updated(checksum: u16, old: u16, new: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) as u16 + (folded >> 16) as u16)
}

impl Packet for Frame {
    // A router clears what a socket has written.
    packet_without!(socket);

    fn size(&self) -> Bytes {
        Bytes::new(self.bytes.len() as u64 + u64::from(self.overhead))
    }

    fn flow_hash(&self) -> u32 {
        self.hash
    }

    fn ecn(&self) -> Ecn {
        Ecn::from_bits(match self.version() {
            4 => self.bytes[1],
            _ => self.bytes[1] >> 4,
        })
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        if self.ecn() == ecn {
            // The checksum stays as it came, which may be either form of zero.
            return;
        }
        self.set_class(self.class() & !3 | ecn.bits());
    }

    fn dscp(&self) -> u8 {
        self.class() >> 2
    }

    fn set_dscp(&mut self, dscp: u8) {
        if self.dscp() != dscp {
            self.set_class(dscp << 2 | self.class() & 3);
        }
    }

    fn source(&self) -> u32 {
        self.host(12, 8)
    }

    fn destination(&self) -> u32 {
        self.host(16, 24)
    }

    fn ack(&self) -> Option<AckFacts> {
        match LaxSlicedPacket::from_ip(&self.bytes).ok()?.transport? {
            TransportSlice::Tcp(tcp) => AckFacts::read(tcp.slice()),
            _ => None,
        }
    }

    /// A router gives IPv6 no priority. Source: Linux `ip6_forward`, which leaves what `ip_forward` writes.
    fn priority(&self) -> u8 {
        if self.version() == 4 {
            priority_of_dscp(self.dscp())
        } else {
            0
        }
    }

    fn band(&self) -> u8 {
        if self.version() == 4 {
            band_of_dscp(self.dscp())
        } else {
            band_of_dscp(0)
        }
    }
}

/// Addresses, protocol and ports (of an echo its identifier), hashed with a secret, as Linux's disciplines do with
/// `skb_get_hash_perturb`, so that nobody can choose flows that collide. All fragments of a packet have one hash:
/// that of addresses and protocol.
fn flow_hash(bytes: &[u8], key: u64) -> Option<u32> {
    let packet = LaxSlicedPacket::from_ip(bytes).ok()?;
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(key);
    match packet.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let to = header.destination_addr();
            if to.is_multicast() || to.is_broadcast() {
                return None;
            }
            hasher.write(&header.source());
            hasher.write(&header.destination());
            hasher.write_u8(header.protocol().0);
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let to = header.destination_addr();
            if to.is_multicast() || to.is_unicast_link_local() {
                return None;
            }
            hasher.write(&header.source());
            hasher.write(&header.destination());
            hasher.write_u8(ip.payload().ip_number.0);
        }
        LaxNetSlice::Arp(_) => return None,
    }
    let ports = match packet.transport.as_ref() {
        Some(TransportSlice::Tcp(tcp)) => (tcp.source_port(), tcp.destination_port()),
        Some(TransportSlice::Udp(udp)) => (udp.source_port(), udp.destination_port()),
        Some(TransportSlice::Icmpv4(icmp)) => match icmp.icmp_type() {
            Icmpv4Type::EchoRequest(echo) | Icmpv4Type::EchoReply(echo) => (echo.id, echo.id),
            _ => (0, 0),
        },
        Some(TransportSlice::Icmpv6(icmp)) => match icmp.icmp_type() {
            Icmpv6Type::EchoRequest(echo) | Icmpv6Type::EchoReply(echo) => (echo.id, echo.id),
            _ => (0, 0),
        },
        Some(TransportSlice::Igmp(_)) | None => (0, 0),
    };
    hasher.write_u16(ports.0);
    hasher.write_u16(ports.1);
    Some(folded(hasher.finish()))
}

/// A hash of 32 bits from one of 64.
const fn folded(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}
