//! The packet path: bytes of a frame to a segment, and what the flusher's core makes of it.

#[cfg(feature = "whole")]
use crate::router;
use sojourn_flusher::{Flusher, FlusherParams, Segment};
use sojourn_trace::{LinkType, Skip, identity, segment};
use sojourn_units::{Duration, Time};

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
/// Ethernet's addresses.
const ADDRESSES: usize = 12;

/// A byte that names the link, two for the length on the wire, one for how many bytes were kept, and the frame.
pub fn frames(data: &[u8]) {
    let [link, low, high, kept, frame @ ..] = data else {
        return;
    };
    let link = LINKS[usize::from(*link) % LINKS.len()];
    let wire = match u16::from_le_bytes([*low, *high]) {
        0 => frame.len() as u32,
        wire => u32::from(wire),
    };
    let found = segment(link, frame, wire);
    if let Ok(found) = &found {
        is_consistent(found, frame.len(), wire);
        observe(found);
    }
    same_packet(link, frame, wire, found.as_ref());
    cut(link, frame, wire, usize::from(*kept), &found);
    if link == LinkType::Ethernet {
        tagged(frame, wire, &found);
    }
    #[cfg(feature = "whole")]
    if link == LinkType::Raw {
        router::routed(frame);
    }
}

/// The lengths of a segment fit into each other and into the frame.
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
    assert_eq!(found.key().inverted().inverted(), found.key());
}

/// The identity of a segment is of its two endpoints, and what is no IP packet has none either.
fn same_packet(link: LinkType, frame: &[u8], wire: u32, found: Result<&Segment, &Skip>) {
    match (found, identity(link, frame, wire)) {
        (Ok(found), Ok(identity)) => {
            let ends = identity.conversation;
            let (from, to) = if identity.from_low {
                (ends.low, ends.high)
            } else {
                (ends.high, ends.low)
            };
            assert_eq!((from, to), (found.src, found.dst));
            assert!(ends.low <= ends.high);
        }
        // The first fragment, and options that were cut, are a segment but not a whole packet.
        (Ok(_), Err(skip)) => assert!(
            matches!(skip, Skip::LaterFragment | Skip::Cut | Skip::Short),
            "{skip:?}"
        ),
        (Err(Skip::NotTcp), _) => {}
        (Err(_), Ok(identity)) => panic!("{identity:?} of {found:?}"),
        (Err(_), Err(_)) => {}
    }
}

/// What a shorter snap length keeps is the same segment, or is known to be cut.
fn cut(link: LinkType, frame: &[u8], wire: u32, kept: usize, whole: &Result<Segment, Skip>) {
    let wire = wire.max(frame.len() as u32);
    let kept = kept.min(frame.len());
    if kept == frame.len() {
        return;
    }
    match (segment(link, &frame[..kept], wire), whole) {
        (Ok(cut), Ok(whole)) => {
            let ends = |s: &Segment| (s.src, s.dst, s.seq, s.ack, s.flags, s.payload, s.wire, s.window);
            assert_eq!(ends(&cut), ends(whole));
            assert!(cut.timestamps.is_none() || cut.timestamps == whole.timestamps || whole.timestamps.is_some());
        }
        (Ok(cut), Err(skip)) => panic!("{cut:?} of a cut frame, whose whole is skipped for {skip:?}"),
        (Err(Skip::Cut), _) => {}
        (Err(skip), Ok(_)) => panic!("skipped for {skip:?} when cut"),
        (Err(skip), Err(whole)) => assert!(skip == *whole || *whole == Skip::Short, "{skip:?} cut, {whole:?} whole"),
    }
}

/// A tag of IEEE 802.1Q changes nothing, unless it is the fifth.
fn tagged(frame: &[u8], wire: u32, untagged: &Result<Segment, Skip>) {
    let Some((addresses, rest)) = frame.split_at_checked(ADDRESSES) else {
        return;
    };
    let mut buffer = [0; 512];
    let length = frame.len() + 4;
    if length > buffer.len() {
        return;
    }
    buffer[..ADDRESSES].copy_from_slice(addresses);
    buffer[ADDRESSES..ADDRESSES + 4].copy_from_slice(&[0x81, 0, 0x20, 7]);
    buffer[ADDRESSES + 4..length].copy_from_slice(rest);
    let wire = wire.max(frame.len() as u32) + 4;
    let found = segment(LinkType::Ethernet, &buffer[..length], wire);
    if found != Err(Skip::VlanTags) {
        assert_eq!(found, *untagged);
    }
}

/// The segment, its acknowledgement and its repetition, to a fresh core.
fn observe(found: &Segment) {
    let mut core = Flusher::new(FlusherParams::ADAPTIVE).expect("a preset is valid");
    let now = Time::from_secs(1);
    core.handle_segment(found, now);
    let length = found.length();
    let mut answer = *found;
    (answer.src, answer.dst) = (found.dst, found.src);
    answer.flags.ack = true;
    (answer.flags.syn, answer.flags.fin, answer.flags.rst) = (false, false, false);
    (answer.seq, answer.ack, answer.payload) = (found.ack, found.seq.wrapping_add(length), 0);
    core.handle_segment(&answer, now + Duration::from_millis(20));
    let stats = core.stats();
    assert_eq!(stats.segments, 2);
    if found.src == found.dst {
        // Nobody talks to himself on the wire; a forged segment that does is its own acknowledgement.
        assert!(stats.samples <= 1 && core.poll_flush().is_none());
        return;
    }
    let sampled = length > 0 && !found.flags.rst;
    assert_eq!((stats.flows, stats.samples), (u64::from(sampled), u64::from(sampled)));
    if let Some(flow) = core.flows().next() {
        assert_eq!(
            (flow.key, flow.in_flight, flow.rtt),
            (found.key(), 0, Some(Duration::from_millis(20)))
        );
    }
    assert!(core.poll_flush().is_none(), "one sample is no standing queue");
}
