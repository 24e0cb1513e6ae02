//! `htb` as `tc` knows it. Source: tc-htb(8); iproute2 `q_htb.c`; Linux `htb_init`.

use super::{Htb, class};
use crate::classful::{Classes, Classful};
use crate::descriptor::Descriptor;
use crate::footprint::Footprint;
use crate::grammar::measures::{Hex, Plain, PlainPackets};
use crate::grammar::model::Model;
use crate::grammar::words::{Unmodelled, Word, words};
use crate::netlink::Form::{S32, U32};
use crate::netlink::{Layout, Options, push, rows, word};
use crate::param::in_range;
use crate::{Packet, ParamError, Qdisc, TX_QUEUE_LEN};

/// `TCA_HTB_INIT`, `_DIRECT_QLEN`.
const INIT: u16 = 2;
const DIRECT_QLEN: u16 = 5;
/// `TC_HTB_PROTOVER`.
const VERSION: u32 = 3;

/// `htb` as written, but for its classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HtbParams {
    /// The minor number of the class of packets that no filter takes; 0 for none.
    pub(super) default: u32,
    pub(super) r2q: u32,
    pub(super) direct_qlen: u32,
}

impl Model for HtbParams {
    const ABOUT: Descriptor = Descriptor {
        shapes: true,
        class_counters: rows! {
            U32 => "lended" "borrowed" "giants";
            S32 => "tokens" "ctokens";
        },
        layout: Layout::OwnAttributes(options),
        class_layout: Layout::OwnAttributes(class::options),
        ..Descriptor::classful(
            "htb",
            "a tree of classes with token buckets, which borrow from the classes above",
            "tc-htb(8); Linux sch_htb.c",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["default"] Short: Hex = default,
            "number of the class, hexadecimal, of packets that no filter takes; without it they are not shaped";
        ["r2q"] Short: Plain = r2q, "a class without a quantum has its rate in bytes/s divided by this";
        ["direct_qlen"] Short: PlainPackets = direct_qlen, "packets without a class that it holds; tc takes the device's txqueuelen";
    };
    const UNMODELLED: &'static [Unmodelled] = &[(&["offload", "debug"], "offload to a network card, and debug", "")];

    fn defaults() -> Self {
        Self {
            default: 0,
            r2q: 10,
            direct_qlen: TX_QUEUE_LEN,
        }
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        in_range("htb", "r2q", u64::from(self.r2q), 1, u64::from(u32::MAX))
    }
    /// Of packets without a class.
    fn footprint(&self) -> Footprint {
        Footprint {
            packets: u64::from(self.direct_qlen),
            ..Footprint::default()
        }
    }
}

impl Classful for HtbParams {
    type Built<P: Packet, Q: Qdisc<P>> = Box<Htb<P, Q>>;

    fn build<P: Packet, Q: Qdisc<P>, L>(&self, classes: &Classes<L>, children: Vec<Option<Q>>) -> Self::Built<P, Q> {
        Box::new(Htb::new(self, classes, children))
    }
}

/// `struct tc_htb_glob` and the length of the direct queue.
fn options(options: &Options) -> Vec<u8> {
    let mut structure = VERSION.to_ne_bytes().to_vec();
    structure.extend(word(options, "r2q"));
    structure.extend(word(options, "default"));
    structure.resize(20, 0);
    let mut bytes = Vec::new();
    push(&mut bytes, INIT, &structure);
    push(&mut bytes, DIRECT_QLEN, &word(options, "direct_qlen"));
    bytes
}
