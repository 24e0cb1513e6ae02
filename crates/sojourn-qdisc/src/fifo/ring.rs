//! When the places of a ring that packets have left can be taken again.

/// Packets whose places become free together: two cache lines of 64 bytes hold 16 pointers of 8.
const BATCH: u32 = 16;

/// The places of a ring, by who may write to them: packets stand in some, others are free, and some were left but
/// count as taken still.
///
/// The reader of a `ptr_ring` clears the places that it has read many at once, so that it and the writer do not share
/// a cache line. The writer finds the ring full until then, though up to 15 packets have gone. The end of the ring
/// clears them, too.
///
/// Source: Linux `include/linux/ptr_ring.h`, `__ptr_ring_discard_one` and `__ptr_ring_set_size` (since 4.13), with
/// cache lines of 64 bytes and pointers of 8.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    size: u32,
    batch: u32,
    /// Where the next packet to leave stands.
    head: u32,
    /// The first place that was left and is not free.
    tail: u32,
}

impl Places {
    /// A ring of so many places, above zero. One of which two batches would not fit frees each at once.
    pub(super) const fn new(size: u32) -> Self {
        Self {
            size,
            batch: if BATCH > size / 2 { 1 } else { BATCH },
            head: 0,
            tail: 0,
        }
    }

    /// How many were left and are not free.
    pub(super) const fn left(&self) -> u32 {
        self.head - self.tail
    }

    /// A packet leaves its place.
    pub(super) const fn leave(&mut self) {
        self.head += 1;
        if self.head >= self.size {
            (self.head, self.tail) = (0, 0);
        } else if self.left() >= self.batch {
            self.tail = self.head;
        }
    }
}
