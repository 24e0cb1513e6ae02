//! `htb`: a tree of classes, each with a rate that it may send and a ceiling up to which it may borrow from the class
//! above.
//!
//! Source: Linux `sch_htb.c` (6.1; 7.3 does the same) with the arithmetic of its token buckets: tokens are nanoseconds
//! of sending time ([`rate`]). [`tree`] has the scheduling.

mod class;
mod descriptor;
mod feed;
mod rate;
mod tree;

pub(crate) use class::{HtbClass, LayerWord};
pub(crate) use descriptor::HtbParams;
pub(crate) use rate::{Layer, fits_in_ticks};

use crate::ClassStats;
use crate::classful::classify::Filters;
use crate::classful::names::Handle;
use crate::classful::{Ahead, Books, Class, ClassWords, Classes, ahead_of_children, soonest, stats_of_class};
use crate::{Admission, Backlog, Departure, DropSink, Packet, Qdisc, QdiscStats, Queued};
use rate::TICK_NS;
use sojourn_units::{Bytes, Time};
use std::collections::VecDeque;
use tree::{Node, Tree};

/// At least as often as this the kernel looks whether a class may send.
const WATCHDOG_NS: i64 = 5_000_000_000;

/// A tree of classes with token buckets.
///
/// Made by [`QdiscSpec::build`](crate::QdiscSpec::build) of `htb` with its classes. A packet belongs to the leaf to
/// which filters send it, else to the class `default`. Without either it waits in a queue of its own and leaves before
/// all others, at no rate: a direct packet.
#[derive(Clone, Debug)]
pub struct Htb<P, Q> {
    tree: Tree,
    /// The disciplines of the leaves, by class.
    leaves: Vec<Option<Q>>,
    ids: Vec<Handle>,
    /// Of the discipline, then of each class.
    filters: Vec<Filters>,
    default: Option<usize>,
    direct: VecDeque<Queued<P>>,
    direct_limit: usize,
    direct_packets: u64,
    books: Books,
    ahead: Ahead<P>,
}

/// Where a packet belongs.
enum To {
    Leaf(usize),
    Direct,
    Nowhere,
}

impl<P: Packet, Q: Qdisc<P>> Htb<P, Q> {
    fn new<L>(params: &HtbParams, classes: &Classes<L>, leaves: Vec<Option<Q>>) -> Self {
        let all: Vec<&Class<L>> = classes.iter().collect();
        let place = |minor| classes.rank(minor);
        let parents: Vec<Option<usize>> = all.iter().map(|class| place(class.parent)).collect();
        let nodes = all.iter().enumerate().map(|(own, class)| {
            let above = std::iter::successors(parents[own], |&up| parents[up]).count();
            let level = if classes.is_inner(class.minor) {
                HtbClass::LEVELS - 1 - above
            } else {
                0
            };
            let ClassWords::Htb(words) = &class.own else {
                unreachable!("htb has classes of htb")
            };
            Node::new(words, params.r2q, parents[own].map(|up| up as u32), level)
        });
        let filters = std::iter::once(0).chain(all.iter().map(|class| class.minor));
        let default = place(params.default as u16).filter(|_| params.default != 0);
        Self {
            tree: Tree::new(nodes.collect()),
            leaves,
            ids: all.iter().map(|class| classes.handle_of(class.minor)).collect(),
            filters: filters.map(|minor| Filters::of(classes, minor)).collect(),
            default: default.filter(|&class| !classes.is_inner(all[class].minor)),
            direct: VecDeque::new(),
            direct_limit: params.direct_qlen as usize,
            direct_packets: 0,
            books: Books::default(),
            ahead: Ahead::EMPTY,
        }
    }

    /// Source: `htb_classify`.
    fn classify(&self, packet: &P) -> To {
        let mut filters = &self.filters[0];
        let mut hops = 0;
        while let Some(class) = filters.class(packet) {
            if self.leaves[class].is_some() {
                return To::Leaf(class);
            }
            hops += 1;
            if hops > HtbClass::LEVELS {
                return To::Nowhere;
            }
            filters = &self.filters[class + 1];
        }
        self.default.map_or(To::Direct, To::Leaf)
    }

    /// Source: `htb_dequeue`.
    fn next(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
        if let Some(queued) = self.direct.pop_front() {
            self.books.ledger.leave(queued.size);
            return Some(queued.depart(now, false));
        }
        if self.books.ledger.backlog.packets == 0 {
            return None;
        }
        self.tree.set_time(nanos(now));
        for level in 0..HtbClass::LEVELS {
            self.tree.events(level);
            for priority in self.tree.busy(level) {
                if let Some(departure) = self.next_of(level, priority, now, drops) {
                    return Some(departure);
                }
            }
        }
        None
    }

    /// Source: `htb_dequeue_tree`.
    fn next_of(
        &mut self,
        level: usize,
        priority: usize,
        now: Time,
        drops: &mut dyn DropSink<P>,
    ) -> Option<Departure<P>> {
        let mut start = self.tree.leaf(level, priority);
        let mut at = start;
        let (leaf, departure) = loop {
            let leaf = at?;
            let child = self.leaves[leaf as usize].as_mut()?;
            if child.backlog().packets == 0 {
                self.tree.deactivate(leaf);
                if !self.tree.is_busy(level, priority) {
                    return None;
                }
                let next = self.tree.leaf(level, priority);
                if at == start {
                    start = next;
                }
                at = next;
                continue;
            }
            if let Some(departure) = self.books.dequeue(child, now, drops) {
                break (leaf, departure);
            }
            self.tree.pass_turn(leaf, level, priority);
            at = self.tree.leaf(level, priority);
            if at == start {
                return None;
            }
        };
        let size = departure.packet.size();
        self.tree.sent(leaf, level, priority, size);
        let child = self.leaves[leaf as usize].as_ref()?;
        if child.backlog().packets == 0 {
            self.tree.deactivate(leaf);
        }
        self.tree.charge(leaf, level, size);
        Some(departure)
    }

    fn when(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Time> {
        if self.books.ledger.backlog.packets == 0 {
            return None;
        }
        if !self.direct.is_empty() {
            return Some(now);
        }
        self.tree.set_time(nanos(now));
        let events = (0..HtbClass::LEVELS).map(|level| self.tree.events(level));
        let next = events.fold(nanos(now) + WATCHDOG_NS, i64::min);
        let mut soon = Some(Time::from_nanos(next.max(0) as u64));
        if (0..HtbClass::LEVELS).all(|level| self.tree.busy(level).next().is_none()) {
            return soon;
        }
        let senders: Vec<usize> = self.tree.senders().collect();
        for leaf in senders {
            if let Some(child) = &mut self.leaves[leaf] {
                soon = soonest(soon, self.books.ready_at(child, now, drops));
                if soon.is_some_and(|at| at <= now) {
                    break;
                }
            }
        }
        // The last packets may just have been dropped.
        soon.filter(|_| self.books.ledger.backlog.packets > 0)
    }
}

fn nanos(time: Time) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX - WATCHDOG_NS)
}

impl<P: Packet, Q: Qdisc<P>> Qdisc<P> for Htb<P, Q> {
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        match self.classify(&packet) {
            To::Leaf(leaf) => {
                let Some(child) = &mut self.leaves[leaf] else {
                    return self.books.refuse(packet, drops);
                };
                let admission = self.books.enqueue(child, packet, now, drops);
                if child.backlog().packets > 0 {
                    self.tree.activate(leaf as u32);
                }
                admission
            }
            To::Direct if self.direct.len() < self.direct_limit => {
                let queued = Queued::new(packet, now);
                self.books.ledger.arrive();
                self.books.ledger.enter(queued.size);
                self.direct.push_back(queued);
                self.direct_packets += 1;
                Admission::Queued
            }
            To::Direct | To::Nowhere => self.books.refuse(packet, drops),
        }
    }

    ahead_of_children!(books);

    fn stats(&self) -> QdiscStats {
        QdiscStats {
            overlimits: self.tree.overlimits,
            ..self.books.ledger.stats
        }
    }

    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        vec![("direct_packets_stat", self.direct_packets as f64)]
    }

    fn class_stats(&self) -> Vec<ClassStats> {
        let mut all = Vec::new();
        for (place, node) in self.tree.nodes.iter().enumerate() {
            let extra = vec![
                ("lended", node.lends as f64),
                ("borrowed", node.borrows as f64),
                ("giants", 0.0),
                ("tokens", ticks(node.tokens)),
                ("ctokens", ticks(node.ctokens)),
            ];
            let own = all.len();
            let child = self.leaves[place].as_ref();
            stats_of_class(self.ids[place], node.sent, child, extra, &mut all);
            all[own].overlimits = node.overlimits;
        }
        all
    }
}

/// As the kernel tells of tokens. Source: `PSCHED_NS2TICKS` and `htb_dump_class_stats`.
fn ticks(ns: i64) -> f64 {
    let ticks = ns.div_euclid(TICK_NS);
    ticks.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as f64
}
