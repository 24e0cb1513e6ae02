//! The contract of a queue discipline.

use crate::{Departure, DropReason, DropSink, Packet};
use sojourn_units::{Bytes, Time};
use std::fmt::Debug;

/// What became of an offered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is in the queue. (Another may have been dropped to make room.)
    Queued,
    /// It was dropped itself; it has gone to the drop sink.
    Refused,
}

/// What a discipline holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Their sizes, added up.
    pub bytes: Bytes,
}

/// The counters that `tc -s qdisc` shows for every kind, and drops by reason.
///
/// Invariant: `arrived = sent_packets + sum(drops) + backlog.packets`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QdiscStats {
    /// Packets offered.
    pub arrived: u64,
    /// Packets that departed.
    pub sent_packets: u64,
    /// Bytes that departed.
    pub sent_bytes: u64,
    /// Drops by [`DropReason::index`].
    pub drops: [u64; DropReason::ALL.len()],
    /// Packets marked with congestion experienced.
    pub marks: u64,
    /// Times a shaper had a packet but no tokens for it, or RED was above its minimum: tc's "overlimits".
    pub overlimits: u64,
}

impl QdiscStats {
    /// Drops for all reasons.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.drops.iter().sum()
    }
}

/// The counters of one class, as `tc -s class` shows them.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassStats {
    /// Its handle, such as `1:11`.
    pub id: String,
    /// Packets that departed from it.
    pub sent_packets: u64,
    /// Bytes that departed from it.
    pub sent_bytes: u64,
    /// Packets that its discipline dropped.
    pub dropped: u64,
    /// `htb`: how often it reached its ceiling; else 0.
    pub overlimits: u64,
    /// What its discipline holds. A packet that was dequeued ahead of time for a shaper above is not among it.
    pub backlog: Backlog,
    /// The counters of this kind of class by the names of `tc`: `lended`, `borrowed`, `giants`, `tokens` and `ctokens`
    /// of `htb`, the last two in ticks of 64 ns; `deficit` of `drr`, in bytes.
    pub extra: Vec<(&'static str, f64)>,
}

/// A queue discipline. Times of successive calls must not decrease.
pub trait Qdisc<P: Packet>: Debug {
    /// Offers `packet`. A discipline may refuse it, or drop others to make room; each drop goes to `drops`.
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission;

    /// Takes the next packet, if one may leave now. Packets dropped on the way go to `drops`.
    fn dequeue(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Departure<P>>;

    /// When `dequeue` may next return a packet: `now` for a work-conserving discipline that holds one, later for a
    /// shaper that waits for tokens; `None` if only an arrival can change that. It may be too early, never too late.
    /// A shaper may have to look at its child's next packet to tell, and that can drop packets.
    fn ready_at(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Time>;

    /// The size of the packet that `dequeue` would return, where looking changes nothing (FIFOs: Linux's
    /// `qdisc_peek_head`). `None` for a discipline that must dequeue to know, or that is empty.
    fn peek_size(&self) -> Option<Bytes> {
        None
    }

    /// The size of the packet that `dequeue` will return, found as a shaper above it finds it.
    ///
    /// Source: the `peek` operation of Linux's qdiscs. A FIFO (and RED, whose child is one) looks at its head.
    /// `CoDel`, `FQ-CoDel`, PIE and SFQ take the packet out ahead of time (`qdisc_peek_dequeued`), so that the
    /// algorithm judges it now; they hold it, still in the backlog and with its sojourn going on, until `dequeue`
    /// takes it. `None` only if no packet can be had.
    fn peek(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Bytes> {
        let _ = (now, drops);
        self.peek_size()
    }

    /// Whether a packet of `size` that arrives now leaves at once by [`Qdisc::passed`].
    fn lets_pass(&self, size: Bytes) -> bool {
        let _ = size;
        false
    }

    /// Counts a packet of `size` that [`Qdisc::lets_pass`]: the same as `enqueue` and then `dequeue` at one time, and
    /// cheaper.
    fn passed(&mut self, size: Bytes) {
        let _ = size;
    }

    /// The same where the discipline is asked for another packet at the same time, and has none: a token bucket does so.
    fn lets_pass_alone(&self, packet: &P) -> bool {
        self.lets_pass(packet.size())
    }

    /// See [`Qdisc::passed`]; of a packet that [`Qdisc::lets_pass_alone`], at `now`.
    fn passed_alone(&mut self, packet: &P, now: Time) {
        let _ = now;
        self.passed(packet.size());
    }

    /// Whether a packet that comes may leave before those that wait for their time, because only some flows or classes
    /// are held back. Then `ready_at` is to be asked again after each arrival.
    fn overtakes(&self) -> bool {
        false
    }

    /// Packets and bytes held.
    fn backlog(&self) -> Backlog;

    /// The counters.
    fn stats(&self) -> QdiscStats;

    /// The counters of this kind beyond the common ones, by the names that `tc -s -j qdisc` gives them (times in us).
    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// The counters of the classes of a classful discipline, each before the classes of its own discipline.
    fn class_stats(&self) -> Vec<ClassStats> {
        Vec::new()
    }
}
