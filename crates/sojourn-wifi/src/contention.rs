//! Who transmits when: EDCA's slotted backoff over one medium that everybody hears.
//!
//! Counters are not counted down. All contenders with the same AIFSN see the same slot boundaries, so a class of them
//! shares one clock, the number of boundaries it has seen; a contender keeps the reading at which it transmits. A
//! ring of buckets by reading, with a bitmap, finds the next one. So a busy period costs a few operations a class,
//! however many contend.

use crate::{Band, EdcaTable};
use sojourn_units::{Duration, Stream, Time};

/// One contender's number: four times its node's, plus [`crate::AccessCategory::index`].
pub(crate) type EdcafId = u32;

/// Access categories of a node.
const CATEGORIES: u32 = 4;

/// How a node contends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contender {
    /// The parameters of its access categories.
    pub(crate) edca: EdcaTable,
    /// Failures in a row after which a window starts over, as it does when a frame is given up.
    pub(crate) retries: u8,
}

/// No contender, in a list.
const NONE: EdcafId = EdcafId::MAX;

/// How a transmission ended, as its sender sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was answered.
    Answered,
    /// It was not.
    Unanswered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has nothing to send.
    Idle,
    /// It has something to send, and is in its bucket.
    Waiting,
    /// Between [`Contention::transmit`] and [`Contention::finished`].
    Transmitting,
}

/// An enhanced distributed channel access function: one access category of one node.
#[derive(Debug)]
struct Edcaf {
    /// Index of the class with its AIFSN.
    class: usize,
    cw_min: u16,
    cw_max: u16,
    cw: u16,
    /// Transmissions in a row that were not answered, internal collisions included.
    failures: u8,
    /// How many of them start the window over.
    retries: u8,
    state: State,
    /// The reading of the class's clock at which its counter is zero.
    zero_at: u64,
    /// The next in the same bucket.
    next: EdcafId,
}

/// The waiting contenders of one AIFSN.
#[derive(Debug)]
struct Class {
    aifsn: u64,
    /// Slot boundaries that its members have seen, each of which took one from their counters.
    clock: u64,
    /// The earliest reading at which a waiting member transmits.
    earliest: Option<u64>,
    /// First members by reading modulo the length, which is above the largest counter.
    heads: Box<[EdcafId]>,
    /// Which buckets have members.
    filled: Box<[u64]>,
}

/// The contention for one medium.
///
/// Time goes in slots from when the medium became idle: boundary n is SIFS + n slots later. A contender with AIFSN a
/// does exactly one thing at each boundary from a on: it transmits if its counter is zero and it has a frame, else it
/// takes one off its counter. What it does not know yet is what others begin at the same boundary, so a counter is
/// frozen after the boundary at which the medium became busy, and two that are zero at one boundary collide. Source:
/// IEEE 802.11-2020 section 10.23.2.4.
///
/// A counter runs on without a frame (post-backoff). A frame that finds its counter at zero is sent at the next
/// boundary if the medium is idle, and else draws a new counter. Source: section 10.23.2.2.
///
/// Of the categories of one node that are zero at one boundary the most urgent transmits; the others double their
/// windows and draw again as after a collision. Deviation: their frames do not count that as a transmission, since
/// none was made.
///
/// Knows nothing of queues: told who has something to send, it answers when and who.
#[derive(Debug)]
pub(crate) struct Contention {
    slot: Duration,
    sifs: Duration,
    /// Since when the medium is idle; `None` while it is busy.
    idle_since: Option<Time>,
    /// Boundaries since then that the clocks have counted.
    passed: u64,
    classes: Vec<Class>,
    edcafs: Vec<Edcaf>,
    /// One stream of backoffs a node.
    streams: Vec<Stream>,
    internal_collisions: u64,
}

impl Contention {
    /// For these nodes. The medium is idle from `Time::ZERO`, all counters are zero.
    pub(crate) fn new(band: Band, nodes: &[Contender], seed: u64) -> Self {
        let mut classes: Vec<Class> = Vec::new();
        let mut edcafs = Vec::with_capacity(nodes.len() * 4);
        let all = || {
            nodes
                .iter()
                .flat_map(|node| node.edca.categories.map(|p| (p, node.retries)))
        };
        let largest = all().map(|(params, _)| params.cw_max).max().unwrap_or(0);
        for (params, retries) in all() {
            let aifsn = u64::from(params.aifsn);
            let class = classes
                .iter()
                .position(|class| class.aifsn == aifsn)
                .unwrap_or_else(|| {
                    classes.push(Class::new(aifsn, largest));
                    classes.len() - 1
                });
            edcafs.push(Edcaf {
                class,
                cw_min: params.cw_min,
                cw_max: params.cw_max,
                cw: params.cw_min,
                failures: 0,
                retries,
                state: State::Idle,
                zero_at: 0,
                next: NONE,
            });
        }
        Self {
            slot: band.slot(),
            sifs: band.sifs(),
            idle_since: Some(Time::ZERO),
            passed: 0,
            classes,
            edcafs,
            streams: (0..nodes.len())
                .map(|node| Stream::named(seed, &format!("wifi backoff {node}")))
                .collect(),
            internal_collisions: 0,
        }
    }

    /// Whether the medium is busy.
    pub(crate) fn busy(&self) -> bool {
        self.idle_since.is_none()
    }

    /// How often categories of one node met at a boundary.
    pub(crate) fn internal_collisions(&self) -> u64 {
        self.internal_collisions
    }

    /// Contender `id` has something to send. Does nothing if that was known, or while it transmits.
    pub(crate) fn wants(&mut self, id: EdcafId, now: Time) {
        if self.edcafs[id as usize].state != State::Idle {
            return;
        }
        if let Some(idle_since) = self.idle_since {
            let running = now.since(idle_since + self.sifs).as_nanos();
            self.pass(running.div_ceil(self.slot.as_nanos()));
        }
        let edcaf = &self.edcafs[id as usize];
        let clock = self.classes[edcaf.class].clock;
        if edcaf.zero_at > clock {
            self.join(id);
        } else if self.idle_since.is_some() {
            self.edcafs[id as usize].zero_at = clock;
            self.join(id);
        } else {
            self.draw(id);
            self.join(id);
        }
    }

    /// When the next transmission begins; `None` while the medium is busy or nobody waits.
    #[inline]
    pub(crate) fn due(&self) -> Option<Time> {
        let idle_since = self.idle_since?;
        let boundary = self.next_boundary()?;
        Some(idle_since + self.sifs + self.slot * boundary)
    }

    /// The boundary at which the next transmission begins.
    #[inline]
    fn next_boundary(&self) -> Option<u64> {
        let mut next = None;
        for class in &self.classes {
            if let Some(earliest) = class.earliest {
                let boundary = self.passed.max(class.aifsn) + (earliest - class.clock);
                next = Some(next.map_or(boundary, |n: u64| n.min(boundary)));
            }
        }
        next
    }

    /// At the time of [`Contention::due`]: the contenders that begin to transmit go to `winners`, at most one a node,
    /// in the order of their numbers. The medium is busy from now on. Each winner must be
    /// [`Contention::finished`] before the medium is [`Contention::idle`].
    pub(crate) fn transmit(&mut self, winners: &mut Vec<EdcafId>) {
        winners.clear();
        let Some(boundary) = self.next_boundary() else {
            return;
        };
        for class in &mut self.classes {
            let due = class
                .earliest
                .is_some_and(|earliest| self.passed.max(class.aifsn) + (earliest - class.clock) == boundary);
            if due {
                class.take(&mut self.edcafs, winners);
            }
        }
        self.pass(boundary + 1);
        self.idle_since = None;
        if winners.len() > 1 {
            self.part(winners);
        }
    }

    /// Leaves the most urgent winner of each node; the others fail.
    #[cold]
    fn part(&mut self, winners: &mut Vec<EdcafId>) {
        winners.sort_unstable();
        let mut kept = 0;
        for i in 0..winners.len() {
            let id = winners[i];
            if kept > 0 && winners[kept - 1] / CATEGORIES == id / CATEGORIES {
                self.internal_collisions += 1;
                self.finished(id, Outcome::Unanswered, true);
            } else {
                winners[kept] = id;
                kept += 1;
            }
        }
        winners.truncate(kept);
    }

    /// A winner's transmission, or its last one of a burst, has ended: its window is reset or doubled, and it draws a
    /// counter. `more` says whether it has more to send.
    pub(crate) fn finished(&mut self, id: EdcafId, outcome: Outcome, more: bool) {
        let edcaf = &mut self.edcafs[id as usize];
        debug_assert!(edcaf.state == State::Transmitting, "only what was sent can end");
        edcaf.failures = match outcome {
            Outcome::Answered => 0,
            Outcome::Unanswered if edcaf.failures + 1 >= edcaf.retries => 0,
            Outcome::Unanswered => edcaf.failures + 1,
        };
        edcaf.cw = if edcaf.failures == 0 {
            edcaf.cw_min
        } else {
            // At most 2 x 32767 + 1.
            (2 * edcaf.cw + 1).min(edcaf.cw_max)
        };
        self.draw(id);
        if more {
            self.join(id);
        }
    }

    /// The medium counts as idle from `now` on.
    pub(crate) fn idle(&mut self, now: Time) {
        self.idle_since = Some(now);
        self.passed = 0;
    }

    /// Boundaries before number `boundaries` have passed.
    #[inline]
    fn pass(&mut self, boundaries: u64) {
        let passed = self.passed;
        if boundaries <= passed {
            return;
        }
        for class in &mut self.classes {
            class.clock += boundaries.saturating_sub(class.aifsn) - passed.saturating_sub(class.aifsn);
        }
        self.passed = boundaries;
    }

    /// A new counter, uniform in 0 to the window. Boundaries up to now must have passed.
    fn draw(&mut self, id: EdcafId) {
        let edcaf = &mut self.edcafs[id as usize];
        let stream = &mut self.streams[(id / CATEGORIES) as usize];
        edcaf.zero_at = self.classes[edcaf.class].clock + stream.below(u64::from(edcaf.cw) + 1);
        edcaf.state = State::Idle;
    }

    /// From now on it transmits when its counter is zero.
    fn join(&mut self, id: EdcafId) {
        let edcaf = &mut self.edcafs[id as usize];
        edcaf.state = State::Waiting;
        edcaf.next = self.classes[edcaf.class].insert(id, edcaf.zero_at);
    }
}

impl Class {
    /// For counters up to `largest`.
    fn new(aifsn: u64, largest: u16) -> Self {
        let buckets = (usize::from(largest) + 1).next_power_of_two().max(64);
        Self {
            aifsn,
            clock: 0,
            earliest: None,
            heads: vec![NONE; buckets].into_boxed_slice(),
            filled: vec![0; buckets / 64].into_boxed_slice(),
        }
    }

    fn bucket(&self, reading: u64) -> usize {
        reading as usize & (self.heads.len() - 1)
    }

    /// Puts a contender first into the bucket of its reading; the answer is the next after it.
    #[inline]
    fn insert(&mut self, id: EdcafId, reading: u64) -> EdcafId {
        debug_assert!(reading >= self.clock && reading - self.clock < self.heads.len() as u64);
        let bucket = self.bucket(reading);
        self.filled[bucket / 64] |= 1 << (bucket % 64);
        self.earliest = Some(self.earliest.map_or(reading, |earliest| earliest.min(reading)));
        std::mem::replace(&mut self.heads[bucket], id)
    }

    /// Takes all contenders of the earliest reading out.
    fn take(&mut self, edcafs: &mut [Edcaf], taken: &mut Vec<EdcafId>) {
        let Some(earliest) = self.earliest else {
            return;
        };
        let bucket = self.bucket(earliest);
        let mut id = std::mem::replace(&mut self.heads[bucket], NONE);
        while id != NONE {
            let edcaf = &mut edcafs[id as usize];
            edcaf.state = State::Transmitting;
            taken.push(id);
            id = edcaf.next;
        }
        self.filled[bucket / 64] &= !(1 << (bucket % 64));
        self.earliest = self.next_filled(earliest);
    }

    /// The first reading after `reading` with a filled bucket; all are less than a turn of the ring ahead.
    fn next_filled(&self, reading: u64) -> Option<u64> {
        let start = self.bucket(reading + 1);
        let words = self.filled.len();
        // The first word from its bit `start` on, then the others in turn, at last the first one's bits before `start`.
        for turn in 0..=words {
            let index = (start / 64 + turn) % words;
            let mut word = self.filled[index];
            if turn == 0 {
                word &= u64::MAX << (start % 64);
            } else if turn == words {
                word &= !(u64::MAX << (start % 64));
            }
            if word != 0 {
                let bucket = index * 64 + word.trailing_zeros() as usize;
                let ahead = bucket.wrapping_sub(start) & (self.heads.len() - 1);
                return Some(reading + 1 + ahead as u64);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
