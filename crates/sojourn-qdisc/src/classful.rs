//! Disciplines with classes: what they share.
//!
//! A class is a queue of a discipline, and holds a discipline of its own. A classful discipline decides which class a
//! packet belongs to ([`classify`]) and which class sends next. [`Classes`] is what the text says of the classes. Of
//! what the classes hold nothing is known here: for the text that is an `L`, and for the engines a
//! [`Qdisc`](crate::Qdisc) `Q`.

pub(crate) mod books;
mod children;
pub(crate) mod class_words;
pub(crate) mod classify;
pub(crate) mod names;
mod priority_map;
mod round;

pub(crate) use books::{Ahead, Books, ahead_of_children, soonest, stats_of_class};
pub(crate) use children::Children;
pub(crate) use class_words::ClassWords;
pub(crate) use priority_map::PriorityMap;
pub(crate) use round::Round;

use crate::grammar::error::SpecError;
use crate::grammar::model::Model;
use crate::htb::HtbClass;
use crate::tbf::Framing;
use crate::{Packet, ParamError, Qdisc};
use names::Handle;
use std::collections::{BTreeMap, BTreeSet};

/// A kind with classes.
pub(crate) trait Classful: Model {
    /// The discipline itself, over classes that each hold a `Q`.
    type Built<P: Packet, Q: Qdisc<P>>;

    /// The number of its bands, which are its classes from the beginning; 0 for a kind whose classes the text adds.
    fn bands(&self) -> u32 {
        0
    }

    /// Makes the discipline, empty. `children` has the disciplines of the classes in the order of [`Classes::iter`];
    /// `None` for a class with classes below it.
    ///
    /// # Panics
    /// Never for parameters that were checked by [`Model::finish`].
    fn build<P: Packet, Q: Qdisc<P>, L>(&self, classes: &Classes<L>, children: Vec<Option<Q>>) -> Self::Built<P, Q>;
}

/// What the text says below a classful discipline. A class may have been given an `L`, its discipline.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Classes<L> {
    /// The discipline's kind.
    pub(crate) kind: &'static str,
    /// Its major number; 0 if it has none.
    pub(crate) handle: u16,
    /// In the order of the text.
    pub(crate) list: Vec<Class<L>>,
    /// Places in `list` by minor number.
    places: BTreeMap<u16, usize>,
    /// Minor numbers of classes with classes below them.
    inner: BTreeSet<u16>,
    pub(crate) filters: Vec<Filter>,
}

/// A class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Class<L> {
    pub(crate) minor: u16,
    /// The minor number of the class above; 0 for none.
    pub(crate) parent: u16,
    pub(crate) own: ClassWords,
    /// Its discipline; `None` for the default.
    pub(crate) qdisc: Option<Box<L>>,
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
    /// Its place among others; the default once they stand in order.
    pub(crate) place: FilterPlace,
}

/// What decides when a filter is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FilterPlace {
    /// Filters of lower numbers are asked first.
    pub(crate) priority: Option<u32>,
    /// Its kind in Linux; none for `dscp`.
    pub(crate) kind: Option<&'static str>,
    /// Such as `ETH_P_ALL`.
    pub(crate) protocol: u16,
}

impl<L> Classes<L> {
    /// No classes, of the discipline `kind`.
    const fn none(kind: &'static str) -> Self {
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
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Class<L>> {
        self.places.values().map(|&place| &self.list[place])
    }

    /// Where a class stands in [`Classes::iter`].
    pub(crate) fn rank(&self, minor: u16) -> Option<usize> {
        self.places
            .contains_key(&minor)
            .then(|| self.places.range(..minor).count())
    }

    /// Whether a class has classes below it.
    pub(crate) fn is_inner(&self, minor: u16) -> bool {
        self.inner.contains(&minor)
    }

    /// The handle of a class; for 0 that of the discipline.
    pub(crate) fn handle_of(&self, minor: u16) -> Handle {
        Handle {
            major: self.handle,
            minor,
        }
    }

    /// A class that must be there.
    fn find(&mut self, field: &str, minor: u16) -> Result<&mut Class<L>, ParamError> {
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
    pub(crate) fn add_class(
        &mut self,
        parent: u16,
        minor: u16,
        kind: &str,
        words: &[&str],
        stab: Option<Framing>,
    ) -> Result<(), SpecError> {
        let wrong = |field: &str, value: String, rule: String| Err(ParamError::new("class", field, value, rule).into());
        if kind != self.kind {
            let rule = format!("{}, the kind of discipline {:x}:", self.kind, self.handle);
            return wrong("kind", kind.to_owned(), rule);
        }
        let handle = self.handle_of(minor).to_string();
        if minor == 0 {
            return wrong("classid", handle, "a number other than 0 behind the colon".to_owned());
        }
        if self.kind == "drr" && parent != 0 {
            let rule = format!("{:x}:, because classes of drr have none below them", self.handle);
            return wrong("parent", self.handle_of(parent).to_string(), rule);
        }
        let mut own = ClassWords::parse(self.kind, words)?;
        if let (ClassWords::Htb(class), Some(stab)) = (&mut own, stab) {
            class.with_stab(stab)?;
        }
        if self.places.contains_key(&minor) {
            return wrong("classid", handle, "a class that is not there yet".to_owned());
        }
        if parent != 0 {
            let above = self.find("class.parent", parent)?;
            // Source: `htb_change_class`: the discipline of a leaf goes when it becomes an inner class.
            above.qdisc = None;
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
    pub(crate) fn graft(&mut self, minor: u16, qdisc: L, replaces: bool) -> Result<(), SpecError> {
        // `tbf` has one class, and takes every number for it.
        let minor = if self.kind == "tbf" { 1 } else { minor };
        let handle = self.handle_of(minor).to_string();
        let inner = self.is_inner(minor);
        let class = self.find("qdisc.parent", minor)?;
        let rule = match (inner, class.qdisc.is_some()) {
            (true, _) => "a class without classes below it",
            (_, true) if !replaces => "a class without a discipline of its own",
            _ => {
                class.qdisc = Some(Box::new(qdisc));
                return Ok(());
            }
        };
        Err(ParamError::new("qdisc", "parent", handle, rule).into())
    }

    /// Adds a rule behind those that are there. One without code points takes a place only.
    pub(crate) fn add_filter(&mut self, filter: Filter) -> Result<(), SpecError> {
        if filter.codes != 0 {
            self.find("filter.flowid", filter.class)?;
        }
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
}
