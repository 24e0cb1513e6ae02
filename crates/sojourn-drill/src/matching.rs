//! Compares what has left with what the script expects.

use crate::connection::Connection;
use crate::host::Left;
use crate::script::{Packet, TcpOption};
use crate::settings::Settings;
use crate::wire::{self, Clocks};
use sojourn_tcp::Segment;
use sojourn_units::{Duration, Time};

/// Segments that a script writes as one, because segmentation offload would cut it: they follow each other, and all but
/// the last have the same size.
///
/// Source: the rule by which packetdrill joins packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    segments: Vec<Left>,
}

impl Run {
    /// Bytes in it.
    fn len(&self) -> u32 {
        self.segments.iter().map(|left| u32::from(left.segment.len)).sum()
    }

    /// One past its last byte.
    pub(crate) fn end(&self) -> Option<u64> {
        self.segments
            .last()
            .map(|left| left.segment.seq + u64::from(left.segment.len))
    }

    /// Whether it is as long as what the script expects.
    pub(crate) fn is_whole(&self, packet: &Packet) -> bool {
        !self.segments.is_empty() && self.len() >= packet.len
    }

    /// When its last segment left.
    pub(crate) fn at(&self) -> Time {
        self.segments.last().map_or(Time::ZERO, |left| left.at)
    }

    pub(crate) fn connection(&self) -> usize {
        self.segments.last().map_or(0, |left| left.connection)
    }

    /// The next segment. Answers a clause that says why it does not belong here.
    pub(crate) fn add(&mut self, left: Left, packet: &Packet) -> Result<(), String> {
        let segment = left.segment;
        if let (Some(end), Some(first)) = (self.end(), self.segments.first()) {
            let same_size = self.segments.iter().all(|one| one.segment.len == first.segment.len);
            if segment.seq != end || !same_size || segment.ack != first.segment.ack {
                let next = segment.seq + u64::from(segment.len);
                return Err(format!("it ended at {end}, and {}:{next} came next", segment.seq));
            }
        }
        self.segments.push(left);
        if self.len() > packet.len {
            let first = self.segments[0].segment.seq;
            let end = self.end().unwrap_or(first);
            return Err(format!("{first}:{end}({}) came", self.len()));
        }
        Ok(())
    }

    /// It as one segment.
    fn joined(&self) -> Segment {
        let mut all = self.segments.iter().map(|left| left.segment);
        let first = all.next().unwrap_or_default();
        all.fold(first, |joined, next| Segment {
            flags: joined.flags | next.flags,
            ..joined
        })
    }
}

/// Compares; answers what came instead.
///
/// PSH is compared in segments that stand alone. Linux sets it at the end of whatever it hands to segmentation offload,
/// which our TCP does not have. Source: Linux `__tcp_transmit_skb`.
pub(crate) fn compare(
    packet: &Packet,
    run: &Run,
    connection: &Connection,
    settings: &Settings,
    clocks: &Clocks,
    tick: Option<Duration>,
) -> Result<(), String> {
    let mut came = wire::packet(&run.joined(), connection, settings);
    came.len = run.len();
    let single = run.segments.len() == 1 && !(run.segments[0].joins && packet.has('P'));
    compare_packets(packet, came, single, clocks, tick)
}

/// Compares a segment of a script with one that came, in the numbers of the script; answers what came instead.
///
/// `push` says whether PSH counts. `tick` is the length of a tick of the script's timestamps, if they count.
///
/// # Errors
/// A clause that says what came.
pub fn compare_packets(
    packet: &Packet,
    mut came: Packet,
    push: bool,
    clocks: &Clocks,
    tick: Option<Duration>,
) -> Result<(), String> {
    let flags = |p: &Packet| {
        let counts = |c: &char| *c != '-' && (push || *c != 'P');
        let mut flags: Vec<char> = p.flags.chars().filter(counts).collect();
        flags.sort_unstable();
        flags
    };
    let same = flags(packet) == flags(&came)
        && packet.ecn.is_none_or(|ecn| came.ecn == Some(ecn))
        && (packet.start, packet.len, packet.ack) == (came.start, came.len, came.ack)
        && (packet.window.is_none() || packet.window == came.window)
        && (packet.urgent.is_none() || packet.urgent == came.urgent)
        && same_options(packet, &came);
    if packet.window.is_none() {
        came.window = None;
    }
    if !same {
        return Err(format!("{came} came"));
    }
    if let (Some(tick), Some(script), Some(ours)) = (tick, packet.timestamp(), came.timestamp())
        && let Some((expected, gone)) = clocks.gone(script, ours)
    {
        let millis = u64::from(expected) * tick.as_micros() / 1000;
        if millis.abs_diff(u64::from(gone)) > 8.max(millis / 8) {
            return Err(format!(
                "its timestamp has gone {gone} ms since the first, not {millis}"
            ));
        }
    }
    Ok(())
}

/// Everything in the options, but for our own clock.
fn same_options(packet: &Packet, came: &Packet) -> bool {
    let (Some(expected), Some(came)) = (&packet.options, &came.options) else {
        return true;
    };
    expected.len() == came.len()
        && expected.iter().zip(came).all(|pair| match pair {
            (TcpOption::Timestamps(_, expected), TcpOption::Timestamps(_, came)) => expected == came,
            (expected, came) => expected == came,
        })
}

/// Notes which of our timestamps the script's is.
pub(crate) fn note_clock(packet: &Packet, run: &Run, clocks: &mut Clocks) {
    if let (Some(script), Some(left)) = (packet.timestamp(), run.segments.last()) {
        clocks.pair(script, left.segment.ts_val);
    }
}
