//! `prio`: bands that are served in strict order, each with a discipline of its own.
//!
//! Source: Linux `sch_prio.c` (the same in 6.1 and 7.3).

mod descriptor;

pub(crate) use descriptor::{PrioParams, check_map};

use crate::ClassStats;
use crate::classful::classify::Filters;
use crate::classful::names::Handle;
use crate::classful::{Books, soonest, stats_of_class};
use crate::{Admission, AnyQdisc, Backlog, Departure, DropSink, Packet, Qdisc, QdiscStats};
use sojourn_units::{Bytes, Time};

/// Bands in strict order: a packet leaves only while every band above it has none that may leave.
///
/// Made by [`QdiscSpec::build`](crate::QdiscSpec::build) of `prio`. A packet's band is that of the first filter that
/// takes it, else that of its priority, which follows from its code point as in a router.
#[derive(Clone, Debug)]
pub struct Prio<P> {
    bands: Vec<AnyQdisc<P>>,
    /// By priority, 0 to 15.
    map: [u8; 16],
    filters: Filters,
    handle: u16,
    books: Books,
    /// Packets and bytes that departed, by band.
    sent: Vec<(u64, Bytes)>,
}

impl<P: Packet> Prio<P> {
    fn new(params: &PrioParams, seed: u64) -> Self {
        let bands: Vec<AnyQdisc<P>> = params.classes.build(seed).into_iter().flatten().collect();
        Self {
            sent: vec![(0, Bytes::new(0)); bands.len()],
            bands,
            map: params.map(),
            filters: Filters::of(&params.classes, 0),
            handle: params.classes.handle,
            books: Books::default(),
        }
    }
}

impl<P: Packet> Qdisc<P> for Prio<P> {
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        let mapped = || usize::from(self.map[usize::from(packet.priority() & 15)]);
        let band = self.filters.class(&packet).unwrap_or_else(mapped);
        self.books.enqueue(&mut self.bands[band], packet, now, drops)
    }

    fn dequeue(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
        for (band, sent) in self.bands.iter_mut().zip(&mut self.sent) {
            if let Some(departure) = self.books.dequeue(band, now, drops) {
                let size = departure.packet.size();
                self.books.ledger.send(size);
                *sent = (sent.0 + 1, sent.1 + size);
                return Some(departure);
            }
        }
        None
    }

    fn ready_at(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Time> {
        let mut soon = None;
        for band in &mut self.bands {
            soon = soonest(soon, self.books.ready_at(band, now, drops));
            if soon.is_some_and(|at| at <= now) {
                break;
            }
        }
        soon
    }

    fn peek_size(&self) -> Option<Bytes> {
        self.bands.iter().find_map(Qdisc::peek_size)
    }

    /// Other than `drr`, `ets` and `htb` it holds nothing itself: a packet of a higher band that arrives later is next.
    /// Source: `prio_peek`.
    fn peek(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Bytes> {
        let bands = self.bands.iter_mut();
        bands
            .filter(|band| band.backlog().packets > 0)
            .find_map(|band| self.books.peek(band, now, drops))
    }

    fn overtakes(&self) -> bool {
        true
    }
    fn backlog(&self) -> Backlog {
        self.books.ledger.backlog
    }

    fn stats(&self) -> QdiscStats {
        self.books.ledger.stats
    }

    fn class_stats(&self) -> Vec<ClassStats> {
        let mut all = Vec::new();
        for (place, (band, &sent)) in self.bands.iter().zip(&self.sent).enumerate() {
            let id = Handle {
                major: self.handle,
                minor: place as u16 + 1,
            };
            stats_of_class(id, sent, Some(band), Vec::new(), &mut all);
        }
        all
    }
}
