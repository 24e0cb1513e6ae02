//! From a frame to the TCP segment in it.
//!
//! Source: RFC 791 section 3.1; RFC 8200 sections 3 and 4; RFC 4302 section 2; RFC 9293 section 3.1; RFC 7323 section
//! 3.2 and RFC 2018 section 3 (options).

use crate::link::Announced;
use crate::{LinkType, Skip};
use etherparse::err::ipv4::{HeaderError, HeaderSliceError};
use etherparse::{IpNumber, Ipv4HeaderSlice, Ipv6HeaderSlice};
use sojourn_flusher::{Flags, Segment};
use std::net::{IpAddr, SocketAddr};

const EXTENSION_HEADERS: usize = 8;
const TCP_HEADER: usize = 20;

/// A packet's addresses and where its payload is.
pub(crate) struct Ip {
    pub(crate) src: IpAddr,
    pub(crate) dst: IpAddr,
    pub(crate) protocol: IpNumber,
    /// Of IPv4.
    pub(crate) identification: Option<u16>,
    /// Length of the whole packet by its header, bytes.
    pub(crate) length: usize,
    /// Where the payload begins in it.
    pub(crate) payload: usize,
}

/// Which protocols a caller reads.
type Takes = fn(IpNumber) -> bool;

/// The TCP segment in a frame of `wire` bytes, of which the capture kept `frame`.
///
/// Lengths are those of the IP header, so that a cut frame counts in full. A length of 0, which kernels hand to a
/// capture before segmentation offload (and IPv6 jumbograms have), is replaced by that of the frame. Neither checksum
/// is verified: a sender's own capture sees them before the network card fills them in. Of a fragmented packet the
/// first fragment is a segment of what that fragment carries. Options are read as far as they were captured and are
/// well formed.
///
/// # Errors
/// Why it is none.
pub fn segment(link: LinkType, frame: &[u8], wire: u32) -> Result<Segment, Skip> {
    let (ip, packet, short) = ip(link, frame, wire, |protocol| protocol == IpNumber::TCP)?;
    let segment = tcp(&ip, packet, short)?;
    Ok(Segment {
        station: link.station(frame),
        ..segment
    })
}

/// The IP packet in a frame: its header, what was captured of it, and what it is to be called if that is too little.
/// A protocol that is not taken is [`Skip::NotTcp`].
pub(crate) fn ip(link: LinkType, frame: &[u8], wire: u32, takes: Takes) -> Result<(Ip, &[u8], Skip), Skip> {
    let wire = frame.len().max(wire as usize);
    let short = if frame.len() < wire { Skip::Cut } else { Skip::Short };
    let (announced, start) = link.strip(frame).map_err(|skip| skip.unwrap_or(short))?;
    let packet = frame.get(start..).ok_or(short)?;
    let on_the_wire = wire - start;
    let version = packet.first().ok_or(short)? >> 4;
    let ip = match (version, announced) {
        (4, Announced::V4 | Announced::Either) => v4(packet, on_the_wire, short, takes)?,
        (6, Announced::V6 | Announced::Either) => v6(packet, on_the_wire, short, takes)?,
        _ => return Err(Skip::IpVersion),
    };
    // More than the frame has room for is not a matter of what was captured.
    if ip.length > on_the_wire {
        return Err(Skip::Short);
    }
    let captured = &packet[..packet.len().min(ip.length)];
    Ok((ip, captured, short))
}

fn v4(packet: &[u8], on_the_wire: usize, short: Skip, takes: Takes) -> Result<Ip, Skip> {
    let header = Ipv4HeaderSlice::from_slice(packet).map_err(|e| match e {
        HeaderSliceError::Len(_) => short,
        HeaderSliceError::Content(HeaderError::UnexpectedVersion { .. }) => Skip::IpVersion,
        HeaderSliceError::Content(HeaderError::HeaderLengthSmallerThanHeader { .. }) => Skip::IpHeaderLength,
    })?;
    let payload = header.slice().len();
    let length = match usize::from(header.total_len()) {
        0 => on_the_wire,
        length => length,
    };
    if length < payload {
        return Err(Skip::IpHeaderLength);
    }
    if !takes(header.protocol()) {
        return Err(Skip::NotTcp);
    }
    if header.fragments_offset().value() > 0 {
        return Err(Skip::LaterFragment);
    }
    Ok(Ip {
        src: header.source_addr().into(),
        dst: header.destination_addr().into(),
        protocol: header.protocol(),
        identification: Some(header.identification()),
        length,
        payload,
    })
}

fn v6(packet: &[u8], on_the_wire: usize, short: Skip, takes: Takes) -> Result<Ip, Skip> {
    let header = Ipv6HeaderSlice::from_slice(packet).map_err(|_| short)?;
    let length = match usize::from(header.payload_length()) {
        0 => on_the_wire,
        length => header.slice().len() + length,
    };
    let (mut next, mut at) = (header.next_header(), header.slice().len());
    for _ in 0..=EXTENSION_HEADERS {
        let unit = match next {
            protocol if takes(protocol) => {
                return Ok(Ip {
                    src: header.source_addr().into(),
                    dst: header.destination_addr().into(),
                    protocol,
                    identification: None,
                    length,
                    payload: at,
                });
            }
            IpNumber::IPV6_HEADER_HOP_BY_HOP
            | IpNumber::IPV6_ROUTE_HEADER
            | IpNumber::IPV6_DESTINATION_OPTIONS
            | IpNumber::MOBILITY_HEADER
            | IpNumber::HIP
            | IpNumber::SHIM6 => 8,
            IpNumber::IPV6_FRAGMENTATION_HEADER => 0,
            // Counted in units of four bytes, less two (RFC 4302 section 2.2).
            IpNumber::AUTHENTICATION_HEADER => 4,
            _ => return Err(Skip::NotTcp),
        };
        if at + 8 > length {
            return Err(Skip::ExtensionHeaders);
        }
        let extension = packet.get(at..at + 8).ok_or(short)?;
        if unit == 0 && u16::from_be_bytes([extension[2], extension[3]]) >> 3 > 0 {
            return Err(Skip::LaterFragment);
        }
        next = IpNumber(extension[0]);
        at += 8 + unit * usize::from(extension[1]);
        if at > length {
            return Err(Skip::ExtensionHeaders);
        }
    }
    Err(Skip::ExtensionHeaders)
}

/// The fixed part of the TCP header that `bytes` begin with, and the length of the whole header. The IP packet has
/// `room` for it.
pub(crate) fn tcp_header(bytes: &[u8], room: usize, short: Skip) -> Result<(&[u8; TCP_HEADER], usize), Skip> {
    if room < TCP_HEADER {
        return Err(Skip::TcpHeaderLength);
    }
    let fixed = bytes.first_chunk().ok_or(short)?;
    let length = usize::from(fixed[12] >> 4) * 4;
    if !(TCP_HEADER..=room).contains(&length) {
        return Err(Skip::TcpHeaderLength);
    }
    Ok((fixed, length))
}

/// `packet` is what was captured of the IP packet.
fn tcp(ip: &Ip, packet: &[u8], short: Skip) -> Result<Segment, Skip> {
    let room = ip.length - ip.payload;
    let bytes = packet.get(ip.payload..).unwrap_or_default();
    let (header, length) = tcp_header(bytes, room, short)?;
    let half = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let word = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let flag = |bit: u8| header[13] & bit != 0;
    let (timestamps, sack) = options(&bytes[TCP_HEADER..bytes.len().min(length)]);
    Ok(Segment {
        src: SocketAddr::new(ip.src, half(0)),
        dst: SocketAddr::new(ip.dst, half(2)),
        seq: word(4),
        ack: word(8),
        flags: Flags {
            fin: flag(0x01),
            syn: flag(0x02),
            rst: flag(0x04),
            psh: flag(0x08),
            ack: flag(0x10),
        },
        // Both fit: an IP packet as long as a frame of a capture file has fewer than 2^32 bytes.
        payload: (room - length) as u32,
        wire: ip.length as u32,
        window: half(14),
        timestamps,
        sack,
        station: None,
    })
}

/// Time stamps, and whether there are SACK blocks. What stands behind an option that is cut or has an impossible
/// length is not read.
fn options(mut bytes: &[u8]) -> (Option<(u32, u32)>, bool) {
    const END: u8 = 0;
    const NO_OPERATION: u8 = 1;
    const SACK: u8 = 5;
    const TIMESTAMPS: u8 = 8;
    let (mut timestamps, mut sack) = (None, false);
    loop {
        let option = match *bytes {
            [] | [END, ..] => break,
            [NO_OPERATION, ref rest @ ..] => {
                bytes = rest;
                continue;
            }
            [_, length, ..] if length >= 2 && usize::from(length) <= bytes.len() => &bytes[..usize::from(length)],
            _ => break,
        };
        match *option {
            [TIMESTAMPS, 10, ref both @ ..] => {
                if let ([value, echo], []) = both.as_chunks::<4>() {
                    timestamps = Some((u32::from_be_bytes(*value), u32::from_be_bytes(*echo)));
                }
            }
            [SACK, 10 | 18 | 26 | 34, ..] => sack = true,
            _ => {}
        }
        bytes = &bytes[option.len()..];
    }
    (timestamps, sack)
}
