//! `prio`: bands that are served in strict order, each with a discipline of its own.
//!
//! Source: Linux `sch_prio.c` (the same in 6.1 and 7.3).

mod descriptor;

pub(crate) use descriptor::PrioParams;

use crate::classful::{Children, PriorityMap};
use crate::{Admission, Backlog, ClassStats, Departure, DropSink, Packet, Qdisc, QdiscStats};
use sojourn_units::{Bytes, Time};

/// Bands in strict order: a packet leaves only while every band above it has none that may leave.
///
/// Made by [`QdiscSpec::build`](crate::QdiscSpec::build) of `prio`. A packet's band is that of the first filter that
/// takes it, else that of its priority, which follows from its code point as in a router.
#[derive(Clone, Debug)]
pub struct Prio<Q> {
    bands: Children<Q>,
    map: PriorityMap,
}

impl<P: Packet, Q: Qdisc<P>> Qdisc<P> for Prio<Q> {
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        let band = self.map.band(&self.bands, &packet);
        self.bands.enqueue(band, packet, now, drops)
    }

    fn dequeue(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
        let mut bands = 0..self.bands.len();
        let departure = bands.find_map(|band| self.bands.dequeue(band, now, drops))?;
        self.bands.books.ledger.send(departure.packet.size());
        Some(departure)
    }

    fn ready_at(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Time> {
        self.bands.ready_at(0..self.bands.len(), now, drops)
    }

    fn peek_size(&self) -> Option<Bytes> {
        self.bands.peek_size()
    }

    /// Other than `drr`, `ets` and `htb` it holds nothing itself: a packet of a higher band that arrives later is next.
    /// Source: `prio_peek`.
    fn peek(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Bytes> {
        let mut bands = 0..self.bands.len();
        bands.find_map(|band| {
            if self.bands.holds(band) {
                self.bands.peek(band, now, drops)
            } else {
                None
            }
        })
    }

    fn overtakes(&self) -> bool {
        true
    }

    fn backlog(&self) -> Backlog {
        self.bands.books.ledger.backlog
    }

    fn stats(&self) -> QdiscStats {
        self.bands.stats()
    }

    fn class_stats(&self) -> Vec<ClassStats> {
        self.bands.class_stats(|_| Vec::new())
    }
}
