//! The event calendar: what happens next.

use sojourn_units::Time;

/// A total order on wake-ups, by time and, at one time, in the order in which they were set.
///
/// Components, not packets, sit in it: each has one slot and at most one wake-up. So the heap holds tens of entries
/// whatever the number of packets under way, and moving a wake-up is a sift of an entry that is already there.
///
/// A 4-ary heap with the position of each slot. Costs: `set` O(log n), `next` O(1); the usual pattern, the component
/// that was just woken sets its next wake-up, is one sift from the root.
#[derive(Debug, Default)]
pub(crate) struct Calendar {
    heap: Vec<Entry>,
    /// Where each slot stands in the heap.
    position: Vec<u32>,
    sequence: u64,
    now: Time,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Time,
    sequence: u64,
    slot: u32,
}

impl Entry {
    fn before(&self, other: &Self) -> bool {
        (self.at, self.sequence) < (other.at, other.sequence)
    }
}

const ABSENT: u32 = u32::MAX;

impl Calendar {
    /// A new slot, without a wake-up. Answers its number, counting from 0.
    pub(crate) fn add_slot(&mut self) -> u32 {
        self.position.push(ABSENT);
        self.position.len() as u32 - 1
    }

    /// The wake-up of `slot`, if it has one.
    #[inline]
    pub(crate) fn due(&self, slot: u32) -> Option<Time> {
        let p = self.position[slot as usize];
        (p != ABSENT).then(|| self.heap[p as usize].at)
    }

    /// Wakes `slot` at `at`, instead of whatever it was set to.
    ///
    /// # Panics
    /// If `at` has passed: time does not run backwards.
    #[inline]
    pub(crate) fn set(&mut self, slot: u32, at: Time) {
        assert!(at >= self.now, "a wake-up was set for {at}, but it is {} already", self.now);
        self.sequence += 1;
        let entry = Entry { at, sequence: self.sequence, slot };
        let p = self.position[slot as usize];
        if p == ABSENT {
            self.heap.push(entry);
            self.sift_up(self.heap.len() - 1, entry);
        } else {
            let old = self.heap[p as usize];
            if entry.before(&old) {
                self.sift_up(p as usize, entry);
            } else {
                self.sift_down(p as usize, entry);
            }
        }
    }

    /// Takes the wake-up of `slot` away, if it has one.
    #[inline]
    pub(crate) fn clear(&mut self, slot: u32) {
        let p = self.position[slot as usize];
        if p == ABSENT {
            return;
        }
        self.position[slot as usize] = ABSENT;
        let last = self.heap.pop().expect("a slot with a position is in the heap");
        let p = p as usize;
        if p < self.heap.len() {
            if p > 0 && last.before(&self.heap[(p - 1) / 4]) {
                self.sift_up(p, last);
            } else {
                self.sift_down(p, last);
            }
        }
    }

    /// The next wake-up, which stays in its place: its component must `set` or `clear` it.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(Time, u32)> {
        let top = self.heap.first()?;
        assert!(top.at >= self.now, "time must not run backwards");
        self.now = top.at;
        Some((top.at, top.slot))
    }

    #[inline]
    fn place(&mut self, p: usize, entry: Entry) {
        self.heap[p] = entry;
        self.position[entry.slot as usize] = p as u32;
    }

    #[inline]
    fn sift_up(&mut self, mut p: usize, entry: Entry) {
        while p > 0 {
            let parent = (p - 1) / 4;
            if !entry.before(&self.heap[parent]) {
                break;
            }
            let moved = self.heap[parent];
            self.place(p, moved);
            p = parent;
        }
        self.place(p, entry);
    }

    #[inline]
    fn sift_down(&mut self, mut p: usize, entry: Entry) {
        loop {
            let first = 4 * p + 1;
            let Some(children) = self.heap.get(first..self.heap.len().min(first + 4)).filter(|c| !c.is_empty()) else {
                break;
            };
            let mut best = 0;
            for i in 1..children.len() {
                if children[i].before(&children[best]) {
                    best = i;
                }
            }
            let child = children[best];
            if !child.before(&entry) {
                break;
            }
            self.place(p, child);
            p = first + best;
        }
        self.place(p, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::{Duration, Stream};
    use std::collections::BTreeMap;

    #[test]
    fn ties_come_in_the_order_of_setting() {
        let mut c = Calendar::default();
        let slots: Vec<u32> = (0..20).map(|_| c.add_slot()).collect();
        for &s in slots.iter().rev() {
            c.set(s, Time::from_nanos(5));
        }
        let mut order = Vec::new();
        while let Some((_, s)) = c.next() {
            order.push(s);
            c.clear(s);
        }
        assert!(order.iter().eq(slots.iter().rev()));
    }

    #[test]
    fn agrees_with_a_sorted_map_on_random_operations() {
        let mut rng = Stream::new(7);
        let mut c = Calendar::default();
        let mut model: BTreeMap<(Time, u64), u32> = BTreeMap::new();
        let mut key: Vec<Option<(Time, u64)>> = (0..50).map(|_| { c.add_slot(); None }).collect();
        let (mut now, mut sequence) = (Time::ZERO, 0);
        for _ in 0..20_000 {
            let slot = rng.below(50) as u32;
            if let Some(k) = key[slot as usize].take() {
                model.remove(&k);
            }
            if rng.below(4) == 0 {
                c.clear(slot);
            } else {
                sequence += 1;
                let at = now + Duration::from_nanos(rng.below(100));
                c.set(slot, at);
                model.insert((at, sequence), slot);
                key[slot as usize] = Some((at, sequence));
            }
            if rng.below(3) == 0 {
                let expected = model.first_key_value().map(|(k, &s)| (k.0, s));
                assert_eq!(c.next(), expected);
                if let Some((at, s)) = expected {
                    now = at;
                    model.remove(&key[s as usize].take().unwrap());
                    c.clear(s);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "it is 0.000000009s already")]
    fn the_past_is_refused() {
        let mut c = Calendar::default();
        let s = c.add_slot();
        c.set(s, Time::from_nanos(9));
        c.next();
        c.set(s, Time::from_nanos(8));
    }
}
