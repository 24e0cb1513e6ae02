//! Whose turn it is: the flows to be served, by band, and those that wait for their time.

use super::params::FqParams;
use crate::fq::params::BANDS;
use sojourn_units::Time;
use std::collections::{BTreeMap, VecDeque};

/// Turns in which nobody was served, after which whole rounds are skipped.
pub(super) const MANY_TURNS: u32 = 4096;

/// A list of a band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// Flows that have just become active.
    New,
    /// All others.
    Old,
}

/// The flows of one band.
#[derive(Clone, Debug, Default)]
struct Band {
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// Bytes that it may still send in this round.
    credit: i64,
    /// Bytes of a round.
    quantum: i64,
}

impl Band {
    fn list(&mut self, list: List) -> &mut VecDeque<u32> {
        match list {
            List::New => &mut self.new,
            List::Old => &mut self.old,
        }
    }

    fn is_empty(&self) -> bool {
        self.new.is_empty() && self.old.is_empty()
    }

    /// Who is next, if it has credit.
    #[inline]
    fn first(&self) -> Option<(List, u32)> {
        if self.credit <= 0 {
            return None;
        }
        let new = self.new.front().map(|&index| (List::New, index));
        new.or_else(|| self.old.front().map(|&index| (List::Old, index)))
    }
}

/// Flows in lists, and flows that wait.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// One band that is never out of credit, or three.
    bands: Vec<Band>,
    /// The band that is being served.
    served: usize,
    /// Flows that wait, by their time and in the order in which they began to.
    waiting: BTreeMap<(Time, u64), u32>,
    /// How often a flow has begun to wait.
    numbers: u64,
    /// The first of their times, as the kernel knows it.
    first_at: Option<Time>,
    /// How late flows were let go, smoothed, ns.
    latency: u64,
}

impl Rounds {
    pub(super) fn new(params: &FqParams) -> Self {
        let bands = match params.bands() {
            BANDS => (0..BANDS).map(|band| Band {
                quantum: params.weight(band),
                ..Band::default()
            }),
            _ => {
                return Self::of(vec![Band {
                    credit: i64::MAX,
                    ..Band::default()
                }]);
            }
        };
        Self::of(bands.collect())
    }

    const fn of(bands: Vec<Band>) -> Self {
        Self {
            bands,
            served: 0,
            waiting: BTreeMap::new(),
            numbers: 0,
            first_at: None,
            latency: 0,
        }
    }

    /// The flow whose turn it is, and its list; `None` if none is in a list.
    ///
    /// Source: `fq_pband_head_select` and the loop around it. A band is served until its credit is used up. Then each
    /// band gets a round's worth when its turn comes, and no more.
    #[inline]
    pub(super) fn choose(&mut self) -> Option<(List, u32)> {
        if self.bands.len() == 1 {
            return self.bands[0].first();
        }
        if let Some(first) = self.bands[self.served].first() {
            return Some(first);
        }
        let mut idle = 1;
        while idle <= self.bands.len() {
            self.served = (self.served + 1) % self.bands.len();
            let band = &mut self.bands[self.served];
            band.credit = (band.credit + band.quantum).min(band.quantum);
            if band.credit > 0 {
                if let Some(first) = band.first() {
                    return Some(first);
                }
                idle += 1;
            } else {
                idle = 1;
            }
        }
        None
    }

    /// Takes the flow of [`Rounds::choose`] out of its list.
    #[inline]
    pub(super) fn pop(&mut self, list: List) {
        self.bands[self.served].list(list).pop_front();
    }

    /// Appends a flow to a list of a band.
    #[inline]
    pub(super) fn push(&mut self, list: List, band: u8, index: u32) {
        self.bands[usize::from(band)].list(list).push_back(index);
    }

    /// Whether the band that is being served has old flows.
    pub(super) fn has_old(&self) -> bool {
        !self.bands[self.served].old.is_empty()
    }

    /// The band that is being served has sent so many bytes.
    #[inline]
    pub(super) fn pay(&mut self, bytes: u64) {
        self.bands[self.served].credit -= bytes.cast_signed();
    }

    /// The flows of the band that is being served.
    pub(super) fn flows(&self) -> impl Iterator<Item = u32> + use<> {
        let band = &self.bands[self.served];
        let all: Vec<u32> = band.new.iter().chain(&band.old).copied().collect();
        all.into_iter()
    }

    /// Whether no flow is in a list.
    pub(super) fn is_idle(&self) -> bool {
        self.bands.iter().all(Band::is_empty)
    }

    /// How many flows wait.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// The first time for which one waits.
    pub(super) const fn next_waiting(&self) -> Option<Time> {
        self.first_at
    }

    /// How late flows were let go, smoothed, ns.
    pub(super) const fn latency(&self) -> u64 {
        self.latency
    }

    /// A flow waits until `at`; answers its number. Source: `fq_flow_set_throttled`.
    pub(super) fn wait(&mut self, at: Time, index: u32) -> u64 {
        self.numbers += 1;
        self.waiting.insert((at, self.numbers), index);
        self.first_at = Some(self.first_at.map_or(at, |first| first.min(at)));
        self.numbers
    }

    /// The flow with this number, which waits until `at`, does not any more.
    pub(super) fn stop_waiting(&mut self, at: Time, number: u64) {
        self.waiting.remove(&(at, number));
    }

    /// If `at` was the first time, looks for that again.
    pub(super) fn recall_first(&mut self, at: Time) {
        if self.first_at == Some(at) {
            self.first_at = self.waiting.keys().next().map(|key| key.0);
        }
    }

    /// Puts flows whose time has come into the old list of the band that `of` tells.
    pub(super) fn release(&mut self, now: Time, mut of: impl FnMut(u32) -> u8) {
        let Some(first) = self.first_at.filter(|&first| first <= now) else {
            return;
        };
        self.latency -= self.latency >> 3;
        self.latency += now.since(first).as_nanos() >> 3;
        self.first_at = None;
        while let Some(entry) = self.waiting.first_entry() {
            if entry.key().0 > now {
                self.first_at = Some(entry.key().0);
                break;
            }
            let index = entry.remove();
            let band = of(index);
            self.push(List::Old, band, index);
        }
    }
}
