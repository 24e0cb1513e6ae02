//! What the beginning of a frame says: whose it is, and a key by which it is known again at the other side of a
//! queue.

use crate::flush::config::DISCARD;
use etherparse::{Icmpv4Type, Icmpv6Type, IpNumber, Ipv6Header, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use sojourn_bed::{Conversation, LoadPlan, Watched, ports};
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

/// So much of a frame is looked at: Ethernet 14, IPv6 40 and TCP 60 bytes fit.
pub(in crate::agent) const SNAP: usize = 120;

/// What a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::agent) struct Parsed {
    /// The same at both sides of a router, and different for any two frames that are in a queue together.
    pub(in crate::agent) key: u64,
    pub(in crate::agent) conversation: Conversation,
    /// A TCP segment with payload.
    pub(in crate::agent) data: bool,
    /// A TCP segment with SYN set.
    pub(in crate::agent) syn: bool,
    /// Congestion experienced.
    pub(in crate::agent) marked: bool,
    /// Between whom, if it is whole enough to tell.
    pub(in crate::agent) ends: Option<Ends>,
}

/// Who sends to whom. The port of an echo is its identifier; of what has no ports it is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::agent) struct Ends {
    pub(in crate::agent) protocol: u8,
    pub(in crate::agent) source: SocketAddr,
    pub(in crate::agent) destination: SocketAddr,
}

impl Parsed {
    /// The record of the frame, of `length` bytes, that came to a queue or `left` it.
    pub(in crate::agent) fn watched(self, at_ns: i64, length: u16, down: bool, left: bool) -> Watched {
        Watched {
            at_ns,
            key: self.key,
            length,
            conversation: self.conversation,
            down,
            left,
            data: self.data,
            syn: self.syn,
            marked: self.marked,
        }
    }
}

/// How many conversations of each sort the plan has.
#[derive(Clone, Copy, Debug)]
pub(in crate::agent) struct Known {
    pub(in crate::agent) flows: usize,
    pub(in crate::agent) probes: usize,
    pub(in crate::agent) web: usize,
    pub(in crate::agent) downloads: usize,
    /// Whether there is a flusher, whose datagrams go to the port [`DISCARD`].
    pub(in crate::agent) flusher: bool,
}

impl Known {
    pub(in crate::agent) fn of(load: &LoadPlan) -> Self {
        Self {
            flows: load.flows.len(),
            probes: load.probes.len(),
            web: load.web.len(),
            downloads: load.downloads.len(),
            flusher: load.flusher.is_some(),
        }
    }

    /// Whose segments or datagrams these are, by the port of the side that was connected to; the other's is 32768 or
    /// more.
    fn by_port(self, protocol: IpNumber, source: u16, destination: u16) -> Conversation {
        let port = if destination < ports::END { destination } else { source };
        let nth = |range: Range<u16>, count: usize| {
            range
                .contains(&port)
                .then(|| port - range.start)
                .filter(|i| usize::from(*i) < count)
        };
        let found = if protocol == IpNumber::TCP {
            nth(ports::FLOWS..ports::PROBES, self.flows)
                .map(Conversation::Flow)
                .or_else(|| nth(ports::WEB..ports::DNS, self.web).map(Conversation::Web))
                .or_else(|| nth(ports::DOWNLOADS..ports::END, self.downloads).map(Conversation::Download))
        } else {
            let flush = self.flusher && protocol == IpNumber::UDP && destination == DISCARD;
            flush
                .then_some(Conversation::Flush)
                .or_else(|| nth(ports::PROBES..ports::WEB, self.probes).map(Conversation::Probe))
                .or_else(|| nth(ports::FLOWS..ports::PROBES, self.flows).map(Conversation::Flow))
                .or_else(|| nth(ports::DNS..ports::DOWNLOADS, self.web).map(Conversation::Dns))
        };
        found.unwrap_or(Conversation::Other)
    }
}

/// FNV-1a with 64 bits. Not for tables that a stranger fills; here nobody wants a collision, and by chance two of a
/// thousand frames in a queue collide once in 10^13 queues.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn eat(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.0 = (self.0 ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// As [`parse`], of an IP packet without a link-layer header.
pub(in crate::agent) fn parse_ip(packet: &[u8], known: &Known) -> Parsed {
    parse_sliced(LaxSlicedPacket::from_ip(packet).ok().as_ref(), packet, known)
}

/// Reads a frame of which only the first [`SNAP`] bytes may be there. Answers something for any bytes.
///
/// The key leaves out what a router changes (addresses of Ethernet, type of service with its mark, time to live,
/// header checksum) and what an interface may fill in (checksums of TCP and UDP). It holds the addresses and the
/// protocol, of IPv4 the identification, and of TCP all of the header but the checksum, time stamps among its options:
/// so two retransmissions of a segment, and two of a SYN-ACK, whose identification is always 0, differ. Of UDP it holds
/// ports, length and the first eight bytes of payload, or of a program's datagram all that is there; of ICMP what is
/// there but the checksum; of anything else what is there.
///
/// The identification is left out of ICMP messages, packets of probes, datagrams of flows and answers to look-ups,
/// which are numbered in their payload: what the kernel and unconnected sockets put there differs even between two
/// runs of a virtual-time kernel with one seed, and the records of a run are to be the same bytes each time.
pub(in crate::agent) fn parse(frame: &[u8], known: &Known) -> Parsed {
    let unknown = frame.get(12..).unwrap_or(frame);
    parse_sliced(LaxSlicedPacket::from_ethernet(frame).ok().as_ref(), unknown, known)
}

/// What the header of IP says.
struct Outer<'a> {
    source: IpAddr,
    destination: IpAddr,
    protocol: IpNumber,
    /// Only of IPv4.
    identification: Option<u16>,
    marked: bool,
    /// Bytes of the header, with the extensions of IPv6, and of the whole packet.
    header: usize,
    length: usize,
    payload: &'a [u8],
}

impl<'a> Outer<'a> {
    fn read(net: &'a LaxNetSlice<'_>) -> Option<Self> {
        match net {
            LaxNetSlice::Ipv4(ip) => {
                let header = ip.header();
                Some(Self {
                    source: header.source_addr().into(),
                    destination: header.destination_addr().into(),
                    protocol: header.protocol(),
                    identification: Some(header.identification()),
                    marked: header.ecn().value() == 3,
                    header: header.slice().len(),
                    length: usize::from(header.total_len()),
                    payload: ip.payload().payload,
                })
            }
            LaxNetSlice::Ipv6(ip) => {
                let header = ip.header();
                Some(Self {
                    source: header.source_addr().into(),
                    destination: header.destination_addr().into(),
                    protocol: ip.payload().ip_number,
                    identification: None,
                    marked: header.ecn().value() == 3,
                    header: Ipv6Header::LEN + ip.extensions().slice().len(),
                    length: Ipv6Header::LEN + usize::from(header.payload_length()),
                    payload: ip.payload().payload,
                })
            }
            LaxNetSlice::Arp(_) => None,
        }
    }
}

/// Reads a packet; `unknown` stands for it if it is no IP.
fn parse_sliced(packet: Option<&LaxSlicedPacket<'_>>, unknown: &[u8], known: &Known) -> Parsed {
    let mut parsed = Parsed {
        key: 0,
        conversation: Conversation::Other,
        data: false,
        syn: false,
        marked: false,
        ends: None,
    };
    let mut key = Fnv::new();
    let Some(ip) = packet.and_then(|p| p.net.as_ref()).and_then(Outer::read) else {
        key.eat(unknown);
        parsed.key = key.0;
        return parsed;
    };
    parsed.marked = ip.marked;
    for address in [ip.source, ip.destination] {
        match address {
            IpAddr::V4(address) => key.eat(&address.octets()),
            IpAddr::V6(address) => key.eat(&address.octets()),
        }
    }
    key.eat(&[ip.protocol.0]);
    let mut ports = (0, 0);
    let mut identified = true;
    match packet.and_then(|p| p.transport.as_ref()) {
        Some(TransportSlice::Tcp(tcp)) => {
            let bytes = tcp.header_slice();
            key.eat(&bytes[..16]);
            key.eat(&bytes[18..]);
            parsed.syn = tcp.syn();
            parsed.data = ip.length > ip.header + bytes.len();
            ports = (tcp.source_port(), tcp.destination_port());
            parsed.conversation = known.by_port(IpNumber::TCP, ports.0, ports.1);
        }
        Some(TransportSlice::Udp(udp)) => {
            key.eat(&udp.header_slice()[..6]);
            let payload = udp.payload();
            ports = (udp.source_port(), udp.destination_port());
            parsed.conversation = known.by_port(IpNumber::UDP, ports.0, ports.1);
            // What the plan sends is numbered at once; of anybody else's the number may come late, and be hidden.
            let ours = parsed.conversation != Conversation::Other;
            key.eat(payload.get(..8).filter(|_| ours).unwrap_or(payload));
            identified = match parsed.conversation {
                Conversation::Probe(_) | Conversation::Flow(_) => false,
                Conversation::Dns(_) => ports.0 >= ports::END,
                _ => true,
            };
        }
        Some(TransportSlice::Icmpv4(icmp)) => {
            eat_icmp(&mut key, icmp.slice());
            identified = false;
            if let Icmpv4Type::EchoRequest(echo) | Icmpv4Type::EchoReply(echo) = icmp.icmp_type() {
                ports = (echo.id, echo.id);
                // The identifier is the probe's port.
                parsed.conversation = known.by_port(IpNumber::ICMP, echo.id, echo.id);
                if !matches!(parsed.conversation, Conversation::Probe(_)) {
                    parsed.conversation = Conversation::Other;
                }
            }
        }
        Some(TransportSlice::Icmpv6(icmp)) => {
            eat_icmp(&mut key, icmp.slice());
            if let Icmpv6Type::EchoRequest(echo) | Icmpv6Type::EchoReply(echo) = icmp.icmp_type() {
                ports = (echo.id, echo.id);
            }
        }
        Some(TransportSlice::Igmp(_)) | None => key.eat(ip.payload),
    }
    if let Some(identification) = ip.identification.filter(|_| identified) {
        key.eat(&identification.to_be_bytes());
    }
    parsed.key = key.0;
    parsed.ends = Some(Ends {
        protocol: ip.protocol.0,
        source: SocketAddr::new(ip.source, ports.0),
        destination: SocketAddr::new(ip.destination, ports.1),
    });
    parsed
}

/// All of a message but its checksum.
fn eat_icmp(key: &mut Fnv, bytes: &[u8]) {
    key.eat(&bytes[..2]);
    key.eat(&bytes[4..]);
}

#[cfg(test)]
mod tests;
