//! `fq_pie` as `tc` knows it. Source: tc-fq_pie(8).

use super::{Flow, FqPie, FqPieParams};
use crate::descriptor::{Counters, Descriptor, DropCounters};
use crate::footprint::Footprint;
use crate::grammar::measures::{Flag, Memory, Number, Packets, SizeTo, Time};
use crate::grammar::model::{CHECKED, Model, Plain};
use crate::grammar::words::{Word, words};
use crate::netlink::Form::U32;
use crate::netlink::{Layout, Row, rows};
use crate::{Packet, ParamError};
use sojourn_units::Bytes;

impl Model for FqPieParams {
    const ABOUT: Descriptor = Descriptor {
        one_queue: false,
        // `overmemory` counts arrivals beyond the memory limit, which the kernel takes in all the same.
        drops: DropCounters::room(&["overlimit"]),
        counters: Counters::Members(COUNTERS),
        layout: Layout::Attributes(ATTRIBUTES),
        ..Descriptor::of(
            "fq_pie",
            "a queue per flow served round robin, new flows first, each under PIE",
            "tc-fq_pie(8); RFC 8033; Linux sch_fq_pie.c",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["limit"] ZeroIsUnset: Packets = pie.limit, "packets in all queues together; arrivals beyond are refused";
        ["flows"] ZeroIsUnset: Number = flows, "number of queues";
        ["target"] ZeroIsUnset: Time = pie.target, "the delay that each queue's PIE aims at";
        ["tupdate"] ZeroIsUnset: Time = pie.tupdate, "time between two updates of the probabilities";
        ["alpha"] ZeroIsUnset: Number = pie.alpha, "weight of the delay's distance from target, in sixteenths, 0 to 32";
        ["beta"] ZeroIsUnset: Number = pie.beta, "weight of the delay's change, in sixteenths, 0 to 32";
        ["quantum"] ZeroIsUnset: SizeTo<1_048_576> = quantum, "bytes a queue may send per round, 256 at least";
        ["memory_limit"] ZeroIsUnset: Memory = memory_limit, "memory of all queued packets; arrivals beyond are counted and taken in";
        ["ecn_prob"] ZeroIsUnset: Number = ecn_prob, "per cent of probability up to which packets are marked instead of dropped";
        ["ecn", "noecn"]: Flag = pie.ecn, "mark ECN-capable packets instead of dropping them, up to ecn_prob";
        ["bytemode", "nobytemode"]: Flag = pie.bytemode, if |p| p.pie.bytemode, "scale the probability by packet size";
        ["dq_rate_estimator", "no_dq_rate_estimator"]: Flag = pie.dq_rate_estimator,
            if |p| p.pie.dq_rate_estimator,
            "estimate the delay from a queue's departure rate instead of time stamps";
    };

    fn defaults() -> Self {
        Self::LINUX
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        // A kernel takes 100, too; `tc` does not.
        crate::param::in_range("fq_pie", "ecn_prob", u64::from(self.ecn_prob), 0, 99)?;
        self.validate()
    }
    fn footprint(&self) -> Footprint {
        let queues = u64::from(self.flows);
        Footprint {
            empty: Bytes::new(queues * size_of::<Flow>() as u64),
            ..Footprint::new(u64::from(self.pie.limit), queues, 0).updating(queues, self.pie.tupdate)
        }
    }
    fn queue(&self, hash: u32) -> Option<u32> {
        Some(self.queue_of(hash))
    }
}

impl Plain for FqPieParams {
    type Built<P: Packet> = Box<FqPie<P>>;

    fn build<P: Packet>(&self, seed: u64) -> Self::Built<P> {
        Box::new(FqPie::new(*self, seed).expect(CHECKED))
    }
}

const COUNTERS: &[Row] = rows! {
    U32 => "pkts_in" "dropped" "overlimit" "overmemory" "ecn_mark" "new_flow_count" "new_flows_len"
         "old_flows_len" "memory_used";
};

const ATTRIBUTES: &[Row] = rows! {
    U32 => "limit" "flows" "target_us" "tupdate_us" "alpha" "beta" "quantum_bytes" "memory_limit_bytes"
         "ecn_prob" "ecn" "bytemode" "dq_rate_estimator";
};
