//! The packets of both captures within the horizon, by what is in them.

#![expect(
    clippy::disallowed_types,
    reason = "the map of keys is looked into and never gone through"
)]

use super::{REMEMBERED, Sighting};
use std::collections::{HashMap, VecDeque};

/// By how much of its difference a packet that is in both captures moves the estimate of the clocks' offset: slow
/// against any queue, and fast against any drift.
const DRIFT: i128 = 1024;

/// Packets of one content.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) seen: Sighting,
    /// When each point had the first, by its own clock.
    pub(super) at: [Option<u64>; 2],
    /// How many each had.
    pub(super) copies: [u32; 2],
    /// When the first was seen anywhere, by B's clock.
    pub(super) on_b: i128,
}

/// What is remembered.
#[derive(Debug)]
pub(super) struct Window {
    horizon: i128,
    /// B's clock less A's.
    offset: i128,
    entries: VecDeque<Entry>,
    /// Number of the first of them.
    first: u64,
    /// Numbers of entries.
    by_key: HashMap<u64, u64>,
    /// The time of what was noted last, by B's clock.
    now: i128,
}

impl Window {
    pub(super) fn new(horizon_ns: u64, offset: i128) -> Self {
        Self {
            horizon: i128::from(horizon_ns),
            offset,
            entries: VecDeque::new(),
            first: 0,
            by_key: HashMap::new(),
            now: 0,
        }
    }

    /// A time of capture `which` by B's clock, about.
    pub(super) fn on_b(&self, which: usize, at_ns: u64) -> i128 {
        i128::from(at_ns) + if which == 0 { self.offset } else { 0 }
    }

    /// Up to when everything that B had can have been settled, by B's clock.
    pub(super) fn horizon_behind(&self) -> i128 {
        let oldest = self.entries.front().map_or(self.now, |entry| entry.on_b.min(self.now));
        oldest - self.horizon
    }

    /// A packet of capture `which`.
    pub(super) fn note(&mut self, which: usize, seen: Sighting) {
        self.now = self.on_b(which, seen.at_ns);
        if let Some(number) = self.by_key.get(&seen.key) {
            let entry = &mut self.entries[(number - self.first) as usize];
            entry.copies[which] = entry.copies[which].saturating_add(1);
            if entry.at[which].is_none() {
                entry.at[which] = Some(seen.at_ns);
                if let [Some(a), Some(b)] = entry.at {
                    let found = i128::from(b) - i128::from(a);
                    self.offset += (found - self.offset) / DRIFT;
                }
            }
            return;
        }
        let mut entry = Entry {
            seen,
            at: [None; 2],
            copies: [0; 2],
            on_b: self.now,
        };
        entry.at[which] = Some(seen.at_ns);
        entry.copies[which] = 1;
        self.by_key.insert(seen.key, self.first + self.entries.len() as u64);
        self.entries.push_back(entry);
    }

    /// The oldest packets, if they are a horizon away from what was noted last, or there are too many.
    pub(super) fn settled(&mut self) -> Option<Entry> {
        let front = self.entries.front()?;
        let away = self.now.abs_diff(front.on_b) > self.horizon.unsigned_abs();
        (away || self.entries.len() > REMEMBERED).then(|| self.pop()).flatten()
    }

    pub(super) fn pop(&mut self) -> Option<Entry> {
        let entry = self.entries.pop_front()?;
        self.first += 1;
        self.by_key.remove(&entry.seen.key);
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HORIZON: u64 = 1000;

    fn sighting(key: u64, at_ns: u64) -> Sighting {
        Sighting {
            key,
            at_ns,
            conversation: 0,
            from_low: true,
        }
    }

    #[test]
    fn the_offset_follows_packets_that_are_in_both_by_a_1024th() {
        let mut window = Window::new(HORIZON, 10_000);
        window.note(0, sighting(1, 100_000));
        assert_eq!(window.on_b(0, 5), 10_005);
        assert_eq!(window.on_b(1, 5), 5);
        // 20,240 and not 10,000: ten more.
        window.note(1, sighting(1, 120_240));
        assert_eq!(window.on_b(0, 0), 10_010);
        // A further copy says nothing.
        window.note(1, sighting(1, 190_000));
        assert_eq!(window.on_b(0, 0), 10_010);
        window.note(1, sighting(2, 200_000));
        window.note(0, sighting(2, 200_000));
        assert_eq!(window.on_b(0, 0), 10_010 - 9);
    }

    #[test]
    fn a_packet_is_settled_when_it_is_more_than_a_horizon_away() {
        for (which, after) in [(0, 1001), (1, 1001)] {
            let mut window = Window::new(HORIZON, 0);
            window.note(which, sighting(1, 5000));
            assert!(window.settled().is_none());
            window.note(1 - which, sighting(2, 5000 + HORIZON));
            assert!(window.settled().is_none());
            window.note(which, sighting(3, 5000 + after));
            let entry = window.settled().expect("it is a horizon away");
            assert_eq!((entry.seen.key, entry.on_b), (1, 5000));
            assert_eq!((entry.at[which], entry.at[1 - which]), (Some(5000), None));
            assert!(window.settled().is_none());
            // Of the same content, and another packet.
            window.note(which, sighting(1, 5000 + after));
            assert_eq!(window.entries.len(), 3);
            assert_eq!(window.entries.back().map(|entry| entry.copies[which]), Some(1));
        }
    }

    #[test]
    fn what_is_behind_is_a_horizon_before_the_oldest() {
        let mut window = Window::new(HORIZON, 0);
        window.note(0, sighting(1, 5000));
        window.note(0, sighting(2, 5400));
        assert_eq!(window.horizon_behind(), 4000);
        window.pop();
        assert_eq!(window.horizon_behind(), 4400);
        window.pop();
        // Nothing is remembered: before what was noted last.
        assert_eq!(window.horizon_behind(), 4400);
        // A capture may tell a time before that of its last packet.
        window.note(0, sighting(3, 7000));
        window.note(0, sighting(4, 6000));
        assert_eq!(window.horizon_behind(), 5000);
    }

    #[test]
    fn no_more_packets_are_remembered_than_there_is_room_for() {
        let mut window = Window::new(u64::MAX, 0);
        for n in 0..REMEMBERED as u64 {
            window.note(0, sighting(n, 5000 + n));
        }
        assert!(window.settled().is_none());
        window.note(0, sighting(u64::MAX, 9000));
        assert_eq!(window.settled().map(|entry| entry.seen.key), Some(0));
        assert!(window.settled().is_none());
    }
}
