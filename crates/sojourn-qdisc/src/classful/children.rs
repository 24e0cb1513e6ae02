//! The classes of a discipline that holds all its packets in them.

use super::books::{Books, stats_of_class};
use super::classify::Filters;
use super::names::Handle;
use super::{Class, Classes};
use crate::{Admission, ClassStats, Departure, DropSink, Packet, Qdisc, QdiscStats};
use sojourn_units::{Bytes, Time};

/// Classes in the order of their numbers, each with its discipline, and the books of all.
#[derive(Clone, Debug)]
pub(crate) struct Children<Q> {
    list: Vec<Child<Q>>,
    filters: Filters,
    pub(crate) books: Books,
}

#[derive(Clone, Debug)]
struct Child<Q> {
    id: Handle,
    qdisc: Q,
    /// Packets and bytes that departed.
    sent: (u64, Bytes),
}

impl<Q> Children<Q> {
    /// The classes that the text names, with their disciplines. None of them has classes of the same discipline below.
    pub(crate) fn new<L>(classes: &Classes<L>, qdiscs: Vec<Option<Q>>) -> Self {
        let child = |(class, qdisc): (&Class<L>, Q)| Child {
            id: classes.handle_of(class.minor),
            qdisc,
            sent: (0, Bytes::ZERO),
        };
        Self {
            list: classes.iter().zip(qdiscs.into_iter().flatten()).map(child).collect(),
            filters: Filters::of(classes, 0),
            books: Books::default(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The class to which filters send a packet.
    #[inline]
    pub(crate) fn filtered(&self, packet: &impl Packet) -> Option<usize> {
        self.filters.class(packet)
    }

    /// Whether a class holds packets.
    #[inline]
    pub(crate) fn holds<P: Packet>(&self, class: usize) -> bool
    where
        Q: Qdisc<P>,
    {
        self.list[class].qdisc.backlog().packets > 0
    }

    /// Offers an arrival to its class.
    #[inline]
    pub(crate) fn enqueue<P: Packet>(
        &mut self,
        class: usize,
        packet: P,
        now: Time,
        drops: &mut dyn DropSink<P>,
    ) -> Admission
    where
        Q: Qdisc<P>,
    {
        self.books.enqueue(&mut self.list[class].qdisc, packet, now, drops)
    }

    /// Takes a packet out of a class. It is out of the books and counted for its class, and not yet sent.
    #[inline]
    pub(crate) fn dequeue<P: Packet>(
        &mut self,
        class: usize,
        now: Time,
        drops: &mut dyn DropSink<P>,
    ) -> Option<Departure<P>>
    where
        Q: Qdisc<P>,
    {
        let child = &mut self.list[class];
        let departure = self.books.dequeue(&mut child.qdisc, now, drops)?;
        child.sent = (child.sent.0 + 1, child.sent.1 + departure.packet.size());
        Some(departure)
    }

    /// The size of the next packet of a class that may leave now.
    #[inline]
    pub(crate) fn peek<P: Packet>(&mut self, class: usize, now: Time, drops: &mut dyn DropSink<P>) -> Option<Bytes>
    where
        Q: Qdisc<P>,
    {
        self.books.peek(&mut self.list[class].qdisc, now, drops)
    }

    /// The size of the packet that the first class would send, where looking changes nothing.
    pub(crate) fn peek_size<P: Packet>(&self) -> Option<Bytes>
    where
        Q: Qdisc<P>,
    {
        self.list.iter().find_map(|child| child.qdisc.peek_size())
    }

    /// When the first of these classes has a packet that may leave: no later class is asked once one may at once.
    pub(crate) fn ready_at<P: Packet>(
        &mut self,
        classes: impl Iterator<Item = usize>,
        now: Time,
        drops: &mut dyn DropSink<P>,
    ) -> Option<Time>
    where
        Q: Qdisc<P>,
    {
        let mut soon = None;
        for class in classes {
            soon = super::soonest(soon, self.books.ready_at(&mut self.list[class].qdisc, now, drops));
            if soon.is_some_and(|at| at <= now) {
                break;
            }
        }
        soon
    }

    /// The counters of the discipline.
    pub(crate) fn stats(&self) -> QdiscStats {
        self.books.ledger.stats
    }

    /// The counters of the classes, each with those that `extra` names, and of the classes below them.
    pub(crate) fn class_stats<P: Packet>(&self, extra: impl Fn(usize) -> Vec<(&'static str, f64)>) -> Vec<ClassStats>
    where
        Q: Qdisc<P>,
    {
        let mut all = Vec::new();
        for (class, child) in self.list.iter().enumerate() {
            stats_of_class(child.id, child.sent, Some(&child.qdisc), extra(class), &mut all);
        }
        all
    }
}
