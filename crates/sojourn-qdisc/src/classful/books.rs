//! The accounts of a discipline whose packets are in its classes.

use super::names::Handle;
use crate::ledger::Ledger;
use crate::{Admission, Backlog, ClassStats, Departure, DropReason, DropSink, Dropped, Packet, Qdisc, QdiscStats};
use sojourn_units::{Bytes, Duration, Time};

/// Counters and backlog of a classful discipline. What its classes drop counts as its own drops.
///
/// Source: Linux `qdisc_tree_reduce_backlog`, which tells the disciplines above of each drop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Books {
    pub(crate) ledger: Ledger,
}

/// A sink that counts.
struct Counting<'a, P> {
    stats: &'a mut QdiscStats,
    drops: &'a mut dyn DropSink<P>,
}

impl<P> DropSink<P> for Counting<'_, P> {
    fn dropped(&mut self, drop: Dropped<P>) {
        self.stats.drops[drop.reason.index()] += 1;
        self.drops.dropped(drop);
    }
}

impl Books {
    /// Calls `act` on a class's discipline, and enters what it changes.
    #[inline]
    fn through<P: Packet, Q: Qdisc<P>, T>(
        &mut self,
        child: &mut Q,
        drops: &mut dyn DropSink<P>,
        act: impl FnOnce(&mut Q, &mut dyn DropSink<P>) -> T,
    ) -> T {
        let before = child.backlog();
        let stats = &mut self.ledger.stats;
        let result = act(child, &mut Counting { stats, drops });
        let (after, all) = (child.backlog(), &mut self.ledger.backlog);
        all.packets = all.packets + after.packets - before.packets;
        all.bytes = all.bytes + after.bytes - before.bytes;
        result
    }

    /// Offers an arrival to its class.
    #[inline]
    pub(crate) fn enqueue<P: Packet, Q: Qdisc<P>>(
        &mut self,
        child: &mut Q,
        packet: P,
        now: Time,
        drops: &mut dyn DropSink<P>,
    ) -> Admission {
        self.ledger.arrive();
        self.through(child, drops, |child, drops| child.enqueue(packet, now, drops))
    }

    /// Drops an arrival that belongs to no class.
    pub(crate) fn refuse<P>(&mut self, packet: P, drops: &mut dyn DropSink<P>) -> Admission {
        self.ledger.arrive();
        self.ledger.refuse(packet, DropReason::QueueLimit, drops)
    }

    /// Takes a packet out of a class. It is out of the books, and not yet sent.
    #[inline]
    pub(crate) fn dequeue<P: Packet, Q: Qdisc<P>>(
        &mut self,
        child: &mut Q,
        now: Time,
        drops: &mut dyn DropSink<P>,
    ) -> Option<Departure<P>> {
        let departure = self.through(child, drops, |child, drops| child.dequeue(now, drops))?;
        self.ledger.stats.marks += u64::from(departure.marked);
        Some(departure)
    }

    /// The size of the next packet of a class that may leave now.
    #[inline]
    pub(crate) fn peek<P: Packet, Q: Qdisc<P>>(
        &mut self,
        child: &mut Q,
        now: Time,
        drops: &mut dyn DropSink<P>,
    ) -> Option<Bytes> {
        self.through(child, drops, |child, drops| {
            child
                .ready_at(now, drops)
                .filter(|&at| at <= now)
                .and_then(|_| child.peek(now, drops))
        })
    }

    /// When a class has a packet that may leave.
    #[inline]
    pub(crate) fn ready_at<P: Packet, Q: Qdisc<P>>(
        &mut self,
        child: &mut Q,
        now: Time,
        drops: &mut dyn DropSink<P>,
    ) -> Option<Time> {
        self.through(child, drops, |child, drops| child.ready_at(now, drops))
    }
}

/// The earlier of two times at which something may happen.
#[inline]
pub(crate) fn soonest(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// The counters of a class that holds `child`, and of the classes below that.
pub(crate) fn stats_of_class<P: Packet, Q: Qdisc<P>>(
    id: Handle,
    sent: (u64, Bytes),
    child: Option<&Q>,
    extra: Vec<(&'static str, f64)>,
    all: &mut Vec<ClassStats>,
) {
    all.push(ClassStats {
        id: id.to_string(),
        sent_packets: sent.0,
        sent_bytes: sent.1.get(),
        dropped: child.map_or(0, |child| child.stats().dropped()),
        overlimits: 0,
        backlog: child.map_or_else(Backlog::default, Qdisc::backlog),
        extra,
    });
    all.extend(child.into_iter().flat_map(Qdisc::class_stats));
}

/// A packet that was dequeued ahead of time because a shaper looked at it.
///
/// Source: `qdisc_peek_dequeued` and `qdisc_dequeue_peeked` of Linux.
#[derive(Clone, Debug)]
pub(crate) struct Ahead<P> {
    held: Option<(Departure<P>, Bytes, Time)>,
}

impl<P: Packet> Ahead<P> {
    pub(crate) const EMPTY: Self = Self { held: None };

    /// Holds what was dequeued at `now`, and puts it back into the books.
    pub(crate) fn hold(&mut self, departure: Departure<P>, now: Time, ledger: &mut Ledger) -> Bytes {
        let size = departure.packet.size();
        ledger.enter(size);
        self.held = Some((departure, size, now));
        size
    }

    /// Takes the held packet, out of the books.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, ledger: &mut Ledger) -> Option<Departure<P>> {
        let (departure, size, since) = self.held.take()?;
        ledger.leave(size);
        let sojourn = departure.sojourn + Duration::from_nanos(now.since(since).as_nanos());
        Some(Departure { sojourn, ..departure })
    }

    /// The size of the held packet.
    #[inline]
    pub(crate) fn size(&self) -> Option<Bytes> {
        self.held.as_ref().map(|held| held.1)
    }
}

/// The methods of a classful discipline with a real dequeue behind its peek. `self.next(now, drops)` is that dequeue:
/// what it takes is out of the books and not yet sent. `self.when(now, drops)` says when it may give a packet. The
/// macro's argument is the field with the books.
macro_rules! ahead_of_children {
    ($($books:ident).+) => {
        fn overtakes(&self) -> bool {
            true
        }
        fn dequeue(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
            let departure = match self.ahead.take(now, &mut self.$($books).+.ledger) {
                Some(held) => held,
                None => self.next(now, drops)?,
            };
            self.$($books).+.ledger.send(departure.packet.size());
            Some(departure)
        }

        fn ready_at(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Time> {
            if self.ahead.size().is_some() {
                return Some(now);
            }
            self.when(now, drops)
        }

        fn peek_size(&self) -> Option<Bytes> {
            self.ahead.size()
        }

        fn peek(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Bytes> {
            if let Some(size) = self.ahead.size() {
                return Some(size);
            }
            let next = self.next(now, drops)?;
            Some(self.ahead.hold(next, now, &mut self.$($books).+.ledger))
        }

        fn backlog(&self) -> Backlog {
            self.$($books).+.ledger.backlog
        }
    };
}
pub(crate) use ahead_of_children;
