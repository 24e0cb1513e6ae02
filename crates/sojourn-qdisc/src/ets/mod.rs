//! `ets`: some bands in strict order, and below them bands that share by deficit round robin.
//!
//! Source: Linux `sch_ets.c` (the same in 6.1 and 7.3); IEEE 802.1Qaz, enhanced transmission selection.

mod descriptor;

pub(crate) use descriptor::EtsParams;

use crate::ClassStats;
use crate::classful::classify::Filters;
use crate::classful::names::Handle;
use crate::classful::{Ahead, Books, Round, ahead_of_children, soonest, stats_of_class};
use crate::{Admission, AnyQdisc, Backlog, Departure, DropSink, Packet, Qdisc, QdiscStats};
use sojourn_units::{Bytes, Time};

/// Strict bands, then bands with quanta.
///
/// Made by [`QdiscSpec::build`](crate::QdiscSpec::build) of `ets`. A packet's band is that of the first filter that
/// takes it, else that of its priority.
#[derive(Clone, Debug)]
pub struct Ets<P> {
    bands: Vec<AnyQdisc<P>>,
    strict: usize,
    round: Round,
    /// By priority, 0 to 15.
    map: [u8; 16],
    filters: Filters,
    handle: u16,
    books: Books,
    ahead: Ahead<P>,
    /// Packets and bytes that departed, by band.
    sent: Vec<(u64, Bytes)>,
}

impl<P: Packet> Ets<P> {
    fn new(params: &EtsParams, seed: u64) -> Self {
        let bands: Vec<AnyQdisc<P>> = params.classes.build(seed).into_iter().flatten().collect();
        let strict = params.strict();
        Self {
            sent: vec![(0, Bytes::new(0)); bands.len()],
            bands,
            strict,
            round: Round::new(params.quanta()),
            map: params.map(),
            filters: Filters::of(&params.classes, 0),
            handle: params.classes.handle,
            books: Books::default(),
            ahead: Ahead::EMPTY,
        }
    }

    fn next(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
        let books = &mut self.books;
        let mut strict = self.bands[..self.strict].iter_mut().enumerate();
        let first = strict.find_map(|(place, band)| Some((place, books.dequeue(band, now, drops)?)));
        let (band, departure) = match first {
            Some(found) => found,
            None => self.round.next(&mut self.bands, books, now, drops)?,
        };
        let sent = &mut self.sent[band];
        *sent = (sent.0 + 1, sent.1 + departure.packet.size());
        Some(departure)
    }

    fn when(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Time> {
        let mut soon = None;
        for place in (0..self.strict).chain(self.round.first()) {
            soon = soonest(soon, self.books.ready_at(&mut self.bands[place], now, drops));
            if soon.is_some_and(|at| at <= now) {
                break;
            }
        }
        soon
    }
}

impl<P: Packet> Qdisc<P> for Ets<P> {
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        let mapped = || usize::from(self.map[usize::from(packet.priority() & 15)]);
        let band = self.filters.class(&packet).unwrap_or_else(mapped);
        let admission = self.books.enqueue(&mut self.bands[band], packet, now, drops);
        if band >= self.strict && self.bands[band].backlog().packets > 0 {
            self.round.arrival(band);
        }
        admission
    }

    ahead_of_children!();

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
