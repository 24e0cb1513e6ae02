//! `ets`: some bands in strict order, and below them bands that share by deficit round robin.
//!
//! Source: Linux `sch_ets.c` (the same in 6.1 and 7.3); IEEE 802.1Qaz, enhanced transmission selection.

mod descriptor;

pub(crate) use descriptor::EtsParams;

use crate::classful::{Ahead, Children, PriorityMap, Round, ahead_of_children};
use crate::{Admission, Backlog, ClassStats, Departure, DropSink, Packet, Qdisc, QdiscStats};
use sojourn_units::{Bytes, Time};

/// Strict bands, then bands with quanta.
///
/// Made by [`QdiscSpec::build`](crate::QdiscSpec::build) of `ets`. A packet's band is that of the first filter that
/// takes it, else that of its priority.
#[derive(Clone, Debug)]
pub struct Ets<P, Q> {
    bands: Children<Q>,
    strict: usize,
    round: Round,
    map: PriorityMap,
    ahead: Ahead<P>,
}

impl<P: Packet, Q: Qdisc<P>> Ets<P, Q> {
    fn next(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
        let first = (0..self.strict).find_map(|band| self.bands.dequeue(band, now, drops));
        first.or_else(|| self.round.next(&mut self.bands, now, drops))
    }

    fn when(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Time> {
        let bands = (0..self.strict).chain(self.round.first());
        self.bands.ready_at(bands, now, drops)
    }
}

impl<P: Packet, Q: Qdisc<P>> Qdisc<P> for Ets<P, Q> {
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        let band = self.map.band(&self.bands, &packet);
        let admission = self.bands.enqueue(band, packet, now, drops);
        if band >= self.strict && self.bands.holds(band) {
            self.round.arrival(band);
        }
        admission
    }

    ahead_of_children!(bands.books);

    fn stats(&self) -> QdiscStats {
        self.bands.stats()
    }

    fn class_stats(&self) -> Vec<ClassStats> {
        self.bands.class_stats(|_| Vec::new())
    }
}
