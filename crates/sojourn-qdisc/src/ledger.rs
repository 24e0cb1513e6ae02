//! The accounts every discipline keeps: what came, what went, what was dropped, what is left.

use crate::{Admission, Backlog, DropReason, DropSink, Dropped, Packet, QdiscStats, Queued};
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
pub(crate) struct Ahead<P> {
    held: Option<Queued<P>>,
    marked: bool,
}

impl<P: Packet> Ahead<P> {
    pub(crate) const EMPTY: Self = Self {
        held: None,
        marked: false,
    };

    /// Holds what was dequeued, and puts it back into the books.
    #[inline]
    pub(crate) fn hold(&mut self, (queued, marked): (Queued<P>, bool), ledger: &mut Ledger) -> Bytes {
        let size = queued.size;
        ledger.enter(size);
        self.held = Some(queued);
        self.marked = marked;
        size
    }

    /// Takes the held packet, out of the books.
    #[inline]
    pub(crate) fn take(&mut self, ledger: &mut Ledger) -> Option<(Queued<P>, bool)> {
        let queued = self.held.take()?;
        ledger.leave(queued.size);
        Some((queued, self.marked))
    }

    /// The size of the held packet.
    #[inline]
    pub(crate) fn size(&self) -> Option<Bytes> {
        self.held.as_ref().map(|queued| queued.size)
    }
}

/// The three methods that every discipline with a real dequeue behind its peek shares. `self.next(now, drops)` is
/// that real dequeue, a packet and whether it was marked: it takes it out of the books and leaves the counters of
/// sent packets alone. A method named in the macro's argument, `self.timer(now, drops)`, runs first: timers must see
/// the state before this call changes it. A discipline that holds packets back names a method `when`: `self.ready(now)`
/// is the time at which one of its packets may leave. It is not asked while none is there or one is held for a peek.
macro_rules! dequeue_through_ahead {
    (when $ready:ident) => {
        dequeue_through_ahead!(@ [] [$ready]);
    };
    ($($timer:ident)?) => {
        dequeue_through_ahead!(@ [$($timer)?] []);
    };
    (@ [$($timer:ident)?] [$($ready:ident)?]) => {
        #[inline]
        fn dequeue(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
            $(self.$timer(now, drops);)?
            let (queued, marked) = match self.ahead.take(&mut self.ledger) {
                Some(held) => held,
                None => self.next(now, drops)?,
            };
            self.ledger.send(queued.size);
            Some(queued.depart(now, marked))
        }

        fn ready_at(&mut self, now: Time, _drops: &mut dyn DropSink<P>) -> Option<Time> {
            if self.ledger.backlog.packets == 0 {
                return None;
            }
            $(if self.ahead.size().is_none() {
                return Some(self.$ready(now));
            })?
            Some(now)
        }

        fn peek_size(&self) -> Option<Bytes> {
            self.ahead.size()
        }

        #[inline]
        fn peek(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Bytes> {
            $(self.$timer(now, drops);)?
            if let Some(size) = self.ahead.size() {
                return Some(size);
            }
            let next = self.next(now, drops)?;
            Some(self.ahead.hold(next, &mut self.ledger))
        }

        fn backlog(&self) -> Backlog {
            self.ledger.backlog
        }

        fn stats(&self) -> QdiscStats {
            self.ledger.stats
        }
    };
}
pub(crate) use dequeue_through_ahead;
