//! Wake-ups of timers: many, of which few go off.

use super::{ABSENT, SLOT_BITS, TIME_SHIFT, slot, time};
use sojourn_units::Time;

/// A timing wheel (Varghese and Lauck 1987, scheme 7) whose order is nevertheless total.
///
/// A bucket holds the timers of 262 us, 2048 buckets make a block of half a second, 64 blocks an era, and later eras
/// wait in one list. A change is a few stores. When time comes to a bucket its timers go to `current`, which is
/// sorted. So of all timers only those that are about to go off are ever compared, and a timer that is moved before
/// that never is.
#[derive(Debug)]
pub(super) struct Timers {
    all: Vec<Timer>,
    /// Keys of the buckets before `reached`, the earliest last. One that is no longer its timer's counts for nothing.
    current: Vec<u128>,
    /// No timer has an earlier key; the earliest may have a later one.
    bound: u128,
    /// The first bucket that is not in `current`, counted from time zero.
    reached: u64,
    /// Buckets of the block `block`.
    buckets: Level<{ BUCKETS as usize / 64 }>,
    block: u64,
    /// Blocks of the era `era` after `block`.
    blocks: Level<{ BLOCKS as usize / 64 }>,
    era: u64,
    /// Timers of later eras.
    later: u32,
}

/// One timer; two share a line of the cache.
#[derive(Clone, Copy, Debug)]
struct Timer {
    key: u128,
    /// The component wants no wake-up before.
    wanted: Time,
    /// Neighbours in the list that it is in, if it is in one.
    before: u32,
    after: u32,
}

/// Heads of lists, and which of them are not empty: `WORDS` times 64.
#[derive(Debug)]
struct Level<const WORDS: usize> {
    heads: Vec<u32>,
    used: [u64; WORDS],
}

/// Where a key belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Current,
    Bucket(usize),
    Block(usize),
    Later,
}

/// The end of a list.
const NONE: u32 = u32::MAX;
/// Of a time in ns to the right, for the number of its bucket, block and era.
const BUCKET: u32 = 18;
const BLOCK: u32 = BUCKET + 11;
const ERA: u32 = BLOCK + 6;
/// Buckets of a block, and blocks of an era.
const BUCKETS: u64 = 1 << (BLOCK - BUCKET);
const BLOCKS: u64 = 1 << (ERA - BLOCK);

impl<const WORDS: usize> Default for Level<WORDS> {
    fn default() -> Self {
        Self {
            heads: vec![NONE; WORDS * 64],
            used: [0; WORDS],
        }
    }
}

impl<const WORDS: usize> Level<WORDS> {
    /// The first list from `start` on that is not empty.
    fn next(&self, start: usize) -> Option<usize> {
        let mut word = start / 64;
        let mut bits = self.used.get(word)? & (u64::MAX << (start % 64));
        while bits == 0 {
            word += 1;
            bits = *self.used.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }

    /// Empties a list and returns its head.
    fn take(&mut self, list: usize) -> u32 {
        self.used[list / 64] &= !(1 << (list % 64));
        std::mem::replace(&mut self.heads[list], NONE)
    }
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            current: Vec::new(),
            bound: ABSENT,
            reached: 0,
            buckets: Level::default(),
            block: 0,
            blocks: Level::default(),
            era: 0,
            later: NONE,
        }
    }
}

impl Timers {
    /// A new timer, without a wake-up.
    pub(super) fn add(&mut self) -> u32 {
        assert!(self.all.len() < 1 << (SLOT_BITS - 2), "at most 2^22 slots of a sort");
        self.all.push(Timer {
            key: ABSENT,
            wanted: Time::ZERO,
            before: NONE,
            after: NONE,
        });
        self.all.len() as u32 - 1
    }

    #[inline]
    pub(super) fn key(&self, timer: usize) -> u128 {
        self.all[timer].key
    }

    #[inline]
    pub(super) fn wanted(&self, timer: usize) -> Time {
        self.all[timer].wanted
    }

    /// No timer is due before.
    #[inline]
    pub(super) fn bound(&self) -> u128 {
        self.bound
    }

    /// The component of `timer` wants no wake-up before `at`. Answers whether the one that it has is later than that.
    #[inline]
    pub(super) fn put_off(&mut self, timer: usize, at: Time) -> bool {
        let timer = &mut self.all[timer];
        timer.wanted = at;
        at < time(timer.key)
    }

    #[inline(never)]
    pub(super) fn set(&mut self, timer: usize, key: u128) {
        self.clear(timer);
        let one = &mut self.all[timer];
        one.key = key;
        one.wanted = time(key);
        self.insert(timer, key);
    }

    pub(super) fn clear(&mut self, timer: usize) {
        let Timer { key, before, after, .. } = self.all[timer];
        if key == ABSENT {
            return;
        }
        self.all[timer].key = ABSENT;
        let place = self.place(key);
        if place == Place::Current {
            return;
        }
        if after != NONE {
            self.all[after as usize].before = before;
        }
        if before != NONE {
            self.all[before as usize].after = after;
            return;
        }
        match place {
            Place::Current => {}
            Place::Bucket(list) => Self::behead(&mut self.buckets, list, after),
            Place::Block(list) => Self::behead(&mut self.blocks, list, after),
            Place::Later => self.later = after,
        }
    }

    fn behead<const WORDS: usize>(level: &mut Level<WORDS>, list: usize, head: u32) {
        level.heads[list] = head;
        if head == NONE {
            level.take(list);
        }
    }

    #[inline]
    fn place(&self, key: u128) -> Place {
        let at = time(key).as_nanos();
        if at >> BUCKET < self.reached {
            Place::Current
        } else if at >> BLOCK == self.block {
            Place::Bucket(((at >> BUCKET) % BUCKETS) as usize)
        } else if at >> ERA == self.era {
            Place::Block(((at >> BLOCK) % BLOCKS) as usize)
        } else {
            Place::Later
        }
    }

    #[inline]
    fn insert(&mut self, timer: usize, key: u128) {
        let head = match self.place(key) {
            Place::Current => {
                let position = self.current.partition_point(|&other| other > key);
                self.current.insert(position, key);
                self.bound = self.bound.min(key);
                return;
            }
            Place::Bucket(list) => {
                self.buckets.used[list / 64] |= 1 << (list % 64);
                &mut self.buckets.heads[list]
            }
            Place::Block(list) => {
                self.blocks.used[list / 64] |= 1 << (list % 64);
                &mut self.blocks.heads[list]
            }
            Place::Later => &mut self.later,
        };
        let after = std::mem::replace(head, timer as u32);
        self.all[timer].before = NONE;
        self.all[timer].after = after;
        if after != NONE {
            self.all[after as usize].before = timer as u32;
        }
        self.bound = self.bound.min(begin(time(key).as_nanos() >> BUCKET));
    }

    /// The earliest key, if it is before `limit`.
    pub(super) fn first(&mut self, limit: u128) -> Option<u128> {
        loop {
            while let Some(&key) = self.current.last() {
                if self.all[slot(key).index()].key == key {
                    self.bound = key;
                    return (key < limit).then_some(key);
                }
                self.current.pop();
            }
            if !self.go_on(limit) {
                return None;
            }
        }
    }

    /// Goes on to the next bucket, block or era that is not empty, if it begins before `limit`. What is set to an
    /// earlier time from then on belongs to `current`.
    fn go_on(&mut self, limit: u128) -> bool {
        let start = self.reached.saturating_sub(self.block * BUCKETS) as usize;
        if let Some(list) = self.buckets.next(start) {
            let bucket = self.block * BUCKETS + list as u64;
            if self.bounded(bucket, limit) {
                self.reached = bucket + 1;
                let mut timer = self.buckets.take(list);
                while timer != NONE {
                    let Timer { key, after, .. } = self.all[timer as usize];
                    self.current.push(key);
                    timer = after;
                }
                self.current.sort_unstable_by(|a, b| b.cmp(a));
                return true;
            }
            return false;
        }
        let start = (self.block + 1).saturating_sub(self.era * BLOCKS) as usize;
        if let Some(list) = self.blocks.next(start) {
            let block = self.era * BLOCKS + list as u64;
            if self.bounded(block * BUCKETS, limit) {
                self.block = block;
                self.reached = block * BUCKETS;
                let head = self.blocks.take(list);
                self.spread(head);
                return true;
            }
            return false;
        }
        let Some(era) = self.next_era() else {
            self.bound = ABSENT;
            return false;
        };
        if self.bounded(era * BLOCKS * BUCKETS, limit) {
            self.era = era;
            self.reached = era * BLOCKS * BUCKETS;
            let head = std::mem::replace(&mut self.later, NONE);
            self.spread(head);
            return true;
        }
        false
    }

    /// No timer is due before `bucket`. Answers whether it begins before `limit`.
    fn bounded(&mut self, bucket: u64, limit: u128) -> bool {
        self.bound = begin(bucket);
        self.bound < limit
    }

    #[cold]
    fn next_era(&self) -> Option<u64> {
        let mut timer = self.later;
        let mut era = None;
        while timer != NONE {
            let Timer { key, after, .. } = self.all[timer as usize];
            let one = time(key).as_nanos() >> ERA;
            era = Some(era.map_or(one, |least: u64| least.min(one)));
            timer = after;
        }
        era
    }

    /// Inserts the timers of a list again, now that a block or an era has come.
    fn spread(&mut self, mut timer: u32) {
        while timer != NONE {
            let Timer { key, after, .. } = self.all[timer as usize];
            self.insert(timer as usize, key);
            timer = after;
        }
    }
}

/// The least key of a bucket.
#[inline]
fn begin(bucket: u64) -> u128 {
    u128::from(bucket) << (TIME_SHIFT + BUCKET)
}
