//! `codel` as `tc` knows it. Source: tc-codel(8).

use super::{Codel, CodelParams, CodelVariant, DEFAULT_LIMIT, packet_limit};
use crate::descriptor::{Counters, Descriptor, DropCounters};
use crate::footprint::Footprint;
use crate::grammar::measures::{Flag, Packets, Time};
use crate::grammar::model::{CHECKED, Model, Plain, Variant};
use crate::grammar::words::{Word, words};
use crate::netlink::Form::{S32, U32};
use crate::netlink::{Layout, Row, rows};
use crate::{Packet, ParamError};

/// `codel`: the algorithm's parameters and the queue's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodelSpec {
    params: CodelParams,
    limit: u32,
}

impl CodelSpec {
    const fn of(variant: CodelVariant) -> Self {
        Self {
            params: CodelParams {
                variant,
                ..CodelParams::DEFAULT
            },
            limit: DEFAULT_LIMIT,
        }
    }
}

impl Model for CodelSpec {
    const ABOUT: Descriptor = Descriptor {
        drops_arrivals_only: false,
        drops: DropCounters::room(&["drop_overlimit"]),
        counters: Counters::Members(COUNTERS),
        layout: Layout::Attributes(ATTRIBUTES),
        ..Descriptor::of(
            "codel",
            "one queue, drops from its head while the delay stays above target",
            "RFC 8289; tc-codel(8); Linux sch_codel.c; ns-2 codel.cc",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["limit"] ZeroIsUnset: Packets = limit, "packets it holds; arrivals beyond are refused";
        ["target"] ZeroIsUnset: Time = params.target,
            "acceptable standing delay; at least the time of one frame at the link's rate";
        ["interval"] ZeroIsUnset: Time = params.interval,
            "how long the delay must stay above target before the first drop; about the largest common RTT";
        ["ce_threshold"]: Time = params.ce_threshold, "mark every ECN-capable packet that was queued longer";
        ["ecn", "noecn"]: Flag = params.ecn, "mark ECN-capable packets instead of dropping them";
    };
    const VARIANTS: &'static [Variant<Self>] = &[
        ("linux-ticks", || Self::of(CodelVariant::LinuxTicks)),
        ("linux-3.14", || Self::of(CodelVariant::Linux314)),
        ("rfc8289", || Self::of(CodelVariant::Rfc8289)),
        ("ns2", || Self::of(CodelVariant::Ns2)),
    ];

    fn defaults() -> Self {
        Self::of(CodelVariant::Linux)
    }
    fn variant(&self) -> &'static str {
        self.params.variant.name()
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        packet_limit(Self::ABOUT.kind, self.limit)?;
        self.params.validate(Self::ABOUT.kind)
    }
    fn for_kernel(&mut self) {
        self.params.variant = CodelVariant::Linux;
    }
    fn footprint(&self) -> Footprint {
        self.limit.into()
    }
}

impl Plain for CodelSpec {
    type Built<P: Packet> = Codel<P>;

    fn build<P: Packet>(&self, _: u64) -> Self::Built<P> {
        Codel::new(self.params, self.limit).expect(CHECKED)
    }
}

const COUNTERS: &[Row] = rows! {
    U32 => "maxpacket" "count" "lastcount" "ldelay";
    S32 => "drop_next";
    U32 => "drop_overlimit" "ecn_mark" "dropping" "ce_mark";
};

const ATTRIBUTES: &[Row] = rows! {
    U32 => "target_us" "limit" "interval_us" "ecn" "ce_threshold_us";
};
