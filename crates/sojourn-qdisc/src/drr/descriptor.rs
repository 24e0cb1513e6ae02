//! `drr` as `tc` knows it. Source: tc-drr(8); iproute2 `q_drr.c`.

use super::Drr;
use crate::classful::{Classes, Classful};
use crate::descriptor::Descriptor;
use crate::footprint::Footprint;
use crate::grammar::model::Model;
use crate::grammar::words::Word;
use crate::netlink::Form::U32;
use crate::netlink::{Layout, rows};
use crate::{Packet, ParamError, Qdisc};

/// `drr` as written: all is said of its classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DrrParams;

impl Model for DrrParams {
    const ABOUT: Descriptor = Descriptor {
        class_counters: rows! {
            U32 => "deficit";
        },
        // It has none, and takes no limit from its device.
        layout: Layout::Own(|_| Vec::new()),
        class_layout: Layout::Attributes(rows! {
            U32 => "quantum_bytes";
        }),
        ..Descriptor::classful(
            "drr",
            "classes that share the link by deficit round robin",
            "tc-drr(8); Linux sch_drr.c",
        )
    };
    const WORDS: &'static [Word<Self>] = &[];

    fn defaults() -> Self {
        Self
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        Ok(())
    }
    fn footprint(&self) -> Footprint {
        Footprint::default()
    }
}

impl Classful for DrrParams {
    type Built<P: Packet, Q: Qdisc<P>> = Box<Drr<P, Q>>;

    fn build<P: Packet, Q: Qdisc<P>, L>(&self, classes: &Classes<L>, children: Vec<Option<Q>>) -> Self::Built<P, Q> {
        Box::new(Drr::new(classes, children))
    }
}
