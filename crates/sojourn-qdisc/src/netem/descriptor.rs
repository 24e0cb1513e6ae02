//! `netem` as `tc` knows it. Source: tc-netem(8).

use super::{Netem, NetemParams};
use crate::descriptor::Descriptor;
use crate::grammar::measures::{Nanos, Packets};
use crate::grammar::words::{CHECKED, Model, Word, words};
use crate::netlink::{Layout, Options, number, push, word};
use crate::{AnyQdisc, Packet, ParamError};

/// `TCA_NETEM_LATENCY64`.
const LATENCY_64: u16 = 10;

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
        ["limit"]: Packets = limit, "packets it holds, those being delayed among them";
        ["delay", "latency"]: Nanos = delay, "how long each packet is held at least";
    };

    fn defaults() -> Self {
        Self::LINUX
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        self.validate()
    }
    fn build<P: Packet>(&self, _: u64) -> AnyQdisc<P> {
        AnyQdisc::Netem(Netem::new(*self).expect(CHECKED))
    }
}

/// `struct tc_netem_qopt`, whose delay of 32 bits is not used, and the delay in nanoseconds.
fn options(options: &Options) -> Vec<u8> {
    let mut bytes = vec![0; 24];
    bytes[4..8].copy_from_slice(&word(options, "limit"));
    push(&mut bytes, LATENCY_64, &number(options, "delay_ns").to_ne_bytes());
    bytes
}
