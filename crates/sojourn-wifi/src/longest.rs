//! `FIND_LONGEST_QUEUE` without looking at all queues.

/// The queues by length, longest first: a heap whose keys may be too large.
///
/// A queue that grows beyond its key gets the new length as key at once; one that shrinks keeps its key. So the
/// longest queue is the first whose key is its length; a first one whose key is too large gets its length as key and
/// sinks.
///
/// Cost for n queues: a queue that grows below its key costs one comparison, one that grows above it O(log n) at
/// worst, one that shrinks nothing. Each correction in a search undoes one earlier growth, so that a search costs
/// O(log n) when spread over the packets that came; in the steady state of an overload it is one or two corrections.
#[derive(Clone, Debug)]
pub(crate) struct Longest {
    heap: Vec<u32>,
    /// By queue: its place in the heap plus one; 0 before its first packet.
    place: Vec<u32>,
    /// By queue: at least its length in bytes.
    key: Vec<u64>,
}

impl Longest {
    /// Of `n` queues, all empty.
    pub(crate) fn new(n: usize) -> Self {
        Self {
            heap: Vec::with_capacity(n),
            place: vec![0; n],
            key: vec![0; n],
        }
    }

    /// Queue `index` has grown to `bytes`.
    #[inline]
    pub(crate) fn grew(&mut self, index: usize, bytes: u64) {
        if bytes <= self.key[index] {
            return;
        }
        self.key[index] = bytes;
        if self.place[index] == 0 {
            self.heap.push(index as u32);
            self.place[index] = self.heap.len() as u32;
        }
        self.rise(self.place[index] as usize - 1);
    }

    /// The longest queue, of several the one of lowest number; `None` if all are empty. `bytes` says how long a queue
    /// is.
    pub(crate) fn find(&mut self, bytes: impl Fn(usize) -> u64) -> Option<usize> {
        loop {
            let first = *self.heap.first()? as usize;
            let length = bytes(first);
            if length == self.key[first] {
                return (length > 0).then_some(first);
            }
            self.key[first] = length;
            self.sink();
        }
    }

    /// Whether `a` belongs before `b`.
    fn before(&self, a: u32, b: u32) -> bool {
        let key = |i: u32| (std::cmp::Reverse(self.key[i as usize]), i);
        key(a) < key(b)
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.place[self.heap[a] as usize] = a as u32 + 1;
        self.place[self.heap[b] as usize] = b as u32 + 1;
    }

    fn rise(&mut self, mut at: usize) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if !self.before(self.heap[at], self.heap[parent]) {
                break;
            }
            self.swap(at, parent);
            at = parent;
        }
    }

    /// Puts the first where it belongs.
    fn sink(&mut self) {
        let mut at = 0;
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let mut best = at;
            for child in [left, right] {
                if child < self.heap.len() && self.before(self.heap[child], self.heap[best]) {
                    best = child;
                }
            }
            if best == at {
                break;
            }
            self.swap(at, best);
            at = best;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_full_scan_finds_the_same(steps in prop::collection::vec((0_usize..20, 0_u64..100, any::<bool>()), 0..400)) {
            let mut lengths = [0_u64; 20];
            let mut longest = Longest::new(20);
            for (queue, bytes, grow) in steps {
                if grow {
                    lengths[queue] += bytes;
                    longest.grew(queue, lengths[queue]);
                } else {
                    lengths[queue] = lengths[queue].saturating_sub(bytes);
                }
                if bytes % 3 == 0 {
                    let most = lengths.iter().copied().max().filter(|&m| m > 0);
                    let expected = most.and_then(|m| lengths.iter().position(|&l| l == m));
                    prop_assert_eq!(longest.find(|i| lengths[i]), expected);
                }
            }
        }
    }
}
