//! Stations take turns by aggregates.

use crate::round::{Links, Round};
use crate::{AccessCategory, Driver};

/// Round robin over the stations that have something to send, one full aggregate a turn: what drivers did before
/// Algorithm 3, and what makes all stations as slow as the slowest.
///
/// A station that has sent all it had leaves the round, and joins it as the last when it has something again. One
/// whose Block Ack window is closed misses its turn.
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
        let index = category.of(station);
        if !self.listed[index] {
            self.listed[index] = true;
            self.rounds[category.index()].add(&mut self.links, index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AC: AccessCategory = AccessCategory::BestEffort;

    /// A hardware queue of two over stations of which each turn takes all frames.
    #[derive(Default)]
    struct Fake {
        built: Vec<u16>,
        hardware: usize,
        frames: [u32; 2],
    }

    impl Driver for Fake {
        fn hardware_queue_is_full(&self, _: AccessCategory) -> bool {
            self.hardware == 2
        }
        fn queue_is_empty(&self, station: u16, _: AccessCategory) -> bool {
            self.frames[usize::from(station)] == 0
        }
        fn window_is_closed(&self, _: u16, _: AccessCategory) -> bool {
            false
        }
        fn build_aggregate(&mut self, station: u16, _: AccessCategory) {
            // Station 1 is slow: a turn takes one frame of it.
            let own = &mut self.frames[usize::from(station)];
            *own = if station == 1 { *own - 1 } else { 0 };
            self.hardware += 1;
            self.built.push(station);
        }
    }

    /// Source: ath9k, `ath_tid_has_buffered` decides whether `ath_tx_queue_tid` puts a TID back.
    #[test]
    fn who_has_sent_all_joins_as_the_last_again() {
        let (mut round, mut fake) = (RoundRobin::new(2), Fake::default());
        fake.frames = [3, 9];
        round.wake(0, AC);
        round.wake(1, AC);
        round.schedule(AC, &mut fake);
        assert_eq!(fake.built, [0, 1]);
        // 0 has left; 1 is next, although 0 has something again before anything is built.
        fake.frames[0] = 1;
        round.wake(0, AC);
        for _ in 0..2 {
            fake.hardware -= 1;
            round.schedule(AC, &mut fake);
        }
        assert_eq!(fake.built, [0, 1, 1, 0]);
    }
}
