//! Round-trip times from two captures, whose clocks need not agree.
//!
//! Source: the method of synthetic packet pairs, S. Zander and G. Armitage, "Minimally-intrusive frequent round trip
//! time measurements using synthetic packet-pairs" (LCN 2013), as seed 003 chapter 5 uses it. A packet that passes
//! point A and then point B, and one of the same conversation that passes B after it and then A, are a pair, whether
//! or not one answers the other. The time from A back to A, less the time between the two at B, is the time that both
//! were on their way between the points. Each clock is only compared with itself, so an offset between them cancels.
//!
//! Deviation: each packet that goes back is paired with the last one that arrived before it, and each packet is in
//! one pair at most: what lies between the two at B is as short as can be. So an acknowledgement that was delayed is
//! paired with the segment that released it.
//!
//! Which end of a conversation is on whose side is not asked: of the two directions, the one whose packets have the
//! larger time at B less time at A goes from A to B.

mod align;
mod settle;
mod side;
mod window;

use crate::{Conversation, Protocol, Reader, Skipped, TraceError};
use align::align;
use settle::Settle;
use side::Side;
use std::collections::BTreeMap;
use std::net::IpAddr;
use window::Window;

/// Conversations that are told apart; packets of more are counted ([`SideCounts::crowded`]).
pub const CONVERSATIONS: usize = 1 << 16;
/// Packets that are remembered at a time.
const REMEMBERED: usize = 1 << 20;

/// What is measured, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairSettings {
    /// A packet is looked for in the other capture for so long, ns. More than any packet is under way, and less than
    /// any time after which a packet of the same content is sent.
    pub horizon_ns: u64,
    /// The two packets of a pair are at most so far apart at B, ns: while the time between the two is taken off, the
    /// clocks drift.
    pub gap_ns: u64,
    /// Only conversations that have all of these addresses; empty for any.
    pub hosts: Vec<IpAddr>,
    /// And all of these ports.
    pub ports: Vec<u16>,
    /// And this protocol.
    pub protocol: Option<Protocol>,
}

impl Default for PairSettings {
    fn default() -> Self {
        Self {
            horizon_ns: 10_000_000_000,
            gap_ns: 1_000_000_000,
            hosts: Vec::new(),
            ports: Vec::new(),
            protocol: None,
        }
    }
}

impl PairSettings {
    fn takes(&self, c: &Conversation) -> bool {
        let ends = [c.low, c.high];
        self.protocol.is_none_or(|p| p == c.protocol)
            && self.hosts.iter().all(|h| ends.iter().any(|e| e.ip() == *h))
            && self.ports.iter().all(|p| ends.iter().any(|e| e.port() == *p))
    }
}

/// One round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Number of its conversation in [`PairReport::conversations`].
    pub conversation: u32,
    /// When it was complete: when the second packet passed A, by A's clock, nanoseconds since 1970.
    pub at_ns: u64,
    /// The time from A to B and back.
    pub rtt_ns: u64,
    /// The time between the two packets at B, which is not in it.
    pub gap_ns: u64,
}

/// What was read of one capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideCounts {
    /// Frames.
    pub frames: u64,
    /// Of these, not told apart from others, by reason.
    pub skipped: Skipped,
    /// Not selected.
    pub unselected: u64,
    /// Of conversations beyond [`CONVERSATIONS`].
    pub crowded: u64,
    /// Packets looked for in the other capture.
    pub packets: u64,
    /// Found there.
    pub matched: u64,
    /// Not found, though the other capture was being taken.
    pub missing: u64,
    /// Not found, before the other capture began or after it ended.
    pub outside: u64,
    /// Not used: a packet with the same content was under way within the horizon.
    pub ambiguous: u64,
    /// Further copies of a packet that the other capture has once, before.
    pub duplicates: u64,
    /// First and last time stamp, nanoseconds since 1970.
    pub span: Option<(u64, u64)>,
    /// Why it was read no further, if it is damaged.
    pub damage: Option<TraceError>,
}

/// What came of one conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationReport {
    /// Whose packets.
    pub conversation: Conversation,
    /// Whether the lower endpoint is on A's side; `None` where there was no packet in one of the directions.
    pub low_is_near: Option<bool>,
    /// Packets seen at both points: from the lower endpoint, and to it.
    pub matched: [u64; 2],
    /// Round-trip times.
    pub pairs: u64,
}

/// What came of two captures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairReport {
    /// Of A and of B.
    pub sides: [SideCounts; 2],
    /// Conversations, in the order in which they were first seen.
    pub conversations: Vec<ConversationReport>,
    /// Round-trip times.
    pub pairs: u64,
    /// Packets that went back and had nothing new before them to be paired with.
    pub unpaired: u64,
    /// Pairs that are too far apart.
    pub apart: u64,
    /// Pairs whose time was negative: a clock was set, or the packets went another way.
    pub negative: u64,
    /// B's clock less A's, as the first packets suggest it, give or take the time that they were under way; `None` if
    /// the captures have no packet in common.
    pub offset_ns: Option<i128>,
}

/// Conversations by number.
#[derive(Debug, Default)]
struct Numbers {
    by: BTreeMap<Conversation, u32>,
    all: Vec<Conversation>,
}

impl Numbers {
    fn of(&mut self, conversation: Conversation) -> Option<u32> {
        if let Some(&number) = self.by.get(&conversation) {
            return Some(number);
        }
        if self.all.len() == CONVERSATIONS {
            return None;
        }
        let number = self.all.len() as u32;
        self.by.insert(conversation, number);
        self.all.push(conversation);
        Some(number)
    }
}

/// A packet in one capture.
#[derive(Clone, Copy, Debug)]
struct Sighting {
    key: u64,
    at_ns: u64,
    conversation: u32,
    from_low: bool,
}

/// Opens a capture from its beginning.
pub type Open<'a> = dyn Fn() -> Result<Reader<'a>, TraceError> + 'a;

/// Measures the round-trip times from `a` to `b` and back, and gives them to `each` in about the order of time (that
/// of the second packet at B).
///
/// Both captures are read side by side, in bounded memory: what is remembered is the packets of twice the horizon,
/// and 2^21 at most. To find out how the clocks compare, the first 65,536 packets of both are read before (and opened
/// once more); if none of these is in both, the rest of one and then of the other is searched for those of the other.
///
/// A packet is known by its [`identity`](crate::identity). Where a point saw more than one packet of the same content
/// within the horizon, it cannot be told which is which, and none is used; but of the copies of one packet that only
/// the second point has, the first counts.
///
/// # Errors
/// If a capture cannot be opened, or begins with no header. Damage further on ends that capture there
/// ([`SideCounts::damage`]).
pub fn packet_pairs<'a>(
    a: &Open<'a>,
    b: &Open<'a>,
    settings: &PairSettings,
    mut each: impl FnMut(Pair),
) -> Result<PairReport, (usize, TraceError)> {
    let offset = align([a, b], settings)?;
    let mut numbers = Numbers::default();
    let mut sides = [
        Side::new(a().map_err(|e| (0, e))?, settings),
        Side::new(b().map_err(|e| (1, e))?, settings),
    ];
    for side in &mut sides {
        side.advance(&mut numbers);
    }
    let mut window = Window::new(settings.horizon_ns, offset.unwrap_or(0));
    let mut settle = Settle::new(settings);
    loop {
        let which = match (sides[0].next, sides[1].next) {
            (None, None) => break,
            (Some(_), None) => 0,
            (None, Some(_)) => 1,
            (Some(x), Some(y)) => usize::from(window.on_b(0, x.at_ns) > window.on_b(1, y.at_ns)),
        };
        let Some(seen) = sides[which].take(&mut numbers) else {
            break;
        };
        window.note(which, seen);
        while let Some(entry) = window.settled() {
            settle.take(&entry, &window, &mut sides, &mut each);
        }
    }
    while let Some(entry) = window.pop() {
        settle.take(&entry, &window, &mut sides, &mut each);
    }
    settle.finish(&mut each);
    Ok(settle.report(&numbers, sides.map(Side::into_counts), offset))
}
