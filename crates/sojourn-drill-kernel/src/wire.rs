//! IPv4 packets: those of the script as bytes, and those of the kernel as a script writes them.
//!
//! Source: RFC 791, RFC 792, RFC 9293, RFC 7323, RFC 2018, RFC 7413, RFC 9768, RFC 2385.

use crate::numbers::{Begin, Numbers};
use sojourn_drill::{FieldOrder, Packet, TcpOption};
use sojourn_units::Ecn;
use std::net::Ipv4Addr;

/// The kernel's address. Source: `ksft_runner.sh` of the kernel's tests, from which their cookies follow.
pub(crate) const LOCAL: Ipv4Addr = Ipv4Addr::new(192, 168, 0, 1);
/// The address of our side.
pub(crate) const REMOTE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
/// Where the numbers of our side begin on the wire. A number far from both ends.
const BEGIN: u32 = 0x2a00_0000;
/// The longest packet, bytes.
const LONGEST: usize = 65_535;
const IP: usize = 20;
const TCP: usize = 20;
const PROTOCOL_ICMP: u8 = 1;
const PROTOCOL_TCP: u8 = 6;

/// Flags of the TCP header by the letters of a script, from the lowest bit on.
const FLAGS: [char; 9] = ['F', 'S', 'R', 'P', '.', 'U', 'E', 'W', 'A'];

/// Sum of the Internet checksum (RFC 1071).
fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0_u32;
    for part in parts {
        for pair in part.chunks(2) {
            let low = pair.get(1).copied().unwrap_or(0);
            sum += u32::from(u16::from_be_bytes([pair[0], low]));
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn ip_header(protocol: u8, ecn: u8, payload: usize, (from, to): (Ipv4Addr, Ipv4Addr)) -> Vec<u8> {
    let mut header = vec![0x45, ecn];
    header.extend_from_slice(&((IP + payload) as u16).to_be_bytes());
    // No identification; not to be fragmented; 255 hops.
    header.extend_from_slice(&[0, 0, 0x40, 0, 255, protocol, 0, 0]);
    header.extend_from_slice(&from.octets());
    header.extend_from_slice(&to.octets());
    let sum = checksum(&[&header]);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header
}

/// The bits of a script's flags.
fn flag_bits(flags: &str) -> u16 {
    let mut bits = 0;
    for c in flags.chars() {
        if let Some(bit) = FLAGS.iter().position(|flag| *flag == c) {
            bits |= 1 << bit;
        } else if let Some(ace) = c.to_digit(8) {
            bits |= (ace as u16) << 6;
        }
    }
    bits
}

/// A segment that arrives.
///
/// # Errors
/// A clause, if no packet can be so.
pub(crate) fn segment(packet: &Packet, numbers: &mut Numbers) -> Result<Vec<u8>, String> {
    let options = option_bytes(packet.options.as_deref().unwrap_or(&[]), numbers)?;
    let header = TCP + options.len();
    let length = header + packet.len as usize;
    if IP + length > LONGEST {
        return Err(format!(
            "the segment has {} bytes, but a packet at most {LONGEST}",
            IP + length
        ));
    }
    let syn = packet.has('S');
    if syn && numbers.remote.is_none() {
        numbers.remote = Some(Begin::new(packet.start, BEGIN));
    }
    let seq = numbers.ours().to_wire(packet.start, syn);
    // Without a number, that of the kernel's first. Source: packetdrill's rule.
    let ack = match packet.ack {
        None if !packet.has('.') => 0,
        ack => numbers.theirs().to_wire(ack.unwrap_or(0), syn),
    };
    let mut tcp = Vec::with_capacity(length);
    tcp.extend_from_slice(&numbers.remote_port.to_be_bytes());
    tcp.extend_from_slice(&numbers.local_port.unwrap_or(0).to_be_bytes());
    tcp.extend_from_slice(&seq.to_be_bytes());
    tcp.extend_from_slice(&ack.to_be_bytes());
    let bits = flag_bits(&packet.flags) | ((header as u16 / 4) << 12);
    tcp.extend_from_slice(&bits.to_be_bytes());
    tcp.extend_from_slice(&packet.window.unwrap_or(0).to_be_bytes());
    tcp.extend_from_slice(&[0, 0]);
    tcp.extend_from_slice(&(packet.urgent.unwrap_or(0) as u16).to_be_bytes());
    tcp.extend_from_slice(&options);
    tcp.resize(length, 0);
    let mut pseudo = [REMOTE.octets(), LOCAL.octets()].concat();
    pseudo.extend_from_slice(&[0, PROTOCOL_TCP]);
    pseudo.extend_from_slice(&(length as u16).to_be_bytes());
    let sum = checksum(&[&pseudo, &tcp]);
    tcp[16..18].copy_from_slice(&sum.to_be_bytes());
    let ecn = packet.ecn.map_or(0, Ecn::bits);
    let mut whole = ip_header(PROTOCOL_TCP, ecn, length, (REMOTE, LOCAL));
    whole.extend_from_slice(&tcp);
    Ok(whole)
}

fn option_bytes(options: &[TcpOption], numbers: &Numbers) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let put = |bytes: &mut Vec<u8>, kind: u8, body: &[u8]| {
        bytes.extend_from_slice(&[kind, body.len() as u8 + 2]);
        bytes.extend_from_slice(body);
    };
    for option in options {
        match option {
            TcpOption::End => bytes.push(0),
            TcpOption::Nop => bytes.push(1),
            TcpOption::Mss(n) => put(&mut bytes, 2, &n.to_be_bytes()),
            TcpOption::WindowScale(n) => put(&mut bytes, 3, &[*n]),
            TcpOption::SackOk => put(&mut bytes, 4, &[]),
            TcpOption::Sack(blocks) => {
                let wire = |n: u32| numbers.theirs().to_wire(n, false).to_be_bytes();
                let body: Vec<u8> = blocks
                    .iter()
                    .flat_map(|&(start, end)| [wire(start), wire(end)].concat())
                    .collect();
                put(&mut bytes, 5, &body);
            }
            TcpOption::Timestamps(value, echo) => {
                let echo = if *echo == 0 { 0 } else { numbers.clocks.ours(*echo) };
                put(&mut bytes, 8, &[value.to_be_bytes(), echo.to_be_bytes()].concat());
            }
            TcpOption::Md5(digest) => put(&mut bytes, 19, digest),
            TcpOption::FastOpen(cookie) => put(&mut bytes, 34, cookie),
            TcpOption::FastOpenExperiment(cookie) => {
                put(&mut bytes, 254, &[&[0xf9, 0x89], &cookie[..]].concat());
            }
            TcpOption::AccEcn(order, counters) => {
                let kind = match order {
                    FieldOrder::Ect0First => 172,
                    FieldOrder::Ect1First => 174,
                };
                let body: Vec<u8> = counters.iter().flat_map(|n| n.to_be_bytes()[1..].to_vec()).collect();
                put(&mut bytes, kind, &body);
            }
            TcpOption::Other(word) => return Err(format!("the TCP option {word} is not known")),
        }
    }
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    if bytes.len() > 40 {
        return Err(format!(
            "the TCP options have {} bytes, but a header at most 40",
            bytes.len()
        ));
    }
    Ok(bytes)
}

/// A segment of the kernel, with the numbers of the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) ports: (u16, u16),
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) bits: u16,
    pub(crate) window: u16,
    pub(crate) urgent: u16,
    pub(crate) ecn: Ecn,
    pub(crate) len: u32,
    pub(crate) options: Vec<TcpOption>,
}

/// PSH and FIN.
pub(crate) const AT_THE_END: u16 = 9;
const SYN: u16 = 2;
const ACK: u16 = 16;
const URG: u16 = 32;

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

impl Segment {
    /// Reads a packet; `None` if it is no TCP segment from the kernel's address.
    pub(crate) fn read(packet: &[u8]) -> Option<Self> {
        let header = usize::from(packet.first()? & 15) * 4;
        let from_kernel = packet.get(12..16)? == LOCAL.octets();
        if packet[0] >> 4 != 4 || packet[9] != PROTOCOL_TCP || !from_kernel {
            return None;
        }
        let length = usize::from(be16(packet, 2)?);
        let tcp = packet.get(header..length)?;
        let bits = be16(tcp, 12)?;
        let data = usize::from(bits >> 12) * 4;
        Some(Self {
            ports: (be16(tcp, 0)?, be16(tcp, 2)?),
            seq: be32(tcp, 4)?,
            ack: be32(tcp, 8)?,
            bits: bits & 0x1ff,
            window: be16(tcp, 14)?,
            urgent: be16(tcp, 18)?,
            ecn: Ecn::from_bits(packet[1]),
            len: tcp.len().checked_sub(data)? as u32,
            options: read_options(tcp.get(TCP..data)?)?,
        })
    }

    pub(crate) fn is_syn(&self) -> bool {
        self.bits & SYN != 0
    }

    /// One past its last number on the wire.
    pub(crate) fn end(&self) -> u32 {
        self.seq.wrapping_add(self.len)
    }

    /// How a script writes it.
    pub(crate) fn script(&self, numbers: &Numbers) -> Packet {
        let mut flags: String = ['S', 'F', 'R', 'P', 'U', 'E', 'W', 'A', '.']
            .into_iter()
            .filter(|letter| flag_bits(&letter.to_string()) & self.bits != 0)
            .collect();
        if flags.is_empty() {
            flags.push('-');
        }
        let options = self.options.iter().cloned().map(|option| match option {
            TcpOption::Sack(blocks) => {
                let script = |n| numbers.ours().to_script(n, false);
                TcpOption::Sack(blocks.into_iter().map(|(a, b)| (script(a), script(b))).collect())
            }
            other => other,
        });
        Packet {
            ecn: Some(self.ecn),
            flags,
            start: numbers.theirs().to_script(self.seq, self.is_syn()),
            len: self.len,
            ack: (self.bits & ACK != 0).then(|| numbers.ours().to_script(self.ack, self.is_syn())),
            window: Some(self.window),
            urgent: (self.bits & URG != 0).then(|| u32::from(self.urgent)),
            options: Some(options.collect()),
        }
    }
}

fn read_options(mut bytes: &[u8]) -> Option<Vec<TcpOption>> {
    let mut options = Vec::new();
    while let Some(&kind) = bytes.first() {
        if kind <= 1 {
            options.push(if kind == 0 { TcpOption::End } else { TcpOption::Nop });
            bytes = &bytes[1..];
            continue;
        }
        let length = usize::from(*bytes.get(1)?);
        let body = bytes.get(2..length)?;
        options.push(match kind {
            2 => TcpOption::Mss(be16(body, 0)?),
            3 => TcpOption::WindowScale(*body.first()?),
            4 => TcpOption::SackOk,
            5 => {
                let block = |pair: &[u8]| Some((be32(pair, 0)?, be32(pair, 4)?));
                TcpOption::Sack(body.chunks(8).map(block).collect::<Option<_>>()?)
            }
            8 => TcpOption::Timestamps(be32(body, 0)?, be32(body, 4)?),
            19 => TcpOption::Md5(body.to_vec()),
            34 => TcpOption::FastOpen(body.to_vec()),
            254 if body.starts_with(&[0xf9, 0x89]) => TcpOption::FastOpenExperiment(body[2..].to_vec()),
            172 | 174 => {
                let order = if kind == 172 {
                    FieldOrder::Ect0First
                } else {
                    FieldOrder::Ect1First
                };
                let counters = body.chunks_exact(3).take(3);
                let counter = |n: &[u8]| u32::from_be_bytes([0, n[0], n[1], n[2]]);
                TcpOption::AccEcn(order, counters.map(counter).collect())
            }
            other => TcpOption::Other(format!("option {other}")),
        });
        bytes = &bytes[length..];
    }
    Some(options)
}

/// Codes of ICMP's destination unreachable (type 3) by packetdrill's names.
const CODES: [(&str, u8); 16] = [
    ("net_unreachable", 0),
    ("host_unreachable", 1),
    ("protocol_unreachable", 2),
    ("port_unreachable", 3),
    ("frag_needed", 4),
    ("source_route_failed", 5),
    ("net_unknown", 6),
    ("host_unknown", 7),
    ("source_host_isolated", 8),
    ("net_prohibited", 9),
    ("host_prohibited", 10),
    ("net_unreachable_for_tos", 11),
    ("host_unreachable_for_tos", 12),
    ("packet_filtered", 13),
    ("host_precedence_violation", 14),
    ("precedence_cutoff", 15),
];

/// An ICMP message about a segment of the kernel: `unreachable frag_needed mtu 1200 [1:1461(1460)]`.
///
/// # Errors
/// A clause that says what is not known.
pub(crate) fn icmp(rest: &str, numbers: &Numbers) -> Result<Vec<u8>, String> {
    let (before, echoed) = rest
        .split_once('[')
        .ok_or("the echoed segment is missing, such as [1:1001(1000)]")?;
    let mut words = before.split_whitespace();
    let kind = words.next().unwrap_or("");
    if kind != "unreachable" {
        return Err(format!("icmp {kind} is not known to sojourn-drill"));
    }
    let (mut code, mut mtu) = (0, 0_u16);
    while let Some(word) = words.next() {
        if word == "mtu" {
            mtu = words
                .next()
                .and_then(|n| n.parse().ok())
                .ok_or("mtu needs a number of at most 65535")?;
        } else {
            let known = CODES.iter().find(|one| one.0 == word);
            code = known
                .ok_or_else(|| format!("icmp unreachable {word} is not known to sojourn-drill"))?
                .1;
        }
    }
    let begin = echoed.split(':').next().and_then(|n| n.trim().parse::<u32>().ok());
    let begin = begin.ok_or("the echoed segment must begin with a number")?;
    let mut message = vec![3, code, 0, 0, 0, 0];
    message.extend_from_slice(&mtu.to_be_bytes());
    // The header that is echoed, and the first 8 bytes of the segment (RFC 792).
    message.extend_from_slice(&ip_header(PROTOCOL_TCP, 0, 1480, (LOCAL, REMOTE)));
    message.extend_from_slice(&numbers.local_port.unwrap_or(0).to_be_bytes());
    message.extend_from_slice(&numbers.remote_port.to_be_bytes());
    message.extend_from_slice(&numbers.theirs().to_wire(begin, false).to_be_bytes());
    let sum = checksum(&[&message]);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let mut packet = ip_header(PROTOCOL_ICMP, 0, message.len(), (REMOTE, LOCAL));
    packet.extend_from_slice(&message);
    Ok(packet)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers() -> Numbers {
        Numbers {
            local_port: Some(8080),
            remote_port: 40_000,
            local: Some(Begin::new(0, 1000)),
            ..Numbers::default()
        }
    }

    /// Source: the example of RFC 1071 section 3.
    #[test]
    fn the_checksum_is_that_of_the_rfc() {
        assert_eq!(checksum(&[&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]]), !0xddf2);
    }

    #[test]
    fn a_segment_has_the_bytes_of_its_options() {
        let packet = Packet {
            flags: "S".into(),
            options: Some(vec![
                TcpOption::Mss(1460),
                TcpOption::SackOk,
                TcpOption::Timestamps(10, 0),
                TcpOption::Nop,
                TcpOption::WindowScale(8),
            ]),
            ..Packet::default()
        };
        let bytes = segment(&packet, &mut numbers()).expect("it fits");
        // RFC 9293 section 3.1, RFC 2018 section 2, RFC 7323 sections 2.2 and 3.2.
        let options = [2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 10, 0, 0, 0, 0, 1, 3, 3, 8];
        assert_eq!(bytes[40..], options);
        assert_eq!(bytes.len(), 60);
        // A packet with its checksums sums up to nothing.
        assert_eq!(checksum(&[&bytes[..20]]), 0);
    }

    #[test]
    fn too_many_options_are_refused() {
        let packet = Packet {
            options: Some(vec![TcpOption::Md5(vec![0; 16]); 3]),
            ..Packet::default()
        };
        let sentence = segment(&packet, &mut numbers()).expect_err("it is too long");
        assert_eq!(sentence, "the TCP options have 56 bytes, but a header at most 40");
    }

    #[test]
    fn icmp_names_what_it_does_not_know() {
        assert!(icmp("unreachable frag_needed mtu 1200 [1:1461(1460)]", &numbers()).is_ok());
        for (rest, sentence) in [
            ("redirect [1:2(1)]", "icmp redirect is not known to sojourn-drill"),
            (
                "unreachable far [1:2(1)]",
                "icmp unreachable far is not known to sojourn-drill",
            ),
            ("unreachable", "the echoed segment is missing, such as [1:1001(1000)]"),
        ] {
            assert_eq!(icmp(rest, &numbers()), Err(sentence.to_string()));
        }
    }

    #[test]
    fn damaged_packets_are_no_segments() {
        let packet = Packet {
            flags: ".".into(),
            len: 3,
            ..Packet::default()
        };
        let mut bytes = segment(&packet, &mut numbers()).expect("it fits");
        bytes[12..16].copy_from_slice(&LOCAL.octets());
        assert!(Segment::read(&bytes).is_some());
        for cut in 0..bytes.len() {
            assert_eq!(Segment::read(&bytes[..cut]), None);
        }
    }
}
