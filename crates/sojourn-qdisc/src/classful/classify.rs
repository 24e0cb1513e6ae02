//! Which class a packet belongs to.

use super::{Classes, Filter};
use crate::Packet;

/// No class.
const NONE: u16 = u16::MAX;

/// The filters of one discipline or class, by code point.
#[derive(Clone, Debug)]
pub(crate) struct Filters(Option<Box<[u16; 64]>>);

impl Filters {
    /// Those whose parent has this minor number.
    ///
    /// The first filter that takes a code point decides. Source: Linux `tcf_classify`, which asks filters in the order
    /// of their priorities.
    pub(crate) fn of<L>(classes: &Classes<L>, parent: u16) -> Self {
        let mut table = [NONE; 64];
        let own = |filter: &&Filter| filter.parent == parent;
        for filter in classes.filters.iter().filter(own) {
            for (code, class) in table.iter_mut().enumerate() {
                if *class == NONE && filter.codes >> code & 1 == 1 {
                    *class = classes.rank(filter.class).map_or(NONE, |rank| rank as u16);
                }
            }
        }
        Self(table.iter().any(|&class| class != NONE).then(|| Box::new(table)))
    }

    /// The place of the class among [`Classes::iter`] to which they send `packet`.
    #[inline]
    pub(crate) fn class(&self, packet: &impl Packet) -> Option<usize> {
        let table = self.0.as_ref()?;
        let class = table[usize::from(packet.dscp() & 63)];
        (class != NONE).then_some(usize::from(class))
    }
}
