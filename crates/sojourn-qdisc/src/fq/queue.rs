//! The packets of one flow, in the order of their times to leave.

use crate::Queued;
use crate::slab::{List, Slab};
use sojourn_units::Time;

/// A packet with what `fq` keeps of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held<P> {
    pub(super) packet: P,
    /// The time to leave that came with it.
    pub(super) not_before: Option<Time>,
    /// Its band when it came.
    pub(super) band: u8,
}

/// When it may leave.
fn time_of<P>(queued: &Queued<Held<P>>) -> Time {
    queued.packet.not_before.unwrap_or(queued.since)
}

/// A queue of packets. Those whose times do not decrease are in a list; one whose time is before that of the list's
/// last waits apart. Source: Linux `flow_queue_add`, `fq_peek`.
#[derive(Clone, Debug)]
pub(super) struct Queue<P> {
    list: List,
    /// The time of the first and of the last in the list.
    ends: (Time, Time),
    early: Vec<Queued<Held<P>>>,
    len: u32,
}

impl<P> Queue<P> {
    pub(super) const EMPTY: Self = Self {
        list: List::EMPTY,
        ends: (Time::ZERO, Time::ZERO),
        early: Vec::new(),
        len: 0,
    };

    /// Packets in it.
    #[inline]
    pub(super) const fn len(&self) -> u32 {
        self.len
    }

    pub(super) fn push(&mut self, slab: &mut Slab<Held<P>>, queued: Queued<Held<P>>) {
        self.len += 1;
        let time = time_of(&queued);
        let empty = self.list.is_empty();
        if empty || time >= self.ends.1 {
            self.ends = (if empty { time } else { self.ends.0 }, time);
            slab.push_back(&mut self.list, queued);
        } else {
            let place = self.early.partition_point(|other| time_of(other) <= time);
            self.early.insert(place, queued);
        }
    }

    /// When the next packet may leave; `None` if there is none.
    #[inline]
    pub(super) fn first(&self) -> Option<Time> {
        let listed = (!self.list.is_empty()).then_some(self.ends.0);
        match self.early.first().map(time_of) {
            Some(early) if listed.is_none_or(|listed| early < listed) => Some(early),
            _ => listed,
        }
    }

    /// Takes the packet of [`Queue::first`].
    pub(super) fn pop(&mut self, slab: &mut Slab<Held<P>>) -> Option<Queued<Held<P>>> {
        let next = self.first()?;
        self.len -= 1;
        if self.list.is_empty() || next < self.ends.0 {
            return Some(self.early.remove(0));
        }
        let queued = slab.pop_front(&mut self.list)?;
        if let Some((held, since)) = slab.front(self.list) {
            self.ends.0 = held.not_before.unwrap_or(since);
        }
        Some(queued)
    }
}
