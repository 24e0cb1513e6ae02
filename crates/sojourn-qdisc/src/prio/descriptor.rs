//! `prio` as `tc` knows it. Source: tc-prio(8); iproute2 `q_prio.c`.

use super::Prio;
use crate::classful::Classes;
use crate::descriptor::{Descriptor, DropCounters};
use crate::footprint::Footprint;
use crate::grammar::measures::{Number, Numbers, Several};
use crate::grammar::words::{Model, Word, words};
use crate::netlink::{Layout, Options, number, numbers};
use crate::param::in_range;
use crate::{Packet, ParamError};

/// `tc`'s bands of the sixteen priorities.
const MAP: [u32; 16] = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];

/// `prio` as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PrioParams {
    bands: u32,
    priomap: Numbers,
    pub(crate) classes: Classes,
}

impl PrioParams {
    /// The band of each priority.
    pub(super) fn map(&self) -> [u8; 16] {
        let mut map = [0; 16];
        for (own, &band) in map.iter_mut().zip(self.priomap.as_slice()) {
            *own = band as u8;
        }
        map
    }
}

/// Checks that each band of the map is one of so many.
pub(crate) fn check_map(kind: &str, map: &Numbers, bands: u32) -> Result<(), ParamError> {
    if map.as_slice().iter().all(|&band| band < bands) {
        return Ok(());
    }
    let rule = format!("bands of priorities 0 to 15, each less than {bands}, the number of bands");
    Err(ParamError::new(kind, "priomap", map.to_string(), rule))
}

impl Model for PrioParams {
    type Built<P: Packet> = Box<Prio<P>>;
    const ABOUT: Descriptor = Descriptor {
        one_queue: false,
        reads_identity: true,
        drops_arrivals_only: false,
        // The disciplines of its bands drop, and only they know why.
        drops: DropCounters::room(&[]),
        layout: Layout::Own(options),
        ..Descriptor::of(
            "prio",
            "bands in strict order, each with a discipline of its own",
            "tc-prio(8); Linux sch_prio.c",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["bands"]: Number = bands, "number of bands; band 0 is class 1:1";
        ["priomap"]: Several = priomap, "the bands of priorities 0 to 15, for packets that no filter takes";
    };

    fn defaults() -> Self {
        Self {
            bands: 3,
            priomap: Numbers::all(MAP),
            classes: Classes::none("prio"),
        }
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        in_range("prio", "bands", u64::from(self.bands), 2, 16)?;
        self.priomap = self.priomap.filled(Numbers::MOST, |priority| MAP[priority]);
        check_map("prio", &self.priomap, self.bands)?;
        self.classes = Classes::bands("prio", self.bands);
        Ok(())
    }
    fn classes(&self) -> Option<&Classes> {
        Some(&self.classes)
    }
    fn classes_mut(&mut self) -> Option<&mut Classes> {
        Some(&mut self.classes)
    }
    fn footprint(&self) -> Footprint {
        self.classes.footprint()
    }
    fn build<P: Packet>(&self, seed: u64) -> Self::Built<P> {
        Box::new(Prio::new(self, seed))
    }
}

/// `struct tc_prio_qopt`: the number of bands, and a byte for each priority.
fn options(options: &Options) -> Vec<u8> {
    let mut structure = (number(options, "bands") as i32).to_ne_bytes().to_vec();
    structure.extend(numbers(options, "priomap").map(|band| band as u8));
    structure
}
