//! What goes in, what comes out, and what is dropped on the way.

use crate::AckFacts;
use sojourn_units::{Bytes, Duration, Ecn, Rate, Time, words};
use std::fmt::Debug;

/// What a discipline needs to know of a packet.
///
/// Nothing that a discipline reads has a default, because "unknown" would look like the answer 0: a packet that lacks
/// something says so by [`packet_without`](crate::packet_without).
pub trait Packet: Debug {
    /// The packet's size as the shaper counts it: on the wire, link-layer header included, as `tc` counts.
    fn size(&self) -> Bytes;
    /// A hash of the flow's addresses and ports. A discipline with N queues puts it into queue `hash % N`.
    fn flow_hash(&self) -> u32;
    /// The ECN field of its IP header.
    fn ecn(&self) -> Ecn;
    /// Writes the ECN field. A packet that has none stays as it is.
    fn set_ecn(&mut self, ecn: Ecn);
    /// Sets congestion experienced and answers true, or answers false if the packet is not ECN-capable. One that is
    /// marked already stays so, and counts as marked. Source: RFC 3168 section 5; Linux `INET_ECN_set_ce`.
    #[inline]
    fn mark_ce(&mut self) -> bool {
        let capable = self.ecn().is_capable();
        if capable {
            self.set_ecn(Ecn::Ce);
        }
        capable
    }
    /// The packet's priority band for `pfifo_fast`, 0 (highest) to 2; best effort is 1. A router derives it from the code
    /// point of an IPv4 packet ([`band_of_dscp`]).
    fn band(&self) -> u8;
    /// The code point of its IP header, 0 to 63. Source: RFC 2474.
    fn dscp(&self) -> u8;
    /// A hash of the source's address alone: equal for two packets of one host. CAKE isolates hosts by it.
    fn source(&self) -> u32;
    /// A hash of the destination's address alone.
    fn destination(&self) -> u32;
    /// Writes the code point. A packet that has none stays as it is.
    fn set_dscp(&mut self, dscp: u8);
    /// What an ACK filter reads of its TCP header; `None` of a packet that is no TCP segment. CAKE asks for it.
    fn ack(&self) -> Option<AckFacts>;
    /// Its priority in the kernel, 0 to 15: as a router derives it from the code point ([`priority_of_dscp`]), unless its
    /// socket has set one, for example `TC_PRIO_CONTROL`, 7.
    fn priority(&self) -> u8;
    /// The rate at which its socket is to send, on the wire: `fq` paces a flow by it. Source: Linux `sk_pacing_rate`.
    ///
    /// `None` for a packet without a socket, or without such a rate. A router has no sockets, so a packet at the
    /// bottleneck of a simulation has none: there TCP paces itself.
    fn pacing_rate(&self) -> Option<Rate>;
    /// The earliest time at which it may leave `fq`, if its sender has given one. Source: Linux `skb->tstamp`, which a
    /// router clears.
    fn not_before(&self) -> Option<Time>;
}

/// Methods of [`Packet`] for a packet that lacks what is named: `ecn`, `dscp` (so its band is that of best effort, and its
/// priority 0), `hosts`, `ack` (it is no TCP segment), `socket` (it has no pacing rate and no earliest time).
///
/// ```
/// use sojourn_qdisc::{Packet, packet_without};
/// use sojourn_units::Bytes;
///
/// #[derive(Debug)]
/// struct Blank;
///
/// impl Packet for Blank {
///     packet_without!(ecn, dscp, hosts, ack, socket);
///     fn size(&self) -> Bytes {
///         Bytes::new(1514)
///     }
///     fn flow_hash(&self) -> u32 {
///         0
///     }
/// }
/// assert_eq!((Blank.dscp(), Blank.band(), Blank.ack()), (0, 1, None));
/// ```
#[macro_export]
macro_rules! packet_without {
    (@ecn) => {
        fn ecn(&self) -> $crate::sojourn_units::Ecn {
            $crate::sojourn_units::Ecn::NotEct
        }
        fn set_ecn(&mut self, _: $crate::sojourn_units::Ecn) {}
    };
    (@dscp) => {
        fn dscp(&self) -> u8 {
            0
        }
        fn set_dscp(&mut self, _: u8) {}
        fn band(&self) -> u8 {
            $crate::band_of_dscp(0)
        }
        fn priority(&self) -> u8 {
            0
        }
    };
    (@hosts) => {
        fn source(&self) -> u32 {
            0
        }
        fn destination(&self) -> u32 {
            0
        }
    };
    (@ack) => {
        fn ack(&self) -> ::core::option::Option<$crate::AckFacts> {
            ::core::option::Option::None
        }
    };
    (@socket) => {
        fn pacing_rate(&self) -> ::core::option::Option<$crate::sojourn_units::Rate> {
            ::core::option::Option::None
        }
        fn not_before(&self) -> ::core::option::Option<$crate::sojourn_units::Time> {
            ::core::option::Option::None
        }
    };
    ($($what:ident),+) => {
        $($crate::packet_without!(@$what);)+
    };
}

/// The priority that a router derives from a code point: best effort 0, bulk 2, interactive bulk 4, interactive 6.
///
/// Source: Linux `ip_forward`, `rt_tos2priority` and `ip_tos2prio` at bits 1 to 4 of the byte of the type of service, of
/// which the lowest belongs to ECN and changes nothing.
#[must_use]
pub const fn priority_of_dscp(dscp: u8) -> u8 {
    match dscp >> 1 & 3 {
        0 => 0,
        1 => 2,
        2 => 6,
        _ => 4,
    }
}

/// The band of `pfifo_fast` that a router puts an IPv4 packet of this code point into. It looks at the four bits of the
/// old type of service below the lowest bit of ECN, two of which belong to the code point.
///
/// Source: Linux `ip_forward`, `ip_tos2prio` and `sch_generic.c`'s `prio2band`, as tc-prio(8) prints them.
///
/// ```
/// use sojourn_qdisc::band_of_dscp;
///
/// let [best_effort, ef, af11, af12] = [0, 46, 10, 12].map(band_of_dscp);
/// assert_eq!((best_effort, ef, af11, af12), (1, 1, 2, 0));
/// ```
#[must_use]
pub const fn band_of_dscp(dscp: u8) -> u8 {
    // The type of service is dscp << 2; its bits 1 to 4 are the code point's lower three, above one of ECN.
    match dscp & 7 {
        2 | 3 => 2,
        4 | 5 => 0,
        _ => 1,
    }
}

/// A packet in a queue, and what a discipline must know of it there.
///
/// The size is kept beside the packet so that nothing looks into a packet on its way out: a compiler that sees a
/// field read from a packet that it also copies copies it in odd pieces, which costs more than all the rest of a
/// dequeue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued<P> {
    /// The packet.
    pub packet: P,
    /// When it was enqueued.
    pub since: Time,
    /// Its size.
    pub size: Bytes,
}

impl<P: Packet> Queued<P> {
    /// A packet that is enqueued at `since`.
    #[inline]
    pub fn new(packet: P, since: Time) -> Self {
        let size = packet.size();
        Self { packet, since, size }
    }
}

impl<P> Queued<P> {
    /// The packet leaves at `now`.
    #[inline]
    pub fn depart(self, now: Time, marked: bool) -> Departure<P> {
        Departure {
            packet: self.packet,
            sojourn: now.since(self.since),
            marked,
        }
    }
}

/// A packet that leaves a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure<P> {
    /// The packet.
    pub packet: P,
    /// How long it was in the queue.
    pub sojourn: Duration,
    /// Whether this discipline has marked it with congestion experienced.
    pub marked: bool,
}

/// A packet that a discipline dropped, at enqueue or at dequeue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped<P> {
    /// The packet.
    pub packet: P,
    /// Why.
    pub reason: DropReason,
    /// How long it had been in the queue; zero for an arrival that was refused.
    pub sojourn: Duration,
}

words! {
    /// Why a packet was dropped.
    #[non_exhaustive]
    pub enum DropReason {
        /// The queue was at its limit of packets or bytes.
        QueueLimit = "queue_limit",
        /// The queue was at its limit of memory.
        MemoryLimit = "memory_limit",
        /// The algorithm signalled congestion.
        Congestion = "congestion",
        /// A frame was sent as often as a Wi-Fi sender may, and no acknowledgement came.
        RetryLimit = "retry_limit",
        /// A frame came when its Wi-Fi receiver had given up waiting for it.
        ReorderTimeout = "reorder_timeout",
    }
}

impl DropReason {
    /// Those that a queue discipline can have: what the records of wired links list. The first of
    /// [`DropReason::ALL`].
    pub const OF_A_QDISC: [Self; 3] = [Self::QueueLimit, Self::MemoryLimit, Self::Congestion];

    /// Position in [`DropReason::ALL`], for counters.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Where dropped packets go. Every packet that enters a discipline leaves it as a [`Departure`] or through here.
pub trait DropSink<P> {
    /// Takes one dropped packet, in the order of the drops.
    fn dropped(&mut self, drop: Dropped<P>);
}

impl<P> DropSink<P> for Vec<Dropped<P>> {
    fn dropped(&mut self, drop: Dropped<P>) {
        self.push(drop);
    }
}

#[cfg(test)]
mod tests {
    use super::priority_of_dscp;

    /// By hand from `ip_tos2prio`, whose entries come in pairs from index 0 on.
    #[test]
    fn priorities_are_those_of_the_kernels_table() {
        let table = [0, 0, 0, 0, 2, 2, 2, 2, 6, 6, 6, 6, 4, 4, 4, 4];
        for dscp in 0..64u8 {
            for ecn in 0..4 {
                let tos = dscp << 2 | ecn;
                assert_eq!(
                    priority_of_dscp(dscp),
                    table[usize::from((tos & 0x1e) >> 1)],
                    "{tos:#x}"
                );
            }
        }
        // CS6 and CS1 are no better and no worse than best effort here. AF42 is interactive, EF and AF13 are interactive bulk.
        assert_eq!([48, 46, 36, 14, 8].map(priority_of_dscp), [0, 4, 6, 4, 0]);
    }
}
