use super::*;
use proptest::prelude::*;

const KNOWN: Known = Known {
    flows: 3,
    probes: 2,
    web: 1,
    downloads: 2,
    flusher: true,
};

/// A frame by hand: Ethernet (destination, source, type), then the IPv4 header of RFC 791 section 3.1 from 10.0.1.1
/// to 10.0.4.11, then what follows it.
fn frame(protocol: u8, identification: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let total = 20 + payload.len() as u16;
    bytes.extend([0x45, 0x00]);
    bytes.extend(total.to_be_bytes());
    bytes.extend(identification.to_be_bytes());
    // Don't fragment; time to live; protocol; checksum.
    bytes.extend([0x40, 0, 64, protocol, 0xab, 0xcd]);
    bytes.extend([10, 0, 1, 1, 10, 0, 4, 11]);
    bytes.extend(payload);
    bytes
}

/// A TCP segment (RFC 9293 section 3.1) of 20 bytes of header, with a time-stamp option (RFC 7323) if there is one.
fn tcp(ports: [u16; 2], seq: u32, ack: u32, flags: u8, stamp: Option<u32>, payload: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(ports[0].to_be_bytes());
    bytes.extend(ports[1].to_be_bytes());
    bytes.extend(seq.to_be_bytes());
    bytes.extend(ack.to_be_bytes());
    bytes.extend([
        if stamp.is_some() { 0x80 } else { 0x50 },
        flags,
        0xff,
        0xff,
        0x12,
        0x34,
        0,
        0,
    ]);
    if let Some(stamp) = stamp {
        bytes.extend([1, 1, 8, 10]);
        bytes.extend(stamp.to_be_bytes());
        bytes.extend([0, 0, 0, 0]);
    }
    bytes.resize(bytes.len() + payload, 0x55);
    bytes
}

const SYN: u8 = 2;
const ACK: u8 = 16;

/// A UDP datagram (RFC 768).
fn udp(ports: [u16; 2], payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(ports[0].to_be_bytes());
    bytes.extend(ports[1].to_be_bytes());
    bytes.extend((8 + payload.len() as u16).to_be_bytes());
    bytes.extend([0x43, 0x21]);
    bytes.extend(payload);
    bytes
}

/// An echo message (RFC 792).
fn echo(kind: u8, identifier: u16, sequence: u16) -> Vec<u8> {
    let mut bytes = vec![kind, 0, 0x98, 0x76];
    bytes.extend(identifier.to_be_bytes());
    bytes.extend(sequence.to_be_bytes());
    bytes.extend(b"payload");
    bytes
}

fn read(frame: &[u8]) -> Parsed {
    parse(&frame[..frame.len().min(SNAP)], &KNOWN)
}

#[test]
fn a_data_segment_is_of_the_flow_whose_port_it_goes_to() {
    let p = read(&frame(6, 7, &tcp([40_000, 10_002], 1, 2, ACK, Some(3), 1448)));
    assert_eq!(p.conversation, Conversation::Flow(2));
    assert_eq!((p.data, p.syn, p.marked), (true, false, false));
}

#[test]
fn an_acknowledgement_comes_from_the_port_of_its_flow_and_has_no_data() {
    for stamp in [None, Some(9)] {
        let p = read(&frame(6, 7, &tcp([10_000, 40_000], 1, 2, ACK, stamp, 0)));
        assert_eq!(p.conversation, Conversation::Flow(0));
        assert_eq!((p.data, p.syn, p.marked), (false, false, false));
        let p = read(&frame(6, 7, &tcp([10_000, 40_000], 1, 2, ACK, stamp, 1)));
        assert!(p.data);
    }
}

#[test]
fn syn_and_syn_ack_are_told() {
    for flags in [SYN, SYN | ACK] {
        let p = read(&frame(6, 7, &tcp([40_000, 25_000], 1, 0, flags, Some(1), 0)));
        assert_eq!((p.conversation, p.data, p.syn), (Conversation::Web(0), false, true));
    }
}

/// RFC 3168 section 5: the last two bits of the type of service are 11.
#[test]
fn only_congestion_experienced_is_a_mark() {
    for (bits, marked) in [(0, false), (1, false), (2, false), (3, true)] {
        let mut bytes = frame(6, 7, &tcp([40_000, 10_000], 1, 2, ACK, None, 5));
        bytes[15] = 0xb8 | bits;
        assert_eq!(read(&bytes).marked, marked);
    }
}

#[test]
fn conversations_follow_from_protocol_and_port() {
    let udp_of = |source, destination| read(&frame(17, 1, &udp([source, destination], b"12345678"))).conversation;
    let tcp_of = |port| read(&frame(6, 1, &tcp([40_000, port], 1, 2, ACK, None, 0))).conversation;
    let icmp_of = |kind, identifier| read(&frame(1, 1, &echo(kind, identifier, 1))).conversation;
    assert_eq!(udp_of(40_000, 20_001), Conversation::Probe(1));
    assert_eq!(udp_of(20_000, 40_000), Conversation::Probe(0));
    assert_eq!(udp_of(40_000, 10_000), Conversation::Flow(0));
    assert_eq!(udp_of(28_000, 40_000), Conversation::Dns(0));
    // A burst of a flusher goes to the port discard; the port it comes from is no one's. Without a flusher it is none
    // of ours.
    let burst = frame(17, 0, &udp([40_000, 9], b"12345678"));
    assert_eq!(read(&burst).conversation, Conversation::Flush);
    assert_eq!(udp_of(9, 40_000), Conversation::Other);
    let without = Known {
        flusher: false,
        ..KNOWN
    };
    assert_eq!(parse(&burst, &without).conversation, Conversation::Other);
    assert_eq!(icmp_of(8, 20_001), Conversation::Probe(1));
    assert_eq!(icmp_of(0, 20_000), Conversation::Probe(0));
    // Beyond the plan, of another protocol, or none of ours.
    for other in [
        udp_of(40_000, 20_002),
        udp_of(40_000, 10_003),
        udp_of(40_000, 28_001),
        udp_of(40_000, 31_000),
        tcp_of(9),
        tcp_of(10_003),
        tcp_of(20_000),
        tcp_of(25_001),
        tcp_of(9_999),
        icmp_of(8, 19_999),
        icmp_of(8, 28_000),
        icmp_of(3, 20_000),
        read(&frame(47, 1, b"something else")).conversation,
        read(b"short").conversation,
        read(&[]).conversation,
    ] {
        assert_eq!(other, Conversation::Other);
    }
}

/// Frames that may well be in a queue together, each differing from another in one field.
fn different() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let ports = [40_000, 10_000];
    for identification in [0, 1, 0x100] {
        for (seq, ack, flags) in [
            (1, 1, ACK),
            (2, 1, ACK),
            (1, 2, ACK),
            (1, 1, SYN),
            (0x0100_0001, 1, ACK),
        ] {
            all.push(frame(6, identification, &tcp(ports, seq, ack, flags, None, 0)));
        }
    }
    all.push(frame(6, 0, &tcp([40_001, 10_000], 1, 1, ACK, None, 0)));
    all.push(frame(6, 0, &tcp([40_000, 10_001], 1, 1, ACK, None, 0)));
    all.push(frame(6, 0, &tcp([10_000, 40_000], 1, 1, ACK, None, 0)));
    // SYN-ACKs sent again: only the time stamp tells.
    all.push(frame(6, 0, &tcp(ports, 1, 1, SYN | ACK, Some(1), 0)));
    all.push(frame(6, 0, &tcp(ports, 1, 1, SYN | ACK, Some(1001), 0)));
    for (ports, payload) in [
        ([40_000, 20_000], b"SJ\0\0\0\0\0\x01"),
        ([40_000, 20_000], b"SJ\0\0\0\0\0\x02"),
        ([40_000, 20_001], b"SJ\0\0\0\0\0\x01"),
        ([20_000, 40_000], b"SJ\0\0\0\0\0\x01"),
    ] {
        all.push(frame(17, 0, &udp(ports, payload)));
    }
    for (kind, identifier, sequence) in [(8, 1, 1), (0, 1, 1), (8, 2, 1), (8, 1, 2), (8, 1, 257)] {
        all.push(frame(1, 0, &echo(kind, identifier, sequence)));
    }
    all.push(frame(47, 0, b"one"));
    all.push(frame(47, 0, b"two"));
    for source in [2, 3] {
        let mut other = frame(6, 0, &tcp(ports, 1, 1, ACK, None, 0));
        other[29] = source;
        all.push(other);
    }
    all
}

#[test]
fn frames_that_differ_have_different_keys() {
    let all = different();
    let mut keys: Vec<u64> = all.iter().map(|f| read(f).key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), all.len());
}

#[test]
fn identification_tells_packets_apart_unless_they_are_numbered() {
    let keys = |protocol, payload: &[u8]| [1, 2].map(|id| read(&frame(protocol, id, payload)).key);
    for numbered in [
        keys(1, &echo(0, 20_000, 1)),
        keys(1, &echo(3, 1, 1)),
        keys(17, &udp([28_000, 40_000], b"an answer")),
        keys(17, &udp([40_000, 20_000], b"SJ\0\0\0\0\0\x01")),
        keys(17, &udp([20_000, 40_000], b"SJ\0\0\0\0\0\x01")),
    ] {
        assert_eq!(numbered[0], numbered[1]);
    }
    for other in [
        keys(17, &udp([40_000, 28_000], b"a query")),
        keys(6, &tcp([10_000, 40_000], 1, 1, ACK, None, 0)),
        keys(47, b"something else"),
    ] {
        assert_ne!(other[0], other[1]);
    }
}

/// What a router and an interface change: Ethernet addresses, the mark, time to live, the checksums.
#[test]
fn a_frame_is_known_again_behind_the_router() {
    for before in different() {
        let mut after = before.clone();
        after[..12].copy_from_slice(&[9; 12]);
        after[15] |= 3;
        after[22] -= 1;
        after[24] ^= 0xff;
        let transport = 34;
        let checksum = match before[23] {
            6 => Some(transport + 16),
            17 => Some(transport + 6),
            1 => Some(transport + 2),
            _ => None,
        };
        if let Some(place) = checksum {
            after[place] ^= 0xff;
        }
        let (before, after) = (read(&before), read(&after));
        assert_eq!(before.key, after.key);
        assert_eq!(
            (before.conversation, before.data, before.syn),
            (after.conversation, after.data, after.syn)
        );
        assert!(!before.marked && after.marked);
    }
}

/// Draft-eastlake-fnv: the hash of "a", "foobar" and of nothing.
#[test]
fn the_hash_is_fnv_1a() {
    for (text, hash) in [
        ("", 0xcbf2_9ce4_8422_2325),
        ("a", 0xaf63_dc4c_8601_ec8c),
        ("foobar", 0x8594_4171_f739_67e8),
    ] {
        let mut fnv = Fnv::new();
        fnv.eat(text.as_bytes());
        assert_eq!(fnv.0, hash);
    }
}

proptest! {
    #[test]
    fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..=SNAP)) {
        prop_assert_eq!(read(&bytes), read(&bytes));
    }

    #[test]
    fn any_ipv4_bytes_can_be_read(
        rest in proptest::collection::vec(any::<u8>(), 0..=SNAP - 14),
        protocol in prop_oneof![Just(1_u8), Just(6), Just(17), any::<u8>()],
        words in 0_u8..16,
    ) {
        let mut bytes = frame(protocol, 0, &rest);
        bytes[14] = 0x40 | words;
        let p = read(&bytes);
        // A segment has data only if it is one.
        prop_assert!(!p.data || protocol == 6);
    }

    #[test]
    fn frames_that_are_cut_off_anywhere_can_be_read(which in 0_usize..27, length in 0_usize..SNAP) {
        let all = different();
        let whole = &all[which % all.len()];
        let cut = &whole[..length.min(whole.len())];
        let p = read(cut);
        if cut.len() == whole.len() {
            prop_assert_eq!(p, read(whole));
        }
    }

    #[test]
    fn bytes_changed_anywhere_can_be_read(which in 0_usize..27, place in 0_usize..SNAP, value: u8) {
        let all = different();
        let mut bytes = all[which % all.len()].clone();
        let place = place % bytes.len();
        bytes[place] = value;
        prop_assert_eq!(read(&bytes), read(&bytes));
    }
}

/// A frame of IPv6 by hand (RFC 8200 section 3) from fd00:0:1::1 to fd00:0:4::1, marked as `traffic_class` says.
fn frame_6(next_header: u8, traffic_class: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd];
    bytes.extend([0x60 | traffic_class >> 4, traffic_class << 4, 0, 0]);
    bytes.extend((payload.len() as u16).to_be_bytes());
    bytes.extend([next_header, 64]);
    for link in [1, 4] {
        bytes.extend([0xfd, 0, 0, 0, 0, link, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    }
    bytes.extend(payload);
    bytes
}

#[test]
fn frames_of_ipv6_are_read_as_those_of_ipv4() {
    let data = read(&frame_6(6, 3, &tcp([40_000, 443], 1, 1, ACK, Some(5), 1000)));
    assert!(data.data && data.marked && !data.syn);
    let ends = data.ends.expect("a whole header");
    assert_eq!(ends.source.to_string(), "[fd00:0:1::1]:40000");
    assert_eq!(ends.destination.to_string(), "[fd00:0:4::1]:443");
    assert_eq!(ends.protocol, 6);
    let ack = read(&frame_6(6, 0, &tcp([40_000, 443], 1, 1, ACK, Some(5), 0)));
    assert!(!ack.data && !ack.marked);
    let echo = read(&frame_6(58, 0, &[128, 0, 0xab, 0xcd, 0, 7, 0, 1, 9]));
    assert_eq!(echo.ends.map(|ends| ends.source.port()), Some(7));
    // A mark is a router's, and so no part of the key.
    let unmarked = read(&frame_6(6, 2, &tcp([40_000, 443], 1, 1, ACK, Some(5), 1000)));
    assert_eq!(unmarked.key, data.key);
}

/// What QUIC sends begins with the same bytes: only what is encrypted differs.
#[test]
fn datagrams_of_a_program_are_told_apart_by_all_that_is_there() {
    let datagram = |last: u8| udp([40_000, 4433], &[vec![0x40; 20], vec![last; 12]].concat());
    for make in [
        |payload: &[u8]| frame(17, 0, payload),
        |payload: &[u8]| frame_6(17, 0, payload),
    ] {
        assert_ne!(read(&make(&datagram(1))).key, read(&make(&datagram(2))).key);
        assert_eq!(read(&make(&datagram(1))).key, read(&make(&datagram(1))).key);
    }
    let server = |id| read(&frame(17, id, &udp([53, 40_000], b"same")));
    assert_ne!(server(1).key, server(2).key);
}
