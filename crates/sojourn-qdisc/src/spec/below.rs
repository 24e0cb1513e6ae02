//! What a [`QdiscSpec`] has below it: the disciplines of its classes, and those below them.
//!
//! A class that is given no discipline has a `pfifo` of 1000 packets. Source: Linux `qdisc_create_dflt` with
//! `pfifo_qdisc_ops` in each classful discipline, and `fifo_init`: its limit is the device's transmit queue length,
//! which is 1000 by default.

use super::{QdiscSpec, filters};
use crate::classful::Classes;
use crate::classful::names::show_codes;
use crate::footprint::Footprint;
use crate::kinds::AnyQdisc;
use crate::{Packet, TX_QUEUE_LEN};
use sojourn_units::{Bytes, Stream};
use std::fmt;

/// Memory of a class besides its discipline, bytes.
const CLASS_BYTES: u64 = 1024;

impl Classes<QdiscSpec> {
    /// The disciplines that were given to classes.
    pub(super) fn qdiscs_mut(&mut self) -> impl Iterator<Item = &mut QdiscSpec> {
        self.list.iter_mut().filter_map(|class| class.qdisc.as_deref_mut())
    }

    /// The classes of the discipline with this major number, here or below.
    pub(super) fn of_major(&mut self, major: u16) -> Option<&mut Self> {
        if self.handle == major {
            return Some(self);
        }
        self.qdiscs_mut()
            .filter_map(|qdisc| qdisc.0.classes_mut())
            .find_map(|classes| classes.of_major(major))
    }

    /// Puts filters in the order in which they are asked.
    pub(super) fn settle(&mut self) {
        filters::settle(&mut self.filters);
        let below = self.qdiscs_mut().filter_map(|qdisc| qdisc.0.classes_mut());
        below.for_each(Self::settle);
    }

    /// How many disciplines are above each other, this one included, but without those of which nothing is said.
    pub(super) fn depth(&self) -> usize {
        let below = self.list.iter().filter_map(|class| class.qdisc.as_ref());
        1 + below
            .map(|qdisc| qdisc.0.classes().map_or(1, Self::depth))
            .max()
            .unwrap_or(0)
    }

    /// What a discipline and its classes come to, if the discipline itself comes to `own`.
    pub(super) fn footprint(&self, own: Footprint) -> Footprint {
        if self.kind == "tbf" {
            return self.list[0].qdisc.as_ref().map_or(own, |qdisc| qdisc.footprint());
        }
        let mut sum = own;
        for class in &self.list {
            let qdisc = class.qdisc.as_ref();
            let one = qdisc.map_or_else(|| Footprint::from(TX_QUEUE_LEN), |qdisc| qdisc.footprint());
            if !self.is_inner(class.minor) {
                sum.packets = sum.packets.saturating_add(one.packets);
                sum.queues += one.queues;
                sum.empty += one.empty;
                sum.updates = sum.updates.saturating_add(one.updates);
            }
            sum.empty += Bytes::new(CLASS_BYTES);
        }
        sum
    }

    /// The disciplines of all classes in the order of [`Classes::iter`]; `None` for a class with classes below it.
    pub(super) fn build<P: Packet>(&self, seed: u64) -> Vec<Option<AnyQdisc<P>>> {
        let built = self.iter().map(|class| {
            let seed = Stream::derive_seed(seed, &format!("class {:x}", class.minor));
            let own = class.qdisc.as_ref().map(|qdisc| qdisc.build(seed));
            (!self.is_inner(class.minor)).then(|| own.unwrap_or_else(|| QdiscSpec::default_leaf().build(seed)))
        });
        built.collect()
    }

    /// Writes the statements that say all this, each behind a semicolon.
    pub(super) fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |minor| self.handle_of(minor);
        for class in &self.list {
            if let Some(words) = class.own.show() {
                write!(
                    f,
                    " ; class parent {} classid {} {words}",
                    at(class.parent),
                    at(class.minor)
                )?;
            }
        }
        for class in &self.list {
            let Some(qdisc) = &class.qdisc else { continue };
            write!(f, " ; qdisc parent {} ", at(class.minor))?;
            if let Some(below) = qdisc.0.classes().filter(|below| below.handle != 0) {
                write!(f, "handle {:x}: ", below.handle)?;
            }
            write!(f, "{qdisc}")?;
        }
        for filter in &self.filters {
            let (parent, class) = (at(filter.parent), at(filter.class));
            write!(
                f,
                " ; filter parent {parent} {} flowid {class}",
                show_codes(filter.codes)
            )?;
        }
        Ok(())
    }
}
