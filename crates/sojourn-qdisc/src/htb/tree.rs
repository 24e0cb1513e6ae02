//! The tree of classes: who may send, who waits for tokens, and whose turn it is.
//!
//! Source: Linux `sch_htb.c`. A class may send while its own bucket has tokens, may borrow while only that of its
//! ceiling has, and else must wait. A leaf that may send is in the row of level 0. A class that may borrow is in the
//! feed of the class above, and that class then stands for it: in its own row if it may send, in the feed above if it
//! may borrow.

use super::class::HtbClass;
use super::feed::Feed;
use super::rate::SendTime;
use sojourn_units::Bytes;
use std::collections::BTreeMap;

/// A bucket forgets times longer than this, and owes no more. Source: `mbuffer` in `htb_change_class`.
const LONGEST_NS: i64 = 60_000_000_000;
const SECOND_NS: i64 = 1_000_000_000;

/// What a class may do. Source: `enum htb_cmode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Neither send nor borrow.
    Wait,
    /// Borrow.
    Borrow,
    /// Send.
    Send,
}

/// A class as the scheduler sees it.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) parent: Option<u32>,
    /// 0 for a leaf, 7 for a class with classes below it at the root, one less for each class above.
    pub(super) level: usize,
    pub(super) priority: usize,
    quantum: i64,
    rate: SendTime,
    ceil: SendTime,
    /// Depths of the buckets, ns.
    buffer: i64,
    cbuffer: i64,
    /// Tokens at `checkpoint`, ns; less than none if it owes some.
    pub(super) tokens: i64,
    pub(super) ctokens: i64,
    checkpoint: i64,
    pub(super) mode: Mode,
    /// A bit for each priority in which it has packets: of an inner class, of classes that borrow from it.
    pub(super) active: u8,
    /// Of an inner class, by priority: who borrows from it.
    feeds: Vec<Feed>,
    /// Of a leaf, by the level of the class from which it borrows.
    deficit: [i64; HtbClass::LEVELS],
    /// When it is in the queue of those that wait.
    event: Option<(i64, u64)>,
    pub(super) lends: u64,
    pub(super) borrows: u64,
    pub(super) overlimits: u64,
    /// Packets and bytes that departed.
    pub(super) sent: (u64, Bytes),
}

impl Node {
    /// A class with full buckets.
    pub(super) fn new(own: &HtbClass, r2q: u32, parent: Option<u32>, level: usize) -> Self {
        let [(rate, buffer), (ceil, cbuffer)] = own.buckets();
        let feeds = if level == 0 { 0 } else { HtbClass::PRIORITIES };
        Self {
            parent,
            level,
            priority: own.prio as usize,
            quantum: own.quantum(r2q),
            rate,
            ceil,
            buffer,
            cbuffer,
            tokens: buffer,
            ctokens: cbuffer,
            checkpoint: 0,
            mode: Mode::Send,
            active: 0,
            feeds: vec![Feed::default(); feeds],
            deficit: [0; HtbClass::LEVELS],
            event: None,
            lends: 0,
            borrows: 0,
            overlimits: 0,
            sent: (0, Bytes::new(0)),
        }
    }

    /// What it may do when its buckets have got `time` more, and if not all, how long until that changes.
    ///
    /// Source: `htb_class_mode`, without hysteresis, which is off by default.
    fn mode_after(&self, time: i64) -> (Mode, i64) {
        let ctokens = self.ctokens + time;
        if ctokens < 0 {
            return (Mode::Wait, -ctokens);
        }
        let tokens = self.tokens + time;
        if tokens >= 0 {
            (Mode::Send, time)
        } else {
            (Mode::Borrow, -tokens)
        }
    }

    /// The time since the last change of the buckets, as far as they remember.
    fn elapsed(&self, now: i64) -> i64 {
        (now - self.checkpoint).min(LONGEST_NS)
    }
}

/// What a bucket has after some time and a packet. Source: `htb_accnt_tokens`.
fn charged(tokens: i64, time: i64, depth: i64, cost: i64) -> i64 {
    let left = (time + tokens).min(depth).saturating_sub(cost);
    if left <= -LONGEST_NS { 1 - LONGEST_NS } else { left }
}

/// Where a feed is.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// The row of a level.
    Row(usize),
    /// Of an inner class.
    Of(u32),
}

/// Classes of one level.
#[derive(Clone, Debug, Default)]
struct Level {
    /// By priority: those that may send.
    rows: [Feed; HtbClass::PRIORITIES],
    /// A bit for each row that has classes.
    busy: u8,
    /// Those that wait for tokens, by time and then by when they came.
    waiting: BTreeMap<(i64, u64), u32>,
    /// No class of this level changes before this time.
    next_event: i64,
}

/// All classes, sorted by number.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    levels: [Level; HtbClass::LEVELS],
    now: i64,
    events: u64,
    /// How often a class reached its ceiling.
    pub(super) overlimits: u64,
}

/// The places of the bits that are set, from the lowest on.
fn bits(mask: u8) -> impl Iterator<Item = usize> {
    (0..8).filter(move |bit| mask >> bit & 1 == 1)
}

impl Tree {
    pub(super) fn new(nodes: Vec<Node>) -> Self {
        Self {
            nodes,
            levels: Default::default(),
            now: 0,
            events: 0,
            overlimits: 0,
        }
    }

    fn node(&self, class: u32) -> &Node {
        &self.nodes[class as usize]
    }

    fn node_mut(&mut self, class: u32) -> &mut Node {
        &mut self.nodes[class as usize]
    }

    fn feed(&mut self, place: Place, priority: usize) -> &mut Feed {
        match place {
            Place::Row(level) => &mut self.levels[level].rows[priority],
            Place::Of(class) => &mut self.nodes[class as usize].feeds[priority],
        }
    }

    /// The priorities in which classes of this level may send, from the first on.
    pub(super) fn busy(&self, level: usize) -> impl Iterator<Item = usize> + use<> {
        bits(self.levels[level].busy)
    }

    pub(super) fn is_busy(&self, level: usize, priority: usize) -> bool {
        self.levels[level].busy >> priority & 1 == 1
    }

    /// Sets the time of what follows.
    pub(super) fn set_time(&mut self, now: i64) {
        self.now = now;
    }

    /// A leaf has got packets. Source: `htb_activate`.
    pub(super) fn activate(&mut self, leaf: u32) {
        let node = self.node_mut(leaf);
        if node.active == 0 {
            node.active = 1 << node.priority;
            self.enlist(leaf);
        }
    }

    /// A leaf has no packets any more. Source: `htb_deactivate`.
    pub(super) fn deactivate(&mut self, leaf: u32) {
        if self.node(leaf).active != 0 {
            self.delist(leaf);
            self.node_mut(leaf).active = 0;
        }
    }

    /// Puts a class where its mode wants it, and the classes above it. Source: `htb_activate_prios`.
    fn enlist(&mut self, class: u32) {
        let (mut class, mut mask) = (class, self.node(class).active);
        while self.node(class).mode == Mode::Borrow
            && mask != 0
            && let Some(parent) = self.node(class).parent
        {
            for priority in bits(mask) {
                let feed = self.feed(Place::Of(parent), priority);
                if !feed.is_empty() {
                    mask &= !(1 << priority);
                }
                feed.insert(class);
            }
            self.node_mut(parent).active |= mask;
            class = parent;
        }
        let node = self.node(class);
        if node.mode == Mode::Send && mask != 0 {
            let level = &mut self.levels[node.level];
            level.busy |= mask;
            bits(mask).for_each(|priority| level.rows[priority].insert(class));
        }
    }

    /// Takes a class away from where its mode had it. Source: `htb_deactivate_prios`.
    fn delist(&mut self, class: u32) {
        let (mut class, mut mask) = (class, self.node(class).active);
        while self.node(class).mode == Mode::Borrow
            && mask != 0
            && let Some(parent) = self.node(class).parent
        {
            let all = std::mem::take(&mut mask);
            for priority in bits(all) {
                let feed = self.feed(Place::Of(parent), priority);
                if feed.turn == Some(class) {
                    (feed.turn, feed.left) = (None, Some(class));
                }
                feed.remove(class);
                if feed.is_empty() {
                    mask |= 1 << priority;
                }
            }
            self.node_mut(parent).active &= !mask;
            class = parent;
        }
        let node = self.node(class);
        if node.mode == Mode::Send && mask != 0 {
            let level = &mut self.levels[node.level];
            for priority in bits(mask) {
                let row = &mut level.rows[priority];
                if row.turn == Some(class) {
                    row.advance();
                }
                row.remove(class);
                if row.is_empty() {
                    level.busy &= !(1 << priority);
                }
            }
        }
    }

    /// Changes what a class may do when its buckets have got `time` more; answers how long until the next change.
    /// Source: `htb_change_class_mode`.
    fn change_mode(&mut self, class: u32, time: i64) -> i64 {
        let (mode, until) = self.node(class).mode_after(time);
        let node = self.node(class);
        let (before, active) = (node.mode, node.active != 0);
        if mode == before {
            return until;
        }
        if mode == Mode::Wait {
            self.node_mut(class).overlimits += 1;
            self.overlimits += 1;
        }
        if active && before != Mode::Wait {
            self.delist(class);
        }
        self.node_mut(class).mode = mode;
        if active && mode != Mode::Wait {
            self.enlist(class);
        }
        until
    }

    /// Source: `htb_add_to_wait_tree`.
    fn wait(&mut self, class: u32, delay: i64) {
        let at = if delay == 0 { self.now + 1 } else { self.now + delay };
        let key = (at, self.events);
        self.events += 1;
        let node = self.node_mut(class);
        node.event = Some(key);
        let level = &mut self.levels[self.nodes[class as usize].level];
        level.next_event = level.next_event.min(at);
        level.waiting.insert(key, class);
    }

    fn wait_no_more(&mut self, class: u32) {
        let node = self.node_mut(class);
        let level = node.level;
        if let Some(key) = node.event.take() {
            self.levels[level].waiting.remove(&key);
        }
    }

    /// Changes the classes of a level whose time has come; answers when the next one's does. Source: `htb_dequeue` and
    /// `htb_do_events`.
    ///
    /// Deviation: the kernel pauses after two jiffies of this.
    pub(super) fn events(&mut self, level: usize) -> i64 {
        if self.now < self.levels[level].next_event {
            return self.levels[level].next_event;
        }
        let next = loop {
            let Some((&(at, _), &class)) = self.levels[level].waiting.first_key_value() else {
                break self.now + SECOND_NS;
            };
            if at > self.now {
                break at;
            }
            self.wait_no_more(class);
            let elapsed = self.node(class).elapsed(self.now);
            let until = self.change_mode(class, elapsed);
            if self.node(class).mode != Mode::Send {
                self.wait(class, until);
            }
        };
        self.levels[level].next_event = next;
        next
    }

    /// The leaf whose turn it is. Source: `htb_lookup_leaf`.
    pub(super) fn leaf(&mut self, level: usize, priority: usize) -> Option<u32> {
        let mut place = Place::Row(level);
        let mut above: Vec<Place> = Vec::with_capacity(HtbClass::LEVELS);
        if self.feed(place, priority).is_empty() {
            return None;
        }
        // Each pass goes down, or goes up and one to the right.
        loop {
            let feed = self.feed(place, priority);
            if let (None, Some(left)) = (feed.turn, feed.left) {
                feed.turn = feed.from(left);
            }
            feed.left = None;
            let Some(class) = feed.turn else {
                feed.turn = Some(feed.first()?);
                if let Some(up) = above.pop() {
                    place = up;
                    self.feed(place, priority).advance();
                }
                continue;
            };
            if self.node(class).level == 0 {
                return Some(class);
            }
            above.push(place);
            place = Place::Of(class);
        }
    }

    /// The next leaf of the priority has its turn, behind `leaf`.
    pub(super) fn pass_turn(&mut self, leaf: u32, level: usize, priority: usize) {
        let place = match self.node(leaf).parent {
            Some(parent) if level > 0 => Place::Of(parent),
            _ => Place::Row(0),
        };
        self.feed(place, priority).advance();
    }

    /// A packet of `size` left the leaf, which borrowed from a class of `level`; the leaf's turn ends with its deficit.
    /// Source: `htb_dequeue_tree`.
    pub(super) fn sent(&mut self, leaf: u32, level: usize, priority: usize, size: Bytes) {
        let node = self.node_mut(leaf);
        let quantum = node.quantum;
        let deficit = &mut node.deficit[level];
        *deficit = deficit.saturating_sub(i64::try_from(size.get()).unwrap_or(i64::MAX));
        if *deficit < 0 {
            *deficit += quantum;
            self.pass_turn(leaf, level, priority);
        }
    }

    /// Takes tokens for a packet from the leaf and the classes above it. Source: `htb_charge_class`.
    pub(super) fn charge(&mut self, leaf: u32, level: usize, size: Bytes) {
        let mut at = Some(leaf);
        while let Some(class) = at {
            let now = self.now;
            let node = self.node_mut(class);
            let time = node.elapsed(now);
            if node.level >= level {
                node.lends += u64::from(node.level == level);
                node.tokens = charged(node.tokens, time, node.buffer, node.rate.of(size));
            } else {
                node.borrows += 1;
                node.tokens += time;
            }
            node.ctokens = charged(node.ctokens, time, node.cbuffer, node.ceil.of(size));
            node.checkpoint = now;
            node.sent = (node.sent.0 + 1, node.sent.1 + size);
            let before = node.mode;
            at = node.parent;
            let until = self.change_mode(class, 0);
            let mode = self.node(class).mode;
            if mode != before {
                if before != Mode::Send {
                    self.wait_no_more(class);
                }
                if mode != Mode::Send {
                    self.wait(class, until);
                }
            }
        }
    }

    /// The leaves that have packets and may send now.
    pub(super) fn senders(&self) -> impl Iterator<Item = usize> {
        let leaves = self.nodes.iter().enumerate();
        leaves.filter_map(|(place, node)| {
            let up = |&class: &u32| match self.node(class).mode {
                Mode::Borrow => self.node(class).parent,
                Mode::Wait | Mode::Send => None,
            };
            let top = std::iter::successors(Some(place as u32), up).last()?;
            let sends = node.level == 0 && node.active != 0 && self.node(top).mode == Mode::Send;
            sends.then_some(place)
        })
    }
}
