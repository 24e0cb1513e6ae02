//! Stations take turns by aggregates.

use crate::round::{Links, Round};
use crate::{AccessCategory, Driver};

/// Round robin over the stations that have something to send, one full aggregate a turn: what drivers did before Algorithm 3, and
/// what makes all stations as slow as the slowest.
///
/// A station that has sent all it had leaves the round, and joins it as the last when it has something again. One whose Block Ack
/// window is closed misses its turn.
///
/// Source: ath9k before Linux 4.11, `ath_txq_schedule`.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    /// By station and access category.
    listed: Vec<bool>,
    rounds: [Round; 4],
    links: Links,
}

impl RoundRobin {
    /// For so many stations, all idle.
    #[must_use]
    pub fn new(stations: usize) -> Self {
        Self {
            listed: vec![false; stations * 4],
            rounds: [Round::EMPTY; 4],
            links: Links::new(stations * 4),
        }
    }

    /// Fills the hardware queue of `category`.
    pub fn schedule(&mut self, category: AccessCategory, driver: &mut impl Driver) {
        let round = &mut self.rounds[category.index()];
        // The first of the stations that have missed a turn since the last aggregate: at it all have.
        let mut missed = None;
        while !driver.hardware_queue_is_full(category) {
            let Some(first) = round.first() else {
                return;
            };
            let station = (first / 4) as u16;
            if driver.queue_is_empty(station, category) {
                round.del_first(&self.links);
                self.listed[first] = false;
                continue;
            }
            if !driver.has_room(station, category) || driver.window_is_closed(station, category) {
                if missed == Some(first) {
                    return;
                }
                missed = missed.or(Some(first));
                round.rotate(&mut self.links);
                continue;
            }
            missed = None;
            driver.build_aggregate(station, category);
            if driver.queue_is_empty(station, category) {
                round.del_first(&self.links);
                self.listed[first] = false;
            } else {
                round.rotate(&mut self.links);
            }
        }
    }

    /// The station has something to send: it joins the round as the last if it is not in it.
    #[inline]
    pub fn wake(&mut self, station: u16, category: AccessCategory) {
        let index = usize::from(station) * 4 + category.index();
        if !self.listed[index] {
            self.listed[index] = true;
            self.rounds[category.index()].add(&mut self.links, index);
        }
    }
}
