//! A packet for tests, and short ways to drive a discipline.

use crate::{AnyQdisc, Departure, Dropped, Packet, Qdisc, QdiscSpec, packet_without};
use sojourn_units::{Bytes, Ecn, Time};

/// A packet with everything that a discipline can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TestPacket {
    pub(crate) id: u64,
    pub(crate) size: u64,
    pub(crate) flow: u32,
    pub(crate) ecn: Ecn,
    pub(crate) band: u8,
}

impl TestPacket {
    pub(crate) fn new(id: u64, size: u64, flow: u32) -> Self {
        Self {
            id,
            size,
            flow,
            ecn: Ecn::NotEct,
            band: 1,
        }
    }
}

impl Packet for TestPacket {
    packet_without!(hosts, ack, socket);

    fn size(&self) -> Bytes {
        Bytes::new(self.size)
    }
    fn flow_hash(&self) -> u32 {
        self.flow
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }
    fn band(&self) -> u8 {
        self.band
    }
    fn dscp(&self) -> u8 {
        0
    }
    fn set_dscp(&mut self, _: u8) {}
    fn priority(&self) -> u8 {
        0
    }
}

/// A discipline, its drops, and the next packet's id.
#[derive(Debug)]
pub(crate) struct Bench<Q = AnyQdisc<TestPacket>> {
    pub(crate) q: Q,
    pub(crate) drops: Vec<Dropped<TestPacket>>,
    next_id: u64,
}

/// The discipline that `text` describes, seed 1.
pub(crate) fn bench(text: &str) -> Bench {
    Bench::new(
        QdiscSpec::parse(text, None)
            .unwrap_or_else(|e| panic!("{text}: {e}"))
            .build(1),
    )
}

/// Milliseconds.
pub(crate) fn ms(t: u64) -> Time {
    Time::from_millis(t)
}

impl<Q: Qdisc<TestPacket>> Bench<Q> {
    pub(crate) fn new(q: Q) -> Self {
        Self {
            q,
            drops: Vec::new(),
            next_id: 0,
        }
    }

    /// Enqueues one packet; answers its id.
    pub(crate) fn put(&mut self, now: Time, size: u64, flow: u32) -> u64 {
        let packet = TestPacket::new(self.next_id, size, flow);
        self.put_packet(now, packet)
    }

    /// Enqueues a packet, which gets the next id.
    pub(crate) fn put_packet(&mut self, now: Time, packet: TestPacket) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.q.enqueue(TestPacket { id, ..packet }, now, &mut self.drops);
        id
    }

    /// Enqueues several equal packets.
    pub(crate) fn put_many(&mut self, now: Time, n: u64, size: u64, flow: u32) {
        for _ in 0..n {
            self.put(now, size, flow);
        }
    }

    /// Dequeues; answers the id.
    pub(crate) fn get(&mut self, now: Time) -> Option<u64> {
        self.take(now).map(|d| d.packet.id)
    }

    /// Dequeues.
    pub(crate) fn take(&mut self, now: Time) -> Option<Departure<TestPacket>> {
        self.q.dequeue(now, &mut self.drops)
    }

    /// Ids dropped since the last call.
    pub(crate) fn dropped(&mut self) -> Vec<u64> {
        self.drops.drain(..).map(|d| d.packet.id).collect()
    }

    /// A counter of the kind.
    pub(crate) fn extra(&self, name: &str) -> f64 {
        let all = self.q.extra_stats();
        all.iter()
            .find(|(n, _)| *n == name)
            .unwrap_or_else(|| panic!("no counter {name} in {all:?}"))
            .1
    }

    pub(crate) fn packets(&self) -> u64 {
        self.q.backlog().packets
    }
}
