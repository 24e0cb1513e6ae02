//! What travels through the simulated network.

use sojourn_qdisc::Packet as QdiscPacket;
use sojourn_tcp::{Flags, Segment};
use sojourn_units::Bytes;

/// A packet under way: 64 bytes, copied from queue to queue.
///
/// A probe uses `segment.seq` for its number and nothing else of the segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) segment: Segment,
    /// Hash of the flow, as every hashing discipline sees it.
    pub(crate) hash: u32,
    /// Size on the wire, bytes.
    pub(crate) size: u16,
    /// Index of its route.
    pub(crate) route: u16,
}

// One cache line. Where it goes next is in each link's table, by route, and not in the packet.
const _: () = assert!(size_of::<Packet>() == 64);

impl Packet {
    /// Whether it is a TCP segment without payload.
    pub(crate) fn is_pure_ack(&self) -> bool {
        self.segment.len == 0 && self.segment.flags.has(Flags::ACK)
    }
}

impl QdiscPacket for Packet {
    #[inline]
    fn size(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }
    #[inline]
    fn flow_hash(&self) -> u32 {
        self.hash
    }
    #[inline]
    fn mark_ce(&mut self) -> bool {
        let ect = self.segment.flags.has(Flags::ECT);
        if ect {
            self.segment.flags |= Flags::CE;
        }
        ect
    }
}
