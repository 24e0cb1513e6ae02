//! When paced hosts may send: one wake-up in the calendar for all of them.

use crate::calendar::Turn;
use sojourn_units::Time;

/// The next departure of each paced host, as a tournament whose root is the earliest.
///
/// A paced host is woken for each segment. Timers of the calendar are made for wake-ups that almost never come, and
/// cost several times what a change costs here: a comparison for each halving of the hosts.
#[derive(Debug, Default)]
pub(crate) struct Paces {
    /// The root is at 1, the leaves are in the second half.
    turns: Vec<Turn>,
    hosts: Vec<u32>,
}

impl Paces {
    /// The paced hosts, which are numbered in this order.
    pub(crate) fn new(hosts: Vec<u32>) -> Self {
        Self {
            turns: vec![Turn::NEVER; 2 * hosts.len().next_power_of_two()],
            hosts,
        }
    }

    fn leaf(&self, number: u32) -> usize {
        self.turns.len() / 2 + number as usize
    }

    /// When host number `number` of them departs next.
    #[inline]
    pub(crate) fn of(&self, number: u32) -> Option<Time> {
        let turn = self.turns[self.leaf(number)];
        (turn != Turn::NEVER).then(|| turn.at())
    }

    /// Host number `number` departs in this turn, which has the same number. Answers the first turn of all.
    #[inline]
    pub(crate) fn set(&mut self, number: u32, turn: Turn) -> Turn {
        let mut node = self.leaf(number);
        self.turns[node] = turn;
        let mut first = turn;
        while node > 1 {
            first = first.min(self.turns[node ^ 1]);
            node /= 2;
            self.turns[node] = first;
        }
        first
    }

    /// The host that departs first.
    ///
    /// # Panics
    /// If none departs.
    #[inline]
    pub(crate) fn first(&self) -> u32 {
        self.hosts[self.turns[1].number() as usize]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::Calendar;
    use sojourn_units::Stream;

    /// Judged by calendars in which each host has a slot of its own.
    #[test]
    fn hosts_depart_in_the_order_of_slots_of_their_own() {
        for hosts in [1_u32, 2, 5, 8, 13] {
            let (mut shared, mut own) = (Calendar::default(), Calendar::default());
            let mut paces = Paces::new((0..hosts).map(|host| 100 + host).collect());
            let slot = shared.add_link_slot();
            let slots: Vec<_> = (0..hosts).map(|_| own.add_link_slot()).collect();
            let mut rng = Stream::new(u64::from(hosts));
            let mut now = Time::ZERO;
            for _ in 0..2_000 {
                let number = rng.below(u64::from(hosts)) as u32;
                let at = Time::from_nanos(now.as_nanos() + rng.below(3));
                let turn = shared.turn(number, at);
                let first = paces.set(number, turn);
                assert_eq!(paces.of(number), Some(at));
                shared.set_in_turn(slot, first);
                own.set(slots[number as usize], at);
                let (Some((at, _)), Some((expected, one))) = (shared.next(Time::MAX), own.next(Time::MAX)) else {
                    panic!("both have one");
                };
                assert_eq!((at, paces.first()), (expected, 100 + one.index() as u32));
                now = at;
                if rng.below(2) == 0 {
                    let first = paces.set(one.index() as u32, Turn::NEVER);
                    shared.set_in_turn(slot, first);
                    own.clear(one);
                }
            }
        }
    }
}
