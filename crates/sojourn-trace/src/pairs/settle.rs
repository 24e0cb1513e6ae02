//! From packets that are in both captures to round-trip times.

use super::side::Side;
use super::window::{Entry, Window};
use super::{ConversationReport, Numbers, Pair, PairReport, PairSettings, REMEMBERED, SideCounts};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A packet that is in both, once in each or at least once where it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Both {
    at_b: u64,
    /// In the order in which they were first seen, where two passed B at once.
    order: u64,
    at_a: u64,
    conversation: u32,
    from_low: bool,
    copies: [u32; 2],
}

/// A conversation so far.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// B's time less A's, of the last packet from the lower endpoint and of the last one to it.
    offsets: [Option<i128>; 2],
    /// The last packet in each direction at A and B, if none went back since.
    last: [Option<(u64, u64)>; 2],
    matched: [u64; 2],
    pairs: u64,
}

impl State {
    /// The direction that goes from A to B: 0 from the lower endpoint, 1 to it.
    fn forth(&self) -> Option<usize> {
        let [Some(low), Some(high)] = self.offsets else {
            return None;
        };
        Some(usize::from(high > low))
    }
}

/// Takes packets by the time of their first sight, and pairs them in the order of their times at B.
#[derive(Debug)]
pub(super) struct Settle {
    gap_ns: u64,
    waiting: BinaryHeap<Reverse<Both>>,
    states: Vec<State>,
    order: u64,
    /// Copies that came out as ambiguous or as duplicates, by capture.
    ambiguous: [u64; 2],
    duplicates: [u64; 2],
    matched: u64,
    /// What is counted of pairs; the rest of it is known at the end.
    report: PairReport,
}

impl Settle {
    pub(super) fn new(settings: &PairSettings) -> Self {
        Self {
            gap_ns: settings.gap_ns,
            waiting: BinaryHeap::new(),
            states: Vec::new(),
            order: 0,
            ambiguous: [0; 2],
            duplicates: [0; 2],
            matched: 0,
            report: PairReport::default(),
        }
    }

    /// An entry of the window of which nothing more will come.
    pub(super) fn take(
        &mut self,
        entry: &Entry,
        window: &Window,
        sides: &mut [Side<'_, '_>; 2],
        each: &mut impl FnMut(Pair),
    ) {
        match entry.at {
            [Some(at_a), Some(at_b)] => {
                self.waiting.push(Reverse(Both {
                    at_b,
                    order: self.order,
                    at_a,
                    conversation: entry.seen.conversation,
                    from_low: entry.seen.from_low,
                    copies: entry.copies,
                }));
                self.order += 1;
            }
            [Some(_), None] => alone(entry, window, sides, 0),
            _ => alone(entry, window, sides, 1),
        }
        let until = window.horizon_behind();
        while let Some(Reverse(both)) = self.waiting.peek()
            && (i128::from(both.at_b) < until || self.waiting.len() > REMEMBERED)
        {
            let both = *both;
            self.waiting.pop();
            self.pair(&both, each);
        }
    }

    /// All that is left.
    pub(super) fn finish(&mut self, each: &mut impl FnMut(Pair)) {
        while let Some(Reverse(both)) = self.waiting.pop() {
            self.pair(&both, each);
        }
    }

    fn pair(&mut self, both: &Both, each: &mut impl FnMut(Pair)) {
        let number = both.conversation as usize;
        if number >= self.states.len() {
            self.states.resize(number + 1, State::default());
        }
        let way = usize::from(!both.from_low);
        let state = &mut self.states[number];
        if both.copies != [1, 1] {
            // Copies that only the second point has were made on the way, and the first of them counts.
            let from_a = state.forth().map(|forth| forth == way);
            let once = match from_a {
                Some(true) => both.copies[0] == 1,
                Some(false) => both.copies[1] == 1,
                None => false,
            };
            if !once {
                for (count, copies) in self.ambiguous.iter_mut().zip(both.copies) {
                    *count += u64::from(copies);
                }
                return;
            }
            for (count, copies) in self.duplicates.iter_mut().zip(both.copies) {
                *count += u64::from(copies - 1);
            }
        }
        self.matched += 1;
        state.matched[way] += 1;
        state.offsets[way] = Some(i128::from(both.at_b) - i128::from(both.at_a));
        state.last[way] = Some((both.at_a, both.at_b));
        let Some(forth) = state.forth() else { return };
        if way == forth {
            return;
        }
        let Some((there_a, there_b)) = state.last[forth].take() else {
            self.report.unpaired += 1;
            return;
        };
        let gap = i128::from(both.at_b) - i128::from(there_b);
        if gap > i128::from(self.gap_ns) {
            self.report.apart += 1;
            return;
        }
        let rtt = i128::from(both.at_a) - i128::from(there_a) - gap;
        let (Ok(rtt_ns), Ok(gap_ns)) = (u64::try_from(rtt), u64::try_from(gap)) else {
            self.report.negative += 1;
            return;
        };
        self.report.pairs += 1;
        state.pairs += 1;
        each(Pair {
            conversation: both.conversation,
            at_ns: both.at_a,
            rtt_ns,
            gap_ns,
        });
    }

    pub(super) fn report(self, numbers: &Numbers, counts: [SideCounts; 2], offset_ns: Option<i128>) -> PairReport {
        let mut sides = counts;
        for (i, side) in sides.iter_mut().enumerate() {
            side.matched = self.matched;
            side.ambiguous += self.ambiguous[i];
            side.duplicates = self.duplicates[i];
        }
        let states = self.states.iter().copied().chain(std::iter::repeat(State::default()));
        let conversations = numbers
            .all
            .iter()
            .zip(states)
            .map(|(&conversation, state)| ConversationReport {
                conversation,
                low_is_near: state.forth().map(|forth| forth == 0),
                matched: state.matched,
                pairs: state.pairs,
            });
        PairReport {
            sides,
            conversations: conversations.collect(),
            offset_ns,
            ..self.report
        }
    }
}

/// A packet that only capture `which` has.
fn alone(entry: &Entry, window: &Window, sides: &mut [Side<'_, '_>; 2], which: usize) {
    let other = &sides[1 - which];
    let began = other.counts.span.map(|(first, _)| window.on_b(1 - which, first));
    let ended = match (other.next, other.counts.span) {
        (None, Some((_, last))) => Some(window.on_b(1 - which, last)),
        _ => None,
    };
    let within = began.is_some_and(|began| entry.on_b >= began) && ended.is_none_or(|ended| entry.on_b <= ended);
    let copies = u64::from(entry.copies[which]);
    let counts = &mut sides[which].counts;
    if within {
        counts.missing += copies;
    } else {
        counts.outside += copies;
    }
}
