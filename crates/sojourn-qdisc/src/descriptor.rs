//! What is to be known of a kind of discipline besides its algorithm: one [`Descriptor`] a kind, in the module of the
//! kind.

use crate::netlink::{Layout, Row};

/// A kind of discipline.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// As `tc` calls it.
    pub kind: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where its behaviour is written down.
    pub source: &'static str,
    /// Whether only arrivals are dropped; else packets out of the queue, too.
    pub drops_arrivals_only: bool,
    /// Whether it is taken to have one queue; else one for each conversation, about.
    pub one_queue: bool,
    /// Whether it makes packets wait for tokens.
    pub shapes: bool,
    /// Whether it looks at code points or hosts: at [`Packet::band`](crate::Packet::band),
    /// [`Packet::dscp`](crate::Packet::dscp), [`Packet::source`](crate::Packet::source) or
    /// [`Packet::destination`](crate::Packet::destination). A world may leave them out for other kinds.
    pub reads_identity: bool,
    /// How a kernel's counters tell why packets were dropped.
    pub drops: DropCounters,
    /// The counters that only this kind has, in a kernel.
    pub counters: Counters,
    /// The counters that only its classes have, in a kernel: members of a structure.
    pub class_counters: &'static [Row],
    /// How its options lie in a netlink message.
    pub(crate) layout: Layout,
    /// The same of its classes, of a kind whose classes have options.
    pub(crate) class_layout: Layout,
}

impl Descriptor {
    /// A kind with one queue that drops arrivals for want of room only, and has neither counters of its own nor
    /// options.
    pub(crate) const fn of(kind: &'static str, summary: &'static str, source: &'static str) -> Self {
        Self {
            kind,
            summary,
            source,
            drops_arrivals_only: true,
            one_queue: true,
            shapes: false,
            reads_identity: false,
            drops: DropCounters {
                room: None,
                memory: None,
                room_has_memory: false,
            },
            counters: Counters::Members(&[]),
            class_counters: &[],
            layout: Layout::None,
            class_layout: Layout::None,
        }
    }

    /// A kind whose classes hold all its packets. The disciplines of its classes drop, and only they know why.
    pub(crate) const fn classful(kind: &'static str, summary: &'static str, source: &'static str) -> Self {
        Self {
            one_queue: false,
            reads_identity: true,
            drops_arrivals_only: false,
            drops: DropCounters::room(&[]),
            ..Self::of(kind, summary, source)
        }
    }
}

/// Names of counters by which drops are told apart. What is not for want of room or memory is the algorithm's.
#[derive(Clone, Copy, Debug)]
pub struct DropCounters {
    /// Those that together count drops for want of room; `None` where every drop is one.
    pub room: Option<&'static [&'static str]>,
    /// That of drops for want of memory.
    pub memory: Option<&'static str>,
    /// Whether drops for want of memory are among those for want of room.
    pub room_has_memory: bool,
}

impl DropCounters {
    /// These count drops for want of room, and none those for want of memory.
    pub(crate) const fn room(names: &'static [&'static str]) -> Self {
        Self {
            room: Some(names),
            memory: None,
            room_has_memory: false,
        }
    }
}

/// How the counters of one kind lie in `TCA_STATS_APP`, by the names of `tc -s -j qdisc`.
///
/// Source: the structures `tc_*_xstats` of `linux/pkt_sched.h` (Linux 6.1), and what iproute2 6.1 calls their
/// members.
#[derive(Clone, Copy, Debug)]
pub enum Counters {
    /// Members of a structure, one behind the other.
    Members(&'static [Row]),
    /// Attributes, whose types are their places from 0 on, and nested in one of them a list of classes.
    Attributes {
        /// Those of the discipline.
        own: &'static [Row],
        /// The attribute that holds the classes.
        list: u16,
        /// What each class is called, with its place behind it.
        class: &'static str,
        /// Those of a class.
        each: &'static [Row],
        /// Of these the sum over all classes is a counter of the discipline.
        summed: &'static [&'static str],
    },
}
