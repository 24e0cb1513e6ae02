//! What of a packet stays as it is on its way, so that it is known again in another capture.
//!
//! Source: RFC 791 section 3.1, RFC 8200 section 3, RFC 9293 section 3.1, RFC 768, RFC 792 and RFC 4443 section 4.1
//! (echo).

use crate::segment::{Ip, ip, tcp_header};
use crate::{LinkType, Skip};
use etherparse::IpNumber;
use sojourn_units::words;
use std::fmt;
use std::hash::{DefaultHasher, Hasher as _};
use std::net::SocketAddr;

/// Bytes of a datagram's or an echo's payload that are looked at.
const PAYLOAD: usize = 16;
const UDP_HEADER: usize = 8;
const ECHO_HEADER: usize = 8;

words! {
    /// A protocol whose packets can be told apart.
    pub enum Protocol {
        /// TCP.
        Tcp = "tcp",
        /// UDP.
        Udp = "udp",
        /// ICMP and ICMPv6, echo requests and replies only.
        Icmp = "icmp",
    }
}

/// Packets of one protocol between two endpoints, in both directions. The endpoints are in order; of ICMP the port is
/// the identifier of the echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conversation {
    /// The protocol.
    pub protocol: Protocol,
    /// One endpoint.
    pub low: SocketAddr,
    /// The other.
    pub high: SocketAddr,
}

impl fmt::Display for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.protocol.name(), self.low, self.high)
    }
}

/// What tells a packet from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// A hash with 64 bits; see [`identity`] for what is in it.
    pub key: u64,
    /// Whose it is.
    pub conversation: Conversation,
    /// Whether the lower endpoint sent it.
    pub from_low: bool,
}

/// The identity of the packet in a frame of `wire` bytes, of which the capture kept `frame`.
///
/// The key is a hash of the addresses, the protocol, the identification (of IPv4), the length by the IP header, and
///
/// - of TCP the header with all its options but for the checksum: ports, sequence and acknowledgement number, flags,
///   window, time stamps, SACK blocks;
/// - of UDP the ports, the length and the first 16 bytes of the payload;
/// - of an echo request or reply type, code, identifier, number and the first 16 bytes of the payload.
///
/// It leaves out what changes on the way or is only filled in by a network card: link header and tags, type of
/// service with its ECN bits, time to live, all checksums. So a packet that was sent again has another key by its
/// identification or its time stamp, unless it has neither. What rewrites addresses, ports, sequence numbers or
/// options (a NAT, a proxy) makes another packet of it.
///
/// # Errors
/// Why it has none: as [`segment`](crate::segment), and [`Skip::LaterFragment`] of any fragment, the first too.
/// Another protocol is [`Skip::NotTcp`]. What was cut within the bytes above is [`Skip::Cut`].
pub fn identity(link: LinkType, frame: &[u8], wire: u32) -> Result<Identity, Skip> {
    let takes = |protocol| {
        matches!(
            protocol,
            IpNumber::TCP | IpNumber::UDP | IpNumber::ICMP | IpNumber::IPV6_ICMP
        )
    };
    let (ip, packet, short) = ip(link, frame, wire, takes)?;
    if is_fragment(packet) {
        return Err(Skip::LaterFragment);
    }
    let room = ip.length - ip.payload;
    let bytes = packet.get(ip.payload..).ok_or(short)?;
    let mut key = begin(&ip);
    let (protocol, source, destination) = match ip.protocol {
        IpNumber::TCP => tcp(&mut key, bytes, room, short)?,
        IpNumber::UDP => udp(&mut key, bytes, room, short)?,
        _ => echo(&mut key, bytes, room, short, ip.protocol)?,
    };
    let (source, destination) = (SocketAddr::new(ip.src, source), SocketAddr::new(ip.dst, destination));
    let from_low = source <= destination;
    let (low, high) = if from_low {
        (source, destination)
    } else {
        (destination, source)
    };
    Ok(Identity {
        key: key.finish(),
        conversation: Conversation { protocol, low, high },
        from_low,
    })
}

/// Of IPv4, whether this is a part of a packet. The first fragment of IPv6 has its header before the transport's,
/// which a path does not add.
fn is_fragment(packet: &[u8]) -> bool {
    let flags_and_offset = packet.get(6..8).map_or(0, |b| u16::from_be_bytes([b[0], b[1]]));
    packet.first().is_some_and(|b| b >> 4 == 4) && flags_and_offset & 0x3FFF != 0
}

fn begin(ip: &Ip) -> DefaultHasher {
    // With constant keys: the same packet has the same key in each run.
    let mut key = DefaultHasher::new();
    for address in [ip.src, ip.dst] {
        match address {
            std::net::IpAddr::V4(v4) => key.write(&v4.octets()),
            std::net::IpAddr::V6(v6) => key.write(&v6.octets()),
        }
    }
    key.write_u8(ip.protocol.0);
    key.write_u16(ip.identification.unwrap_or(0));
    key.write_u64(ip.length as u64);
    key
}

type Ends = Result<(Protocol, u16, u16), Skip>;

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn tcp(key: &mut DefaultHasher, bytes: &[u8], room: usize, short: Skip) -> Ends {
    let (_, length) = tcp_header(bytes, room, short)?;
    let header = bytes.get(..length).ok_or(short)?;
    key.write(&header[..16]);
    key.write(&header[18..]);
    Ok((Protocol::Tcp, half(header, 0), half(header, 2)))
}

fn udp(key: &mut DefaultHasher, bytes: &[u8], room: usize, short: Skip) -> Ends {
    if room < UDP_HEADER {
        return Err(Skip::Short);
    }
    let looked_at = bytes.get(..room.min(UDP_HEADER + PAYLOAD)).ok_or(short)?;
    key.write(&looked_at[..6]);
    key.write(&looked_at[UDP_HEADER..]);
    Ok((Protocol::Udp, half(looked_at, 0), half(looked_at, 2)))
}

fn echo(key: &mut DefaultHasher, bytes: &[u8], room: usize, short: Skip, protocol: IpNumber) -> Ends {
    let kind = *bytes.first().ok_or(short)?;
    let kinds: [u8; 2] = if protocol == IpNumber::ICMP { [8, 0] } else { [128, 129] };
    if !kinds.contains(&kind) {
        return Err(Skip::NotTcp);
    }
    if room < ECHO_HEADER {
        return Err(Skip::Short);
    }
    let looked_at = bytes.get(..room.min(ECHO_HEADER + PAYLOAD)).ok_or(short)?;
    key.write(&looked_at[..2]);
    key.write(&looked_at[4..]);
    let identifier = half(looked_at, 4);
    Ok((Protocol::Icmp, identifier, identifier))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_shown_as_its_protocol_and_endpoints() {
        for (protocol, shown) in Protocol::ALL.into_iter().zip(["tcp", "udp", "icmp"]) {
            let conversation = Conversation {
                protocol,
                low: SocketAddr::from(([192, 0, 2, 1], 80)),
                high: SocketAddr::from(([192, 0, 2, 2], 5000)),
            };
            assert_eq!(conversation.to_string(), format!("{shown} 192.0.2.1:80 192.0.2.2:5000"));
        }
    }
}
