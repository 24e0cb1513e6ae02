//! Which station may build the next aggregate: mac80211 of Linux 6.12.

use crate::round::{Links, Round};
use crate::{AccessCategory, Driver};
use sojourn_units::{Duration, Time};

/// How long a station without packets stays on the list while it owes airtime, and is charged, since it was last put
/// on it with packets.
const KEPT_ACTIVE: Duration = Duration::from_millis(100);

/// One station in one access category.
#[derive(Clone, Copy, Debug)]
struct Station {
    /// Airtime that it may still use, in ns.
    deficit: i64,
    /// The quantum: its weight in us.
    weight: Duration,
    listed: bool,
    /// When it was last put on the list with packets.
    active: Option<Time>,
    /// The round in which it had its last turn.
    round: u64,
}

/// The scheduler of mac80211: one list for each access category, and deficits less the airtime that is pending below
/// the queues.
///
/// What differs from Algorithm 3 of seed 002 ([`crate::AirtimeScheduler`]):
/// - a station is put on the list as its first, whether it is new or was just served, and goes to the end when it has
///   used up its deficit: one list does what two did;
/// - a station has one turn in a round, and when the first of the list has had its own, the round is over. Drivers
///   differ in how many rounds they let follow: here, as in mt76, until one comes to nothing; in ath9k there is one
///   for each packet and completion;
/// - the quantum is the weight in microseconds, 256 by default, and a station may send at a deficit of zero;
/// - with airtime queue limits what is pending counts as used. Stations without room below the queues are passed over
///   and given quanta all the same, as long as anybody has room: so deficits grow while limits hold a station back;
/// - a station that owes airtime stays on the list for 100 ms after its last packet came, and is given quanta; after
///   these it is not charged for what is received from it.
///
/// Frames that are to be sent again are pending too, and could hold back themselves. Once nothing else of their
/// station is pending they go before the round ([`Driver::held_back`]), whatever the station's deficit: hardware that
/// sends a frame again asks nobody, and mac80211 does not know of it. One station at a time, so does
/// `kernel/sojourn_radio`.
///
/// Source: Linux 6.12, `net/mac80211/tx.c`: `ieee80211_next_txq`, `__ieee80211_schedule_txq`,
/// `ieee80211_txq_schedule_start`, `ieee80211_txq_keep_active`; `sta_info.c`: `ieee80211_sta_register_airtime`.
///
/// Deviation: Linux lists traffic identifiers; here a station's two of one access category have one turn between
/// them. Deviation: the clock of Linux ticks (1 ms at HZ 1000).
#[derive(Clone, Debug)]
pub struct Mac80211Scheduler {
    /// Whether airtime is charged, and a station with packets joins the list as its first.
    fairness: bool,
    /// By station and access category.
    stations: Vec<Station>,
    lists: [Round; 4],
    listed: [usize; 4],
    links: Links,
    round: u64,
}

fn signed(airtime: Duration) -> i64 {
    airtime.as_nanos().cast_signed()
}

impl Mac80211Scheduler {
    /// For stations with these weights, all idle, each with a quantum. Weights must be above zero. Without `fairness`
    /// nobody is charged for airtime, and a station joins the list as its last.
    #[must_use]
    pub fn new(fairness: bool, weights: &[u32]) -> Self {
        let station = |&weight: &u32| {
            let weight = Duration::from_micros(u64::from(weight));
            [Station {
                deficit: signed(weight),
                weight,
                listed: false,
                active: None,
                round: 0,
            }; 4]
        };
        Self {
            fairness,
            stations: weights.iter().flat_map(station).collect(),
            lists: [Round::EMPTY; 4],
            listed: [0; 4],
            links: Links::new(weights.len() * 4),
            round: 0,
        }
    }

    /// Fills the hardware queue of `category`, in rounds until one built nothing. To be called when a packet has
    /// arrived and when a transmission is complete.
    pub fn schedule(&mut self, category: AccessCategory, now: Time, driver: &mut impl Driver) {
        while !driver.hardware_queue_is_full(category) && self.round(category, now, driver) {}
    }

    /// One round; whether anybody's turn came to something.
    fn round(&mut self, category: AccessCategory, now: Time, driver: &mut impl Driver) -> bool {
        let mut built = false;
        if let Some(station) = driver.held_back(category) {
            driver.build_aggregate(station, category);
            built = true;
        }
        if !driver.may_schedule(category, self.listed[category.index()]) {
            return built;
        }
        self.round += 1;
        while !driver.hardware_queue_is_full(category)
            && let Some(station) = self.next(category, driver)
        {
            if !driver.queue_is_empty(station, category) && !driver.window_is_closed(station, category) {
                driver.build_aggregate(station, category);
                built = true;
            }
            let has_packets = !driver.queue_is_empty(station, category);
            self.put(station, category, has_packets, now, driver);
        }
        built
    }

    /// A packet has arrived for the station, or frames of it are to be sent again.
    pub fn wake(&mut self, station: u16, category: AccessCategory, now: Time) {
        let index = category.of(station);
        if !self.stations[index].listed {
            self.add(index, category, true, now);
        }
    }

    /// The station has used airtime.
    pub fn charge(&mut self, station: u16, category: AccessCategory, airtime: Duration, now: Time) {
        let station = &mut self.stations[category.of(station)];
        if self.fairness && station.is_active(now) {
            station.deficit -= signed(airtime);
        }
    }

    /// What the station may still use, in nanoseconds, the airtime that is pending not counted; debugfs shows it as
    /// `deficit`.
    #[must_use]
    pub fn deficit(&self, station: u16, category: AccessCategory) -> i64 {
        self.stations[category.of(station)].deficit
    }

    /// The station whose turn it is, taken off the list.
    ///
    /// It ends: each pass over the list without anybody who may go adds a quantum to all that owe airtime, and if
    /// limits hold back all, the second time at the head is the last.
    fn next(&mut self, category: AccessCategory, driver: &impl Driver) -> Option<u16> {
        let (mut head, mut anybody_has_room) = (None, false);
        loop {
            let list = &mut self.lists[category.index()];
            let first = list.first()?;
            if head == Some(first) && !std::mem::take(&mut anybody_has_room) {
                return None;
            }
            head = head.or(Some(first));
            let number = (first / 4) as u16;
            let station = &mut self.stations[first];
            let has_room = driver.has_room(number, category);
            let owes = station.deficit < signed(driver.pending(number, category));
            anybody_has_room |= has_room;
            if owes {
                station.deficit += signed(station.weight);
            }
            if owes || !has_room {
                list.rotate(&mut self.links);
                continue;
            }
            if station.round == self.round {
                return None;
            }
            station.round = self.round;
            station.listed = false;
            list.del_first(&self.links);
            self.listed[category.index()] -= 1;
            return Some(number);
        }
    }

    /// The station has had its turn.
    fn put(&mut self, number: u16, category: AccessCategory, has_packets: bool, now: Time, driver: &impl Driver) {
        let index = category.of(number);
        let station = &self.stations[index];
        let owes = station.deficit < signed(driver.pending(number, category));
        if has_packets || owes && station.is_active(now) {
            self.add(index, category, has_packets, now);
        }
    }

    fn add(&mut self, index: usize, category: AccessCategory, has_packets: bool, now: Time) {
        let list = &mut self.lists[category.index()];
        if self.fairness && has_packets {
            list.add_first(&mut self.links, index);
        } else {
            list.add(&mut self.links, index);
        }
        self.listed[category.index()] += 1;
        let station = &mut self.stations[index];
        station.listed = true;
        if has_packets {
            station.active = Some(now);
        }
    }
}

impl Station {
    fn is_active(&self, now: Time) -> bool {
        self.active.is_some_and(|active| now <= active + KEPT_ACTIVE)
    }
}

#[cfg(test)]
mod tests;
