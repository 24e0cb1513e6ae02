//! `prio` as `tc` knows it. Source: tc-prio(8); iproute2 `q_prio.c`.

use super::Prio;
use crate::classful::{Children, Classes, Classful, PriorityMap};
use crate::descriptor::Descriptor;
use crate::footprint::Footprint;
use crate::grammar::measures::{Plain, Several};
use crate::grammar::model::Model;
use crate::grammar::numbers::Numbers;
use crate::grammar::words::{Unmodelled, Word, words};
use crate::netlink::{Layout, Options, number, numbers};
use crate::param::in_range;
use crate::{Packet, ParamError, Qdisc};

/// `tc`'s bands of the sixteen priorities.
const MAP: [u32; 16] = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];

/// `prio` as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrioParams {
    bands: u32,
    priomap: Numbers,
}

impl Model for PrioParams {
    const ABOUT: Descriptor = Descriptor {
        layout: Layout::Own(options),
        ..Descriptor::classful(
            "prio",
            "bands in strict order, each with a discipline of its own",
            "tc-prio(8); Linux sch_prio.c",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["bands"] Once: Plain = bands, "number of bands; band 0 is class 1:1";
        ["priomap"] Once: Several = priomap, "the bands of priorities 0 to 15, for packets that no filter takes";
    };
    const UNMODELLED: &'static [Unmodelled] = &[(&["multiqueue"], "multiqueue", "a link here has one queue")];

    fn defaults() -> Self {
        Self {
            bands: 3,
            priomap: Numbers::all(MAP),
        }
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        in_range("prio", "bands", u64::from(self.bands), 2, 16)?;
        self.priomap = self.priomap.filled(Numbers::MOST, |priority| MAP[priority]);
        PriorityMap::check("prio", &self.priomap, self.bands)
    }
    fn footprint(&self) -> Footprint {
        Footprint::default()
    }
}

impl Classful for PrioParams {
    type Built<P: Packet, Q: Qdisc<P>> = Box<Prio<Q>>;

    fn bands(&self) -> u32 {
        self.bands
    }
    fn build<P: Packet, Q: Qdisc<P>, L>(&self, classes: &Classes<L>, children: Vec<Option<Q>>) -> Self::Built<P, Q> {
        Box::new(Prio {
            bands: Children::new(classes, children),
            map: PriorityMap::of(&self.priomap),
        })
    }
}

/// `struct tc_prio_qopt`: the number of bands, and a byte for each priority.
fn options(options: &Options) -> Vec<u8> {
    let mut structure = (number(options, "bands") as i32).to_ne_bytes().to_vec();
    structure.extend(numbers(options, "priomap").map(|band| band as u8));
    structure
}
