//! Queues sorted by length, each change in constant time.
//!
//! Source: the `dep` chains of Linux `sch_sfq.c`: for each length a doubly linked list of the queues that have it,
//! the one that came to this length last in front.

use super::SFQ_MAX_DEPTH;

/// Lengths from 0 to the largest depth.
const LENGTHS: u32 = SFQ_MAX_DEPTH + 1;

#[derive(Clone, Copy, Debug)]
struct Link {
    next: u32,
    prev: u32,
}

/// The lists. Queue i is link i; behind the queues there is one anchor per length.
#[derive(Clone, Debug)]
pub(super) struct Depths {
    links: Vec<Link>,
    length: Vec<u8>,
    slots: u32,
    deepest: u32,
}

impl Depths {
    /// `slots` queues of length 0; the first to be used is the last of them, as in Linux.
    pub(super) fn new(slots: u32) -> Self {
        let links = (0..slots + LENGTHS).map(|i| Link { next: i, prev: i }).collect();
        let mut depths = Self {
            links,
            length: vec![0; slots as usize],
            slots,
            deepest: 0,
        };
        for index in 0..slots {
            depths.link(index);
        }
        depths
    }

    /// The length of the longest queue.
    pub(super) fn deepest(&self) -> u32 {
        self.deepest
    }

    /// The queue that came to this length last.
    #[inline]
    pub(super) fn first(&self, length: u32) -> Option<u32> {
        let index = self.links[(self.slots + length) as usize].next;
        (index < self.slots).then_some(index)
    }

    /// A queue has one packet more.
    #[inline]
    pub(super) fn grow(&mut self, index: u32) {
        self.unlink(index);
        self.length[index as usize] += 1;
        self.link(index);
        self.deepest = self.deepest.max(u32::from(self.length[index as usize]));
    }

    /// A queue has one packet less.
    #[inline]
    pub(super) fn shrink(&mut self, index: u32) {
        self.unlink(index);
        let before = u32::from(self.length[index as usize]);
        if before == self.deepest && self.first(before).is_none() {
            self.deepest -= 1;
        }
        self.length[index as usize] -= 1;
        self.link(index);
    }

    #[inline]
    fn link(&mut self, index: u32) {
        let anchor = self.slots + u32::from(self.length[index as usize]);
        let next = std::mem::replace(&mut self.links[anchor as usize].next, index);
        self.links[next as usize].prev = index;
        self.links[index as usize] = Link { next, prev: anchor };
    }

    #[inline]
    fn unlink(&mut self, index: u32) {
        let Link { next, prev } = self.links[index as usize];
        self.links[prev as usize].next = next;
        self.links[next as usize].prev = prev;
    }
}
