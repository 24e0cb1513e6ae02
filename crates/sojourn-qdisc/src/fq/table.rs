//! The flows of `fq`: found by a key, and forgotten when they have been idle for long.
//!
//! Deviation: a collection looks at every flow of the bucket. The kernel looks at those that it passes on its way
//! down the bucket's tree, so that with three flows or more in one bucket it may leave one for later.

use super::queue::Queue;
use crate::slab::NIL;
use sojourn_units::{Duration, Time};

/// An idle flow is kept for so long. Source: `FQ_GC_AGE`.
const AGE: Duration = Duration::from_secs(3);
/// The most flows that one collection of Linux 6.1 takes. Source: `FQ_GC_MAX`.
const MOST_AT_ONCE: usize = 8;

/// Where a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In no list, since then; it has no packets.
    Detached(Time),
    /// In a list of flows to be served.
    Listed,
    /// Waits for its time, with this number among those that wait for the same.
    Throttled(u64),
}

/// One flow.
#[derive(Clone, Debug)]
pub(super) struct Flow<P> {
    key: u32,
    /// The next in its bucket.
    chain: u32,
    pub(super) queue: Queue<P>,
    pub(super) place: Place,
    /// Bytes that it may still send in this round.
    pub(super) credit: i64,
    /// Its band: that of its latest packet.
    pub(super) band: u8,
    /// Before then it sends nothing; `None` if it was never paced.
    pub(super) next_at: Option<Time>,
}

impl<P> Flow<P> {
    /// Whether a collection may take it.
    fn is_old(&self, now: Time) -> bool {
        matches!(self.place, Place::Detached(since) if now > since + AGE)
    }
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Table<P> {
    /// The first flow of each bucket.
    buckets: Vec<u32>,
    flows: Vec<Flow<P>>,
    /// Places of `flows` that are free.
    free: Vec<u32>,
    /// Flows that were forgotten.
    pub(super) collected: u64,
}

impl<P> Table<P> {
    pub(super) fn new(buckets: u32) -> Self {
        Self {
            buckets: vec![NIL; buckets as usize],
            flows: Vec::new(),
            free: Vec::new(),
            collected: 0,
        }
    }

    /// Flows that it knows.
    pub(super) fn len(&self) -> u64 {
        (self.flows.len() - self.free.len()) as u64
    }

    /// How many flows make Linux 6.1 collect.
    pub(super) fn is_crowded(&self) -> bool {
        self.len() >= 2 * self.buckets.len() as u64
    }

    #[inline]
    pub(super) fn flow(&mut self, index: u32) -> &mut Flow<P> {
        &mut self.flows[index as usize]
    }

    /// The bucket of a key. Source: Linux `hash_ptr` of the word that stands for a socket.
    fn bucket(&self, key: u32) -> usize {
        const GOLDEN_RATIO: u64 = 0x61c8_8646_80b5_83eb;
        let pointer = u64::from(key) << 1 | 1;
        (pointer.wrapping_mul(GOLDEN_RATIO) >> (64 - self.buckets.len().ilog2())) as usize
    }

    /// The flow of this key.
    #[inline]
    pub(super) fn find(&self, key: u32) -> Option<u32> {
        let mut index = self.buckets[self.bucket(key)];
        while let Some(flow) = self.flows.get(index as usize) {
            if flow.key == key {
                return Some(index);
            }
            index = flow.chain;
        }
        None
    }

    /// A new flow of this key, which has no packets yet.
    pub(super) fn add(&mut self, key: u32, credit: i64, now: Time) -> u32 {
        let bucket = self.bucket(key);
        let flow = Flow {
            key,
            chain: self.buckets[bucket],
            queue: Queue::EMPTY,
            place: Place::Detached(now),
            credit,
            band: 0,
            next_at: None,
        };
        let index = if let Some(index) = self.free.pop() {
            self.flows[index as usize] = flow;
            index
        } else {
            self.flows.push(flow);
            self.flows.len() as u32 - 1
        };
        self.buckets[bucket] = index;
        index
    }

    /// Forgets flows in the bucket of `key` that have been idle for long, but not that of `key`: eight at most, or
    /// `all` of them. Answers how many.
    pub(super) fn collect(&mut self, key: u32, now: Time, all: bool) -> u64 {
        let bucket = self.bucket(key);
        let mut taken = 0;
        let (mut before, mut index) = (NIL, self.buckets[bucket]);
        while let Some(flow) = self.flows.get(index as usize) {
            let next = flow.chain;
            if flow.key != key && flow.is_old(now) && (all || taken < MOST_AT_ONCE) {
                match self.flows.get_mut(before as usize) {
                    Some(before) => before.chain = next,
                    None => self.buckets[bucket] = next,
                }
                self.free.push(index);
                taken += 1;
            } else {
                before = index;
            }
            index = next;
        }
        self.collected += taken as u64;
        taken as u64
    }
}
