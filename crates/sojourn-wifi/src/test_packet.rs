//! A packet for tests of queues.

use crate::{NodeId, PhyRate, Tid, WifiPacket};
use sojourn_qdisc::{Dropped, Packet, packet_without};
use sojourn_units::{Bytes, Ecn, Time};

/// A packet with everything that a queue can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TestPacket {
    pub(crate) id: u64,
    pub(crate) size: u64,
    pub(crate) flow: u32,
    pub(crate) tid: Tid,
    pub(crate) ecn: Ecn,
}

impl TestPacket {
    pub(crate) fn new(id: u64, size: u64, flow: u32) -> Self {
        Self {
            id,
            size,
            flow,
            tid: Tid::BEST_EFFORT,
            ecn: Ecn::NotEct,
        }
    }

    pub(crate) fn with_tid(self, value: u8) -> Self {
        Self {
            tid: tid(value),
            ..self
        }
    }
}

impl Packet for TestPacket {
    packet_without!(dscp, hosts, ack, socket);

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
}

impl WifiPacket for TestPacket {
    fn tid(&self) -> Tid {
        self.tid
    }
}

/// The sink of the tests.
pub(crate) type Drops = Vec<(NodeId, Dropped<TestPacket>)>;

pub(crate) fn tid(value: u8) -> Tid {
    Tid::new(value).unwrap()
}

pub(crate) fn rate(text: &str) -> PhyRate {
    PhyRate::parse(text).unwrap()
}

pub(crate) fn ms(t: u64) -> Time {
    Time::from_millis(t)
}
