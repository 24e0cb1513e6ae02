//! A class of `drr` as `tc` knows it. Source: tc-drr(8); iproute2 `q_drr.c`; Linux `drr_change_class`.

use crate::grammar::error::SpecError;
use crate::grammar::measures::SizeTo;
use crate::grammar::words::{Table, words};
use crate::netlink::Named;
use crate::param::in_range;
use crate::{MTU, ParamError};

/// Smallest and largest quantum.
///
/// Deviation: Linux takes others and sets them to the nearest of the two.
pub(crate) const QUANTA: (u64, u64) = (256, 1 << 20);

/// A class of `drr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DrrClass {
    pub(super) quantum: u32,
}

impl DrrClass {
    const TABLE: Table<Self> = Table {
        kind: "drr",
        words: words! {
            ["quantum"]: SizeTo<{ 1 << 20 }> = quantum, "bytes that the class may send in a round";
        },
        ignored: &[],
        unmodelled: &[],
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
        Self::TABLE.show(&self)
    }

    /// What a kernel is told.
    pub(crate) fn kernel(self) -> Result<Vec<Named>, ParamError> {
        Self::TABLE.for_kernel(&self)
    }
}
