//! Capture files of both formats, written byte by byte.

use sojourn_trace::{LinkType, Reader, Skip, Skipped, TraceError};
use std::io::{self, Read};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// Gives one byte at a time, as a slow pipe does.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = into.len().min(1);
        (&mut self.0).take(n as u64).read(into)
    }
}

type Found = Vec<(u64, LinkType, u32, Vec<u8>)>;

fn read(source: impl Read + Send) -> (Found, Result<u64, TraceError>) {
    let mut found = Vec::new();
    let mut reader = match Reader::new(source) {
        Ok(reader) => reader,
        Err(e) => return (found, Err(e)),
    };
    loop {
        match reader.next() {
            Ok(Some(r)) => found.push((r.at_ns, r.link, r.wire, r.bytes.to_vec())),
            Ok(None) => return (found, Ok(reader.skipped().total())),
            Err(e) => return (found, Err(e)),
        }
    }
}

fn words(words: &[u32], big: bool) -> Vec<u8> {
    let bytes = |w: &u32| if big { w.to_be_bytes() } else { w.to_le_bytes() };
    words.iter().flat_map(bytes).collect()
}

/// A pcap file with a record of three bytes at 1 s and `fraction`.
fn pcap(magic: u32, big: bool, network: u32, fraction: u32) -> Vec<u8> {
    let version = if big { 0x0002_0004 } else { 0x0004_0002 };
    let mut file = words(&[magic, version, 0, 0, 65_535, network], big);
    file.extend(words(&[1, fraction, 3, 100], big));
    file.extend([7, 8, 9]);
    file
}

#[test]
fn pcap_has_microseconds_or_nanoseconds_in_either_byte_order() {
    for (magic, fraction, at_ns) in [
        (0xA1B2_C3D4, 999_999, 1_999_999_000),
        (0xA1B2_3C4D, 999_999_999, 1_999_999_999),
    ] {
        for big in [false, true] {
            // The upper bits of the link type say how long the frame check sequence is.
            for network in [1, 0x4400_0001] {
                let file = pcap(magic, big, network, fraction);
                let (found, end) = read(&file[..]);
                assert_eq!(found, [(at_ns, LinkType::Ethernet, 100, vec![7, 8, 9])]);
                assert_eq!(end, Ok(0));
                assert_eq!(read(Trickle(&file)).0, found);
            }
        }
    }
}

fn block(kind: u32, body: &[u8], big: bool) -> Vec<u8> {
    let length = (12 + body.len().next_multiple_of(4)) as u32;
    let mut bytes = words(&[kind, length], big);
    bytes.extend(body);
    bytes.resize(length as usize - 4, 0);
    bytes.extend(words(&[length], big));
    bytes
}

fn section(big: bool) -> Vec<u8> {
    let version = if big { 0x0001_0000 } else { 0x0000_0001 };
    block(
        0x0A0D_0D0A,
        &words(&[0x1A2B_3C4D, version, u32::MAX, u32::MAX], big),
        big,
    )
}

/// An interface of Ethernet or `link`, with these options: code, bytes.
fn interface(link: u16, options: &[(u16, &[u8])], big: bool) -> Vec<u8> {
    let half = |n: u16| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let mut body = [half(link), [0, 0]].concat();
    body.extend(words(&[0], big));
    for (code, bytes) in options {
        body.extend(half(*code));
        body.extend(half(bytes.len() as u16));
        body.extend(*bytes);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    if !options.is_empty() {
        body.extend([0; 4]);
    }
    block(1, &body, big)
}

fn packet(interface: u32, ticks: u64, bytes: &[u8], big: bool) -> Vec<u8> {
    let head = [interface, (ticks >> 32) as u32, ticks as u32, bytes.len() as u32, 100];
    block(6, &[words(&head, big), bytes.to_vec()].concat(), big)
}

#[test]
fn each_interface_of_pcapng_has_its_own_clock_and_link_type() {
    for big in [false, true] {
        let offset = if big {
            10_i64.to_be_bytes()
        } else {
            10_i64.to_le_bytes()
        };
        let file = [
            section(big),
            interface(1, &[], big),
            interface(113, &[(9, &[9])], big),
            interface(101, &[(9, &[0x8A]), (14, &offset)], big),
            packet(0, 1_500_000, &[1, 2, 3], big),
            packet(1, 1_500_000_001, &[4], big),
            packet(2, 1024 + 512, &[5, 6, 7, 8, 9], big),
            // Blocks of no interest: statistics, and one that nobody knows.
            block(5, &words(&[0, 0, 0], big), big),
            block(0x0BAD_CAFE, &[1; 8], big),
            // A packet without a time.
            block(3, &[words(&[2], big), vec![1, 2]].concat(), big),
            // Interfaces belong to a section.
            section(!big),
            interface(276, &[], !big),
            packet(0, 7, &[1], !big),
        ]
        .concat();
        let (found, end) = read(&file[..]);
        let expected = [
            (1_500_000_000, LinkType::Ethernet, 100, vec![1, 2, 3]),
            (1_500_000_001, LinkType::LinuxSll, 100, vec![4]),
            (11_500_000_000, LinkType::Raw, 100, vec![5, 6, 7, 8, 9]),
            (7_000, LinkType::LinuxSll2, 100, vec![1]),
        ];
        assert_eq!(
            (found.as_slice(), end),
            (&expected[..], Ok(1)),
            "one packet has no time"
        );
        assert_eq!(read(Trickle(&file)).0, found);
    }
}

/// Every block that holds a packet is either given or counted by a reason, and the frames behind it are read.
#[test]
fn each_packet_of_pcapng_is_given_or_counted() {
    for big in [false, true] {
        let half = |n: u16| if big { n.to_be_bytes() } else { n.to_le_bytes() };
        let seconds = |n: i64| if big { n.to_be_bytes() } else { n.to_le_bytes() };
        // The obsolete packet block: interface and drops in 16 bits each.
        let old = |id: u16, kept: u32, bytes: &[u8]| {
            let head = [half(id), half(9)].concat();
            let rest = words(&[0, 1_500_000, kept, 100], big);
            block(2, &[head, rest, bytes.to_vec()].concat(), big)
        };
        let custom = words(&[32_473, 1, 2, 3], big);
        let file = [
            section(big),
            block(3, &[words(&[2], big), vec![1, 2]].concat(), big),
            packet(0, 7, &[1], big),
            interface(1, &[], big),
            // 2^127 units a second, a time before 1970, one after 2554, and ten seconds later than the stamp says.
            interface(1, &[(9, &[0xFF])], big),
            interface(1, &[(14, &seconds(-10))], big),
            interface(1, &[(9, &[0])], big),
            interface(147, &[(14, &seconds(10))], big),
            packet(1, 7, &[1], big),
            packet(2, 9_999_999, &[1], big),
            packet(2, 11_000_000, &[1], big),
            packet(3, u64::MAX, &[1], big),
            packet(4, 1, &[1], big),
            packet(5, 1, &[1], big),
            old(0, 3, &[7, 8, 9]),
            old(5, 3, &[7, 8, 9]),
            block(0xBAD, &custom, big),
            block(0x4000_0BAD, &custom, big),
            packet(0, 2_000_000, &[6], big),
        ]
        .concat();
        let mut reader = Reader::new(&file[..]).expect("a capture");
        let mut found = Vec::new();
        while let Some(r) = reader.next().expect("a sound file") {
            found.push((r.at_ns, r.link, r.wire, r.bytes.to_vec()));
        }
        let expected = [
            (1_000_000_000, LinkType::Ethernet, 100, vec![1]),
            (10_000_001_000, LinkType::Other(147), 100, vec![1]),
            (1_500_000_000, LinkType::Ethernet, 100, vec![7, 8, 9]),
            (2_000_000_000, LinkType::Ethernet, 100, vec![6]),
        ];
        assert_eq!(found, expected);
        assert_eq!(read(Trickle(&file)), (found, Ok(9)));
        let mut counted = Skipped::default();
        let reasons = [
            (Skip::NoTime, 1),
            (Skip::NoInterface, 3),
            (Skip::TimeRange, 3),
            (Skip::CustomBlock, 2),
        ];
        for (reason, times) in reasons {
            (0..times).for_each(|_| counted.count(reason));
        }
        assert_eq!(reader.skipped(), counted);
        // More bytes than the block has, and no room for its own fields.
        for spoiled in [old(0, 5, &[7, 8, 9]), old(0, u32::MAX, &[]), block(2, &[0; 16], big)] {
            let file = [section(big), interface(1, &[], big), packet(0, 1, &[1], big), spoiled].concat();
            let what = "a block contradicts its own length or type";
            assert_eq!(read(&file[..]).1, Err(TraceError::Damaged { records: 1, what }));
        }
    }
}

#[test]
fn what_is_damaged_is_told_and_what_was_read_before_is_kept() {
    assert_eq!(read(&b""[..]).1, Err(TraceError::NoCapture));
    assert_eq!(
        read(&b"GIF89a, which is no capture at all"[..]).1,
        Err(TraceError::NoCapture)
    );
    let whole = [pcap(0xA1B2_C3D4, false, 1, 0), words(&[2, 0, 3, 3], false)].concat();
    let (found, end) = read(&whole[..]);
    assert_eq!((found.len(), end), (1, Err(TraceError::EndsEarly { records: 1 })));
    let error = TraceError::EndsEarly { records: 1 };
    assert_eq!(
        error.to_string(),
        "the capture ends in the middle of a record, after 1 whole ones"
    );
}

#[test]
fn a_record_longer_than_what_is_read_ahead_is_read() {
    for (length, sound) in [(1_000_000, true), (20_000_000, false)] {
        let mut file = words(&[0xA1B2_C3D4, 0x0004_0002, 0, 0, 65_535, 1], false);
        file.extend(words(&[1, 0, length, length], false));
        file.resize(file.len() + length as usize, 1);
        file.extend(words(&[2, 0, 1, 1], false));
        file.push(9);
        let (found, end) = read(&file[..]);
        if sound {
            assert_eq!((found.len(), found[0].3.len(), end), (2, 1_000_000, Ok(0)));
        } else {
            let what = "a record is longer than 16 MB";
            assert_eq!(end, Err(TraceError::Damaged { records: 0, what }));
        }
    }
}

/// A source that counts how often it is reads, and for how much in all.
struct Counting<'a> {
    bytes: &'a [u8],
    reads: &'a AtomicUsize,
    gone: &'a AtomicUsize,
}

impl Read for Counting<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.bytes.read(into)?;
        self.reads.fetch_add(1, Relaxed);
        self.gone.fetch_add(n, Relaxed);
        Ok(n)
    }
}

/// The buffer doubles, so that a long record takes few reads; and no more than 16 MB of what is too long are read.
#[test]
fn the_buffer_doubles_up_to_16_mb_and_no_further() {
    // A record has a header of 16 bytes besides. 10,000,000 need the last doubling.
    for (length, sound) in [
        (10_000_000, true),
        ((1 << 24) - 17, true),
        ((1 << 24) - 16, false),
        (40_000_000, false),
    ] {
        let mut file = words(&[0xA1B2_C3D4, 0x0004_0002, 0, 0, 65_535, 1], false);
        file.extend(words(&[1, 0, length, length], false));
        file.resize(file.len() + length as usize, 1);
        let (reads, gone) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let source = Counting {
            bytes: &file,
            reads: &reads,
            gone: &gone,
        };
        let (found, end) = read(source);
        assert_eq!((found.len() == 1, end.is_ok()), (sound, sound), "{length}: {end:?}");
        assert!(reads.load(Relaxed) < 100, "{length}: {reads:?} reads");
        assert!(
            gone.load(Relaxed) <= (1 << 24) + 24,
            "{length}: {gone:?} bytes were read"
        );
    }
}

/// What a file of a few bytes says of a record's length is judged alike, however the bytes come.
#[test]
fn a_pipe_and_a_file_end_with_the_same_sentence() {
    for big in [false, true] {
        let version = if big { 0x0002_0004 } else { 0x0004_0002 };
        let begin = words(&[0xA1B2_C3D4, version, 0, 0, 65_535, 1], big);
        let described = [section(big), interface(1, &[], big)].concat();
        let unknown = |length| [described.clone(), words(&[0x0BAD_CAFE, length, 7, 7, 7], big)].concat();
        let order = |length| words(&[0x0A0D_0D0A, length, 0x1A2B_3C4D, 1, 0, 0, 7], !big);
        for (length, whole) in [
            (300_000, true),
            (15_000_000, true),
            (17_000_000, false),
            (u32::MAX - 3, false),
        ] {
            let end = if whole {
                Err(TraceError::EndsEarly { records: 0 })
            } else {
                let what = "a record is longer than 16 MB";
                Err(TraceError::Damaged { records: 0, what })
            };
            let pcap = [begin.clone(), words(&[1, 0, length, length, 9, 9, 9], big)].concat();
            let second = [described.clone(), order(length)].concat();
            for file in [pcap, unknown(length), second] {
                assert_eq!(read(&file[..]).1, end, "{length}, {big}: {file:x?}");
                assert_eq!(read(Trickle(&file)).1, end, "{length}, {big}, in pieces: {file:x?}");
            }
        }
    }
}

#[test]
fn a_section_has_65_536_interfaces_at_most() {
    for (interfaces, sound) in [(65_536, true), (65_537, false)] {
        let mut file = section(false);
        let one = interface(1, &[], false);
        for _ in 0..interfaces {
            file.extend(&one);
        }
        file.extend(packet(65_535, 7, &[1], false));
        let (found, end) = read(&file[..]);
        assert_eq!((found.len() == 1, end.is_ok()), (sound, sound), "{interfaces}: {end:?}");
    }
}

#[test]
fn a_reader_says_how_far_it_is() {
    let file = [
        section(false),
        interface(1, &[], false),
        packet(0, 1, &[1], false),
        packet(0, 2, &[1], false),
        block(3, &words(&[0], false), false),
        block(3, &words(&[0], false), false),
    ]
    .concat();
    let mut reader = Reader::new(&file[..]).expect("a capture");
    while reader.next().expect("a sound file").is_some() {}
    assert_eq!((reader.records(), reader.skipped().of(Skip::NoTime)), (2, 2));
    assert_eq!(format!("{reader:?}"), "Reader { records: 2, .. }");
}
