//! Deficit round robin: [`flows`] for the queues of flows in other disciplines, and the discipline `drr`, whose classes
//! share the link by their quanta.
//!
//! Source of `drr`: Linux `sch_drr.c` (the same in 6.1 and 7.3).

mod descriptor;
mod flows;

pub(crate) use descriptor::{DrrClass, DrrParams, QUANTA};
pub(crate) use flows::{Rounds, Served, Turn};

use crate::ClassStats;
use crate::classful::classify::Filters;
use crate::classful::names::Handle;
use crate::classful::{Ahead, Books, Round, ahead_of_children, stats_of_class};
use crate::{Admission, AnyQdisc, Backlog, Departure, DropSink, Packet, Qdisc, QdiscStats};
use sojourn_units::{Bytes, Time};

/// Classes that share the link by deficit round robin.
///
/// Made by [`QdiscSpec::build`](crate::QdiscSpec::build) of `drr` with its classes. A packet that no filter takes is
/// dropped, as in Linux.
#[derive(Clone, Debug)]
pub struct Drr<P> {
    classes: Vec<AnyQdisc<P>>,
    ids: Vec<Handle>,
    round: Round,
    filters: Filters,
    books: Books,
    ahead: Ahead<P>,
    /// Packets and bytes that departed, by class.
    sent: Vec<(u64, Bytes)>,
}

impl<P: Packet> Drr<P> {
    fn new(params: &DrrParams, seed: u64) -> Self {
        let classes: Vec<AnyQdisc<P>> = params.classes.build(seed).into_iter().flatten().collect();
        Self {
            sent: vec![(0, Bytes::new(0)); classes.len()],
            classes,
            ids: params.ids(),
            round: Round::new(params.quanta()),
            filters: Filters::of(&params.classes, 0),
            books: Books::default(),
            ahead: Ahead::EMPTY,
        }
    }

    fn next(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
        let (class, departure) = self.round.next(&mut self.classes, &mut self.books, now, drops)?;
        let sent = &mut self.sent[class];
        *sent = (sent.0 + 1, sent.1 + departure.packet.size());
        Some(departure)
    }

    fn when(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Time> {
        let first = self.round.first()?;
        self.books.ready_at(&mut self.classes[first], now, drops)
    }
}

impl<P: Packet> Qdisc<P> for Drr<P> {
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        let Some(class) = self.filters.class(&packet) else {
            return self.books.refuse(packet, drops);
        };
        let admission = self.books.enqueue(&mut self.classes[class], packet, now, drops);
        if self.classes[class].backlog().packets > 0 {
            self.round.arrival(class);
        }
        admission
    }

    ahead_of_children!();

    fn stats(&self) -> QdiscStats {
        self.books.ledger.stats
    }

    fn class_stats(&self) -> Vec<ClassStats> {
        let mut all = Vec::new();
        for (place, child) in self.classes.iter().enumerate() {
            let queued = child.backlog().packets > 0;
            let deficit = if queued { self.round.deficit(place) } else { 0 };
            let extra = vec![("deficit", deficit as f64)];
            stats_of_class(self.ids[place], self.sent[place], Some(child), extra, &mut all);
        }
        all
    }
}
