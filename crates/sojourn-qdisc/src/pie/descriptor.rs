//! `pie` as `tc` knows it. Source: tc-pie(8).

use super::{Pie, PieParams, PieVariant};
use crate::descriptor::{Counter, CounterForm, Counters, Descriptor, DropCounters};
use crate::grammar::measures::{Flag, Number, Packets, Time};
use crate::grammar::words::{CHECKED, Model, Variant, Word, words};
use crate::netlink::{Attribute, Form, Layout};
use crate::{AnyQdisc, Packet, ParamError};

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
        ["limit"]: Packets = limit, "packets it holds";
        ["target"]: Time = target, "the delay it aims at";
        ["tupdate"]: Time = tupdate, "time between two updates of the probability";
        ["alpha"]: Number = alpha, "weight of the delay's distance from target, in sixteenths, 0 to 32";
        ["beta"]: Number = beta, "weight of the delay's change, in sixteenths, 0 to 32";
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
    fn variant(&self) -> Option<&'static str> {
        match self.variant {
            PieVariant::Linux => None,
            PieVariant::Linux314 => Some("linux-3.14"),
            PieVariant::Rfc8033 => Some("rfc8033"),
        }
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
    fn build<P: Packet>(&self, seed: u64) -> AnyQdisc<P> {
        AnyQdisc::Pie(Pie::new(*self, seed).expect(CHECKED))
    }
}

const COUNTERS: &[Counter] = &[
    ("prob", 0, CounterForm::Probability),
    ("delay", 8, CounterForm::U32),
    ("avg_dq_rate", 12, CounterForm::U32),
    ("dq_rate_estimating", 16, CounterForm::U32),
    ("pkts_in", 20, CounterForm::U32),
    ("dropped", 24, CounterForm::U32),
    ("overlimit", 28, CounterForm::U32),
    ("maxq", 32, CounterForm::U32),
    ("ecn_mark", 36, CounterForm::U32),
];

const ATTRIBUTES: &[Attribute] = &[
    ("target_us", 1, Form::U32),
    ("limit", 2, Form::U32),
    ("tupdate_us", 3, Form::U32),
    ("alpha", 4, Form::U32),
    ("beta", 5, Form::U32),
    ("ecn", 6, Form::U32),
    ("bytemode", 7, Form::U32),
    ("dq_rate_estimator", 8, Form::U32),
];
