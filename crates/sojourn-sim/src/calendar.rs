//! The event calendar: what happens next.

mod timers;

use sojourn_units::Time;
use timers::Timers;

/// A total order on wake-ups: by time; at one time those of egresses first, then in the order in which they were set.
///
/// What leaves a queue at an instant makes room for what comes at the same instant. Without that rule a self-clocked
/// window, whose packets come at the very times at which others leave, would see one packet more or less in the
/// queue, by accident and for as long as it lasts.
///
/// Components, not packets, sit in it: each has one slot and at most one wake-up. So it holds tens of entries
/// whatever the number of packets under way.
///
/// Links and timers lie apart. Of the few slots that change with every packet (links) a change is one store as long
/// as there are at most eight, and the earliest is looked for when it is needed, without a branch to be mispredicted.
/// Of the many that hardly ever go off (timers) only those of the next instants are in order (`timers.rs`).
/// docs/lab/performance.md has what else was tried.
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

/// A wake-up's turn in the order, with the number of one of those who share a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Turn(u128);

impl Turn {
    /// None. It is after all others.
    pub(crate) const NEVER: Self = Self(ABSENT);

    /// Its time; [`Time::MAX`] for none.
    #[inline]
    pub(crate) fn at(self) -> Time {
        time(self.0)
    }

    /// Whose it is.
    #[inline]
    pub(crate) fn number(self) -> u32 {
        slot(self.0).0
    }
}

/// Set in the number of a slot that is a link's.
const LINK: u32 = 1 << (SLOT_BITS - 1);
/// Set in the number of a link's slot that is its egress's.
const EGRESS: u32 = 1 << (SLOT_BITS - 2);
/// A key is time, whether it is no egress, sequence number and slot, from the most significant bits down: 64, 1, 39
/// and 24 bits.
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
        Slot(self.timers.add())
    }

    /// The wake-up of `slot`, if it has one.
    #[inline]
    pub(crate) fn due(&self, slot: Slot) -> Option<Time> {
        let key = if slot.is_link() {
            self.links.key(slot.index())
        } else {
            self.timers.key(slot.index())
        };
        (key != ABSENT).then(|| time(key))
    }

    /// Wakes `slot` at `at`, instead of whatever it was set to.
    ///
    /// `at` has not passed: time does not run backwards.
    #[inline]
    pub(crate) fn set(&mut self, slot: Slot, at: Time) {
        debug_assert!(
            at >= self.now,
            "a wake-up was set for {at}, but it is {} already",
            self.now
        );
        let key = self.new_key(slot, at);
        if slot.is_link() {
            self.links.update(slot.index(), key);
        } else {
            self.timers.set(slot.index(), key);
        }
    }

    /// The turn of a wake-up at `at` that is set now, of number `number`, below 2^24, of those who share a slot.
    #[inline]
    pub(crate) fn turn(&mut self, number: u32, at: Time) -> Turn {
        Turn(self.new_key(Slot(number), at))
    }

    /// Wakes the link's slot `slot` in turn `turn`, instead of whatever it was set to; never, if that is none.
    #[inline]
    pub(crate) fn set_in_turn(&mut self, slot: Slot, turn: Turn) {
        let key = match turn {
            Turn::NEVER => ABSENT,
            Turn(key) => (key & !((1 << SLOT_BITS) - 1)) | u128::from(slot.0),
        };
        self.links.update(slot.index(), key);
    }

    /// Wakes the timer `slot` at `at`, or now if `at` has passed; `None` for never.
    ///
    /// The wake-up is lazy. One that is set to an earlier time stays there, and moves on when its time has come,
    /// without anyone being called. TCP moves its timers with every segment, and almost none of them goes off.
    #[inline]
    pub(crate) fn set_lazily(&mut self, slot: Slot, at: Option<Time>) {
        let at = at.unwrap_or(Time::MAX);
        if self.timers.put_off(slot.index(), at) {
            self.set(slot, at.max(self.now));
        }
    }

    #[inline]
    fn new_key(&mut self, slot: Slot, at: Time) -> u128 {
        self.sequence += 1 << SLOT_BITS;
        let class = if slot.0 & EGRESS == 0 { LATER } else { 0 };
        u128::from(at.as_nanos()) << TIME_SHIFT | u128::from(class | self.sequence | u64::from(slot.0))
    }

    /// Takes the wake-up of `slot` away, if it has one.
    #[inline]
    pub(crate) fn clear(&mut self, slot: Slot) {
        if slot.is_link() {
            self.links.update(slot.index(), ABSENT);
        } else {
            self.timers.clear(slot.index());
        }
    }

    /// The next wake-up, if it is not after `until`. It stays in its place: its component must `set` or `clear` it.
    ///
    /// Time goes on to the wake-up that is answered and not to a later one, before which others may yet be set.
    #[inline]
    pub(crate) fn next(&mut self, until: Time) -> Option<(Time, Slot)> {
        let mut key = self.links.first();
        if self.timers.bound() < key {
            key = self.earliest_of_both(key, until);
        }
        if key == ABSENT || time(key) > until {
            return None;
        }
        self.now = time(key);
        Some((self.now, slot(key)))
    }

    /// The earliest of all, if it is not after `until`; the earliest of the links is `link`. Lazy timers whose time
    /// has come move on.
    #[inline(never)]
    fn earliest_of_both(&mut self, link: u128, until: Time) -> u128 {
        loop {
            let Some(key) = self.timers.first(link.min(after(until))) else {
                return link;
            };
            let timer = slot(key);
            match self.timers.wanted(timer.index()) {
                at if at <= time(key) => return key,
                Time::MAX => self.timers.clear(timer.index()),
                at => {
                    let moved = self.new_key(timer, at);
                    self.timers.set(timer.index(), moved);
                }
            }
        }
    }
}

/// The key before which all are that are due at `until` or earlier.
fn after(until: Time) -> u128 {
    match until {
        Time::MAX => ABSENT,
        until => u128::from(until.as_nanos() + 1) << TIME_SHIFT,
    }
}

#[inline]
fn slot(key: u128) -> Slot {
    Slot((key as u32) & ((1 << SLOT_BITS) - 1))
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
        let [a, b, c, d, ..] = self.top;
        if self.slots <= 2 {
            return a.min(b);
        }
        if self.slots <= 4 {
            return a.min(b).min(c.min(d));
        }
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

    /// Waits from a nanosecond to half an hour, so that timers lie in all parts of the wheel, and move on when lazy.
    #[test]
    fn lazy_timers_agree_with_a_sorted_map_whatever_they_wait() {
        let mut rng = Stream::new(3);
        let mut c = Calendar::default();
        let slots: Vec<Slot> = (0..300).map(|_| c.add_timer_slot()).collect();
        let line = c.add_link_slot();
        let mut keys: Vec<Option<(Time, u64)>> = vec![None; 300];
        let mut wanted = vec![Time::ZERO; 300];
        let mut model: BTreeMap<(Time, u64), usize> = BTreeMap::new();
        let (mut now, mut sequence, mut answered) = (Time::ZERO, 0, 0);
        for step in 0..200_000 {
            let i = rng.below(300) as usize;
            // Waits become longer, or timers that go off at once would keep the time where it is.
            let floor = step / 5000;
            let reach = 1 << (floor + rng.below(41 - floor));
            let at = now + Duration::from_nanos(rng.below(reach));
            let lazily = rng.below(2) == 0;
            if lazily && rng.below(8) == 0 {
                wanted[i] = Time::MAX;
                c.set_lazily(slots[i], None);
            } else if rng.below(8) == 0 {
                c.clear(slots[i]);
                keys[i].take().map(|key| model.remove(&key));
            } else {
                wanted[i] = at;
                if !lazily || keys[i].is_none_or(|(due, _)| due > at) {
                    sequence += 1;
                    keys[i].replace((at, sequence)).map(|key| model.remove(&key));
                    model.insert((at, sequence), i);
                }
                if lazily {
                    c.set_lazily(slots[i], Some(at));
                } else {
                    c.set(slots[i], at);
                }
            }
            if rng.below(2) == 0 {
                let reach = 1 << rng.below(34);
                let until = now + Duration::from_nanos(rng.below(reach));
                let due = loop {
                    let Some((&(at, number), &i)) = model.first_key_value().filter(|&(key, _)| key.0 <= until) else {
                        break None;
                    };
                    model.remove(&(at, number));
                    keys[i] = None;
                    if wanted[i] <= at {
                        break Some((at, slots[i]));
                    }
                    if wanted[i] < Time::MAX {
                        sequence += 1;
                        keys[i] = Some((wanted[i], sequence));
                        model.insert((wanted[i], sequence), i);
                    }
                };
                assert_eq!(c.next(until), due);
                if let Some((at, slot)) = due {
                    c.clear(slot);
                    (now, answered) = (at, answered + 1);
                } else {
                    // Time comes to `until` by something else.
                    c.set(line, until);
                    sequence += 1;
                    assert_eq!(c.next(until), Some((until, line)));
                    c.clear(line);
                    now = until;
                }
            }
        }
        assert!(
            answered > 20_000 && now.as_nanos() > 1_000 * 1_000_000_000,
            "{answered} by {now}"
        );
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
