//! Deficit round robin: [`flows`] for the queues of flows in other disciplines, and the discipline `drr`, whose classes
//! share the link by their quanta.
//!
//! Source of `drr`: Linux `sch_drr.c` (the same in 6.1 and 7.3).

mod class;
mod descriptor;
mod flows;

pub(crate) use class::{DrrClass, QUANTA};
pub(crate) use descriptor::DrrParams;
pub(crate) use flows::{Rounds, Served, Turn};

use crate::classful::{Ahead, Children, ClassWords, Classes, Round, ahead_of_children};
use crate::{Admission, Backlog, ClassStats, Departure, DropSink, Packet, Qdisc, QdiscStats};
use sojourn_units::{Bytes, Time};

/// Classes that share the link by deficit round robin.
///
/// Made by [`QdiscSpec::build`](crate::QdiscSpec::build) of `drr` with its classes. A packet that no filter takes is
/// dropped, as in Linux.
#[derive(Clone, Debug)]
pub struct Drr<P, Q> {
    classes: Children<Q>,
    round: Round,
    ahead: Ahead<P>,
}

impl<P: Packet, Q: Qdisc<P>> Drr<P, Q> {
    fn new<L>(classes: &Classes<L>, children: Vec<Option<Q>>) -> Self {
        let quanta = classes.iter().map(|class| match &class.own {
            ClassWords::Drr(own) => own.quantum,
            ClassWords::Band | ClassWords::Htb(_) => 0,
        });
        Self {
            round: Round::new(quanta),
            classes: Children::new(classes, children),
            ahead: Ahead::EMPTY,
        }
    }

    fn next(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
        self.round.next(&mut self.classes, now, drops)
    }

    fn when(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Time> {
        self.classes.ready_at(self.round.first().into_iter(), now, drops)
    }
}

impl<P: Packet, Q: Qdisc<P>> Qdisc<P> for Drr<P, Q> {
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        let Some(class) = self.classes.filtered(&packet) else {
            return self.classes.books.refuse(packet, drops);
        };
        let admission = self.classes.enqueue(class, packet, now, drops);
        if self.classes.holds(class) {
            self.round.arrival(class);
        }
        admission
    }

    ahead_of_children!(classes.books);

    fn stats(&self) -> QdiscStats {
        self.classes.stats()
    }

    fn class_stats(&self) -> Vec<ClassStats> {
        self.classes.class_stats(|class| {
            let holds = self.classes.holds(class);
            let deficit = if holds { self.round.deficit(class) } else { 0 };
            vec![("deficit", deficit as f64)]
        })
    }
}
