//! The event calendar: what happens next.

use sojourn_units::Time;

/// A total order on wake-ups: by time; at one time those of egresses first, then in the order in which they were set.
///
/// What leaves a queue at an instant makes room for what comes at the same instant. Without that rule a self-clocked
/// window, whose packets come at the very times at which others leave, would see one packet more or less in the queue,
/// by accident and for as long as it lasts.
///
/// Components, not packets, sit in it: each has one slot and at most one wake-up. So it holds tens of entries whatever
/// the number of packets under way.
///
/// Two trees of groups of eight, in which the earliest is found by looking at all eight, without a branch to be mispredicted. Of
/// the few slots that change with every packet (links) a change is one store as long as there is one group, and the earliest is
/// looked for when it is needed. Of the many that hardly ever go off (timers) the earliest is kept; a change walks upwards and
/// stops where the earliest of a group stays the same. docs/performance.md compares them with what was there before.
#[derive(Debug, Default)]
pub(crate) struct Calendar {
    links: Groups,
    timers: Timers,
    /// Of the last key, in its place there.
    sequence: u64,
    now: Time,
}

/// Names a component in the calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slot(u32);

/// Set in the number of a slot that is a link's.
const LINK: u32 = 1 << (SLOT_BITS - 1);
/// Set in the number of a link's slot that is its egress's.
const EGRESS: u32 = 1 << (SLOT_BITS - 2);
/// A key is time, whether it is no egress, sequence number and slot, from the most significant bits down: 64, 1, 39 and 24
/// bits.
const SLOT_BITS: u32 = 24;
/// Set in the key of all but egresses.
const LATER: u64 = 1 << (TIME_SHIFT - 1);
const TIME_SHIFT: u32 = 64;
const ABSENT: u128 = u128::MAX;

impl Slot {
    /// Position among the slots of its sort.
    pub(crate) fn index(self) -> usize {
        (self.0 & !(LINK | EGRESS)) as usize
    }

    pub(crate) fn is_link(self) -> bool {
        self.0 & LINK != 0
    }
}

impl Calendar {
    /// A new slot for an egress, without a wake-up.
    pub(crate) fn add_egress_slot(&mut self) -> Slot {
        Slot(self.links.add() | LINK | EGRESS)
    }

    /// A new slot for something else that changes with every packet, without a wake-up.
    pub(crate) fn add_link_slot(&mut self) -> Slot {
        Slot(self.links.add() | LINK)
    }

    /// A new slot for something that rarely goes off, without a wake-up.
    pub(crate) fn add_timer_slot(&mut self) -> Slot {
        Slot(self.timers.groups.add())
    }

    /// The wake-up of `slot`, if it has one.
    #[inline]
    pub(crate) fn due(&self, slot: Slot) -> Option<Time> {
        let key = if slot.is_link() {
            self.links.key(slot.index())
        } else {
            self.timers.groups.key(slot.index())
        };
        (key != ABSENT).then(|| time(key))
    }

    /// Wakes `slot` at `at`, instead of whatever it was set to.
    ///
    /// # Panics
    /// If `at` has passed: time does not run backwards.
    #[inline]
    pub(crate) fn set(&mut self, slot: Slot, at: Time) {
        assert!(
            at >= self.now,
            "a wake-up was set for {at}, but it is {} already",
            self.now
        );
        self.sequence += 1 << SLOT_BITS;
        let class = if slot.0 & EGRESS == 0 { LATER } else { 0 };
        let key = u128::from(at.as_nanos()) << TIME_SHIFT | u128::from(class | self.sequence | u64::from(slot.0));
        self.update(slot, key);
    }

    #[inline]
    fn update(&mut self, slot: Slot, key: u128) {
        if slot.is_link() {
            self.links.update(slot.index(), key);
        } else {
            self.timers.update(slot.index(), key);
        }
    }

    /// Takes the wake-up of `slot` away, if it has one.
    #[inline]
    pub(crate) fn clear(&mut self, slot: Slot) {
        self.update(slot, ABSENT);
    }

    /// The next wake-up, if it is not after `until`. It stays in its place: its component must `set` or `clear` it.
    ///
    /// Time goes on to the wake-up that is answered and not to a later one, before which others may yet be set.
    #[inline]
    pub(crate) fn next(&mut self, until: Time) -> Option<(Time, Slot)> {
        let key = self.links.first().min(self.timers.first);
        if key == ABSENT || time(key) > until {
            return None;
        }
        self.now = time(key);
        Some((self.now, Slot((key as u32) & ((1 << SLOT_BITS) - 1))))
    }
}

#[inline]
fn time(key: u128) -> Time {
    Time::from_nanos((key >> TIME_SHIFT) as u64)
}

/// Slots a group.
const GROUP: usize = 8;

/// Keys in groups, and the earliest of each group in groups, up to one group.
#[derive(Debug)]
struct Groups {
    top: [u128; GROUP],
    /// From the slots upwards; empty if the slots are in `top`.
    below: Vec<Vec<[u128; GROUP]>>,
    slots: usize,
}

impl Default for Groups {
    fn default() -> Self {
        Self {
            top: [ABSENT; GROUP],
            below: Vec::new(),
            slots: 0,
        }
    }
}

/// The earliest of a group, in three rounds.
#[inline]
#[expect(clippy::many_single_char_names, reason = "the eight of a group, compared in pairs")]
fn earliest(group: &[u128; GROUP]) -> u128 {
    let [a, b, c, d, e, f, g, h] = *group;
    a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
}

impl Groups {
    fn add(&mut self) -> u32 {
        assert!(self.slots < EGRESS as usize, "at most 2^22 slots of a sort");
        let slot = self.slots;
        self.slots += 1;
        if slot >= GROUP && slot.is_multiple_of(GROUP) {
            let mut keys: Vec<u128> = (0..slot).map(|slot| self.key(slot)).collect();
            self.below.clear();
            keys.push(ABSENT);
            while keys.len() > GROUP {
                let groups: Vec<[u128; GROUP]> = keys
                    .chunks(GROUP)
                    .map(|some| std::array::from_fn(|i| some.get(i).copied().unwrap_or(ABSENT)))
                    .collect();
                keys = groups.iter().map(earliest).collect();
                self.below.push(groups);
            }
            self.top = std::array::from_fn(|i| keys.get(i).copied().unwrap_or(ABSENT));
        }
        slot as u32
    }

    #[inline]
    fn key(&self, slot: usize) -> u128 {
        match self.below.first() {
            None => self.top[slot % GROUP],
            Some(groups) => groups[slot / GROUP][slot % GROUP],
        }
    }

    #[inline]
    fn first(&self) -> u128 {
        earliest(&self.top)
    }

    #[inline]
    fn update(&mut self, slot: usize, key: u128) {
        if self.below.is_empty() {
            self.top[slot % GROUP] = key;
        } else {
            self.update_below(slot, key);
        }
    }

    #[inline(never)]
    fn update_below(&mut self, slot: usize, key: u128) {
        let (mut i, mut winner) = (slot, key);
        for groups in &mut self.below {
            let group = &mut groups[i / GROUP];
            group[i % GROUP] = winner;
            winner = earliest(group);
            i /= GROUP;
        }
        self.top[i % GROUP] = winner;
    }
}

#[derive(Debug)]
struct Timers {
    groups: Groups,
    /// The earliest of all.
    first: u128,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            groups: Groups::default(),
            first: ABSENT,
        }
    }
}

impl Timers {
    /// All eight of a group are looked at only where its earliest becomes later. Apart, so that links stay small.
    #[inline(never)]
    fn update(&mut self, slot: usize, key: u128) {
        let Groups { top, below, .. } = &mut self.groups;
        let (mut i, mut earlier) = (slot, key);
        let mut levels = below.iter_mut().peekable();
        while let Some(groups) = levels.next() {
            let above = match levels.peek() {
                Some(next) => next[i / GROUP / GROUP][i / GROUP % GROUP],
                None => top[i / GROUP],
            };
            let group = &mut groups[i / GROUP];
            let before = std::mem::replace(&mut group[i % GROUP], earlier);
            if before != above && earlier > above {
                return;
            }
            if before == above && earlier > above {
                earlier = earliest(group);
            }
            i /= GROUP;
        }
        top[i % GROUP] = earlier;
        self.first = earliest(top);
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
        let slots: Vec<Slot> = (0..20)
            .map(|i| {
                if i % 3 == 0 {
                    c.add_link_slot()
                } else {
                    c.add_timer_slot()
                }
            })
            .collect();
        for &s in slots.iter().rev() {
            c.set(s, Time::from_nanos(5));
        }
        let mut order = Vec::new();
        while let Some((_, s)) = c.next(Time::MAX) {
            order.push(s);
            c.clear(s);
        }
        assert!(order.iter().eq(slots.iter().rev()));
    }

    #[test]
    fn egresses_come_before_all_else_of_their_instant() {
        let mut c = Calendar::default();
        let (line, timer, egress, other) = (
            c.add_link_slot(),
            c.add_timer_slot(),
            c.add_egress_slot(),
            c.add_egress_slot(),
        );
        for slot in [line, timer, other, egress] {
            c.set(slot, Time::from_nanos(5));
        }
        let mut order = Vec::new();
        while let Some((_, slot)) = c.next(Time::MAX) {
            order.push(slot);
            c.clear(slot);
        }
        assert_eq!(order, [other, egress, line, timer]);
    }

    #[test]
    fn agrees_with_a_sorted_map_on_random_operations() {
        let mut rng = Stream::new(7);
        let mut c = Calendar::default();
        let mut model: BTreeMap<(Time, u64), usize> = BTreeMap::new();
        let slots: Vec<Slot> = (0..50)
            .map(|i| if i < 7 { c.add_link_slot() } else { c.add_timer_slot() })
            .collect();
        let mut key: Vec<Option<(Time, u64)>> = vec![None; 50];
        let (mut now, mut sequence) = (Time::ZERO, 0);
        for _ in 0..20_000 {
            let slot = rng.below(50) as usize;
            if let Some(k) = key[slot].take() {
                model.remove(&k);
            }
            if rng.below(4) == 0 {
                c.clear(slots[slot]);
            } else {
                sequence += 1;
                let at = now + Duration::from_nanos(rng.below(100));
                c.set(slots[slot], at);
                model.insert((at, sequence), slot);
                key[slot] = Some((at, sequence));
            }
            if rng.below(3) == 0 {
                let expected = model.first_key_value().map(|(k, &s)| (k.0, s));
                assert_eq!(c.next(Time::MAX), expected.map(|(at, s)| (at, slots[s])));
                if let Some((at, s)) = expected {
                    now = at;
                    model.remove(&key[s].take().unwrap());
                    c.clear(slots[s]);
                }
            }
        }
    }

    #[test]
    fn a_wake_up_can_be_set_before_one_that_was_not_due() {
        let mut c = Calendar::default();
        let (early, late) = (c.add_timer_slot(), c.add_link_slot());
        c.set(late, Time::from_nanos(9));
        assert_eq!(c.next(Time::from_nanos(8)), None);
        c.set(early, Time::from_nanos(8));
        assert_eq!(c.next(Time::from_nanos(8)), Some((Time::from_nanos(8), early)));
    }

    /// Slots of links are added until there are three levels of groups; the clock goes on meanwhile.
    #[test]
    fn links_in_many_groups_agree_with_a_sorted_map() {
        let mut rng = Stream::new(11);
        let mut c = Calendar::default();
        let mut slots: Vec<Slot> = Vec::new();
        let mut model: BTreeMap<(Time, u64), Slot> = BTreeMap::new();
        let mut key: Vec<Option<(Time, u64)>> = Vec::new();
        let (mut now, mut served) = (Time::ZERO, 0);
        for sequence in 0..20_000 {
            if slots.len() < 600 && rng.below(10) == 0 {
                slots.push(c.add_link_slot());
                key.push(None);
            }
            if !slots.is_empty() {
                let i = rng.below(slots.len() as u64) as usize;
                let at = now + Duration::from_nanos(rng.below(1000));
                if let Some(k) = key[i].replace((at, sequence)) {
                    model.remove(&k);
                }
                c.set(slots[i], at);
                model.insert((at, sequence), slots[i]);
                assert_eq!(c.due(slots[i]), Some(at));
            }
            if rng.below(2) == 0
                && let Some(((at, _), slot)) = model.pop_first()
            {
                assert_eq!(c.next(Time::MAX), Some((at, slot)));
                c.clear(slot);
                key[slot.index()] = None;
                now = at;
                served += 1;
            }
        }
        assert!(slots.len() == 600 && served > 5000, "{served}");
    }

    #[test]
    #[should_panic(expected = "it is 0.000000009s already")]
    fn the_past_is_refused() {
        let mut c = Calendar::default();
        let s = c.add_timer_slot();
        c.set(s, Time::from_nanos(9));
        c.next(Time::MAX);
        c.set(s, Time::from_nanos(8));
    }
}
