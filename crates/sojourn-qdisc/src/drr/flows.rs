//! Deficit round robin over queues, new ones first. Source: RFC 8290 sections 4.1 and 4.2; Linux `sch_fq_codel.c` and
//! `sch_fq_pie.c`.

use crate::slab::NIL;
use sojourn_units::Bytes;

/// Turns in which nobody was served, after which whole rounds are skipped: a packet of 4 GB takes millions of quanta.
const MANY_TURNS: u32 = 4096;

/// What a queue is to the scheduler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    next: u32,
    listed: bool,
    deficit: i64,
}

impl Turn {
    /// In no list.
    pub(crate) const NONE: Self = Self {
        next: NIL,
        listed: false,
        deficit: 0,
    };
}

/// A queue that is served in rounds.
pub(crate) trait Served {
    fn turn(&self) -> &Turn;
    fn turn_mut(&mut self) -> &mut Turn;
}

/// A list of queues in the order of service, linked through [`Turn::next`].
#[derive(Clone, Copy, Debug)]
struct Round {
    head: u32,
    tail: u32,
}

impl Round {
    const EMPTY: Self = Self { head: NIL, tail: NIL };

    /// Appends a queue, which has no next one.
    #[inline]
    fn link<Q: Served>(&mut self, queues: &mut [Q], index: u32) {
        if self.tail == NIL {
            self.head = index;
        } else {
            queues[self.tail as usize].turn_mut().next = index;
        }
        self.tail = index;
    }

    fn iter<Q: Served>(self, queues: &[Q]) -> impl Iterator<Item = u32> + use<'_, Q> {
        let mut at = self.head;
        std::iter::from_fn(move || {
            let index = (at != NIL).then_some(at)?;
            at = queues[index as usize].turn().next;
            Some(index)
        })
    }
}

/// The two lists: queues that had nothing before, and the others.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    new: Round,
    old: Round,
    quantum: u32,
    begun: u64,
}

impl Rounds {
    /// Nobody to serve; each queue may send `quantum` bytes in a round.
    pub(crate) const fn new(quantum: u32) -> Self {
        Self {
            new: Round::EMPTY,
            old: Round::EMPTY,
            quantum,
            begun: 0,
        }
    }

    /// Whether there is nobody to serve.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.new.head == NIL && self.old.head == NIL
    }

    /// A queue began and ended while nobody else was to be served.
    #[inline]
    pub(crate) fn passed(&mut self) {
        self.begun += 1;
    }

    /// A packet came to this queue: it is to be served.
    #[inline]
    pub(crate) fn arrival<Q: Served>(&mut self, queues: &mut [Q], index: u32) {
        let turn = queues[index as usize].turn_mut();
        if !turn.listed {
            turn.listed = true;
            turn.deficit = i64::from(self.quantum);
            turn.next = NIL;
            self.begun += 1;
            self.new.link(queues, index);
        }
    }

    /// What the next queue gives that gives something; `take` answers that and its size, or `None` for an empty
    /// queue.
    #[inline]
    pub(crate) fn serve<Q: Served, T>(
        &mut self,
        queues: &mut [Q],
        mut take: impl FnMut(&mut Q) -> Option<(T, Bytes)>,
    ) -> Option<T> {
        let mut turns = 0u32;
        loop {
            let from_new = self.new.head != NIL;
            let index = if from_new { self.new.head } else { self.old.head };
            let queue = queues.get_mut(index as usize)?;
            let spent = queue.turn().deficit <= 0;
            if spent {
                turns += 1;
                if turns.is_multiple_of(MANY_TURNS) && !from_new && self.skip_rounds(queues) {
                    continue;
                }
            } else if let Some((taken, size)) = take(queue) {
                let turn = queue.turn_mut();
                turn.deficit = turn.deficit.saturating_sub_unsigned(size.get());
                return Some(taken);
            }
            let turn = queues[index as usize].turn_mut();
            let next = std::mem::replace(&mut turn.next, NIL);
            if spent {
                turn.deficit += i64::from(self.quantum);
            } else if !from_new || self.old.head == NIL {
                turn.listed = false;
            }
            let listed = turn.listed;
            let round = if from_new { &mut self.new } else { &mut self.old };
            round.head = next;
            if next == NIL {
                round.tail = NIL;
            }
            // An empty queue passes once through the old ones, so that one that empties at once cannot starve them.
            if listed {
                self.old.link(queues, index);
            }
        }
    }

    /// The queues that may hold packets, new ones first, each in the order of service.
    pub(crate) fn iter<Q: Served>(&self, queues: &[Q]) -> impl Iterator<Item = u32> {
        self.new.iter(queues).chain(self.old.iter(queues))
    }

    /// By the names of `tc -s qdisc`: how often a queue became new, and how many are in each list.
    pub(crate) fn stats<Q: Served>(&self, queues: &[Q]) -> [(&'static str, f64); 3] {
        [
            ("new_flow_count", self.begun as f64),
            ("new_flows_len", self.new.iter(queues).count() as f64),
            ("old_flows_len", self.old.iter(queues).count() as f64),
        ]
    }

    /// All rounds of the old queues that end without anybody served, at once; whether there are any.
    ///
    /// Such a round gives each queue its quantum, and leaves their order as it is. There must be no new queues.
    #[cold]
    fn skip_rounds<Q: Served>(&mut self, queues: &mut [Q]) -> bool {
        let quantum = i64::from(self.quantum);
        let rounds = self.old.iter(queues).map(|index| {
            let deficit = queues[index as usize].turn().deficit;
            if deficit > 0 { 0 } else { -deficit / quantum + 1 }
        });
        let rounds = rounds.min().unwrap_or(0);
        let mut index = self.old.head;
        while index != NIL {
            let turn = queues[index as usize].turn_mut();
            turn.deficit += rounds * quantum;
            index = turn.next;
        }
        rounds > 0
    }
}
