//! `sfq` as `tc` knows it. Source: tc-sfq(8).

use super::{MAX_FLOWS, SFQ_MAX_DEPTH, Sfq, SfqParams, SfqVariant};
use crate::descriptor::Descriptor;
use crate::footprint::Footprint;
use crate::grammar::measures::{Flag, Measure, Number, Packets, Seconds, SizeTo, Unit, Value};
use crate::grammar::model::{CHECKED, Model, Plain, Variant};
use crate::grammar::raw_value::RawValue;
use crate::grammar::words::{Unmodelled, Word, words};
use crate::netlink::Layout;
use crate::param::in_range;
use crate::{Packet, ParamError};

/// The order of `struct tc_sfq_qopt_v1`, of which RED's part is not used, and its size.
const OPTIONS: &[&str] = &[
    "quantum_bytes",
    "perturb_s",
    "limit",
    "divisor",
    "flows",
    "depth",
    "headdrop",
];
const OPTIONS_SIZE: usize = 72;

/// The least limit. Source: iproute2 `sfq_parse_opt`; Linux `sfq_change` since 6.14.
const LEAST: u32 = 2;

/// Packets, two at least.
enum AtLeastTwo {}

impl Unit for AtLeastTwo {
    const UNIT: &'static str = "packets";
}

impl Measure<u32> for AtLeastTwo {
    fn read(raw: &RawValue<'_>) -> Result<u32, ParamError> {
        let limit = raw.count(0)?;
        in_range("sfq", "limit", limit.into(), LEAST.into(), u32::MAX.into())?;
        Ok(limit)
    }
    fn value(field: &u32) -> Option<Value> {
        Some(Value::Count(*field))
    }
}

impl Model for SfqParams {
    const ABOUT: Descriptor = Descriptor {
        drops_arrivals_only: false,
        one_queue: false,
        layout: Layout::Words(OPTIONS, OPTIONS_SIZE),
        ..Descriptor::of(
            "sfq",
            "a queue per flow served round robin; drops from the longest",
            "McKenney 1990; tc-sfq(8); Linux sch_sfq.c",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["limit"]: AtLeastTwo = limit, "packets in all queues together";
        ["depth"] ZeroIsUnset: Packets = depth, "packets in one queue, at most 127";
        ["flows"] ZeroIsUnset: Number = flows, "queues that can be active at once";
        ["divisor"] ZeroIsUnset: Number = divisor, "buckets that a hash can fall into, a power of two";
        ["quantum"] ZeroIsUnset: SizeTo<262_136> = quantum, "bytes a queue may send per round";
        ["perturb"]: Seconds = perturb, if |s| s.perturb > 0, "seconds after which flows are spread anew; 0 for never";
        ["headdrop"]: Flag = headdrop, "drop from the head of a queue instead of its tail";
    };

    const UNMODELLED: &'static [Unmodelled] = &[(
        &[
            "redflowlimit",
            "min",
            "max",
            "burst",
            "avpkt",
            "probability",
            "ecn",
            "harddrop",
        ],
        "RED in its queues (redflowlimit, min, max, burst, avpkt, probability, ecn, harddrop)",
        "red is a discipline of its own",
    )];
    const VARIANTS: &'static [Variant<Self>] = &[("linux-7.3", || Self {
        variant: SfqVariant::Linux73,
        ..Self::default()
    })];

    fn defaults() -> Self {
        Self::default()
    }
    fn variant(&self) -> &'static str {
        self.variant.name()
    }
    fn for_kernel(&mut self) {
        self.variant = SfqVariant::Linux;
    }
    /// Source: `sfq_change` takes what is more than it can hold as what it can hold.
    fn finish(&mut self) -> Result<(), ParamError> {
        self.depth = self.depth.min(SFQ_MAX_DEPTH);
        self.flows = self.flows.min(MAX_FLOWS as u32).min(self.divisor);
        self.limit = self.limit.min(self.depth.saturating_mul(self.flows));
        in_range("sfq", "limit", u64::from(self.limit), LEAST.into(), u32::MAX.into())?;
        self.validate()
    }
    fn footprint(&self) -> Footprint {
        let queues = self.flows.min(self.divisor).min(self.limit);
        Footprint::new(u64::from(self.limit), u64::from(queues), u64::from(self.divisor))
    }
    fn queue(&self, hash: u32) -> Option<u32> {
        Some(self.bucket_of(hash))
    }
}

impl Plain for SfqParams {
    type Built<P: Packet> = Sfq<P>;

    fn build<P: Packet>(&self, seed: u64) -> Self::Built<P> {
        Sfq::new(*self, seed).expect(CHECKED)
    }
}
