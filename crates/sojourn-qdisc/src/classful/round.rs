//! Deficit round robin over classes: each sends what its deficit allows, then gets its quantum and goes to the end.
//!
//! Source: Shreedhar and Varghese, Efficient fair queueing using deficit round robin, 1995; Linux `drr_dequeue` and the
//! same in `ets_qdisc_dequeue`. Other than in `fq_codel`, the deficit must suffice for the whole packet.

use super::Children;
use crate::{Departure, DropSink, Packet, Qdisc};
use sojourn_units::Time;
use std::collections::VecDeque;

/// Turns in which nobody was served, after which whole rounds are skipped: a packet of 4 GB takes millions of quanta.
const MANY_TURNS: u32 = 1024;

/// The classes that have packets, in the order of service.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    order: VecDeque<usize>,
    /// By class.
    turns: Vec<Turn>,
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    listed: bool,
    deficit: u64,
    quantum: u64,
}

impl Round {
    /// No class has packets; the quanta are bytes, by class.
    pub(crate) fn new(quanta: impl IntoIterator<Item = u32>) -> Self {
        let turn = |quantum| Turn {
            listed: false,
            deficit: 0,
            quantum: u64::from(quantum),
        };
        Self {
            order: VecDeque::new(),
            turns: quanta.into_iter().map(turn).collect(),
        }
    }

    /// A packet was enqueued to this class.
    #[inline]
    pub(crate) fn arrival(&mut self, class: usize) {
        let turn = &mut self.turns[class];
        if !turn.listed {
            turn.listed = true;
            turn.deficit = turn.quantum;
            self.order.push_back(class);
        }
    }

    /// What a class may still send in this round, bytes.
    pub(crate) fn deficit(&self, class: usize) -> u64 {
        self.turns[class].deficit
    }

    /// The class that is looked at first.
    #[inline]
    pub(crate) fn first(&self) -> Option<usize> {
        self.order.front().copied()
    }

    fn remove_first(&mut self) {
        if let Some(class) = self.order.pop_front() {
            self.turns[class].listed = false;
        }
    }

    /// Takes the next packet.
    ///
    /// A class whose packets may not leave yet stops the round, as in Linux ("non-work-conserving").
    ///
    /// Deviation: a class whose AQM has just dropped its last packet leaves the round. In Linux it stops the round
    /// until it has packets again.
    pub(crate) fn next<P: Packet, Q: Qdisc<P>>(
        &mut self,
        children: &mut Children<Q>,
        now: Time,
        drops: &mut dyn DropSink<P>,
    ) -> Option<Departure<P>> {
        let mut turns = 0u32;
        loop {
            let class = self.first()?;
            let Some(size) = children.peek(class, now, drops) else {
                if children.holds(class) {
                    return None;
                }
                self.remove_first();
                continue;
            };
            let turn = &mut self.turns[class];
            if let Some(left) = turn.deficit.checked_sub(size.get()) {
                let departure = children.dequeue(class, now, drops)?;
                turn.deficit = left;
                if !children.holds(class) {
                    self.remove_first();
                }
                return Some(departure);
            }
            turn.deficit += turn.quantum;
            self.order.rotate_left(1);
            turns += 1;
            if turns.is_multiple_of(MANY_TURNS) {
                self.skip_rounds(children, now, drops);
            }
        }
    }

    /// All rounds that end without anybody served, but for the last, at once. Such a round gives each class its quantum
    /// and leaves their order as it is.
    #[cold]
    fn skip_rounds<P: Packet, Q: Qdisc<P>>(
        &mut self,
        children: &mut Children<Q>,
        now: Time,
        drops: &mut dyn DropSink<P>,
    ) {
        let mut rounds = u64::MAX;
        for &class in &self.order {
            let turn = &self.turns[class];
            let Some(size) = children.peek(class, now, drops) else {
                return;
            };
            rounds = rounds.min(size.get().saturating_sub(turn.deficit) / turn.quantum);
        }
        for &class in &self.order {
            let turn = &mut self.turns[class];
            turn.deficit += rounds * turn.quantum;
        }
    }
}
