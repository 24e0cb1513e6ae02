//! `drr` as `tc` knows it. Source: tc-drr(8); iproute2 `q_drr.c`; Linux `drr_change_class`.

use super::Drr;
use crate::classful::names::Handle;
use crate::classful::{ClassWords, Classes};
use crate::descriptor::{Descriptor, DropCounters};
use crate::footprint::Footprint;
use crate::grammar::error::SpecError;
use crate::grammar::measures::SizeTo;
use crate::grammar::reading::Table;
use crate::grammar::words::{Model, Word, words};
use crate::netlink::Form::U32;
use crate::netlink::{Layout, Named, rows};
use crate::param::in_range;
use crate::{MTU, Packet, ParamError};

/// Smallest and largest quantum.
///
/// Deviation: Linux takes others and sets them to the nearest of the two.
pub(crate) const QUANTA: (u64, u64) = (256, 1 << 20);

/// `drr` as written: all is said of its classes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DrrParams {
    pub(crate) classes: Classes,
}

/// A class of `drr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DrrClass {
    quantum: u32,
}

impl DrrClass {
    const TABLE: Table<Self> = Table {
        kind: "drr",
        words: words! {
            ["quantum"]: SizeTo<{ 1 << 20 }> = quantum, "bytes that the class may send in a round";
        },
        variants: false,
    };

    /// Reads the words behind the kind.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, SpecError> {
        let mut class = Self {
            quantum: MTU.get() as u32,
        };
        Self::TABLE.read(words, &mut class)?;
        in_range("drr", "quantum", u64::from(class.quantum), QUANTA.0, QUANTA.1)?;
        Ok(class)
    }

    /// The canonical text.
    pub(crate) fn show(self) -> String {
        let mut text = "drr".to_owned();
        Self::TABLE.write(&self, &mut text);
        text
    }

    /// What a kernel is told.
    pub(crate) fn kernel(self) -> Result<Vec<Named>, ParamError> {
        Self::TABLE.for_kernel(&self)
    }
}

impl DrrParams {
    pub(super) fn ids(&self) -> Vec<Handle> {
        let major = self.classes.handle;
        let ids = self.classes.iter().map(|class| Handle {
            major,
            minor: class.minor,
        });
        ids.collect()
    }

    /// The quanta in the order of the classes' numbers.
    pub(super) fn quanta(&self) -> impl Iterator<Item = u32> {
        self.classes.iter().map(|class| match &class.own {
            ClassWords::Drr(own) => own.quantum,
            ClassWords::Band | ClassWords::Htb(_) => 0,
        })
    }
}

impl Model for DrrParams {
    type Built<P: Packet> = Box<Drr<P>>;
    const ABOUT: Descriptor = Descriptor {
        one_queue: false,
        reads_identity: true,
        drops_arrivals_only: false,
        // The disciplines of its classes drop, and only they know why.
        drops: DropCounters::room(&[]),
        class_counters: rows! {
            U32 => "deficit";
        },
        // It has none, and takes no limit from its device.
        layout: Layout::Own(|_| Vec::new()),
        ..Descriptor::of(
            "drr",
            "classes that share the link by deficit round robin",
            "tc-drr(8); Linux sch_drr.c",
        )
    };
    const WORDS: &'static [Word<Self>] = &[];

    fn defaults() -> Self {
        Self {
            classes: Classes::none("drr"),
        }
    }
    fn finish(&mut self) -> Result<(), ParamError> {
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
        Box::new(Drr::new(self, seed))
    }
}
