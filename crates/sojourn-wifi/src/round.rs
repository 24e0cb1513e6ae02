//! First-in-first-out lists of small numbers, each of which is on one list at most: `LIST_ADD`, `LIST_FIRST`,
//! `LIST_MOVE` and `LIST_DEL` of the listings of seed 002, of which the latter two only ever concern the first of a
//! list.

/// No number.
const NIL: u32 = u32::MAX;

/// One list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    head: u32,
    tail: u32,
}

/// For each number its successor on its list.
#[derive(Clone, Debug)]
pub(crate) struct Links(Vec<u32>);

impl Links {
    /// For the numbers `0..n`.
    pub(crate) fn new(n: usize) -> Self {
        Self(vec![NIL; n])
    }
}

impl Round {
    pub(crate) const EMPTY: Self = Self { head: NIL, tail: NIL };

    /// `LIST_FIRST`; `None` if the list is empty.
    #[inline]
    pub(crate) fn first(self) -> Option<usize> {
        (self.head != NIL).then_some(self.head as usize)
    }

    /// `LIST_ADD`: `index`, which must be on no list, becomes the last.
    #[inline]
    pub(crate) fn add(&mut self, links: &mut Links, index: usize) {
        links.0[index] = NIL;
        if self.tail == NIL {
            self.head = index as u32;
        } else {
            links.0[self.tail as usize] = index as u32;
        }
        self.tail = index as u32;
    }

    /// `index`, which must be on no list, becomes the first.
    #[inline]
    pub(crate) fn add_first(&mut self, links: &mut Links, index: usize) {
        links.0[index] = self.head;
        self.head = index as u32;
        if self.tail == NIL {
            self.tail = self.head;
        }
    }

    /// `LIST_DEL` of the first, of which there must be one.
    #[inline]
    pub(crate) fn del_first(&mut self, links: &Links) -> usize {
        let index = self.head as usize;
        self.head = links.0[index];
        if self.head == NIL {
            self.tail = NIL;
        }
        index
    }

    /// `LIST_MOVE` of the first to the end of the same list.
    #[inline]
    pub(crate) fn rotate(&mut self, links: &mut Links) {
        let index = self.del_first(links);
        self.add(links, index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_share_links_and_keep_their_orders() {
        let (mut links, mut a, mut b) = (Links::new(6), Round::EMPTY, Round::EMPTY);
        for i in 0..6 {
            if i % 2 == 0 { &mut a } else { &mut b }.add(&mut links, i);
        }
        a.rotate(&mut links);
        let moved = a.del_first(&links);
        b.add(&mut links, moved);
        // To the front and back again.
        let last = a.del_first(&links);
        b.add_first(&mut links, last);
        let first = b.del_first(&links);
        a.add_first(&mut links, first);
        let drain = |mut r: Round| {
            let mut all = Vec::new();
            while r.first().is_some() {
                all.push(r.del_first(&links));
            }
            all
        };
        assert_eq!((drain(a), drain(b)), (vec![4, 0], vec![1, 3, 5, 2]));
    }
}
