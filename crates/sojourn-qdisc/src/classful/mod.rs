//! Disciplines with classes: what they share.
//!
//! A class is a queue of a discipline, and holds a discipline of its own. A classful discipline decides which class a
//! packet belongs to ([`classify`]) and which class sends next. [`Classes`] is what the text says of the classes;
//! [`statements`] reads that text and writes it.
//!
//! A class that is given no discipline has a `pfifo` of 1000 packets. Source: Linux `qdisc_create_dflt` with
//! `pfifo_qdisc_ops` in each classful discipline, and `fifo_init`: its limit is the device's transmit queue length,
//! which is 1000 by default.

pub(crate) mod books;
pub(crate) mod classify;
mod kernel;
pub(crate) mod names;
mod round;
pub(crate) mod statements;
#[cfg(test)]
mod tests;

pub(crate) use books::{Ahead, Books, ahead_of_children, soonest, stats_of_class};
pub(crate) use round::Round;

use crate::drr::DrrClass;
use crate::footprint::Footprint;
use crate::grammar::error::SpecError;
use crate::htb::HtbClass;
use crate::kinds::{AnyQdisc, Kind};
use crate::{Packet, ParamError, QdiscSpec, TX_QUEUE_LEN};
use names::{Handle, shown};
use sojourn_units::Stream;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Memory of a class besides its discipline, bytes.
const CLASS_BYTES: u64 = 1024;

/// What the text says below a classful discipline.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Classes {
    /// The discipline's kind.
    kind: &'static str,
    /// Its major number; 0 if it has none.
    pub(crate) handle: u16,
    list: Vec<Class>,
    /// Places in `list` by minor number.
    places: BTreeMap<u16, usize>,
    /// Minor numbers of classes with classes below them.
    inner: BTreeSet<u16>,
    filters: Vec<Filter>,
}

/// A class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Class {
    pub(crate) minor: u16,
    /// The minor number of the class above; 0 for none.
    pub(crate) parent: u16,
    pub(crate) own: ClassWords,
    /// Its discipline; `None` for the default.
    pub(crate) qdisc: Option<Box<QdiscSpec>>,
}

/// What is said of one class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ClassWords {
    /// Nothing: it is a band.
    Band,
    Drr(DrrClass),
    Htb(HtbClass),
}

/// A rule that sends packets to a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filter {
    /// The minor number of the class whose packets it looks at; 0 for those of the discipline.
    pub(crate) parent: u16,
    /// A bit for each code point that it takes.
    pub(crate) codes: u64,
    /// The minor number of the class to which it sends them.
    pub(crate) class: u16,
}

impl Classes {
    /// No classes, of the discipline `kind`.
    pub(crate) const fn none(kind: &'static str) -> Self {
        Self {
            kind,
            handle: 0,
            list: Vec::new(),
            places: BTreeMap::new(),
            inner: BTreeSet::new(),
            filters: Vec::new(),
        }
    }

    /// As many classes as there are bands, with the minor numbers from 1 on.
    pub(crate) fn bands(kind: &'static str, bands: u32) -> Self {
        let mut classes = Self::none(kind);
        for band in 0..bands {
            classes.push(band as u16 + 1, 0, ClassWords::Band);
        }
        classes
    }

    fn push(&mut self, minor: u16, parent: u16, own: ClassWords) {
        self.places.insert(minor, self.list.len());
        if parent != 0 {
            self.inner.insert(parent);
        }
        self.list.push(Class {
            minor,
            parent,
            own,
            qdisc: None,
        });
    }

    /// By minor number, in the order of these numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Class> {
        self.places.values().map(|&place| &self.list[place])
    }

    /// Where a class stands in [`Classes::iter`].
    pub(crate) fn rank(&self, minor: u16) -> Option<usize> {
        self.places
            .contains_key(&minor)
            .then(|| self.places.range(..minor).count())
    }

    pub(crate) fn filters(&self) -> &[Filter] {
        &self.filters
    }

    /// Whether a class has classes below it.
    pub(crate) fn is_inner(&self, minor: u16) -> bool {
        self.inner.contains(&minor)
    }

    fn handle_of(&self, minor: u16) -> Handle {
        Handle {
            major: self.handle,
            minor,
        }
    }

    /// A class that must be there.
    fn find(&mut self, field: &str, minor: u16) -> Result<&mut Class, ParamError> {
        let handle = self.handle_of(minor);
        match self.places.get(&minor) {
            Some(&place) => Ok(&mut self.list[place]),
            None => Err(ParamError {
                field: field.to_owned(),
                value: handle.to_string(),
                rule: "a class that is there".to_owned(),
            }),
        }
    }

    /// Adds a class, with the words behind its kind.
    fn add_class(&mut self, parent: u16, minor: u16, kind: &str, words: &[&str]) -> Result<(), SpecError> {
        let wrong = |field: &str, value: String, rule: String| Err(ParamError::new("class", field, value, rule).into());
        if kind != self.kind {
            let rule = format!("{}, the kind of discipline {:x}:", self.kind, self.handle);
            return wrong("kind", kind.to_owned(), rule);
        }
        let handle = self.handle_of(minor).to_string();
        if minor == 0 {
            return wrong("classid", handle, "a number other than 0 behind the colon".to_owned());
        }
        let own = match self.kind {
            "drr" if parent != 0 => {
                let rule = format!("{:x}:, because classes of drr have none below them", self.handle);
                return wrong("parent", self.handle_of(parent).to_string(), rule);
            }
            "drr" => ClassWords::Drr(DrrClass::parse(words)?),
            "htb" => ClassWords::Htb(HtbClass::parse(words)?),
            kind => {
                return wrong(
                    "kind",
                    kind.to_owned(),
                    "drr or htb: other kinds have their classes at once".into(),
                );
            }
        };
        if self.places.contains_key(&minor) {
            return wrong("classid", handle, "a class that is not there yet".to_owned());
        }
        if parent != 0 {
            let above = self.find("class.parent", parent)?;
            if above.qdisc.is_some() {
                let above = self.handle_of(parent).to_string();
                return wrong("parent", above, "a class without a discipline of its own".to_owned());
            }
            let classes_above = self.above(parent) + 1;
            if classes_above >= HtbClass::LEVELS {
                let rule = format!("at most {} classes deep", HtbClass::LEVELS);
                return wrong("parent", self.handle_of(parent).to_string(), rule);
            }
        }
        self.push(minor, parent, own);
        Ok(())
    }

    /// How many classes are above a class.
    fn above(&self, minor: u16) -> usize {
        let up = |&minor: &u16| self.places.get(&minor).map(|&place| self.list[place].parent);
        std::iter::successors(Some(minor), up)
            .filter(|&minor| minor != 0)
            .count()
            - 1
    }

    /// Gives a class its discipline.
    fn graft(&mut self, minor: u16, qdisc: QdiscSpec) -> Result<(), SpecError> {
        let handle = self.handle_of(minor).to_string();
        let inner = self.is_inner(minor);
        let class = self.find("qdisc.parent", minor)?;
        let rule = match (inner, class.qdisc.is_some()) {
            (true, _) => "a class without classes below it",
            (_, true) => "a class without a discipline of its own",
            _ => {
                class.qdisc = Some(Box::new(qdisc));
                return Ok(());
            }
        };
        Err(ParamError::new("qdisc", "parent", handle, rule).into())
    }

    /// Adds a rule behind those that are there.
    fn add_filter(&mut self, filter: Filter) -> Result<(), SpecError> {
        self.find("filter.flowid", filter.class)?;
        if filter.parent != 0 {
            self.find("filter.parent", filter.parent)?;
            if self.kind != "htb" {
                let rule = format!("{:x}:, because classes of {} have no filters", self.handle, self.kind);
                let parent = self.handle_of(filter.parent).to_string();
                return Err(ParamError::new("filter", "parent", parent, rule).into());
            }
        }
        self.filters.push(filter);
        Ok(())
    }

    /// The classes of the discipline with this major number, here or below.
    pub(crate) fn of_major(&mut self, major: u16) -> Option<&mut Self> {
        if self.handle == major {
            return Some(self);
        }
        let below = self.list.iter_mut().filter_map(|class| class.qdisc.as_mut());
        below
            .filter_map(|qdisc| qdisc.0.classes_mut())
            .find_map(|classes| classes.of_major(major))
    }

    /// How many disciplines are above each other, this one included, but without those of which nothing is said.
    pub(crate) fn depth(&self) -> usize {
        let below = self.list.iter().filter_map(|class| class.qdisc.as_ref());
        1 + below
            .map(|qdisc| qdisc.0.classes().map_or(1, Self::depth))
            .max()
            .unwrap_or(0)
    }

    /// Takes the variants of all disciplines away.
    pub(crate) fn for_kernel(&mut self) {
        let all = self.list.iter_mut().filter_map(|class| class.qdisc.as_mut());
        all.for_each(|qdisc| qdisc.0.for_kernel());
    }

    /// What they all come to.
    pub(crate) fn footprint(&self) -> Footprint {
        let mut sum = Footprint::default();
        for class in &self.list {
            let own = class.qdisc.as_ref();
            let one = own.map_or_else(|| Footprint::from(TX_QUEUE_LEN), |qdisc| qdisc.footprint());
            if !self.is_inner(class.minor) {
                sum.packets = sum.packets.saturating_add(one.packets);
                sum.queues += one.queues;
                sum.empty += one.empty;
            }
            sum.empty += sojourn_units::Bytes::new(CLASS_BYTES);
        }
        sum
    }

    /// The disciplines of all classes in the order of [`Classes::iter`]; `None` for a class with classes below it.
    pub(crate) fn build<P: Packet>(&self, seed: u64) -> Vec<Option<AnyQdisc<P>>> {
        let built = self.iter().map(|class| {
            let seed = Stream::derive_seed(seed, &format!("class {:x}", class.minor));
            let own = class.qdisc.as_ref().map(|qdisc| qdisc.build(seed));
            (!self.is_inner(class.minor)).then(|| own.unwrap_or_else(|| Kind::default_leaf().build(seed)))
        });
        built.collect()
    }

    /// The statements that say all this, each behind a semicolon.
    pub(crate) fn write(&self, text: &mut String) {
        let at = |minor| shown(self.handle_of(minor));
        for class in &self.list {
            let words = match &class.own {
                ClassWords::Band => continue,
                ClassWords::Drr(drr) => drr.show(),
                ClassWords::Htb(htb) => htb.show(),
            };
            let _ = write!(
                text,
                " ; class parent {} classid {} {words}",
                at(class.parent),
                at(class.minor)
            );
        }
        for class in &self.list {
            let Some(qdisc) = &class.qdisc else { continue };
            let _ = write!(text, " ; qdisc parent {} ", at(class.minor));
            let below = qdisc.0.classes();
            if let Some(below) = below.filter(|below| below.handle != 0) {
                let _ = write!(text, "handle {:x}: ", below.handle);
            }
            text.push_str(&qdisc.0.show_own());
            if let Some(below) = below {
                below.write(text);
            }
        }
        for filter in &self.filters {
            let codes = names::show_codes(filter.codes);
            let _ = write!(
                text,
                " ; filter parent {} {codes} flowid {}",
                at(filter.parent),
                at(filter.class)
            );
        }
    }
}
