//! `fq_codel` as `tc` knows it. Source: tc-fq_codel(8).

use super::{FqCodel, FqCodelParams, FqCodelVariant, SfqCodel};
use crate::descriptor::{Counters, Descriptor, DropCounters};
use crate::footprint::Footprint;
use crate::grammar::measures::{Flag, Masked, Memory, Number, Octets, Packets, Time};
use crate::grammar::model::{CHECKED, Either, Model, Plain, Variant, table};
use crate::grammar::words::{Word, words};
use crate::netlink::Form::{U8, U32};
use crate::netlink::{Layout, Named, OptionValue, Row, rows};
use crate::selector::Selector;
use crate::{CodelVariant, Packet, ParamError};

impl Model for FqCodelParams {
    const ABOUT: Descriptor = Descriptor {
        drops_arrivals_only: false,
        one_queue: false,
        drops: DropCounters {
            room: Some(&["drop_overlimit"]),
            memory: Some("drop_overmemory"),
            room_has_memory: true,
        },
        counters: Counters::Members(COUNTERS),
        layout: Layout::Attributes(ATTRIBUTES),
        ..Descriptor::of(
            "fq_codel",
            "a queue per flow served round robin, new flows first, each under CoDel",
            "RFC 8290; tc-fq_codel(8); Linux sch_fq_codel.c; ns-2 sfqcodel.cc",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["limit"] ZeroIsUnset: Packets = limit,
            "packets in all queues together; beyond it the fattest queue is dropped from (ns2: the one with the most packets)";
        ["flows"] ZeroIsUnset: Number = flows, "number of queues";
        ["quantum"] ZeroIsUnset: Octets = quantum,
            "bytes a queue may send per round (ns2: 0, its default, for one packet of any size)";
        ["target"] ZeroIsUnset: Time = codel.target, "acceptable standing delay of a queue";
        ["interval"] ZeroIsUnset: Time = codel.interval,
            "how long the delay must stay above target before the first drop; about the largest common RTT";
        ["ce_threshold"]: Time = codel.ce_threshold, "mark every ECN-capable packet that was queued longer";
        ["ce_threshold_selector"]: Masked = codel.ce_threshold_selector,
            "with ce_threshold: only packets whose byte of traffic class is this under a mask; 0x01/0x01 is L4S";
        ["memory_limit"]: Memory = memory_limit, "memory of all queued packets, counted as the kernel allocates it";
        ["ecn", "noecn"]: Flag = codel.ecn, "mark ECN-capable packets instead of dropping them";
        ["drop_batch"] ZeroIsUnset: Packets = drop_batch, if |p| p.variant == FqCodelVariant::Linux, "most packets dropped at one overflow";
    };
    const VARIANTS: &'static [Variant<Self>] = &[
        ("linux-ticks", || Self::LINUX_TICKS),
        ("linux-3.14", || Self::LINUX_3_14),
        ("ns2", || Self::NS2),
    ];

    fn defaults() -> Self {
        Self::LINUX
    }
    fn variant(&self) -> &'static str {
        match (self.variant, self.codel.variant) {
            (FqCodelVariant::Linux, CodelVariant::LinuxTicks) => CodelVariant::LinuxTicks.name(),
            (own, _) => own.name(),
        }
    }
    /// Source: `fq_codel_change` takes a quantum of less than 256 as 256.
    fn finish(&mut self) -> Result<(), ParamError> {
        if self.variant != FqCodelVariant::Ns2 {
            self.quantum = self.quantum.max(256);
        }
        self.validate()
    }
    fn for_kernel(&mut self) {
        if self.variant != FqCodelVariant::Linux {
            self.memory_limit = Self::LINUX.memory_limit;
            self.drop_batch = Self::LINUX.drop_batch;
        }
        if self.quantum == 0 {
            self.quantum = Self::LINUX.quantum;
        }
        self.variant = FqCodelVariant::Linux;
        self.codel.variant = CodelVariant::Linux;
    }
    fn kernel(&self) -> Result<Vec<Named>, ParamError> {
        let mut told = table::<Self>().for_kernel(self)?;
        if let Some(Selector { value, mask }) = self.codel.ce_threshold_selector {
            let number = |name: &str, n: u8| (name.to_owned(), OptionValue::Number(n.into()));
            told.extend([
                number("ce_threshold_selector", value),
                number("ce_threshold_mask", mask),
            ]);
        }
        Ok(told)
    }
    fn reads_identity(&self) -> bool {
        self.codel.ce_threshold_selector.is_some_and(Selector::reads_dscp)
    }
    fn footprint(&self) -> Footprint {
        Footprint::new(u64::from(self.limit), u64::from(self.flows), 0)
    }
    fn queue(&self, hash: u32) -> Option<u32> {
        Some(self.queue_of(hash))
    }
}

impl Plain for FqCodelParams {
    type Built<P: Packet> = Either<FqCodel<P>, SfqCodel<P>>;

    fn build<P: Packet>(&self, _: u64) -> Self::Built<P> {
        if self.variant == FqCodelVariant::Ns2 {
            Either::Other(SfqCodel::new(*self).expect(CHECKED))
        } else {
            Either::One(FqCodel::new(*self).expect(CHECKED))
        }
    }
}

/// Behind the word that tells it from the statistics of a class.
const COUNTERS: &[Row] = rows! {
    U32 => "" "maxpacket" "drop_overlimit" "ecn_mark" "new_flow_count" "new_flows_len" "old_flows_len" "ce_mark"
         "memory_used" "drop_overmemory";
};

const ATTRIBUTES: &[Row] = rows! {
    U32 => "target_us" "limit" "interval_us" "ecn" "flows" "quantum_bytes" "ce_threshold_us" "drop_batch"
         "memory_limit_bytes";
    U8 => "ce_threshold_selector" "ce_threshold_mask";
};
