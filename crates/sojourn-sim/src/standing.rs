//! Which packets stand in a queue, for those who watch a run.

use crate::packet::Packet;
use sojourn_qdisc::Packet as _;
use sojourn_units::Duration;
use std::collections::VecDeque;

/// A packet that stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its number among all that came here.
    arrival: u64,
    body: u32,
    size: u16,
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
}

impl Standing {
    fn row(&mut self, route: u16) -> &mut Row {
        let route = usize::from(route);
        if route >= self.rows.len() {
            self.rows.resize_with(route + 1, Row::default);
        }
        &mut self.rows[route]
    }

    /// A packet comes.
    pub(crate) fn come(&mut self, packet: &Packet) {
        let place = Place {
            arrival: self.arrivals,
            body: packet.body,
            size: packet.size,
        };
        self.arrivals += 1;
        self.packets += 1;
        self.bytes += packet.size().get();
        self.row(packet.route).places.push_back(place);
    }

    /// A packet is here no more: it departed, was dropped, or goes around the queue.
    pub(crate) fn leave(&mut self, packet: &Packet) {
        let places = &mut self.row(packet.route).places;
        let found = places.iter().position(|place| place.body == packet.body);
        // The numbers of look-ups and of segments may be equal on one route, so the size decides which of two is meant.
        let exact = places
            .iter()
            .position(|place| place.body == packet.body && place.size == packet.size);
        if let Some(place) = exact.or(found).and_then(|at| places.remove(at)) {
            self.packets -= 1;
            self.bytes -= u64::from(place.size);
        }
    }

    /// A packet departs.
    pub(crate) fn depart(&mut self, packet: &Packet, sojourn: Duration, marked: bool) {
        self.leave(packet);
        self.departed += 1;
        self.marked += u64::from(marked);
        self.sojourn = Some(sojourn);
    }

    /// A packet departs as soon as it comes.
    pub(crate) fn pass(&mut self) {
        self.departed += 1;
        self.sojourn = Some(Duration::ZERO);
    }

    /// A packet is dropped.
    pub(crate) fn lose(&mut self, packet: &Packet) {
        self.leave(packet);
        self.dropped += 1;
        self.row(packet.route).dropped += 1;
    }

    /// Drops by route; routes behind the last one have none.
    pub(crate) fn drops(&self) -> impl Iterator<Item = u64> + '_ {
        self.rows.iter().map(|row| row.dropped)
    }

    /// Route and size of each packet that stands, in the order of arrival.
    pub(crate) fn in_order(&self) -> Vec<(u16, u16)> {
        let mut all: Vec<(u64, u16, u16)> = Vec::with_capacity(self.packets as usize);
        for (route, row) in self.rows.iter().enumerate() {
            let of_row = |place: &Place| (place.arrival, route as u16, place.size);
            all.extend(row.places.iter().map(of_row));
        }
        all.sort_unstable();
        all.into_iter().map(|(_, route, size)| (route, size)).collect()
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
            standing.come(&packet(route, number));
        }
        standing.depart(&packet(0, 1), Duration::from_millis(3), true);
        standing.lose(&packet(1, 2));
        assert_eq!(standing.in_order(), [(1, 100), (0, 103), (1, 104)]);
        assert_eq!((standing.packets, standing.bytes), (3, 307));
        assert_eq!((standing.departed, standing.marked, standing.dropped), (1, 1, 1));
        assert_eq!(standing.drops().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(standing.sojourn, Some(Duration::from_millis(3)));
    }
}
