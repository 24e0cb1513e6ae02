//! `pie` as `tc` knows it. Source: tc-pie(8).

use super::{Pie, PieParams, PieVariant};
use crate::descriptor::{Counters, Descriptor, DropCounters};
use crate::footprint::Footprint;
use crate::grammar::measures::{Flag, Number, Packets, Time};
use crate::grammar::model::{CHECKED, Model, Plain, Variant};
use crate::grammar::words::{Word, words};
use crate::netlink::Form::{Probability, U32};
use crate::netlink::{Layout, Row, rows};
use crate::{Packet, ParamError};

impl Model for PieParams {
    const ABOUT: Descriptor = Descriptor {
        drops: DropCounters::room(&["overlimit"]),
        counters: Counters::Members(COUNTERS),
        layout: Layout::Attributes(ATTRIBUTES),
        ..Descriptor::of(
            "pie",
            "one queue, drops arrivals with a probability that a controller adapts to the delay",
            "RFC 8033; tc-pie(8); Linux sch_pie.c",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["limit"] ZeroIsUnset: Packets = limit, "packets it holds";
        ["target"] ZeroIsUnset: Time = target, "the delay it aims at";
        ["tupdate"] ZeroIsUnset: Time = tupdate, "time between two updates of the probability";
        ["alpha"] ZeroIsUnset: Number = alpha, "weight of the delay's distance from target, in sixteenths, 0 to 32";
        ["beta"] ZeroIsUnset: Number = beta, "weight of the delay's change, in sixteenths, 0 to 32";
        ["ecn", "noecn"]: Flag = ecn, "mark ECN-capable packets instead of dropping them, up to a probability of 10 %";
        ["bytemode", "nobytemode"]: Flag = bytemode, if |p| p.bytemode, "scale the probability by packet size";
        ["dq_rate_estimator", "no_dq_rate_estimator"]: Flag = dq_rate_estimator,
            if |p| p.dq_rate_estimator && p.variant == PieVariant::Linux,
            "estimate the delay from the departure rate instead of time stamps";
    };
    const VARIANTS: &'static [Variant<Self>] = &[
        ("linux-3.14", || Self::LINUX_3_14),
        ("rfc8033", || Self {
            variant: PieVariant::Rfc8033,
            ..Self::LINUX
        }),
    ];

    fn defaults() -> Self {
        Self::LINUX
    }
    fn variant(&self) -> &'static str {
        self.variant.name()
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        self.validate()
    }
    fn for_kernel(&mut self) {
        if self.variant == PieVariant::Linux314 {
            self.dq_rate_estimator = false;
        }
        self.variant = PieVariant::Linux;
    }
    fn footprint(&self) -> Footprint {
        Footprint::from(self.limit).updating(1, self.tupdate)
    }
}

impl Plain for PieParams {
    type Built<P: Packet> = Pie<P>;

    fn build<P: Packet>(&self, seed: u64) -> Self::Built<P> {
        Pie::new(*self, seed).expect(CHECKED)
    }
}

const COUNTERS: &[Row] = rows! {
    Probability => "prob";
    U32 => "delay" "avg_dq_rate" "dq_rate_estimating" "pkts_in" "dropped" "overlimit" "maxq" "ecn_mark";
};

const ATTRIBUTES: &[Row] = rows! {
    U32 => "target_us" "limit" "tupdate_us" "alpha" "beta" "ecn" "bytemode" "dq_rate_estimator";
};
