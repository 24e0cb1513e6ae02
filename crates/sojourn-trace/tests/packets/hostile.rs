//! The packet path under input that nobody made: bytes at random, and sound frames and captures that were damaged.
//!
//! `SOJOURN_FUZZ_CASES` is how many cases each test runs (1,000 if it is not set); the library `proptest` prints and
//! keeps what fails.

use crate::frames::sound;
use proptest::prelude::*;
use sojourn_flusher::Segment;
use sojourn_trace::{LinkType, Reader, Writer, segment};
use std::sync::LazyLock;

fn cases() -> ProptestConfig {
    let cases =
        std::env::var("SOJOURN_FUZZ_CASES").map_or(1000, |n| n.parse().expect("SOJOURN_FUZZ_CASES is a number"));
    ProptestConfig {
        cases,
        // Nothing is found by keeping what passed.
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

static SOUND: LazyLock<Vec<(LinkType, Vec<u8>)>> =
    LazyLock::new(|| sound().into_iter().map(|v| (v.link, v.frame)).collect());

const LINKS: [LinkType; 8] = [
    LinkType::Ethernet,
    LinkType::LinuxSll,
    LinkType::LinuxSll2,
    LinkType::Raw,
    LinkType::Ipv4,
    LinkType::Ipv6,
    LinkType::Null,
    LinkType::Other(9),
];

/// What holds of each segment, wherever its bytes are from.
fn is_consistent(found: &Segment, bytes: usize, wire: u32) {
    assert!(
        found.wire as usize <= bytes.max(wire as usize),
        "a packet longer than its frame"
    );
    assert!(
        found.payload + 40 <= found.wire,
        "more payload than the packet has room for"
    );
    assert_eq!(found.src.is_ipv4(), found.dst.is_ipv4());
    assert!(!found.src.is_ipv6() || found.payload + 60 <= found.wire);
}

/// Positions and new values.
fn damage() -> impl Strategy<Value = Vec<(u16, u8)>> {
    prop::collection::vec((any::<u16>(), any::<u8>()), 0..6)
}

fn spoil(bytes: &mut [u8], damage: &[(u16, u8)], first: usize) {
    if bytes.is_empty() {
        return;
    }
    for &(at, value) in damage {
        // Headers are hit as often as payloads.
        let span = if at % 2 == 0 {
            bytes.len().min(first)
        } else {
            bytes.len()
        };
        bytes[usize::from(at / 2) % span] = value;
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn no_bytes_make_the_parser_panic(link in 0..LINKS.len(), bytes: [u8; 96], kept in 0_usize..97, wire in 0_u32..70_000) {
        let bytes = &bytes[..kept];
        if let Ok(found) = segment(LINKS[link], bytes, wire) {
            is_consistent(&found, bytes.len(), wire);
        }
    }

    #[test]
    fn no_damaged_frame_makes_the_parser_panic(
        which: prop::sample::Index, kept in 0_usize..260, damage in damage(), link in prop::option::weighted(0.1, 0..LINKS.len()),
    ) {
        let (own, frame) = &SOUND[which.index(SOUND.len())];
        let mut frame = frame.clone();
        let wire = frame.len() as u32;
        spoil(&mut frame, &damage, 80);
        frame.truncate(kept);
        if let Ok(found) = segment(link.map_or(*own, |l| LINKS[l]), &frame, wire) {
            is_consistent(&found, frame.len(), wire);
        }
    }

    #[test]
    fn no_damaged_capture_makes_the_reader_panic_or_run_on(ng: bool, kept in 0_usize..2000, damage in damage()) {
        let mut file = if ng { pcapng() } else { pcap() };
        spoil(&mut file, &damage, 80);
        file.truncate(kept);
        let Ok(mut reader) = Reader::new(&file[..]) else { return Ok(()) };
        let mut read = 0;
        while let Ok(Some(record)) = reader.next() {
            read += 1;
            prop_assert!(record.bytes.len() <= file.len() && record.wire as usize >= record.bytes.len());
            if let Ok(found) = segment(record.link, record.bytes, record.wire) {
                is_consistent(&found, record.bytes.len(), record.wire);
            }
        }
        // A record of pcap takes at least 16 bytes.
        prop_assert!(read <= file.len() / 16);
    }
}

fn pcap() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), LinkType::Ethernet, 65_535).expect("memory");
    for (n, (_, frame)) in SOUND.iter().enumerate().take(6) {
        writer.write(n as u64, frame.len() as u32, frame).expect("memory");
    }
    writer.into_inner()
}

/// A section, an interface in nanoseconds, and packets; draft-ietf-opsawg-pcapng sections 4.1 to 4.3.
fn pcapng() -> Vec<u8> {
    fn block(kind: u32, body: &[u8]) -> Vec<u8> {
        let length = (12 + body.len().next_multiple_of(4)) as u32;
        let mut bytes = kind.to_le_bytes().to_vec();
        bytes.extend(length.to_le_bytes());
        bytes.extend(body);
        bytes.resize(length as usize - 4, 0);
        bytes.extend(length.to_le_bytes());
        bytes
    }
    let mut file = block(
        0x0A0D_0D0A,
        &[
            0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255,
        ],
    );
    file.extend(block(1, &[1, 0, 0, 0, 0, 0, 4, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0]));
    for (n, (_, frame)) in SOUND.iter().enumerate().take(6) {
        let mut body = Vec::new();
        for word in [0, 0, n as u32, frame.len() as u32, frame.len() as u32] {
            body.extend(word.to_le_bytes());
        }
        body.extend(frame);
        file.extend(block(6, &body));
    }
    file
}

#[test]
fn the_captures_that_are_damaged_are_sound_before() {
    for file in [pcap(), pcapng()] {
        let mut reader = Reader::new(&file[..]).expect("a capture");
        let mut segments = 0;
        while let Some(r) = reader.next().expect("a sound capture") {
            assert!(r.at_ns < 6);
            segments += usize::from(segment(r.link, r.bytes, r.wire).is_ok());
        }
        assert_eq!((reader.records(), reader.skipped().total()), (6, 0));
        assert!(segments >= 4);
    }
}
