//! What a discipline may hold, and what it takes while it is empty: known before it is built.

use sojourn_units::{Bytes, Duration};

/// The smallest Ethernet frame: what a limit in bytes is counted in packets by.
const LEAST_FRAME: u64 = 60;
/// An empty queue of a discipline that has many, with its place in the round and its `CoDel`, bytes.
const QUEUE_BYTES: u64 = 128;
/// A bucket of SFQ, bytes.
const BUCKET_BYTES: u64 = 4;

/// The most that a discipline can come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Packets that it holds at most, each of 60 bytes or more.
    pub packets: u64,
    /// Queues that it has from the beginning.
    pub queues: u64,
    /// Memory that it takes from the beginning.
    pub empty: Bytes,
    /// What it does by the clock in a second, packets or none: updates of each queue.
    pub updates: u64,
}

impl Footprint {
    pub(crate) fn new(packets: u64, queues: u64, buckets: u64) -> Self {
        Self {
            packets,
            queues,
            empty: Bytes::new(queues * QUEUE_BYTES + buckets * BUCKET_BYTES),
            updates: 0,
        }
    }

    /// The same of a discipline that updates so many queues at intervals.
    pub(crate) fn updating(self, queues: u64, every: Duration) -> Self {
        let times = 1_000_000_000 / every.as_nanos().max(1);
        Self {
            updates: times * queues,
            ..self
        }
    }
}

impl From<u32> for Footprint {
    /// One queue of so many packets.
    fn from(packets: u32) -> Self {
        Self::new(u64::from(packets), 1, 0)
    }
}

impl From<Bytes> for Footprint {
    /// One queue of so many bytes.
    fn from(limit: Bytes) -> Self {
        Self::new(limit.get().div_ceil(LEAST_FRAME), 1, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestPacket;
    use crate::{AnyQdisc, Discipline, Qdisc as _, QdiscSpec};
    use sojourn_units::Time;

    /// Of every kind: so many packets of 60 bytes are offered that none more is taken.
    #[test]
    fn no_discipline_holds_more_packets_than_it_says() {
        for (text, packets) in [
            ("pfifo limit 50", 50),
            ("bfifo limit 3000", 50),
            ("pfifo_fast limit 20", 60),
            ("red limit 6000 min 1000 max 3000 avpkt 60 burst 20", 100),
            ("pie limit 40", 40),
            ("codel limit 30", 30),
            ("sfq limit 100 flows 10 divisor 16 depth 20", 100),
            ("fq_codel limit 70 flows 3", 70),
            ("fq_codel limit 70 flows 3 variant ns2", 70),
            ("fq limit 30 flow_limit 1", 30),
            ("fq limit 30 flow_limit 1 variant linux-7.3", 98),
            ("tbf rate 1mbit burst 100b limit 600", 10),
            ("netem limit 12 delay 1s", 12),
            // 768 bytes of memory each.
            ("cake memlimit 76800", 100),
        ] {
            let spec = QdiscSpec::parse(text, None).expect(text);
            assert_eq!(spec.footprint().packets, packets, "{text}");
            let mut q: AnyQdisc<TestPacket> = spec.build(1);
            let mut most = 0;
            for n in 0..500 {
                q.enqueue(TestPacket::new(n, 60, n as u32), Time::ZERO, &mut Vec::new());
                most = most.max(q.backlog().packets);
            }
            assert!(most > 0 && most <= packets, "{text} held {most}");
        }
    }

    #[test]
    fn a_discipline_of_the_kernel_alone_takes_nothing_here() {
        let cake = Discipline::parse("cake nat", None).expect("a discipline of the kernel");
        assert_eq!(cake.footprint(), Footprint::default());
    }
}
