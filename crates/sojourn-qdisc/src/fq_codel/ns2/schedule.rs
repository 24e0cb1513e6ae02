//! The order in which the bins of [`SfqCodel`](super::SfqCodel) are served: a ring and a place in it.

use crate::slab::NIL;

/// A bin's place in the ring.
#[derive(Clone, Copy, Debug)]
struct Place {
    next: u32,
    prev: u32,
    /// In the ring. A bin that runs empty stays until its turn comes.
    scheduled: bool,
    /// In the ring, and not served since it came.
    new: bool,
    /// Bytes it may still send in this round; used where there is a quantum.
    deficit: i64,
}

/// The ring of bins that have packets, or had some at their last turn.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    places: Vec<Place>,
    /// The bin whose turn it is; [`NIL`] if the ring is empty.
    cursor: u32,
}

impl Schedule {
    /// An empty ring for so many bins.
    pub(super) fn new(bins: u32) -> Self {
        let place = Place {
            next: NIL,
            prev: NIL,
            scheduled: false,
            new: false,
            deficit: 0,
        };
        Self {
            places: vec![place; bins as usize],
            cursor: NIL,
        }
    }

    fn at(&mut self, bin: u32) -> &mut Place {
        &mut self.places[bin as usize]
    }

    /// Whether `bin` is in the ring.
    pub(super) fn holds(&self, bin: u32) -> bool {
        self.places[bin as usize].scheduled
    }

    /// Takes `bin` into the ring, unless it is there; answers whether it came.
    ///
    /// Source: ns-2 `sfqCoDelQueue::enque`. It looks from the cursor for the first bin that is not new and comes
    /// before that one. Where that one, or the last new one, closes the ring, it comes after it instead, at the
    /// very end: beside a single old bin it waits for a packet of that.
    pub(super) fn join(&mut self, bin: u32, quantum: u32) -> bool {
        if self.places[bin as usize].scheduled {
            return false;
        }
        let first = self.cursor;
        if first == NIL {
            self.cursor = bin;
            (self.at(bin).next, self.at(bin).prev) = (bin, bin);
        } else {
            let mut found = first;
            while self.at(found).new && self.at(found).next != first {
                found = self.at(found).next;
            }
            if self.at(found).next == first {
                self.insert_before(first, bin);
            } else {
                self.insert_before(found, bin);
                if found == first {
                    self.cursor = bin;
                }
            }
        }
        let place = self.at(bin);
        (place.scheduled, place.new, place.deficit) = (true, true, i64::from(quantum));
        true
    }

    fn insert_before(&mut self, other: u32, bin: u32) {
        let prev = std::mem::replace(&mut self.at(other).prev, bin);
        self.at(prev).next = bin;
        (self.at(bin).next, self.at(bin).prev) = (other, prev);
    }

    /// The bin to serve next, which is then no longer new; `None` if all are empty.
    ///
    /// Source: ns-2 `sfqCoDelQueue::readybin`. Empty bins that the cursor meets leave the ring. With a quantum, a bin
    /// without deficit gets another quantum and its turn passes; empty bins met on this way stay.
    pub(super) fn ready(&mut self, quantum: u32, is_empty: impl Fn(u32) -> bool) -> Option<u32> {
        while self.cursor != NIL && is_empty(self.cursor) {
            self.drop_current();
        }
        if self.cursor == NIL {
            return None;
        }
        let mut bin = self.cursor;
        while quantum > 0 && self.at(bin).deficit <= 0 {
            self.at(bin).deficit += i64::from(quantum);
            bin = self.at(bin).next;
            while is_empty(bin) {
                bin = self.at(bin).next;
            }
        }
        self.cursor = bin;
        self.at(bin).new = false;
        Some(bin)
    }

    /// Takes the bin at the cursor out of the ring.
    fn drop_current(&mut self) {
        let bin = self.cursor;
        let Place { next, prev, .. } = *self.at(bin);
        if next == bin {
            self.cursor = NIL;
        } else {
            self.at(next).prev = prev;
            self.at(prev).next = next;
            self.cursor = next;
        }
        self.at(bin).scheduled = false;
    }

    /// The bin at the cursor has sent a packet of so many bytes. Without a quantum the turn is the next bin's.
    pub(super) fn sent(&mut self, quantum: u32, bytes: u64) {
        let bin = self.cursor;
        if quantum == 0 {
            self.cursor = self.at(bin).next;
        } else {
            let place = self.at(bin);
            place.deficit = place.deficit.saturating_sub_unsigned(bytes);
        }
    }

    /// How many bins of the ring are new, and how many old.
    pub(super) fn lengths(&self) -> (usize, usize) {
        let scheduled = self.places.iter().filter(|place| place.scheduled);
        scheduled.fold(
            (0, 0),
            |(new, old), place| {
                if place.new { (new + 1, old) } else { (new, old + 1) }
            },
        )
    }
}
