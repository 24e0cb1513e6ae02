//! The other way to share airtime: what was sent is paid for by its station and divided among those who wait.

use crate::{AccessCategory, Driver};
use sojourn_units::Duration;

/// Deficit transmission time: each time airtime is charged, the station that used it pays, and all that wait, and the
/// payer, are given a part by weight. So credits always add up to what they did before. The station with the most
/// credit sends next; of several the one that was served longest ago.
///
/// Source: seed 002 section 4.2 ("airtime credits that are divided between stations"), after Garroppo et al.,
/// "Providing air-time usage fairness in IEEE 802.11 networks with the deficit transmission time (DTT) scheduler".
///
/// Deviation: weights. Deviation: the payer has a part even if it no longer waits, for otherwise a station that is
/// alone, and empty at each completion, would be in debt for air that nobody else wanted. A station that has nothing
/// more to send loses what credit it has left and keeps its debts, so that coming and going brings no airtime.
///
/// Cost: a charge and a choice take a step for each station that waits. Algorithm 3 takes a step for each quantum
/// used.
#[derive(Clone, Debug)]
pub struct CreditScheduler {
    weights: Vec<u32>,
    /// By station and access category, ns.
    credit: Vec<i64>,
    listed: Vec<bool>,
    /// Of each category the stations that wait, who was served last at the end.
    waiting: [Vec<u16>; 4],
}

impl CreditScheduler {
    /// For stations with these weights, which must be above zero, all idle and without credit.
    #[must_use]
    pub fn new(weights: &[u32]) -> Self {
        Self {
            weights: weights.to_vec(),
            credit: vec![0; weights.len() * 4],
            listed: vec![false; weights.len() * 4],
            waiting: std::array::from_fn(|_| Vec::new()),
        }
    }

    /// Fills the hardware queue of `category`.
    pub fn schedule(&mut self, category: AccessCategory, driver: &mut impl Driver) {
        while !driver.hardware_queue_is_full(category) {
            let Some(at) = self.richest(category, driver) else {
                return;
            };
            let waiting = &mut self.waiting[category.index()];
            let station = waiting[at];
            if !driver.queue_is_empty(station, category) && driver.window_is_closed(station, category) {
                return;
            }
            waiting.remove(at);
            if driver.queue_is_empty(station, category) {
                let index = category.of(station);
                self.listed[index] = false;
                self.credit[index] = self.credit[index].min(0);
                continue;
            }
            waiting.push(station);
            driver.build_aggregate(station, category);
        }
    }

    /// Where the station with the most credit is in the list, of those with room below the queues.
    fn richest(&self, category: AccessCategory, driver: &impl Driver) -> Option<usize> {
        let waiting = &self.waiting[category.index()];
        // The last of the largest from the back is the first from the front.
        let has_room = |&(_, &station): &(usize, &u16)| driver.has_room(station, category);
        let richest = waiting.iter().enumerate().rev().filter(has_room);
        Some(
            richest
                .max_by_key(|&(_, &station)| self.credit[category.of(station)])?
                .0,
        )
    }

    /// A packet has arrived for the station: it waits from now on.
    #[inline]
    pub fn wake(&mut self, station: u16, category: AccessCategory) {
        let index = category.of(station);
        if !std::mem::replace(&mut self.listed[index], true) {
            self.waiting[category.index()].push(station);
        }
    }

    /// The station has used airtime.
    pub fn charge(&mut self, station: u16, category: AccessCategory, airtime: Duration) {
        let airtime = airtime.as_nanos();
        let payer = category.of(station);
        self.credit[payer] -= airtime.cast_signed();
        let waiting = &self.waiting[category.index()];
        let absent = (!self.listed[payer]).then_some(station);
        let takers = || waiting.iter().copied().chain(absent);
        let all: u64 = takers().map(|s| u64::from(self.weights[usize::from(s)])).sum();
        // Parts are differences of rounded sums, so that they add up.
        let (mut weight, mut given) = (0, 0);
        for taker in takers() {
            weight += u64::from(self.weights[usize::from(taker)]);
            let sum = (u128::from(airtime) * u128::from(weight) / u128::from(all)) as u64;
            self.credit[category.of(taker)] += (sum - given).cast_signed();
            given = sum;
        }
    }

    /// A station's weight, above zero, from now on.
    pub fn set_weight(&mut self, station: u16, weight: u32) {
        self.weights[usize::from(station)] = weight;
    }

    /// The station's credit, in nanoseconds.
    #[must_use]
    pub fn credit(&self, station: u16, category: AccessCategory) -> i64 {
        self.credit[category.of(station)]
    }
}

#[cfg(test)]
mod tests;
