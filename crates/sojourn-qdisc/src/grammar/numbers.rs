//! A list of numbers, one for each band or priority.

use std::fmt;

/// Up to 16 numbers: one for each band or priority of a discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    len: usize,
    items: [u32; Self::MOST],
}

impl Numbers {
    /// How many there can be. Source: `TC_PRIO_MAX` + 1 and `TCQ_PRIO_BANDS` of Linux.
    pub(crate) const MOST: usize = 16;

    /// These.
    pub(crate) const fn all(items: [u32; Self::MOST]) -> Self {
        Self { len: Self::MOST, items }
    }

    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.items[..self.len]
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// So many: those that lack are taken from `others`, each from its own place.
    pub(crate) fn filled(mut self, len: usize, others: impl Fn(usize) -> u32) -> Self {
        for place in self.len..len.min(Self::MOST) {
            self.items[place] = others(place);
        }
        self.len = self.len.max(len.min(Self::MOST));
        self
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        for n in self.as_slice() {
            write!(f, "{gap}{n}")?;
            gap = " ";
        }
        Ok(())
    }
}
