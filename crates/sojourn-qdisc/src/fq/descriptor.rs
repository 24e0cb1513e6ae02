//! `fq` as `tc` knows it. Source: tc-fq(8), and the messages that iproute2 6.1 sends; ranges are those of the kernel's
//! own checks.

use super::{Fq, FqParams, FqVariant};
use crate::descriptor::{Counters, Descriptor};
use crate::footprint::Footprint;
use crate::grammar::measures::{Flag, Measure, Nanos, Number, Octets, Packets, Several, Speed, Time, Value};
use crate::grammar::model::{CHECKED, Model, Plain, Variant};
use crate::grammar::numbers::Numbers;
use crate::grammar::raw_value::RawValue;
use crate::grammar::words::{Ignored, Unmodelled, Word, words};
use crate::netlink::Form::{Log, Priomap, Rate32, U8, U32, U64, Words};
use crate::netlink::{Layout, Row, rows};
use crate::{Packet, ParamError};

impl Model for FqParams {
    const ABOUT: Descriptor = Descriptor {
        one_queue: false,
        reads_identity: true,
        counters: Counters::Members(COUNTERS),
        layout: Layout::Attributes(ATTRIBUTES),
        ..Descriptor::of(
            "fq",
            "a queue per flow served round robin, each paced; for hosts",
            "tc-fq(8); Linux sch_fq.c",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["limit"]: Packets = limit, "packets it holds; with variant linux-7.3 in each band";
        ["flow_limit"]: Packets = flow_limit, "packets of one flow it holds";
        ["buckets"] ZeroIsUnset: Number = buckets, "buckets of its table of flows, a power of two";
        ["orphan_mask"]: Number = orphan_mask, "bits of the hash that tell forwarded flows apart";
        ["quantum"]: Octets = quantum, "bytes a flow may send per round";
        ["initial_quantum"]: Octets = initial_quantum, "bytes a new flow may send in its first round";
        ["maxrate"]: Speed = maxrate, "the rate at which a flow may send at most";
        ["low_rate_threshold"]: Speed = low_rate_threshold, "a flow that sends no faster waits after each packet";
        ["pacing", "nopacing"]: Flag = pacing, "pace flows";
        ["refill_delay"]: Time = refill_delay, "a flow that was idle for longer gets a whole quantum";
        ["timer_slack"]: Nanos = timer_slack, "by how much its timer may be late";
        ["ce_threshold"]: Time = ce_threshold, "mark packets that leave so much later than they could";
        ["horizon"]: Time = horizon, "how far ahead a packet's time to leave may be";
        ["horizon_drop", "horizon_cap"]: Flag = horizon_drop, "drop packets beyond the horizon; else send them then";
        ["priomap"] Once: Several = priomap, "the band of each of 16 priorities, 0 to 2; of variant linux-7.3";
        ["weights"] Once: Several = weights, "bytes that each of three bands may send per round; of variant linux-7.3";
    };
    /// Kernels pass over `defrate`, and three bands are all that there can be.
    const IGNORED: &'static [Ignored] = &[("defrate", |g| g.rate_or_zero()), ("bands", |g| g.exactly(3))];
    const UNMODELLED: &'static [Unmodelled] = &[(
        &["offload_horizon"],
        "offload_horizon, which lets a network card pace",
        "",
    )];
    const VARIANTS: &'static [Variant<Self>] = &[("linux-7.3", || Self::LINUX_7_3)];

    fn defaults() -> Self {
        Self::LINUX
    }
    fn variant(&self) -> &'static str {
        self.variant.name()
    }
    /// Words that only the newer kernel has make it that kernel's.
    fn finish(&mut self) -> Result<(), ParamError> {
        self.follow_words();
        self.validate()
    }
    /// Priomap and weights stay: a kernel that has no bands passes over them.
    fn for_kernel(&mut self) {
        self.variant = FqVariant::Linux61;
    }
    fn footprint(&self) -> Footprint {
        Footprint::new(self.most_packets(), 1, self.buckets.into())
    }
    fn queue(&self, hash: u32) -> Option<u32> {
        Some(self.key(hash))
    }
}

impl Plain for FqParams {
    type Built<P: Packet> = Box<Fq<P>>;

    fn build<P: Packet>(&self, _seed: u64) -> Self::Built<P> {
        Box::new(Fq::new(*self).expect(CHECKED))
    }
}

impl<const N: usize> Measure<[u32; N]> for Several {
    fn read(raw: &RawValue<'_>) -> Result<[u32; N], ParamError> {
        let numbers = raw.numbers()?;
        let exactly = numbers.as_slice().try_into();
        exactly.map_err(|_| raw.error(format!("{N} numbers")))
    }
    fn value(field: &[u32; N]) -> Option<Value> {
        Some(Value::Numbers(Numbers::default().filled(N, |place| field[place])))
    }
}

/// Those of Linux 6.1, and then what Linux 6.8 and later have.
const COUNTERS: &[Row] = rows! {
    U64 => "gc" "highprio" "" "throttled" "flows_plimit" "pkts_too_long" "alloc_errors" "";
    U32 => "flows" "inactive" "throttled_flows" "latency";
    U64 => "ce_mark" "horizon_drops" "horizon_caps" "fastpath" "band0_drops" "band1_drops" "band2_drops";
    U32 => "band0_pkts" "band1_pkts" "band2_pkts";
};

const ATTRIBUTES: &[Row] = rows! {
    U32 => "limit" "flow_limit" "quantum_bytes" "initial_quantum_bytes" "pacing" "";
    Rate32 => "maxrate_bps";
    Log => "buckets";
    U32 => "refill_delay_us" "orphan_mask";
    Rate32 => "low_rate_threshold_bps";
    U32 => "ce_threshold_us" "timer_slack_ns" "horizon_us";
    U8 => "horizon_drop";
    Priomap(3) => "priomap";
    Words(3) => "weights";
};
