//! Which rate a sender uses on a link.

use crate::{Format, PhyRate};
use sojourn_units::words;

words! {
    /// How rates are chosen.
    #[derive(Default)]
    pub enum RateControl {
        /// Each link keeps its rate.
        #[default]
        Fixed = "fixed",
        /// Each sender learns its rate from what is answered. A link then carries its rate and those below it, with its error
        /// probability; at a rate above it every MPDU is lost.
        ///
        /// A sender has the rates of the link's format, width and guard interval, with up to one stream more than the link's rate has,
        /// ordered by bit rate. For each it keeps the ratio of MPDUs that arrived, smoothed (a quarter for each new aggregate). It
        /// sends at the rate for which bit rate times ratio is largest, and probes the next higher one with one aggregate in 16. It
        /// begins with the lowest. A collision looks to it like a bad link, as to real ones. Nothing is drawn at random.
        Simple = "simple",
    }
}

/// Aggregates from one probe to the next.
const PROBE_EVERY: u32 = 16;
/// What a new aggregate counts in the smoothed ratio.
const NEW: f64 = 0.25;

/// [`RateControl::Simple`] for one direction of one link.
#[derive(Clone, Debug)]
pub(crate) struct Learner {
    /// By bit rate, the lowest first.
    ladder: Vec<Rung>,
    best: usize,
    since_probe: u32,
}

#[derive(Clone, Copy, Debug)]
struct Rung {
    rate: PhyRate,
    /// Smoothed share of MPDUs that arrived; 1 until it was tried.
    ratio: f64,
    tried: bool,
}

impl Rung {
    fn throughput(&self) -> f64 {
        self.rate.nominal().as_bps() as f64 * self.ratio
    }
}

impl Learner {
    /// For a link that carries `best`. The ladder goes beyond it, to the highest rate of the same format, width and
    /// guard interval with at most one stream more.
    pub(crate) fn new(best: PhyRate) -> Self {
        let alike = |rate: &PhyRate| {
            (rate.format(), rate.width(), rate.guard()) == (best.format(), best.width(), best.guard())
                && rate.streams() <= best.streams() + u8::from(best.format() != Format::Ofdm)
        };
        let mut rates: Vec<PhyRate> = PhyRate::all().filter(alike).collect();
        rates.sort_by_key(|rate| (rate.nominal(), rate.streams()));
        // Of two rates with the same bits the one with fewer streams.
        rates.dedup_by_key(|rate| rate.nominal());
        Self {
            ladder: rates
                .into_iter()
                .map(|rate| Rung {
                    rate,
                    ratio: 1.0,
                    tried: false,
                })
                .collect(),
            best: 0,
            since_probe: 0,
        }
    }

    /// An aggregate of `sent` MPDUs at `rate` ended, `arrived` of them arrived. Answers the rate for the next one to
    /// be built.
    pub(crate) fn sent(&mut self, rate: PhyRate, sent: u32, arrived: u32) -> PhyRate {
        if let Some(rung) = self.ladder.iter_mut().find(|rung| rung.rate == rate) {
            let ratio = f64::from(arrived) / f64::from(sent.max(1));
            rung.ratio = if rung.tried {
                rung.ratio + NEW * (ratio - rung.ratio)
            } else {
                ratio
            };
            rung.tried = true;
        }
        self.best = (0..self.ladder.len())
            .filter(|&i| self.ladder[i].tried)
            .max_by(|&a, &b| self.ladder[a].throughput().total_cmp(&self.ladder[b].throughput()))
            .unwrap_or(0);
        self.since_probe += 1;
        let above = self.best + 1;
        if self.since_probe >= PROBE_EVERY && above < self.ladder.len() {
            self.since_probe = 0;
            return self.ladder[above].rate;
        }
        self.ladder[self.best].rate
    }

    /// The rate it begins with.
    pub(crate) fn first(&self) -> PhyRate {
        self.ladder[0].rate
    }
}

#[cfg(test)]
mod tests;
