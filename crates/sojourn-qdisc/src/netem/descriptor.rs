//! `netem` as `tc` knows it. Source: tc-netem(8).

use super::{Netem, NetemParams};
use crate::descriptor::Descriptor;
use crate::footprint::Footprint;
use crate::grammar::measures::{Nanos, SizedPackets};
use crate::grammar::model::{CHECKED, Model, Plain};
use crate::grammar::words::{Unmodelled, Word, words};
use crate::netlink::{Layout, Options, number, push, word};
use crate::{Packet, ParamError};

/// `TCA_NETEM_RATE64`, `TCA_NETEM_LATENCY64`, `TCA_NETEM_JITTER64`.
const RATE_64: u16 = 8;
const LATENCY_64: u16 = 10;
const JITTER_64: u16 = 11;
/// A rate at which no packet takes a nanosecond. netem keeps the order of packets if it has a rate.
const AT_ONCE: u64 = 1 << 62;

impl Model for NetemParams {
    const ABOUT: Descriptor = Descriptor {
        one_queue: false,
        layout: Layout::Own(options),
        ..Descriptor::of(
            "netem",
            "a constant delay; its limit counts the packets that it delays",
            "tc-netem(8); Linux sch_netem.c; seed 003 section 5.2.1",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["limit"] Short: SizedPackets = limit, "packets it holds, those being delayed among them";
        ["delay", "latency"] Short: Nanos = delay, "how long each packet is held at least";
    };
    const UNMODELLED: &'static [Unmodelled] = &[
        (
            &[""],
            "a jitter (a number behind the delay)",
            "jitter_up and jitter_down of a scenario do it",
        ),
        (
            &["loss", "drop", "ecn"],
            "loss",
            "loss_up and loss_down of a scenario do it",
        ),
        (&["rate"], "rate", "the rate of a link, or tbf, does it"),
        (
            &["distribution", "reorder", "gap", "duplicate", "corrupt", "slot", "seed"],
            "distribution, reorder, gap, duplicate, corrupt, slot and seed",
            "jitter_up of a scenario delays without reordering",
        ),
    ];

    fn defaults() -> Self {
        Self::LINUX
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        self.validate()
    }
    fn footprint(&self) -> Footprint {
        self.limit.into()
    }
}

impl Plain for NetemParams {
    type Built<P: Packet> = Netem<P>;

    fn build<P: Packet>(&self, _: u64) -> Self::Built<P> {
        Netem::new(*self).expect(CHECKED)
    }
}

/// `struct tc_netem_qopt`, whose delay of 32 bits is not used, and the delay in nanoseconds.
///
/// The links of a bed also have `loss`, a probability in parts of 2^32, and `jitter_ns`: each packet waits up to so
/// much longer, uniformly, and none overtakes another. netem draws from both sides of its delay, in whole
/// nanoseconds, so that an odd number is one less.
fn options(options: &Options) -> Vec<u8> {
    let mut bytes = vec![0; 24];
    bytes[4..8].copy_from_slice(&word(options, "limit"));
    bytes[8..12].copy_from_slice(&word(options, "loss"));
    let half = number(options, "jitter_ns") / 2;
    push(
        &mut bytes,
        LATENCY_64,
        &(number(options, "delay_ns") + half).to_ne_bytes(),
    );
    if half > 0 {
        push(&mut bytes, RATE_64, &AT_ONCE.to_ne_bytes());
        push(&mut bytes, JITTER_64, &half.to_ne_bytes());
    }
    bytes
}
