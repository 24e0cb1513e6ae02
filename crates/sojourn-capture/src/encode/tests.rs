use super::*;
use etherparse::{NetHeaders, PacketHeaders, TransportHeader};
use proptest::prelude::*;
use sojourn_tcp::{AccEcnOption, FieldOrder, SackBlock};
use sojourn_units::Time;

fn conversation(protocol: Protocol, client_opens: bool) -> Conversation {
    Conversation {
        name: "flow".into(),
        number: 260,
        client_opens,
        protocol,
        hashes: [0xffff_fff0, 7],
        port: 0xffff_fff0,
        hosts: None,
        dscp: 0,
    }
}

fn frame(c: &Conversation, point: Point, from_opener: bool, size: u16, body: Body) -> Frame<'_> {
    Frame {
        at: Time::ZERO,
        place: 0,
        point,
        outgoing: from_opener == c.client_opens,
        conversation: c,
        from_opener,
        dscp: c.dscp,
        size,
        body,
    }
}

/// The whole frame, payload and all.
fn bytes(frame: &Frame<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode(frame, &mut out);
    out.resize(usize::from(frame.size), 0);
    out
}

const TCP: Protocol = Protocol::Tcp { mss: 1448, web: false };

/// The one's complement sum of RFC 1071 over 16-bit words, done by hand; 0xffff for data with a valid checksum in it.
fn ones_sum(parts: &[&[u8]]) -> u32 {
    let mut sum = 0;
    for part in parts {
        for word in part.chunks(2) {
            sum += u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0));
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}

fn assert_checksums(b: &[u8]) {
    assert_eq!(ones_sum(&[&b[14..34]]), 0xffff, "IPv4 header");
    let protocol = b[23];
    let length = (b.len() - 34) as u16;
    let pseudo = [&b[26..34], &[0, protocol], &length.to_be_bytes()].concat();
    let sum = if protocol == 1 {
        ones_sum(&[&b[34..]])
    } else {
        ones_sum(&[&pseudo, &b[34..]])
    };
    assert_eq!(sum, 0xffff, "protocol {protocol}");
}

#[test]
fn a_data_segment_is_a_full_frame_with_the_low_bits_of_its_numbers() {
    let c = conversation(TCP, true);
    let segment = Segment {
        seq: (5 << 32) + 0x20,
        ack: 1,
        ts_val: 1000,
        ts_ecr: 900,
        window: 500,
        len: 1448,
        flags: Flags::ACK | Flags::ECT0 | Flags::CE,
        ..Segment::default()
    };
    let b = bytes(&frame(
        &c,
        Point::UpBottleneck,
        true,
        segment.wire_size(),
        Body::Tcp(segment),
    ));
    assert_eq!(b.len(), 1514);
    assert_checksums(&b);
    let read = PacketHeaders::from_ethernet_slice(&b).expect("a frame");
    let Some(NetHeaders::Ipv4(ip, _)) = &read.net else {
        panic!("no IPv4 header")
    };
    assert_eq!((ip.source, ip.destination), ([10, 0, 1, 11], [10, 1, 1, 11]));
    assert_eq!((ip.time_to_live, ip.dont_fragment), (63, true));
    assert_eq!(ip.ecn, IpEcn::CongestionExperienced);
    let Some(TransportHeader::Tcp(tcp)) = &read.transport else {
        panic!("no TCP header")
    };
    assert_eq!(
        tcp.sequence_number, 0x10,
        "the initial number 0xfffffff0 plus 0x20 wraps"
    );
    assert_eq!((tcp.acknowledgment_number, tcp.window_size), (8, 500));
    assert_eq!((tcp.ack, tcp.syn, tcp.ece), (true, false, false));
    assert_eq!(read.payload.slice(), &[0; 1448]);
    assert_eq!(&tcp.options.as_slice()[..4], &[1, 1, 8, 10]);
}

#[test]
fn a_handshake_has_the_options_of_linux_and_an_unscaled_window() {
    let c = conversation(Protocol::Tcp { mss: 1448, web: false }, false);
    let syn = Segment {
        flags: Flags::SYN | Flags::ECE | Flags::CWR,
        window: 24_576,
        ts_val: 0x0102_0304,
        ..Segment::default()
    };
    let b = bytes(&frame(&c, Point::Server, true, syn.wire_size(), Body::Tcp(syn)));
    assert_eq!(b.len(), 74);
    assert_checksums(&b);
    assert_eq!(&b[26..34], &[10, 1, 1, 11, 10, 0, 1, 11], "the server opens");
    // MSS 1460, SACK permitted, timestamps, no-op, window scale 8.
    let options = [2, 4, 5, 180, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 8];
    assert_eq!(&b[54..], &options);
    assert_eq!(&b[48..50], &[0xff, 0xff], "24,576 times 256 does not fit 16 bits");
    assert_eq!(b[47], 0x02 | 0x40 | 0x80, "SYN, ECE and CWR");
    let answer = Segment {
        flags: Flags::SYN | Flags::ACK | Flags::ECE,
        ack: 1,
        ..syn
    };
    let b = bytes(&frame(&c, Point::Server, false, 74, Body::Tcp(answer)));
    assert_eq!(b[47], 0x02 | 0x10 | 0x40, "SYN, ACK and ECE");
    assert_eq!(&b[38..46], &[0, 0, 0, 7, 0xff, 0xff, 0xff, 0xf1]);
}

#[test]
fn an_acknowledgement_with_three_blocks_is_94_bytes() {
    let c = conversation(TCP, true);
    let block = |start, end| SackBlock { start, end };
    let ack = Segment {
        seq: 1,
        ack: 100,
        flags: Flags::ACK,
        sack: [block(-50, -20), block(10, 20), block(30, 40)],
        sack_count: 3,
        ..Segment::default()
    };
    let b = bytes(&frame(&c, Point::Client, false, ack.wire_size(), Body::Tcp(ack)));
    assert_eq!(b.len(), 94);
    assert_checksums(&b);
    assert_eq!(&b[66..70], &[1, 1, 5, 26]);
    // 0xfffffff0 + 100 = 84; the first block reports a duplicate below it.
    let edges: Vec<u32> = b[70..]
        .chunks(4)
        .map(|w| u32::from_be_bytes([w[0], w[1], w[2], w[3]]))
        .collect();
    assert_eq!(edges, [34, 64, 94, 104, 114, 124]);
}

#[test]
fn echoes_and_datagrams_are_what_ping_and_netperf_send() {
    let ping = conversation(Protocol::Icmp, true);
    for (from_opener, kind) in [(true, 8), (false, 0)] {
        let b = bytes(&frame(&ping, Point::Client, from_opener, 98, Body::Probe(65_537)));
        assert_checksums(&b);
        assert_eq!((b[34], &b[38..42]), (kind, &[0xff, 0xf0, 0, 1][..]));
    }
    let udp = conversation(Protocol::UdpEcho, true);
    let there = bytes(&frame(&udp, Point::Client, true, 60, Body::Probe(3)));
    let back = bytes(&frame(&udp, Point::Client, false, 60, Body::Probe(3)));
    assert_checksums(&there);
    assert_checksums(&back);
    assert_eq!(there[36..38], [0, 7]);
    assert_eq!((&there[34..36], &there[36..38]), (&back[36..38], &back[34..36]));
    let port = u16::from_be_bytes([there[34], there[35]]);
    assert!((32_768..=60_999).contains(&port));
}

#[test]
fn a_segment_that_closes_has_fin_and_its_number() {
    let c = conversation(Protocol::Tcp { mss: 1448, web: true }, true);
    let fin = Segment {
        seq: 0x21,
        ack: 1,
        flags: Flags::ACK | Flags::FIN,
        ..Segment::default()
    };
    let b = bytes(&frame(&c, Point::Client, true, fin.wire_size(), Body::Tcp(fin)));
    assert_eq!(b.len(), 66);
    assert_checksums(&b);
    assert_eq!(b[47], 0x01 | 0x10, "FIN and ACK");
    assert_eq!(&b[38..42], &0x11u32.to_be_bytes());
    assert_eq!(&b[36..38], &80u16.to_be_bytes());
}

/// The ports of consecutive connections are those of RFC 6056 section 3.3.3: one after the other, round the range.
#[test]
fn connections_of_the_same_hosts_have_ports_of_their_own() {
    let first = conversation(Protocol::Tcp { mss: 1448, web: true }, true);
    let ports: std::collections::BTreeSet<u16> = (0..28_232u32)
        .map(|n| {
            ports(
                &Conversation {
                    port: 7 + n,
                    ..first.clone()
                },
                true,
            )[0]
        })
        .collect();
    assert_eq!(
        (ports.len(), ports.first(), ports.last()),
        (28_232, Some(&32_768), Some(&60_999))
    );
}

/// By RFC 3550 section 5.1: packet 65,539 of G.711 in frames of 20 ms has sequence number 3 and timestamp 160 *
/// 65,539.
#[test]
fn voice_has_an_rtp_header_if_it_counts_one() {
    let voice = |headers| sojourn_scenario::Voice {
        codec: sojourn_scenario::Codec::G711,
        frame: sojourn_units::Duration::from_millis(20),
        bitrate: sojourn_units::Rate::from_bps(64_000),
        headers,
    };
    let c = conversation(Protocol::Voice(voice(40)), true);
    let b = bytes(&frame(&c, Point::Client, true, 214, Body::Probe(65_539)));
    assert_checksums(&b);
    assert_eq!(b[36..38], 5004u16.to_be_bytes());
    assert_eq!(b[42..46], [0x80, 0, 0, 3]);
    assert_eq!(b[46..50], (160u32 * 65_539).to_be_bytes());
    assert_eq!(b[50..54], [0xff, 0xff, 0xff, 0xf0]);
    assert_eq!(b[54..], [0; 160]);
    let c = conversation(Protocol::Voice(voice(28)), true);
    let b = bytes(&frame(&c, Point::Client, true, 202, Body::Probe(65_539)));
    assert_checksums(&b);
    assert_eq!(b[42..], [0; 160]);
}

/// The sizes are those that the simulation gives a look-up of a name of 14 letters.
#[test]
fn a_look_up_fills_its_frame_and_answers_with_the_server() {
    let c = conversation(Protocol::Dns, true);
    let there = bytes(&frame(
        &c,
        Point::Client,
        true,
        sojourn_sim::traffic::web::DNS_QUERY,
        Body::Probe(258),
    ));
    let back = bytes(&frame(
        &c,
        Point::Client,
        false,
        sojourn_sim::traffic::web::DNS_ANSWER,
        Body::Probe(258),
    ));
    assert_checksums(&there);
    assert_checksums(&back);
    assert_eq!(
        (&there[30..34], &back[26..30]),
        (&[10, 2, 1, 11][..], &[10, 2, 1, 11][..])
    );
    assert_eq!((&there[36..38], &there[42..44]), (&[0, 53][..], &[1, 2][..]));
    assert_eq!(&there[54..58], &[2, b'w', b'3', 7]);
    assert_eq!(
        &there[69..],
        &[0, 0, 1, 0, 1],
        "the root, type A, class IN, and nothing more"
    );
    assert_eq!(&back[86..], &[10, 1, 1, 11]);
}

proptest! {
    #[test]
    fn every_segment_has_its_size_and_valid_checksums(
        seq in any::<u64>(), ack in any::<u64>(), ts in any::<(u32, u32)>(), window in any::<u16>(), len in 0u16..=8948,
        sack in any::<[(i32, i32); 3]>(), sack_count in 0u8..=3, hashes in any::<[u32; 2]>(), from_opener in any::<bool>(),
        syn in any::<bool>(), has_accecn in any::<bool>(), accecn in prop::collection::vec(any::<u32>(), 0..=3),
    ) {
        // As many as fit beside timestamps and SACK blocks.
        let fields = if syn { accecn.len() } else { accecn.len().min(3 - usize::from(sack_count.min(3))) };
        let accecn = if has_accecn {
            AccEcnOption::new(FieldOrder::Ect1First, &accecn[..fields])
        } else {
            AccEcnOption::NONE
        };
        let segment = Segment {
            seq, ack, ts_val: ts.0, ts_ecr: ts.1, window, window_rest: 0,
            len: if syn { 0 } else { len },
            sack: sack.map(|(start, end)| SackBlock { start, end }),
            sack_count: if syn { 0 } else { sack_count },
            flags: if syn { Flags::SYN } else { Flags::ACK },
            accecn,
        };
        let c = Conversation { hashes, ..conversation(Protocol::Tcp { mss: 8948, web: false }, true) };
        let f = frame(&c, Point::Client, from_opener, segment.wire_size(), Body::Tcp(segment));
        let mut head = Vec::new();
        encode(&f, &mut head);
        prop_assert_eq!(head.len() + usize::from(segment.len), usize::from(f.size));
        assert_checksums(&bytes(&f));
    }

    #[test]
    fn every_probe_has_its_size_and_valid_checksums(size in 60u16..=1514, number in any::<u32>(), hash in any::<u32>(),
        kind in 0usize..3, from_opener in any::<bool>()) {
        let protocol = [Protocol::Icmp, Protocol::UdpEcho, Protocol::Udp][kind];
        let c = Conversation { hashes: [hash, 1], port: hash, ..conversation(protocol, true) };
        assert_checksums(&bytes(&frame(&c, Point::Server, from_opener, size, Body::Probe(number))));
    }
}

/// By RFC 2474 section 3 the code point is the upper six bits of the second octet; RFC 3168 has the lower two.
#[test]
fn packets_have_the_addresses_of_their_hosts_and_their_code_point() {
    let c = Conversation {
        hosts: Some([1, 2]),
        dscp: 46,
        ..conversation(TCP, true)
    };
    let segment = Segment {
        flags: Flags::ACK | Flags::ECT0,
        len: 1448,
        ..Segment::default()
    };
    for (from_opener, addresses) in [(true, [10, 0, 0, 2, 10, 1, 0, 3]), (false, [10, 1, 0, 3, 10, 0, 0, 2])] {
        let b = bytes(&frame(
            &c,
            Point::Client,
            from_opener,
            segment.wire_size(),
            Body::Tcp(segment),
        ));
        assert_checksums(&b);
        assert_eq!(b[26..34], addresses);
        assert_eq!(b[15], 46 << 2 | 2);
    }
    let washed = Frame {
        dscp: 0,
        ..frame(&c, Point::Server, true, segment.wire_size(), Body::Tcp(segment))
    };
    assert_eq!(bytes(&washed)[15], 2, "a discipline has set it to 0 on the way");
}
