use super::*;
use etherparse::{
    IpFragOffset, IpHeaders, Ipv4Extensions, Ipv4Header, Ipv4HeaderSlice, Ipv6HeaderSlice, PacketBuilder,
    TcpOptionElement, ip_number,
};
use proptest::prelude::*;

const KEY: u64 = 7;

fn ipv4(tos: u8, ports: (u16, u16)) -> Vec<u8> {
    let mut header = Ipv4Header::new(0, 64, ip_number::UDP, [10, 0, 0, 1], [10, 0, 0, 2]).unwrap();
    header.dscp = (tos >> 2).try_into().unwrap();
    header.ecn = (tos & 3).try_into().unwrap();
    let builder = PacketBuilder::ip(IpHeaders::Ipv4(header, Ipv4Extensions::default())).udp(ports.0, ports.1);
    let mut bytes = Vec::new();
    builder.write(&mut bytes, &[1, 2, 3]).unwrap();
    bytes
}

fn ipv6(traffic_class: u8, to: [u8; 16]) -> Vec<u8> {
    let mut from = [0; 16];
    (from[0], from[15]) = (0xfd, 1);
    let mut bytes = Vec::new();
    let builder = PacketBuilder::ipv6(from, to, 64).udp(1000, 2000);
    builder.write(&mut bytes, &[1, 2, 3]).unwrap();
    bytes[0] = 0x60 | traffic_class >> 4;
    bytes[1] = bytes[1] & 0xf | traffic_class << 4;
    bytes
}

fn unique_local() -> [u8; 16] {
    let mut to = [0; 16];
    (to[0], to[15]) = (0xfd, 2);
    to
}

fn frame(bytes: Vec<u8>) -> Frame {
    Frame::new(bytes, 14, KEY).expect("it is forwarded")
}

#[test]
fn the_size_is_that_of_the_packet_and_of_the_link() {
    let bytes = ipv4(0, (1, 2));
    assert_eq!(frame(bytes.clone()).size(), Bytes::new(bytes.len() as u64 + 14));
}

#[test]
fn a_mark_is_congestion_experienced_with_a_right_checksum() {
    // The oracle is etherparse's own sum over the whole header.
    for tos in 0..=255_u8 {
        let mut frame = frame(ipv4(tos, (1, 2)));
        let before = frame.clone();
        assert_eq!(frame.mark_ce(), tos & 3 != 0);
        if tos % 4 == 0 {
            assert_eq!(frame, before, "a packet that is not ECN-capable stays as it was");
            continue;
        }
        let header = Ipv4HeaderSlice::from_slice(frame.bytes()).unwrap();
        assert_eq!((header.ecn().value(), header.dcp().value()), (3, tos >> 2));
        assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
    }
}

proptest! {
    #[test]
    fn the_checksum_is_right_after_a_mark_whatever_the_header(id: u16, ttl: u8, from: [u8; 4], ecn in 1_u8..3) {
        let mut header = Ipv4Header::new(100, ttl, ip_number::TCP, from, [10, 0, 0, 2]).unwrap();
        header.identification = id;
        header.ecn = ecn.try_into().unwrap();
        header.header_checksum = header.calc_header_checksum();
        let mut bytes = Vec::new();
        header.write_raw(&mut bytes).unwrap();
        bytes.resize(120, 0);
        let mut frame = frame(bytes);
        prop_assert!(frame.mark_ce());
        let marked = Ipv4HeaderSlice::from_slice(frame.bytes()).unwrap();
        prop_assert_eq!(marked.header_checksum(), marked.to_header().calc_header_checksum());
    }

    #[test]
    fn any_bytes_are_read_or_handed_back(bytes in proptest::collection::vec(any::<u8>(), 0..128)) {
        match Frame::new(bytes.clone(), 14, KEY) {
            Ok(mut frame) => {
                frame.mark_ce();
                prop_assert!(frame.band() < 3);
                prop_assert_eq!(frame.bytes().len(), bytes.len());
            }
            Err(back) => prop_assert_eq!(back, bytes),
        }
    }
}

#[test]
fn ipv6_is_marked_in_its_traffic_class() {
    for class in [0_u8, 0xb8, 0xb9, 0x02, 0x03, 0xff] {
        let mut frame = frame(ipv6(class, unique_local()));
        assert_eq!(frame.mark_ce(), class & 3 != 0);
        let header = Ipv6HeaderSlice::from_slice(frame.bytes()).unwrap();
        let marked = if class % 4 == 0 { class } else { class | 3 };
        assert_eq!((header.traffic_class(), header.version()), (marked, 6));
    }
}

#[test]
fn a_flow_is_addresses_protocol_and_ports() {
    let hash = |bytes| frame(bytes).flow_hash();
    assert_eq!(
        hash(ipv4(0, (1, 2))),
        hash(ipv4(0xb8, (1, 2))),
        "the type of service is no part"
    );
    assert_ne!(hash(ipv4(0, (1, 2))), hash(ipv4(0, (1, 3))));
    assert_ne!(hash(ipv4(0, (1, 2))), hash(ipv4(0, (3, 2))));
    let other_key = Frame::new(ipv4(0, (1, 2)), 14, KEY + 1).unwrap();
    assert_ne!(hash(ipv4(0, (1, 2))), other_key.flow_hash(), "the key is a part");
}

#[test]
fn all_fragments_of_a_packet_are_one_flow() {
    let fragment = |offset: u16, more, payload: &[u8]| {
        let length = payload.len() as u16;
        let mut header = Ipv4Header::new(length, 64, ip_number::UDP, [10, 0, 0, 1], [10, 0, 0, 2]).unwrap();
        (header.identification, header.more_fragments) = (9, more);
        header.fragment_offset = IpFragOffset::try_new(offset).unwrap();
        let mut bytes = Vec::new();
        header.write(&mut bytes).unwrap();
        bytes.extend_from_slice(payload);
        frame(bytes).flow_hash()
    };
    // The first looks as if it had ports 1 and 2.
    assert_eq!(
        fragment(0, true, &[0, 1, 0, 2, 0, 16, 0, 0]),
        fragment(1, false, &[9, 9, 9, 9, 9, 9, 9, 9])
    );
}

#[test]
fn what_a_router_would_not_forward_is_handed_back() {
    let mut router_solicitation = [0; 16];
    (router_solicitation[0], router_solicitation[1], router_solicitation[15]) = (0xff, 2, 2);
    let mut link_local = [0; 16];
    (link_local[0], link_local[1], link_local[15]) = (0xfe, 0x80, 1);
    for to in [router_solicitation, link_local] {
        assert!(Frame::new(ipv6(0, to), 14, KEY).is_err());
    }
    let mut multicast = ipv4(0, (1, 2));
    multicast[16] = 224;
    for bytes in [multicast, vec![], vec![0x45; 3], vec![0x10; 60]] {
        assert!(Frame::new(bytes, 14, KEY).is_err());
    }
}

#[test]
fn bands_are_those_of_the_kernels_priority_map() {
    // Source: the table of tc-prio(8), by type of service.
    let band = |tos| frame(ipv4(tos, (1, 2))).band();
    assert_eq!([0x00, 0x08, 0x10, 0x18, 0x06, 0x16].map(band), [1, 2, 0, 1, 1, 0]);
    assert_eq!(frame(ipv6(0x10, unique_local())).band(), 1);
}

/// The oracle is etherparse's own reading of the header, and its sum.
#[test]
fn a_code_point_is_read_and_written_with_a_right_checksum() {
    for dscp in 0..64_u8 {
        for ecn in 0..4_u8 {
            for (bytes, is_v4) in [
                (ipv4(dscp << 2 | ecn, (1, 2)), true),
                (ipv6(dscp << 2 | ecn, unique_local()), false),
            ] {
                let mut frame = frame(bytes);
                assert_eq!((frame.dscp(), frame.ecn().bits()), (dscp, ecn));
                frame.set_dscp(dscp ^ 0x2a);
                assert_eq!((frame.dscp(), frame.ecn().bits()), (dscp ^ 0x2a, ecn));
                if is_v4 {
                    let header = Ipv4HeaderSlice::from_slice(frame.bytes()).unwrap();
                    assert_eq!(header.dcp().value(), dscp ^ 0x2a);
                    assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
                } else {
                    let header = Ipv6HeaderSlice::from_slice(frame.bytes()).unwrap();
                    assert_eq!(
                        (header.version(), header.traffic_class()),
                        (6, (dscp ^ 0x2a) << 2 | ecn)
                    );
                }
            }
        }
    }
}

#[test]
fn hosts_are_told_apart_by_their_addresses_alone() {
    let (one, other) = (frame(ipv4(0, (1, 2))), frame(ipv4(8, (3, 4))));
    assert_eq!((one.source(), one.destination()), (other.source(), other.destination()));
    assert_ne!(one.source(), one.destination());
    let v6 = frame(ipv6(0, unique_local()));
    let mut to = unique_local();
    to[15] = 9;
    let elsewhere = frame(ipv6(0, to));
    assert_eq!(v6.source(), elsewhere.source());
    assert_ne!(v6.destination(), elsewhere.destination());
}

#[test]
fn what_an_ack_filter_reads_is_in_the_header_of_tcp() {
    let mut bytes = Vec::new();
    let options = [
        TcpOptionElement::Noop,
        TcpOptionElement::Timestamp(7, 8),
        TcpOptionElement::SelectiveAcknowledgement((20, 30), [Some((40, 50)), None, None]),
    ];
    let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).tcp(1, 2, 3, 1000);
    let builder = builder.ack(99).ece().options(&options).unwrap();
    builder.write(&mut bytes, &[]).unwrap();
    let facts = frame(bytes).ack().unwrap();
    let expected = AckFacts {
        flags: AckFacts::ACK | 0x40,
        ack: 99,
        payload: false,
        timestamps: Some((7, 8)),
        sack: [(20, 30), (40, 50), (0, 0), (0, 0)],
        sack_count: 2,
        other_options: false,
    };
    assert_eq!(facts, expected);
    let mut bytes = Vec::new();
    let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .tcp(1, 2, 3, 1000)
        .syn();
    let builder = builder.options(&[TcpOptionElement::MaximumSegmentSize(1460)]).unwrap();
    builder.write(&mut bytes, &[1]).unwrap();
    let facts = frame(bytes).ack().unwrap();
    assert_eq!(
        (facts.flags, facts.payload, facts.other_options),
        (AckFacts::SYN, true, true)
    );
    assert_eq!(frame(ipv4(0, (1, 2))).ack(), None);
}

#[test]
fn hosts_are_known_by_their_address_alone() {
    let [one, other] = [(1, 2), (3, 4)].map(|ports| frame(ipv4(0, ports)));
    assert_ne!(one.flow_hash(), other.flow_hash());
    assert_eq!((one.source(), one.destination()), (other.source(), other.destination()));
    assert_ne!(one.source(), one.destination());
    // The same host as source and as destination has one hash.
    let mut back = ipv4(0, (2, 1));
    let addresses = [&back[16..20], &back[12..16]].concat();
    back[12..20].copy_from_slice(&addresses);
    let back = frame(back);
    assert_eq!((back.source(), back.destination()), (one.destination(), one.source()));
    let six = frame(ipv6(0, unique_local()));
    assert_ne!(six.source(), six.destination());
}
