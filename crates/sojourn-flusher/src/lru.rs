//! A map of bounded size that forgets the least recently used entry.

use std::collections::BTreeMap;

/// Where an entry is; valid until it is removed.
pub(crate) type Slot = usize;

#[derive(Debug)]
struct Entry<K, V> {
    key: K,
    value: V,
    older: Option<Slot>,
    newer: Option<Slot>,
}

/// Entries found by key and listed by age: an ordered index, and a doubly linked list through a slab. Nothing here
/// depends on a hash, so the order of everything is that of the calls.
#[derive(Debug)]
pub(crate) struct Lru<K, V> {
    index: BTreeMap<K, Slot>,
    slab: Vec<Option<Entry<K, V>>>,
    free: Vec<Slot>,
    oldest: Option<Slot>,
    newest: Option<Slot>,
    capacity: usize,
}

const LIVE: &str = "a slot is used only while its entry lives";

impl<K: Ord + Copy, V> Lru<K, V> {
    pub(crate) const fn new(capacity: usize) -> Self {
        Self {
            index: BTreeMap::new(),
            slab: Vec::new(),
            free: Vec::new(),
            oldest: None,
            newest: None,
            capacity,
        }
    }

    pub(crate) fn find(&self, key: &K) -> Option<Slot> {
        self.index.get(key).copied()
    }

    pub(crate) fn get(&self, slot: Slot) -> &V {
        &self.entry(slot).value
    }

    pub(crate) fn get_mut(&mut self, slot: Slot) -> &mut V {
        &mut self.entry_mut(slot).value
    }

    /// Adds an entry as the newest. What had to make room for it is returned.
    pub(crate) fn insert(&mut self, key: K, value: V) -> (Slot, Option<(K, V)>) {
        let evicted = if self.index.len() >= self.capacity {
            self.oldest.map(|slot| self.remove(slot))
        } else {
            None
        };
        let entry = Entry {
            key,
            value,
            older: None,
            newer: None,
        };
        let slot = if let Some(slot) = self.free.pop() {
            self.slab[slot] = Some(entry);
            slot
        } else {
            self.slab.push(Some(entry));
            self.slab.len() - 1
        };
        self.index.insert(key, slot);
        self.append(slot);
        (slot, evicted)
    }

    /// Makes an entry the newest.
    pub(crate) fn touch(&mut self, slot: Slot) {
        if self.newest != Some(slot) {
            self.unlink(slot);
            self.append(slot);
        }
    }

    pub(crate) fn remove(&mut self, slot: Slot) -> (K, V) {
        self.unlink(slot);
        let entry = self.slab[slot].take().expect(LIVE);
        self.index.remove(&entry.key);
        self.free.push(slot);
        (entry.key, entry.value)
    }

    pub(crate) const fn oldest(&self) -> Option<Slot> {
        self.oldest
    }

    /// In order of the keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.index.iter().map(|(key, &slot)| (key, self.get(slot)))
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    #[cfg(test)]
    pub(crate) fn slots(&self) -> usize {
        self.slab.len()
    }

    fn entry(&self, slot: Slot) -> &Entry<K, V> {
        self.slab[slot].as_ref().expect(LIVE)
    }

    fn entry_mut(&mut self, slot: Slot) -> &mut Entry<K, V> {
        self.slab[slot].as_mut().expect(LIVE)
    }

    fn unlink(&mut self, slot: Slot) {
        let (older, newer) = (self.entry(slot).older, self.entry(slot).newer);
        match older {
            Some(older) => self.entry_mut(older).newer = newer,
            None => self.oldest = newer,
        }
        match newer {
            Some(newer) => self.entry_mut(newer).older = older,
            None => self.newest = older,
        }
    }

    fn append(&mut self, slot: Slot) {
        let older = self.newest;
        let entry = self.entry_mut(slot);
        entry.older = older;
        entry.newer = None;
        match older {
            Some(older) => self.entry_mut(older).newer = Some(slot),
            None => self.oldest = Some(slot),
        }
        self.newest = Some(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_least_recently_used_entry_makes_room() {
        let mut lru = Lru::new(2);
        let (a, _) = lru.insert('a', 1);
        lru.insert('b', 2);
        lru.touch(a);
        let (_, evicted) = lru.insert('c', 3);
        assert_eq!(evicted, Some(('b', 2)));
        assert_eq!(lru.iter().map(|(k, _)| *k).collect::<String>(), "ac");
    }

    proptest! {
        /// Against the plain model: a list, oldest first.
        #[test]
        fn behaves_as_a_list_ordered_by_use(steps in prop::collection::vec((0u8..3, 0u8..12), 0..300)) {
            let mut lru = Lru::new(5);
            let mut model: Vec<u8> = Vec::new();
            for (what, key) in steps {
                match (what, lru.find(&key)) {
                    (0, None) => {
                        let (_, evicted) = lru.insert(key, key);
                        let expected = (model.len() == 5).then(|| model.remove(0));
                        prop_assert_eq!(evicted.map(|(k, _)| k), expected);
                        model.push(key);
                    }
                    (1, Some(slot)) => {
                        lru.touch(slot);
                        model.retain(|k| *k != key);
                        model.push(key);
                    }
                    (2, Some(slot)) => {
                        prop_assert_eq!(lru.remove(slot), (key, key));
                        model.retain(|k| *k != key);
                    }
                    (_, found) => prop_assert_eq!(found.is_some(), model.contains(&key)),
                }
                prop_assert_eq!(lru.oldest().map(|slot| *lru.get(slot)), model.first().copied());
                prop_assert_eq!(lru.len(), model.len());
                prop_assert!(lru.slots() <= 5);
            }
        }
    }
}
