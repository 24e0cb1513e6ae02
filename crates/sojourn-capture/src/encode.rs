//! From the facts about a frame to its bytes.
//!
//! What the simulation leaves open is filled in so that it is stable and a reader can tell flows apart:
//!
//! - Addresses and ports are those of [`sojourn_sim::tap::hosts`].
//! - Payloads are zeros, but for RTP headers where a voice stream has room for them, and look-ups.
//! - Initial sequence numbers are the hashes. TCP sequence numbers are the low 32 bits of the model's, plus these.
//! - The IP identification is a digest of the segment: a packet has the same one wherever it is seen, and a
//!   retransmission (whose timestamp differs) another.
//! - Routers between the hosts decrement the TTL of 64; the delay box does not.

mod options;

use crate::payload::{dns, rtp};
use etherparse::{
    EtherType, Ethernet2Header, IcmpEchoHeader, Icmpv4Header, Icmpv4Type, IpDscp, IpEcn, IpNumber, Ipv4Header,
    TcpHeader, UdpHeader,
};
use sojourn_sim::tap::hosts::{End, address, opener_port, service_port};
use sojourn_sim::tap::{Body, Conversation, Frame, Point, Protocol};
use sojourn_tcp::{Flags, Segment, WINDOW_UNIT};
use sojourn_units::Ecn;

/// Ethernet and IPv4 headers.
const BELOW_TRANSPORT: usize = 14 + 20;
/// Most payloads are zeros; no simulated frame is longer.
static ZEROS: [u8; 1 << 14] = [0; 1 << 14];
/// IPv4, UDP and RTP headers: a voice stream that counts fewer beside its speech has no RTP.
const VOICE_HEADERS: u16 = 40;
/// The shift count of [`WINDOW_UNIT`] (RFC 7323 section 2.2).
const WINDOW_SCALE: u8 = WINDOW_UNIT.trailing_zeros() as u8;
/// The timestamp option that each segment carries, which the MSS option does not count (RFC 6691).
const TIMESTAMPS: u16 = 12;

/// Puts the bytes of `frame` into `out`, which is emptied before, without the zeros at its end. The checksums are
/// those of the whole frame.
///
/// # Panics
/// If the frame is smaller than its headers or larger than 16 KiB, which no scenario allows.
pub fn encode(frame: &Frame<'_>, out: &mut Vec<u8>) {
    out.clear();
    let c = frame.conversation;
    let from_client = frame.from_opener == c.client_opens;
    let server = if c.protocol == Protocol::Dns {
        End::Resolver
    } else {
        End::Server
    };
    let (client, server) = (
        address(c.host(End::Client), End::Client),
        address(c.host(server), server),
    );
    let (source, destination) = if from_client {
        (client, server)
    } else {
        (server, client)
    };
    let (from, to) = stations(frame, from_client);
    let ethernet = Ethernet2Header {
        source: from,
        destination: to,
        ether_type: EtherType::IPV4,
    };
    out.extend_from_slice(&ethernet.to_bytes());

    let protocol = match c.protocol {
        Protocol::Tcp { .. } => IpNumber::TCP,
        Protocol::Icmp => IpNumber::ICMP,
        Protocol::UdpEcho | Protocol::Udp | Protocol::Voice(_) | Protocol::Dns => IpNumber::UDP,
    };
    let length = frame.size - BELOW_TRANSPORT as u16;
    let mut ip =
        Ipv4Header::new(length, ttl(frame), protocol, source, destination).expect("a frame fits an IPv4 packet");
    ip.dont_fragment = true;
    ip.dscp = IpDscp::try_new(frame.dscp).expect("a code point has six bits");
    (ip.identification, ip.ecn) = match &frame.body {
        Body::Tcp(segment) => (digest(segment), ecn(segment.flags.ecn())),
        Body::Probe(number) => (*number as u16, IpEcn::NotEct),
    };
    ip.header_checksum = ip.calc_header_checksum();
    out.extend_from_slice(&ip.to_bytes());

    let length = usize::from(length);
    match &frame.body {
        Body::Tcp(segment) => {
            let mut tcp = tcp(segment, c, frame.from_opener);
            let payload = &ZEROS[..length - tcp.header_len()];
            tcp.checksum = tcp
                .calc_checksum_ipv4(&ip, payload)
                .expect("a frame fits an IPv4 packet");
            out.extend_from_slice(&tcp.to_bytes());
        }
        Body::Probe(number) if c.protocol == Protocol::Icmp => {
            let echo = IcmpEchoHeader {
                id: c.hashes[0] as u16,
                seq: *number as u16,
            };
            let kind = if frame.from_opener {
                Icmpv4Type::EchoRequest(echo)
            } else {
                Icmpv4Type::EchoReply(echo)
            };
            let icmp = Icmpv4Header::with_checksum(kind, &ZEROS[..length - 8]);
            out.extend_from_slice(&icmp.to_bytes());
        }
        Body::Probe(number) => {
            let length = length - UdpHeader::LEN;
            let payload = match c.protocol {
                Protocol::Voice(v) if v.headers >= VOICE_HEADERS => {
                    Some(rtp(v.codec, v.frame, c.hashes[0], *number, length))
                }
                Protocol::Dns => {
                    let answer = (!frame.from_opener).then(|| address(c.host(End::Server), End::Server));
                    Some(dns(*number, answer))
                }
                _ => None,
            };
            let [source, destination] = ports(c, frame.from_opener);
            let whole = payload.as_deref().unwrap_or(&ZEROS[..length]);
            let udp =
                UdpHeader::with_ipv4_checksum(source, destination, &ip, whole).expect("a frame fits an IPv4 packet");
            out.extend_from_slice(&udp.to_bytes());
            out.extend(payload.into_iter().flatten());
        }
    }
}

/// Source and destination port.
fn ports(c: &Conversation, from_opener: bool) -> [u16; 2] {
    let (opener, other) = (opener_port(c.port), service_port(c.protocol));
    if from_opener { [opener, other] } else { [other, opener] }
}

/// The hardware addresses between which the frame travels: hosts and routers have locally administered ones.
fn stations(frame: &Frame<'_>, from_client: bool) -> ([u8; 6], [u8; 6]) {
    let mac = |server_side: bool, interface: u8| [2, 0, 0, 0, u8::from(server_side), interface];
    let (near, far) = match frame.point {
        Point::Client => (mac(false, 1), mac(false, 2)),
        Point::UpBottleneck | Point::DownBottleneck => (mac(false, 3), mac(true, 3)),
        Point::Server => (mac(true, 2), mac(true, 1)),
    };
    if from_client { (near, far) } else { (far, near) }
}

fn ttl(frame: &Frame<'_>) -> u8 {
    match frame.point {
        Point::Client | Point::Server if frame.outgoing => 64,
        Point::UpBottleneck | Point::DownBottleneck => 63,
        Point::Client | Point::Server => 62,
    }
}

fn ecn(field: Ecn) -> IpEcn {
    match field {
        Ecn::NotEct => IpEcn::NotEct,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ect1 => IpEcn::Ect1,
        Ecn::Ce => IpEcn::CongestionExperienced,
    }
}

/// Sixteen bits that differ between the segments of a flow, nearly always.
fn digest(s: &Segment) -> u16 {
    let sack = s.sack[0].start as u64 ^ (s.sack[0].end as u64) << 20;
    let mut x = s.seq ^ s.ack.rotate_left(24) ^ u64::from(s.ts_val).rotate_left(40) ^ sack ^ u64::from(s.len) << 48;
    // The finaliser of splitmix64.
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ x >> 31) as u16
}

fn tcp(s: &Segment, c: &Conversation, from_opener: bool) -> TcpHeader {
    let [source, destination] = ports(c, from_opener);
    let [own, peer] = if from_opener {
        c.hashes
    } else {
        [c.hashes[1], c.hashes[0]]
    };
    let mut tcp = TcpHeader::new(source, destination, own.wrapping_add(s.seq as u32), s.window);
    let mss = match c.protocol {
        Protocol::Tcp { mss, .. } => mss,
        _ => 0,
    };
    tcp.syn = s.flags.has(Flags::SYN);
    tcp.ack = s.flags.has(Flags::ACK);
    tcp.psh = s.flags.has(Flags::PSH);
    tcp.fin = s.flags.has(Flags::FIN);
    tcp.ece = s.flags.has(Flags::ECE);
    tcp.cwr = s.flags.has(Flags::CWR);
    // The bit was that of the nonce (RFC 3540) before AccECN had it.
    tcp.ns = s.flags.has(Flags::AE);
    if tcp.ack {
        tcp.acknowledgment_number = peer.wrapping_add(s.ack as u32);
    }
    if tcp.syn {
        // A window on a SYN is not scaled (RFC 7323 section 2.2).
        tcp.window_size = (u64::from(s.window) * WINDOW_UNIT).min(u64::from(u16::MAX)) as u16;
    }
    let options = options::options(s, mss + TIMESTAMPS, tcp.acknowledgment_number);
    tcp.set_options_raw(&options).expect("at most 40 bytes of options");
    tcp
}

#[cfg(test)]
mod tests;
