//! Which station may build the next aggregate: Algorithm 3 of seed 002.

use crate::AccessCategory;
use crate::round::{Links, Round};
use sojourn_units::Duration;

/// What a scheduler drives. A station goes by its place in the sender's list of peers.
pub trait Driver {
    /// Whether the hardware queue has as many aggregates as it may have, or none of the stations with something to
    /// send has room.
    fn hardware_queue_is_full(&self, category: AccessCategory) -> bool;

    /// Whether the station has nothing to send: neither new packets nor frames to be sent again.
    fn queue_is_empty(&self, station: u16, category: AccessCategory) -> bool;

    /// Airtime of the station below the queues that its credit has still to pay; zero without limits of it.
    fn pending(&self, station: u16, category: AccessCategory) -> Duration {
        let _ = (station, category);
        Duration::ZERO
    }

    /// Whether the limits of airtime below the queues let the station build an aggregate; always true without such
    /// limits.
    fn has_room(&self, station: u16, category: AccessCategory) -> bool {
        let _ = (station, category);
        true
    }

    /// The next station that must build an aggregate without waiting for its turn; only in Linux 6.12. The limits let
    /// no more frames leave the queues of such a station. All that it has pending are frames that left its queues
    /// earlier and wait to be sent, or sent again. So no transmission in progress would ever make room for it.
    fn held_back(&mut self, category: AccessCategory) -> Option<u16> {
        let _ = category;
        None
    }

    /// Whether the limits of airtime below the queues let any station have a turn while `listed` stations are on the
    /// lists. Only in Linux 6.12.
    fn may_schedule(&self, category: AccessCategory, listed: usize) -> bool {
        let _ = (category, listed);
        true
    }

    /// Whether the station has something to send, but nothing that its Block Ack window allows. Then frames of it are
    /// in the hardware queue, and when those are complete it has.
    fn window_is_closed(&self, station: u16, category: AccessCategory) -> bool;

    /// Builds one full aggregate for the station, which has one to send, and queues it to the hardware. It may come
    /// to nothing, if every packet was dropped on the way; then the station has fewer packets than before.
    fn build_aggregate(&mut self, station: u16, category: AccessCategory);
}

/// One station in one access category.
#[derive(Clone, Debug)]
struct Station {
    /// The airtime that it may still use, in 1/256 ns.
    credit: i64,
    /// Whether it is on a list.
    listed: bool,
}

/// The lists of one access category.
#[derive(Clone, Copy, Debug)]
struct Category {
    new_stations: Round,
    old_stations: Round,
}

/// Stations take turns by airtime: deficit round robin as FQ-CoDel does it, with stations in place of flows.
///
/// Source: seed 002 section 3.1, Algorithm 3; ath9k of Linux 4.11. Weights: mac80211.
///
/// Deviation: the deficit of the listing is called credit here, since positive means that the station may send. There
/// is one for each station and access category, and the scheduler runs for one access category: line 9 asks for the
/// level of a `pkt` that is nowhere defined.
/// Deviation: the listing never subtracts airtime and never lists a station; the text and ath9k do:
/// [`AirtimeScheduler::charge`] at completion and on receive, so that a station can have two aggregates in the
/// hardware queue before its credit shows them; [`AirtimeScheduler::wake`] when a packet arrives.
/// Deviation: the listing does not know the Block Ack window. A station that has its turn and must wait for the
/// window keeps it, as in ath9k; it waits only for frames of its own that are in the hardware queue. If the turn
/// passed on, a station that loses frames would lose airtime too: with 20 % of its frames lost it would get 37 %
/// beside one other station, not 50 %.
///
/// Cost: each pass adds a quantum to a station that has used one, so passes are as many as quanta of airtime used.
///
/// Credit has no lower bound, as in ath9k: a station that was received from for long while it had nothing queued pays
/// for it when it has, if others want the air then.
#[derive(Clone, Debug)]
pub struct AirtimeScheduler {
    /// By station, in 1/256 ns: the quantum times weight / 256 is then exact.
    quantum: Vec<i64>,
    /// The quantum of weight 1.
    unit: i64,
    /// By station and access category.
    stations: Vec<Station>,
    categories: [Category; 4],
    links: Links,
}

/// Nanoseconds in the unit of credits.
fn credits(airtime: Duration) -> i64 {
    (airtime.as_nanos() * 256).cast_signed()
}

impl AirtimeScheduler {
    /// For stations with these weights, all idle, each with a quantum of credit. Quantum and weights must be above
    /// zero.
    #[must_use]
    pub fn new(quantum: Duration, weights: &[u32]) -> Self {
        let unit = quantum.as_nanos().cast_signed();
        let quantum: Vec<i64> = weights.iter().map(|&weight| unit * i64::from(weight)).collect();
        let stations = quantum
            .iter()
            .flat_map(|&credit| vec![Station { credit, listed: false }; 4]);
        Self {
            stations: stations.collect(),
            categories: [Category {
                new_stations: Round::EMPTY,
                old_stations: Round::EMPTY,
            }; 4],
            links: Links::new(weights.len() * 4),
            quantum,
            unit,
        }
    }

    /// Algorithm 3: fills the hardware queue of `category`. To be called when a packet has arrived and when a
    /// transmission is complete.
    ///
    /// The body of line 7 is line 8 alone, lines 9 to 20 follow the choice of the station. A station without room
    /// below the queues ([`Driver::has_room`]) lets the next one go first, and what a station has pending counts
    /// as used (`ieee80211_sta_deficit`).
    pub fn schedule(&mut self, category: AccessCategory, driver: &mut impl Driver) {
        while !driver.hardware_queue_is_full(category) {
            let lists = &self.categories[category.index()];
            let (first, is_new) = match (lists.new_stations.first(), lists.old_stations.first()) {
                (Some(first), _) => (first, true),
                (None, Some(first)) => (first, false),
                (None, None) => return,
            };
            let station = (first / 4) as u16;
            let deficit = self.stations[first].credit - credits(driver.pending(station, category));
            if deficit <= 0 {
                self.stations[first].credit += self.quantum[usize::from(station)];
                self.move_to_old(category, is_new);
                continue;
            }
            if driver.queue_is_empty(station, category) {
                if is_new {
                    self.move_to_old(category, is_new);
                } else {
                    self.list_del(category);
                }
                continue;
            }
            if !driver.has_room(station, category) {
                self.move_to_old(category, is_new);
                continue;
            }
            if driver.window_is_closed(station, category) {
                return;
            }
            driver.build_aggregate(station, category);
        }
    }

    /// A packet has arrived for the station, or frames of it are to be sent again: it joins a list if it is on none.
    ///
    /// Source: ath9k: with credit left it joins the new stations, else the old ones. So a station that comes and goes
    /// gains no quantum by it.
    #[inline]
    pub fn wake(&mut self, station: u16, category: AccessCategory) {
        let index = category.of(station);
        let s = &mut self.stations[index];
        if s.listed {
            return;
        }
        s.listed = true;
        let lists = &mut self.categories[category.index()];
        let list = if s.credit > 0 {
            &mut lists.new_stations
        } else {
            &mut lists.old_stations
        };
        list.add(&mut self.links, index);
    }

    /// The station has used airtime.
    #[inline]
    pub fn charge(&mut self, station: u16, category: AccessCategory, airtime: Duration) {
        self.stations[category.of(station)].credit -= credits(airtime);
    }

    /// A station's weight, above zero, from now on.
    pub fn set_weight(&mut self, station: u16, weight: u32) {
        self.quantum[usize::from(station)] = self.unit * i64::from(weight);
    }

    /// What the station may still use, in nanoseconds; debugfs shows it as `deficit`.
    #[must_use]
    pub fn credit(&self, station: u16, category: AccessCategory) -> i64 {
        self.stations[category.of(station)].credit.div_euclid(256)
    }

    #[inline]
    fn move_to_old(&mut self, category: AccessCategory, is_new: bool) {
        let lists = &mut self.categories[category.index()];
        let from = if is_new {
            &mut lists.new_stations
        } else {
            &mut lists.old_stations
        };
        let station = from.del_first(&self.links);
        lists.old_stations.add(&mut self.links, station);
    }

    fn list_del(&mut self, category: AccessCategory) {
        let station = self.categories[category.index()].old_stations.del_first(&self.links);
        self.stations[station].listed = false;
    }
}

#[cfg(test)]
mod tests;
