//! Which packets stand in a queue, for those who watch a run.

use crate::packet::Packet;
use sojourn_qdisc::Packet as _;
use sojourn_units::{Duration, Time};
use std::collections::VecDeque;

/// Passages that are kept between two looks, at most: those that came first.
const MOST_PASSAGES: usize = 8192;

/// A packet that stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its number among all that came here.
    arrival: u64,
    since: Time,
    body: u32,
    size: u16,
}

/// What befell a packet at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Arrival,
    Departure,
    /// It departed with a mark of congestion.
    Marked,
    Drop,
}

/// A packet that came to a queue or left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) at: Time,
    pub(crate) route: u16,
    pub(crate) event: Event,
    /// How long it had stood; nothing for an arrival.
    pub(crate) stood: Duration,
}

/// What stands of one route.
#[derive(Clone, Debug, Default)]
struct Row {
    places: VecDeque<Place>,
    dropped: u64,
}

/// The packets that stand in a queue, and what became of those that were there, since the beginning of the run.
///
/// Packets of one route mostly leave in the order in which they came. So each route has a row of its own, and a packet
/// that leaves is searched from the front of its row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    rows: Vec<Row>,
    arrivals: u64,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) departed: u64,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
    /// Of the packet that departed last.
    pub(crate) sojourn: Option<Duration>,
    /// Since the last look.
    pub(crate) passages: Vec<Passage>,
}

impl Standing {
    fn row(&mut self, route: u16) -> &mut Row {
        let route = usize::from(route);
        if route >= self.rows.len() {
            self.rows.resize_with(route + 1, Row::default);
        }
        &mut self.rows[route]
    }

    fn tell(&mut self, packet: &Packet, event: Event, stood: Duration, at: Time) {
        if self.passages.len() < MOST_PASSAGES {
            let route = packet.route;
            self.passages.push(Passage {
                at,
                route,
                event,
                stood,
            });
        }
    }

    /// A packet comes.
    pub(crate) fn come(&mut self, packet: &Packet, now: Time) {
        self.tell(packet, Event::Arrival, Duration::ZERO, now);
        let place = Place {
            arrival: self.arrivals,
            since: now,
            body: packet.body,
            size: packet.size,
        };
        self.arrivals += 1;
        self.packets += 1;
        self.bytes += packet.size().get();
        self.row(packet.route).places.push_back(place);
    }

    /// A packet is here no more: it departed, was dropped, or goes around the queue. Answers when it had come.
    pub(crate) fn leave(&mut self, packet: &Packet) -> Option<Time> {
        let places = &mut self.row(packet.route).places;
        let found = places.iter().position(|place| place.body == packet.body);
        // The numbers of look-ups and of segments may be equal on one route, so the size decides which of two is meant.
        let exact = places
            .iter()
            .position(|place| place.body == packet.body && place.size == packet.size);
        let place = exact.or(found).and_then(|at| places.remove(at))?;
        self.packets -= 1;
        self.bytes -= u64::from(place.size);
        Some(place.since)
    }

    /// A packet departs.
    pub(crate) fn depart(&mut self, packet: &Packet, sojourn: Duration, marked: bool, now: Time) {
        self.leave(packet);
        let event = if marked { Event::Marked } else { Event::Departure };
        self.tell(packet, event, sojourn, now);
        self.departed += 1;
        self.marked += u64::from(marked);
        self.sojourn = Some(sojourn);
    }

    /// A packet departs as soon as it comes.
    pub(crate) fn pass(&mut self, packet: &Packet, now: Time) {
        self.tell(packet, Event::Arrival, Duration::ZERO, now);
        self.tell(packet, Event::Departure, Duration::ZERO, now);
        self.departed += 1;
        self.sojourn = Some(Duration::ZERO);
    }

    /// A packet is dropped.
    pub(crate) fn lose(&mut self, packet: &Packet, now: Time) {
        let stood = self.leave(packet).map_or(Duration::ZERO, |since| now.since(since));
        self.tell(packet, Event::Drop, stood, now);
        self.dropped += 1;
        self.row(packet.route).dropped += 1;
    }

    /// Drops by route; routes behind the last one have none.
    pub(crate) fn drops(&self) -> impl Iterator<Item = u64> + '_ {
        self.rows.iter().map(|row| row.dropped)
    }

    /// Route, size and time of arrival of each packet that stands, in the order of arrival.
    pub(crate) fn in_order(&self) -> Vec<(u16, u16, Time)> {
        let mut all: Vec<(u64, u16, u16, Time)> = Vec::with_capacity(self.packets as usize);
        for (route, row) in self.rows.iter().enumerate() {
            let of_row = |place: &Place| (place.arrival, route as u16, place.size, place.since);
            all.extend(row.places.iter().map(of_row));
        }
        all.sort_unstable();
        all.into_iter()
            .map(|(_, route, size, since)| (route, size, since))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(route: u16, number: u32) -> Packet {
        Packet::probe(number, 0, 100 + number as u16, route)
    }

    #[test]
    fn packets_stand_in_the_order_in_which_they_came() {
        let mut standing = Standing::default();
        for (route, number) in [(1, 0), (0, 1), (1, 2), (0, 3), (1, 4)] {
            standing.come(&packet(route, number), Time::from_millis(u64::from(number)));
        }
        standing.depart(&packet(0, 1), Duration::from_millis(3), true, Time::from_millis(4));
        standing.lose(&packet(1, 2), Time::from_millis(9));
        let ms = Time::from_millis;
        assert_eq!(standing.in_order(), [(1, 100, ms(0)), (0, 103, ms(3)), (1, 104, ms(4))]);
        let last: Vec<_> = standing.passages[5..]
            .iter()
            .map(|one| (one.event, one.stood))
            .collect();
        let stood = Duration::from_millis;
        assert_eq!(last, [(Event::Marked, stood(3)), (Event::Drop, stood(7))]);
        assert_eq!((standing.packets, standing.bytes), (3, 307));
        assert_eq!((standing.departed, standing.marked, standing.dropped), (1, 1, 1));
        assert_eq!(standing.drops().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(standing.sojourn, Some(Duration::from_millis(3)));
    }
}
