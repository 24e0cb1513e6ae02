//! Segments of one flow that await their acknowledgement.

use crate::{Retransmissions, SampleOf, Segment, Station};
use sojourn_units::{Duration, Time};
use std::collections::VecDeque;

/// Farther than this from what is known, a sequence number is another connection's: the largest window there is.
/// Source: RFC 7323 section 2.3.
const FAR: u32 = 1 << 30;

/// Whether `a` is before `b` in sequence space. Source: RFC 9293 section 3.4.
const fn before(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() < 0
}

/// One segment on its way.
#[derive(Clone, Copy, Debug)]
struct Item {
    start: u32,
    end: u32,
    wire: u32,
    payload: u32,
    sent: Time,
    epoch: u32,
    station: Option<Station>,
    /// Sent again, or captured out of order: its acknowledgement does not tell an RTT.
    doubtful: bool,
    /// Sequence space under way once it had left, its own included; 0 if that is not known.
    under_way: u64,
}

impl Item {
    fn space(&self) -> u64 {
        u64::from(self.end.wrapping_sub(self.start))
    }
}

/// What a segment with data turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// New data.
    New,
    /// New data, but there is no room to remember it.
    Untracked,
    /// The SYN of another connection by the same addresses and ports: the flow was begun anew with it.
    Anew,
    /// Data that was sent before and is not acknowledged.
    Again,
    /// Data that was acknowledged before.
    Stale,
    /// A sequence number far from all others: the flow was begun anew with it.
    Resync,
}

/// What an acknowledgement turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acked {
    /// The flow has sent nothing yet.
    Unknown,
    /// Nothing new.
    Duplicate,
    /// Less than was acknowledged before.
    Old,
    /// More than was ever sent.
    Beyond,
    /// Something new.
    New(Covered),
}

/// What a new acknowledgement covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Covered {
    /// Since the segment that it answers was sent; `None` if that is not known for certain.
    pub(crate) rtt: Option<Duration>,
    /// Sequence space that was under way once that segment had left, its own included; 0 if that is not known.
    pub(crate) under_way: u32,
    /// Payload of all segments covered.
    pub(crate) payload: u64,
    /// Their length on the wire.
    pub(crate) wire: u64,
    /// The length on the wire of those that another station sent than the one that sent the acknowledgement, as far
    /// as that is known: who answers is not who sends. Whoever forges both ends from beyond a router is one
    /// station.
    pub(crate) answered: u64,
    /// Payload of the youngest one alone, if the acknowledgement ends where it does.
    pub(crate) youngest_payload: u64,
    /// Its length on the wire.
    pub(crate) youngest_wire: u64,
}

/// The sequence state of a flow and its segments on their way, ordered by where they end.
#[derive(Debug, Default)]
pub(crate) struct Outstanding {
    range: Option<Range>,
    items: VecDeque<Item>,
    /// Sequence space of all items.
    held: u64,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    /// Everything before this is acknowledged.
    una: u32,
    /// Everything before this was sent.
    max: u32,
}

impl Outstanding {
    /// Bytes of sequence space sent and not acknowledged.
    pub(crate) fn in_flight(&self) -> u32 {
        self.range.map_or(0, |r| r.max.wrapping_sub(r.una))
    }

    /// Of these, the bytes of segments that were captured and are remembered: a sequence number far ahead is no data.
    pub(crate) fn captured_in_flight(&self) -> u32 {
        let distance = self.in_flight();
        u32::try_from(self.held).map_or(distance, |held| held.min(distance))
    }

    /// Where what was sent ends.
    pub(crate) fn sent_up_to(&self) -> Option<u32> {
        self.range.map(|r| r.max)
    }

    /// Whether everything before `seq` is acknowledged.
    pub(crate) fn acknowledged(&self, seq: u32) -> bool {
        self.range.is_none_or(|r| !before(r.una, seq))
    }

    #[cfg(test)]
    pub(crate) fn remembered(&self) -> usize {
        self.items.len()
    }

    fn begin(&mut self, seq: u32) -> Range {
        self.items.clear();
        self.held = 0;
        let range = Range { una: seq, max: seq };
        self.range = Some(range);
        range
    }

    /// Takes note of a segment that moves the sequence. Source: seed 003, Listing 4.3.
    pub(crate) fn on_data(
        &mut self,
        segment: &Segment,
        now: Time,
        epoch: u32,
        policy: Retransmissions,
        most: usize,
    ) -> Sent {
        let (start, end) = (segment.seq, segment.seq.wrapping_add(segment.length()));
        let item = Item {
            start,
            end,
            wire: segment.wire,
            payload: segment.payload,
            sent: now,
            epoch,
            station: segment.station,
            doubtful: false,
            under_way: 0,
        };
        let known = match self.range {
            None => self.begin(start),
            Some(range) if segment.flags.syn && !self.items.iter().any(|i| i.end == end) && range.una != end => {
                self.begin(start);
                let kept = self.append(item, most);
                return if kept { Sent::Anew } else { Sent::Untracked };
            }
            Some(range) => range,
        };
        let distance = end.wrapping_sub(known.max);
        if distance > FAR && distance.wrapping_neg() > FAR || distance <= FAR && end.wrapping_sub(known.una) > FAR {
            self.begin(start);
            let kept = self.append(item, most);
            return if kept { Sent::Resync } else { Sent::Untracked };
        }
        if before(known.max, end) {
            let overlaps = before(start, known.max) && self.mark(&item, policy);
            let doubtful = overlaps && policy == Retransmissions::Karn;
            let kept = self.append(Item { doubtful, ..item }, most);
            return match (overlaps, kept) {
                (true, _) => Sent::Again,
                (false, true) => Sent::New,
                (false, false) => Sent::Untracked,
            };
        }
        if !before(known.una, end) {
            return Sent::Stale;
        }
        if self.mark(&item, policy) {
            return Sent::Again;
        }
        // Captured for the first time, after what follows it: the network reordered it before it came here.
        if self.items.len() >= most {
            return Sent::Untracked;
        }
        let at = self.items.partition_point(|i| before(i.end, end));
        self.held += item.space();
        self.items.insert(
            at,
            Item {
                doubtful: policy == Retransmissions::Karn,
                ..item
            },
        );
        Sent::New
    }

    /// Marks what `again` overlaps as sent again; whether there was any.
    fn mark(&mut self, again: &Item, policy: Retransmissions) -> bool {
        let first = self.items.partition_point(|i| !before(again.start, i.end));
        let mut any = false;
        for item in self.items.range_mut(first..).take_while(|i| before(i.start, again.end)) {
            any = true;
            match policy {
                Retransmissions::NewestCopy => {
                    item.sent = again.sent;
                    item.epoch = again.epoch;
                    item.under_way = 0;
                }
                Retransmissions::Karn => item.doubtful = true,
            }
        }
        any
    }

    fn append(&mut self, item: Item, most: usize) -> bool {
        if let Some(range) = &mut self.range {
            range.max = item.end;
        }
        if self.items.len() >= most {
            return false;
        }
        self.held += item.space();
        self.items.push_back(Item {
            under_way: self.held,
            ..item
        });
        true
    }

    /// Takes note of an acknowledgement: all segments up to it are forgotten, and the youngest of them tells the RTT.
    /// Source: seed 003 section 4.3, Listing 4.6.
    pub(crate) fn on_ack(
        &mut self,
        segment: &Segment,
        now: Time,
        epoch: u32,
        policy: Retransmissions,
        sample_of: SampleOf,
    ) -> Acked {
        let ack = segment.ack;
        let Some(range) = &mut self.range else {
            return Acked::Unknown;
        };
        if ack == range.una {
            return Acked::Duplicate;
        }
        if before(ack, range.una) {
            return Acked::Old;
        }
        if before(range.max, ack) {
            return Acked::Beyond;
        }
        range.una = ack;
        let mut covered = Covered::default();
        let mut doubtful = false;
        let mut last: Option<Item> = None;
        while let Some(item) = self.items.front().copied().filter(|i| !before(ack, i.end)) {
            self.items.pop_front();
            self.held -= item.space();
            covered.payload += u64::from(item.payload);
            covered.wire += u64::from(item.wire);
            if item.station.is_none() || item.station != segment.station {
                covered.answered += u64::from(item.wire);
            }
            doubtful |= item.doubtful;
            if last.is_none_or(|last| last.sent <= item.sent) {
                last = Some(item);
            }
            if item.end == ack {
                covered.youngest_payload = u64::from(item.payload);
                covered.youngest_wire = u64::from(item.wire);
                let youngest = match sample_of {
                    SampleOf::AcknowledgedEnd => item,
                    SampleOf::LastSent => last.unwrap_or(item),
                };
                let sure = policy == Retransmissions::NewestCopy || !doubtful;
                covered.rtt = (sure && youngest.epoch == epoch).then(|| now.since(youngest.sent));
                covered.under_way = u32::try_from(youngest.under_way).unwrap_or(u32::MAX);
            }
        }
        Acked::New(covered)
    }
}

#[cfg(test)]
mod tests;
