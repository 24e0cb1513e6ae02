//! The accounts every discipline keeps: what came, what went, what was dropped, what is left.

use crate::{Admission, Backlog, Departure, DropReason, DropSink, Dropped, Packet, QdiscStats, Queued};
use sojourn_units::{Bytes, Time};

/// Counters and backlog of one discipline. A packet held ahead of time for a peek is part of the backlog.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) stats: QdiscStats,
    pub(crate) backlog: Backlog,
}

impl Ledger {
    /// A packet was offered.
    #[inline]
    pub(crate) fn arrive(&mut self) {
        self.stats.arrived += 1;
    }

    /// A packet of `size` is now in the queue.
    #[inline]
    pub(crate) fn enter(&mut self, size: Bytes) {
        self.backlog.packets += 1;
        self.backlog.bytes += size;
    }

    /// A packet of `size` is no longer in the queue.
    #[inline]
    pub(crate) fn leave(&mut self, size: Bytes) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= size;
    }

    /// A packet that has left the queue is sent.
    #[inline]
    pub(crate) fn send(&mut self, size: Bytes) {
        self.stats.sent_packets += 1;
        self.stats.sent_bytes += size.get();
    }

    /// Refuses an arrival.
    pub(crate) fn refuse<P>(&mut self, packet: P, reason: DropReason, drops: &mut dyn DropSink<P>) -> Admission {
        self.stats.drops[reason.index()] += 1;
        drops.dropped(Dropped {
            packet,
            reason,
            sojourn: sojourn_units::Duration::ZERO,
        });
        Admission::Refused
    }

    /// Drops a packet that has left the queue.
    pub(crate) fn discard<P>(&mut self, queued: Queued<P>, reason: DropReason, now: Time, drops: &mut dyn DropSink<P>) {
        self.stats.drops[reason.index()] += 1;
        drops.dropped(Dropped {
            packet: queued.packet,
            reason,
            sojourn: now.since(queued.since),
        });
    }
}

/// A packet that was dequeued ahead of time because a shaper looked at it.
///
/// Source: `qdisc_peek_dequeued` and `qdisc_dequeue_peeked` of Linux: it still counts in queue length and backlog.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead<P>(Option<(Queued<P>, bool)>);

impl<P: Packet> Ahead<P> {
    pub(crate) const EMPTY: Self = Self(None);

    /// Holds what was dequeued at `now`, and puts it back into the books.
    #[inline]
    pub(crate) fn hold(&mut self, departure: Departure<P>, now: Time, ledger: &mut Ledger) -> Bytes {
        let size = departure.packet.size();
        ledger.enter(size);
        self.0 = Some((
            Queued {
                packet: departure.packet,
                since: now - departure.sojourn,
            },
            departure.marked,
        ));
        size
    }

    /// Takes the held packet, out of the books, with its sojourn up to `now`.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, ledger: &mut Ledger) -> Option<Departure<P>> {
        let (queued, marked) = self.0.take()?;
        ledger.leave(queued.packet.size());
        Some(Departure {
            packet: queued.packet,
            sojourn: now.since(queued.since),
            marked,
        })
    }

    /// The size of the held packet.
    #[inline]
    pub(crate) fn size(&self) -> Option<Bytes> {
        self.0.as_ref().map(|(queued, _)| queued.packet.size())
    }
}

/// The three methods that every discipline with a real dequeue behind its peek shares. `self.next(now, drops)` is that
/// real dequeue: it takes the packet out of the books and leaves the counters of sent packets alone.
macro_rules! dequeue_through_ahead {
    () => {
        fn dequeue(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
            let departure = match self.ahead.take(now, &mut self.ledger) {
                Some(held) => held,
                None => self.next(now, drops)?,
            };
            self.ledger.send(departure.packet.size());
            Some(departure)
        }

        fn ready_at(&mut self, now: Time, _drops: &mut dyn DropSink<P>) -> Option<Time> {
            (self.ledger.backlog.packets > 0).then_some(now)
        }

        fn peek_size(&self) -> Option<Bytes> {
            self.ahead.size()
        }

        fn peek(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Bytes> {
            if let Some(size) = self.ahead.size() {
                return Some(size);
            }
            let departure = self.next(now, drops)?;
            Some(self.ahead.hold(departure, now, &mut self.ledger))
        }

        fn backlog(&self) -> Backlog {
            self.ledger.backlog
        }

        fn stats(&self) -> &QdiscStats {
            &self.ledger.stats
        }
    };
}
pub(crate) use dequeue_through_ahead;
