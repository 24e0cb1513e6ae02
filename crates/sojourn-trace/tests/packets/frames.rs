//! Frames made by hand, field by field, and what the standards say is in them.

use sojourn_flusher::{Flags, Segment};
use sojourn_trace::{LinkType, Skip};
use std::net::SocketAddr;

/// A TCP header with these options (padded by hand), and `payload` bytes of 0x55.
pub(crate) fn tcp(flags: u8, options: &[u8], payload: usize) -> Vec<u8> {
    assert_eq!(options.len() % 4, 0);
    let mut bytes = vec![0xC3, 0x50, 0x01, 0xBB]; // 50000 to 443
    bytes.extend([0x80, 0x00, 0x00, 0x01, 0x00, 0x01, 0x02, 0x03]);
    bytes.extend([((20 + options.len()) * 4) as u8, flags, 0x01, 0xF5, 0, 0, 0, 0]);
    bytes.extend(options);
    bytes.resize(bytes.len() + payload, 0x55);
    bytes
}

/// 192.0.2.1 to 198.51.100.2, with `options` (a multiple of four) and `fragment` (flags and offset).
pub(crate) fn ipv4(protocol: u8, options: &[u8], fragment: u16, payload: &[u8]) -> Vec<u8> {
    let length = (20 + options.len() + payload.len()) as u16;
    let mut bytes = vec![0x45 + (options.len() / 4) as u8, 0];
    bytes.extend(length.to_be_bytes());
    bytes.extend([0x12, 0x34]);
    bytes.extend(fragment.to_be_bytes());
    bytes.extend([64, protocol, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2]);
    bytes.extend(options);
    bytes.extend(payload);
    bytes
}

/// 2001:db8::1 to 2001:db8::2; `payload` begins with the header of number `next`.
pub(crate) fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x60, 0, 0, 0];
    bytes.extend((payload.len() as u16).to_be_bytes());
    bytes.extend([next, 64]);
    for last in [1, 2] {
        bytes.extend([0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
    }
    bytes.extend(payload);
    bytes
}

/// Two addresses, then `tags` and types as they stand on the wire.
pub(crate) fn ethernet(types: &[u16], packet: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    bytes.extend(types.iter().flat_map(|t| t.to_be_bytes()));
    bytes.extend(packet);
    bytes
}

/// No operation twice, then time stamps 0x01020304 and 0x05060708.
pub(crate) const TIMESTAMPS: [u8; 12] = [1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8];
/// Time stamps, no operation twice, one SACK block.
pub(crate) const SACK: [u8; 24] = [
    1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 5, 10, 0, 0, 0, 9, 0, 0, 0, 10,
];
/// An experimental option (253) before the time stamps.
pub(crate) const UNKNOWN: [u8; 16] = [253, 4, 0, 0, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1];
/// A SYN's options: largest segment, SACK permitted, time stamps, no operation, window scale.
pub(crate) const SYN: [u8; 20] = [2, 4, 5, 0xB4, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7];

pub(crate) const ACK: u8 = 0x10;

/// What [`tcp`] says, between the hosts of [`ipv4`] or [`ipv6`].
pub(crate) fn expected(v6: bool, flags: u8, payload: u32, wire: u32, timestamps: Option<(u32, u32)>) -> Segment {
    let (src, dst) = if v6 {
        ("[2001:db8::1]:50000", "[2001:db8::2]:443")
    } else {
        ("192.0.2.1:50000", "198.51.100.2:443")
    };
    let parse = |text: &str| text.parse::<SocketAddr>().expect("an address");
    Segment {
        src: parse(src),
        dst: parse(dst),
        seq: 0x8000_0001,
        ack: 0x0001_0203,
        flags: Flags {
            fin: flags & 1 != 0,
            syn: flags & 2 != 0,
            rst: flags & 4 != 0,
            psh: flags & 8 != 0,
            ack: flags & 16 != 0,
        },
        payload,
        wire,
        window: 501,
        timestamps,
        sack: false,
        station: None,
    }
}

/// A frame, and what is in it.
pub(crate) struct Vector {
    pub(crate) name: &'static str,
    pub(crate) link: LinkType,
    pub(crate) frame: Vec<u8>,
    /// Bytes captured of it.
    pub(crate) captured: usize,
    pub(crate) holds: Result<Segment, Skip>,
}

fn vector(name: &'static str, link: LinkType, frame: Vec<u8>, holds: Result<Segment, Skip>) -> Vector {
    // The source address of the frames here, as their link layers have it; the others have none.
    let station = match link {
        LinkType::Ethernet => Some([2, 0, 0, 0, 0, 2, 0, 0]),
        LinkType::LinuxSll | LinkType::LinuxSll2 => Some([2, 0, 0, 0, 0, 1, 0, 0]),
        _ => None,
    };
    let holds = holds.map(|segment| Segment { station, ..segment });
    Vector {
        name,
        link,
        captured: frame.len(),
        frame,
        holds,
    }
}

fn cut(name: &'static str, frame: Vec<u8>, captured: usize, holds: Result<Segment, Skip>) -> Vector {
    Vector {
        captured,
        ..vector(name, LinkType::Ethernet, frame, holds)
    }
}

const STAMPS: Option<(u32, u32)> = Some((0x0102_0304, 0x0506_0708));

/// Frames with a segment in them.
#[expect(clippy::too_many_lines, reason = "a table")]
pub(crate) fn sound() -> Vec<Vector> {
    use LinkType::{Ethernet, Ipv4, Ipv6, LinuxSll, LinuxSll2, Null, Raw};
    let plain = ipv4(6, &[], 0x4000, &tcp(ACK, &TIMESTAMPS, 100));
    let six = ipv6(6, &tcp(ACK, &TIMESTAMPS, 100));
    let with_sack = |wire| Segment {
        sack: true,
        ..expected(false, ACK, 0, wire, STAMPS)
    };
    let v4 = || Ok(expected(false, ACK, 100, 152, STAMPS));
    let v6 = || Ok(expected(true, ACK, 100, 172, STAMPS));
    let sll = |protocol: u16| {
        let mut head = vec![0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0];
        head.extend(protocol.to_be_bytes());
        head
    };
    let sll2 = |protocol: u16| {
        let mut head = protocol.to_be_bytes().to_vec();
        head.extend([0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0]);
        head
    };
    let hops = [&[43, 0, 1, 4, 0, 0, 0, 0][..], &[60, 0, 0, 0, 0, 0, 0, 0]].concat();
    let chain = [&hops[..], &[6, 1, 1, 12], &[0; 12], &tcp(ACK, &TIMESTAMPS, 100)].concat();
    let first_fragment = [&[6, 0, 0, 1, 0, 0, 0, 7][..], &tcp(ACK, &TIMESTAMPS, 100)].concat();
    let authentic = [
        &[6, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1][..],
        &[7; 12],
        &tcp(ACK, &TIMESTAMPS, 100),
    ]
    .concat();
    let mut offloaded = plain.clone();
    offloaded[2..4].fill(0);
    let mut padded = ethernet(&[0x0800], &ipv4(6, &[], 0, &tcp(ACK, &[], 0)));
    padded.resize(60, 0);
    vec![
        vector("Ethernet, IPv4", Ethernet, ethernet(&[0x0800], &plain), v4()),
        vector("Ethernet, IPv6", Ethernet, ethernet(&[0x86DD], &six), v6()),
        vector("one VLAN tag", Ethernet, ethernet(&[0x8100, 7, 0x0800], &plain), v4()),
        vector(
            "stacked VLAN tags",
            Ethernet,
            ethernet(&[0x88A8, 100, 0x8100, 7, 0x86DD], &six),
            v6(),
        ),
        vector("cooked", LinuxSll, [&sll(0x0800)[..], &plain].concat(), v4()),
        vector("cooked, version 2", LinuxSll2, [&sll2(0x86DD)[..], &six].concat(), v6()),
        vector("raw IPv4", Raw, plain.clone(), v4()),
        vector("raw IPv6", Raw, six.clone(), v6()),
        vector("IPv4 alone", Ipv4, plain.clone(), v4()),
        vector("IPv6 alone", Ipv6, six.clone(), v6()),
        vector("null, little-endian", Null, [&[2, 0, 0, 0][..], &plain].concat(), v4()),
        vector(
            "null, big-endian, macOS",
            Null,
            [&[0, 0, 0, 30][..], &six].concat(),
            v6(),
        ),
        vector(
            "padded to the shortest frame",
            Ethernet,
            padded,
            Ok(expected(false, ACK, 0, 40, None)),
        ),
        vector(
            "IPv4 options",
            Ethernet,
            ethernet(&[0x0800], &ipv4(6, &[148, 4, 0, 0], 0, &tcp(ACK, &TIMESTAMPS, 100))),
            Ok(expected(false, ACK, 100, 156, STAMPS)),
        ),
        vector(
            "first fragment",
            Ethernet,
            ethernet(&[0x0800], &ipv4(6, &[], 0x2000, &tcp(ACK, &TIMESTAMPS, 100))),
            v4(),
        ),
        vector(
            "hop-by-hop, routing and destination options",
            Ethernet,
            ethernet(&[0x86DD], &ipv6(0, &chain)),
            Ok(expected(true, ACK, 100, 172 + 32, STAMPS)),
        ),
        vector(
            "first fragment, IPv6",
            Ethernet,
            ethernet(&[0x86DD], &ipv6(44, &first_fragment)),
            Ok(expected(true, ACK, 100, 172 + 8, STAMPS)),
        ),
        vector(
            "authentication header",
            Ethernet,
            ethernet(&[0x86DD], &ipv6(51, &authentic)),
            Ok(expected(true, ACK, 100, 172 + 24, STAMPS)),
        ),
        vector(
            "SACK",
            Ethernet,
            ethernet(&[0x0800], &ipv4(6, &[], 0, &tcp(ACK, &SACK, 0))),
            Ok(with_sack(64)),
        ),
        vector(
            "an unknown option before the time stamps",
            Ethernet,
            ethernet(&[0x0800], &ipv4(6, &[], 0, &tcp(ACK, &UNKNOWN, 5))),
            Ok(expected(false, ACK, 5, 61, STAMPS)),
        ),
        vector(
            "SYN",
            Ethernet,
            ethernet(&[0x0800], &ipv4(6, &[], 0, &tcp(0x02, &SYN, 0))),
            Ok(expected(false, 0x02, 0, 60, Some((0x0102_0304, 0)))),
        ),
        vector(
            "FIN, PSH",
            Ethernet,
            ethernet(&[0x0800], &ipv4(6, &[], 0, &tcp(0x19, &[], 9))),
            Ok(expected(false, 0x19, 9, 49, None)),
        ),
        vector(
            "RST",
            Ethernet,
            ethernet(&[0x0800], &ipv4(6, &[], 0, &tcp(0x14, &[], 0))),
            Ok(expected(false, 0x14, 0, 40, None)),
        ),
        vector(
            "before segmentation offload",
            Ethernet,
            ethernet(&[0x0800], &offloaded),
            v4(),
        ),
        cut("cut in the payload", ethernet(&[0x0800], &plain), 66, v4()),
        cut("cut behind the time stamps", ethernet(&[0x86DD], &six), 86, v6()),
        cut(
            "cut in the options",
            ethernet(&[0x0800], &plain),
            60,
            Ok(expected(false, ACK, 100, 152, None)),
        ),
    ]
}

/// Frames without one.
#[expect(clippy::too_many_lines, reason = "a table")]
pub(crate) fn unsound() -> Vec<Vector> {
    use LinkType::{Ethernet, Null, Other, Raw};
    let plain = ipv4(6, &[], 0, &tcp(ACK, &TIMESTAMPS, 100));
    let change = |at: usize, to: u8| {
        let mut packet = plain.clone();
        packet[at] = to;
        packet
    };
    let six = |next, payload: &[u8]| ethernet(&[0x86DD], &ipv6(next, payload));
    let four = |packet: &[u8]| ethernet(&[0x0800], packet);
    let options = [60, 0, 0, 0, 0, 0, 0, 0].repeat(9);
    vec![
        vector("another link type", Other(147), plain.clone(), Err(Skip::LinkType)),
        vector("ARP", Ethernet, ethernet(&[0x0806], &[0; 28]), Err(Skip::NotIp)),
        vector("802.3", Ethernet, ethernet(&[0x0026], &[0x42; 38]), Err(Skip::NotIp)),
        vector("AppleTalk loopback", Null, vec![16, 0, 0, 0, 1, 2], Err(Skip::NotIp)),
        vector("UDP", Ethernet, four(&ipv4(17, &[], 0, &[0; 8])), Err(Skip::NotTcp)),
        vector("ESP", Ethernet, six(50, &[0; 20]), Err(Skip::NotTcp)),
        vector("no next header", Ethernet, six(59, &[]), Err(Skip::NotTcp)),
        vector(
            "later fragment",
            Ethernet,
            four(&ipv4(6, &[], 0x0010, &[0; 64])),
            Err(Skip::LaterFragment),
        ),
        vector(
            "later fragment, IPv6",
            Ethernet,
            six(44, &[&[6, 0, 0, 8, 0, 0, 0, 7][..], &[0; 40]].concat()),
            Err(Skip::LaterFragment),
        ),
        cut("cut in the TCP header", four(&plain), 53, Err(Skip::Cut)),
        cut("cut in the IP header", four(&plain), 33, Err(Skip::Cut)),
        cut("cut in the Ethernet header", four(&plain), 13, Err(Skip::Cut)),
        cut("nothing captured", four(&plain), 0, Err(Skip::Cut)),
        vector("an empty frame", Ethernet, vec![], Err(Skip::Short)),
        vector("half an Ethernet header", Ethernet, vec![0; 10], Err(Skip::Short)),
        vector("no IP header", Ethernet, ethernet(&[0x0800], &[]), Err(Skip::Short)),
        vector(
            "a tag and no more",
            Ethernet,
            ethernet(&[0x8100, 1], &[]),
            Err(Skip::Short),
        ),
        vector(
            "a packet longer than its frame",
            Ethernet,
            four(&change(3, 200)),
            Err(Skip::Short),
        ),
        vector(
            "five tags",
            Ethernet,
            ethernet(&[0x8100, 1, 0x8100, 2, 0x8100, 3, 0x8100, 4, 0x8100, 5, 0x0800], &plain),
            Err(Skip::VlanTags),
        ),
        vector("version 5", Raw, change(0, 0x55), Err(Skip::IpVersion)),
        vector(
            "version 6 in an IPv4 frame",
            Ethernet,
            four(&change(0, 0x65)),
            Err(Skip::IpVersion),
        ),
        vector(
            "a header of 16 bytes",
            Ethernet,
            four(&change(0, 0x44)),
            Err(Skip::IpHeaderLength),
        ),
        vector(
            "a packet shorter than its header",
            Ethernet,
            four(&change(3, 19)),
            Err(Skip::IpHeaderLength),
        ),
        vector(
            "nine extension headers",
            Ethernet,
            six(60, &options),
            Err(Skip::ExtensionHeaders),
        ),
        vector(
            "an extension header longer than its packet",
            Ethernet,
            six(0, &[6, 200, 0, 0, 0, 0, 0, 0]),
            Err(Skip::ExtensionHeaders),
        ),
        vector(
            "a TCP header of 16 bytes",
            Ethernet,
            four(&change(32, 0x40)),
            Err(Skip::TcpHeaderLength),
        ),
        vector(
            "a TCP header longer than its packet",
            Ethernet,
            four(&ipv4(6, &[], 0, &{
                let mut header = tcp(ACK, &[], 0);
                header[12] = 0xF0;
                header
            })),
            Err(Skip::TcpHeaderLength),
        ),
        vector(
            "a packet without room for a TCP header",
            Ethernet,
            four(&ipv4(6, &[], 0, &[0; 19])),
            Err(Skip::TcpHeaderLength),
        ),
    ]
}
