//! The longest queue, for an overflow of memory: a heap over all queues of all tins.
//!
//! Source: Linux 6.1 `sch_cake.c`: `cake_heapify`, `cake_heapify_up`, `cake_drop`. It is built at the first overflow,
//! and kept as long as overflows go on. Which queue is found depends on the whole heap, so the heap has the kernel's
//! eight tins, and an unused tin has empty queues. It also depends on a slip of the kernel's that is kept here: a queue
//! that became shorter sinks by one level only. A longer queue may then stay hidden below it for a while.

use super::flows::{Flow, QUEUES};

const TINS: usize = 8;
const ENTRIES: usize = TINS * QUEUES;
/// Departures after the last overflow for which the heap is kept up to date.
const KEPT: u16 = u16::MAX;

/// The heap. An entry is a queue's number in its tin times 8, plus the tin.
#[derive(Clone, Debug, Default)]
pub(super) struct Heap {
    entries: Vec<u16>,
    /// Where each entry stands.
    places: Vec<u16>,
    /// For how many departures more it is kept up to date.
    timeout: u16,
}

/// The place of an entry's queue among those of all tins.
const fn index(entry: u16) -> usize {
    let entry = entry as usize;
    entry % TINS * QUEUES + entry / TINS
}

/// The entry of a queue.
const fn entry(index: usize) -> usize {
    index % QUEUES * TINS + index / QUEUES
}

impl Heap {
    /// The longest queue.
    #[cold]
    pub(super) fn longest(&mut self, flows: &[Flow]) -> usize {
        if self.entries.is_empty() {
            self.entries = (0..ENTRIES as u16).collect();
            self.places = self.entries.clone();
        }
        if self.timeout == 0 {
            for i in (0..=ENTRIES / 2).rev() {
                self.down(flows, i);
            }
        }
        self.timeout = KEPT;
        index(self.entries[0])
    }

    /// The heap was not in order: it is built anew at the next overflow.
    pub(super) fn distrust(&mut self) {
        self.timeout = 0;
    }

    /// A packet left: the heap is kept up for one departure less.
    #[inline]
    pub(super) fn departed(&mut self) {
        self.timeout = self.timeout.saturating_sub(1);
    }

    /// The queue has become longer.
    #[inline]
    pub(super) fn grown(&mut self, flows: &[Flow], index: usize) {
        if self.timeout > 0 {
            self.up(flows, usize::from(self.places[entry(index)]));
        }
    }

    /// The queue has become shorter.
    #[inline]
    pub(super) fn shrunk(&mut self, flows: &[Flow], index: usize) {
        if self.timeout > 0 {
            self.down(flows, usize::from(self.places[entry(index)]));
        }
    }

    fn backlog(&self, flows: &[Flow], place: usize) -> u64 {
        flows.get(index(self.entries[place])).map_or(0, |flow| flow.backlog)
    }

    fn swap(&mut self, i: usize, j: usize) {
        self.entries.swap(i, j);
        self.places[usize::from(self.entries[i])] = i as u16;
        self.places[usize::from(self.entries[j])] = j as u16;
    }

    fn down(&mut self, flows: &[Flow], mut i: usize) {
        let mut most = self.backlog(flows, i);
        loop {
            let mut larger = i;
            for child in [2 * i + 1, 2 * i + 2] {
                if child < ENTRIES {
                    let backlog = self.backlog(flows, child);
                    if backlog > most {
                        (larger, most) = (child, backlog);
                    }
                }
            }
            if larger == i {
                return;
            }
            // `most` stays what it is, as in the kernel: a queue that became shorter sinks by one level, not by more.
            self.swap(i, larger);
            i = larger;
        }
    }

    fn up(&mut self, flows: &[Flow], mut i: usize) {
        while i > 0 {
            let parent = (i - 1) / 2;
            if self.backlog(flows, i) <= self.backlog(flows, parent) {
                return;
            }
            self.swap(i, parent);
            i = parent;
        }
    }
}
