//! One arena of packets for many queues: lists linked by index, no allocation per packet.

use crate::Queued;
use sojourn_units::{Bytes, Time};

/// No node.
pub(crate) const NIL: u32 = u32::MAX;

/// What a packet of `size` costs a kernel in memory, bytes.
///
/// Source: `skb->truesize` of a linear buffer: 64 bytes of headroom and 320 of `skb_shared_info`, rounded up to the
/// next power of two by the allocator, plus 256 for the `sk_buff`. A full frame takes 2304 bytes, a pure ACK 768.
///
/// Deviation: the kernel charges what its driver or socket really allocated, which can be more.
#[inline]
#[must_use]
pub fn memory_of(size: Bytes) -> u64 {
    (size.get() + 384).next_power_of_two() + 256
}

#[derive(Clone, Debug)]
struct Node<P> {
    packet: Option<P>,
    since: Time,
    size: Bytes,
    next: u32,
    prev: u32,
}

/// The arena. It grows to the largest number of packets ever held and never shrinks.
#[derive(Clone, Debug)]
pub struct Slab<P> {
    nodes: Vec<Node<P>>,
    free: u32,
}

/// One queue of packets in a [`Slab`], oldest first. To be used with one slab only.
#[derive(Clone, Copy, Debug)]
pub struct List {
    head: u32,
    tail: u32,
}

impl List {
    /// No packets.
    pub const EMPTY: Self = Self { head: NIL, tail: NIL };

    /// Whether it has no packets.
    #[inline]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.head == NIL
    }

    /// The place of its youngest packet.
    pub(crate) fn last(self) -> Option<u32> {
        (self.tail != NIL).then_some(self.tail)
    }
}

impl<P> Default for Slab<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P> Slab<P> {
    /// No packets.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            nodes: Vec::new(),
            free: NIL,
        }
    }

    /// Appends to `list`.
    #[inline]
    pub fn push_back(&mut self, list: &mut List, queued: Queued<P>) {
        let node = Node {
            packet: Some(queued.packet),
            since: queued.since,
            size: queued.size,
            next: NIL,
            prev: list.tail,
        };
        let index = if self.free == NIL {
            let index = self.nodes.len() as u32;
            self.nodes.push(node);
            index
        } else {
            let index = self.free;
            let slot = &mut self.nodes[index as usize];
            self.free = slot.next;
            *slot = node;
            index
        };
        if list.tail == NIL {
            list.head = index;
        } else {
            self.nodes[list.tail as usize].next = index;
        }
        list.tail = index;
    }

    /// Takes the oldest packet of `list`; `None` if it is empty.
    #[inline]
    pub fn pop_front(&mut self, list: &mut List) -> Option<Queued<P>> {
        let index = list.head;
        let node = self.nodes.get_mut(index as usize)?;
        let (packet, since, size, next) = (node.packet.take()?, node.since, node.size, node.next);
        node.next = self.free;
        self.free = index;
        list.head = next;
        if next == NIL {
            list.tail = NIL;
        } else {
            self.nodes[next as usize].prev = NIL;
        }
        Some(Queued { packet, since, size })
    }

    /// The oldest packet of `list`, and since when it is there; `None` if the list is empty.
    #[inline]
    #[must_use]
    pub fn front(&self, list: List) -> Option<(&P, Time)> {
        let node = self.nodes.get(list.head as usize)?;
        Some((node.packet.as_ref()?, node.since))
    }

    /// How many packets `list` has. Takes a step for each.
    #[must_use]
    pub fn count(&self, list: List) -> u64 {
        let next = |&index: &u32| self.nodes.get(index as usize).map(|node| node.next);
        std::iter::successors(Some(list.head).filter(|&head| head != NIL), next)
            .take_while(|&index| index != NIL)
            .count() as u64
    }

    /// The packet at this place.
    pub(crate) fn packet(&self, place: u32) -> Option<&P> {
        self.nodes.get(place as usize)?.packet.as_ref()
    }

    /// The packets of `list` with their places, oldest first.
    pub(crate) fn iter(&self, list: List) -> impl Iterator<Item = (u32, &P)> {
        let mut at = list.head;
        std::iter::from_fn(move || {
            let node = self.nodes.get(at as usize)?;
            let place = std::mem::replace(&mut at, node.next);
            Some((place, node.packet.as_ref()?))
        })
    }

    /// Takes the packet at `place` out of `list`, which holds it.
    pub(crate) fn remove(&mut self, list: &mut List, place: u32) -> Option<Queued<P>> {
        let node = self.nodes.get_mut(place as usize)?;
        let (packet, since, size) = (node.packet.take()?, node.since, node.size);
        let (next, prev) = (node.next, node.prev);
        node.next = self.free;
        self.free = place;
        match self.nodes.get_mut(prev as usize) {
            Some(before) => before.next = next,
            None => list.head = next,
        }
        match self.nodes.get_mut(next as usize) {
            Some(behind) => behind.prev = prev,
            None => list.tail = prev,
        }
        Some(Queued { packet, since, size })
    }

    /// Takes the youngest packet of `list`; `None` if it is empty.
    pub fn pop_back(&mut self, list: &mut List) -> Option<Queued<P>> {
        let index = list.tail;
        let node = self.nodes.get_mut(index as usize)?;
        let (packet, since, size, prev) = (node.packet.take()?, node.since, node.size, node.prev);
        node.next = self.free;
        self.free = index;
        list.tail = prev;
        if prev == NIL {
            list.head = NIL;
        } else {
            self.nodes[prev as usize].next = NIL;
        }
        Some(Queued { packet, since, size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(packet: u32) -> Queued<u32> {
        Queued {
            packet,
            since: Time::from_nanos(u64::from(packet)),
            size: Bytes::new(1),
        }
    }

    #[test]
    fn lists_in_one_slab_do_not_disturb_each_other() {
        let (mut slab, mut a, mut b) = (Slab::new(), List::EMPTY, List::EMPTY);
        for i in 0..6 {
            slab.push_back(if i % 2 == 0 { &mut a } else { &mut b }, queued(i));
        }
        assert_eq!(slab.front(b), Some((&1, Time::from_nanos(1))));
        assert_eq!(slab.pop_front(&mut a), Some(queued(0)));
        assert_eq!(slab.front(a), Some((&2, Time::from_nanos(2))));
        assert_eq!(slab.front(List::EMPTY), None);
        assert_eq!(slab.pop_back(&mut b), Some(queued(5)));
        slab.push_back(&mut b, queued(7));
        assert_eq!(
            [slab.pop_front(&mut a), slab.pop_front(&mut a), slab.pop_front(&mut a)],
            [Some(queued(2)), Some(queued(4)), None]
        );
        assert_eq!(
            [slab.pop_front(&mut b), slab.pop_front(&mut b), slab.pop_front(&mut b)],
            [Some(queued(1)), Some(queued(3)), Some(queued(7))]
        );
        assert!(a.is_empty() && b.is_empty());
        assert_eq!(slab.pop_back(&mut a), None);
    }

    #[test]
    fn a_packet_is_taken_out_of_the_middle() {
        let (mut slab, mut list) = (Slab::new(), List::EMPTY);
        for i in 0..5 {
            slab.push_back(&mut list, queued(i));
        }
        for (packet, left) in [(2, vec![0, 1, 3, 4]), (0, vec![1, 3, 4]), (4, vec![1, 3])] {
            let place = slab.iter(list).find(|&(_, &p)| p == packet).map(|(place, _)| place);
            assert_eq!(slab.remove(&mut list, place.unwrap()), Some(queued(packet)));
            assert_eq!(slab.iter(list).map(|(_, &p)| p).collect::<Vec<_>>(), left);
        }
        assert_eq!(slab.pop_back(&mut list), Some(queued(3)));
        slab.push_back(&mut list, queued(7));
        assert_eq!(
            [slab.pop_front(&mut list), slab.pop_front(&mut list)],
            [1, 7].map(|p| Some(queued(p)))
        );
        assert!(list.is_empty() && list.last().is_none());
    }

    #[test]
    fn nodes_are_used_again() {
        let (mut slab, mut list) = (Slab::new(), List::EMPTY);
        for i in 0..100 {
            slab.push_back(&mut list, queued(i));
            slab.push_back(&mut list, queued(i));
            slab.pop_front(&mut list);
            slab.pop_back(&mut list);
        }
        assert_eq!(slab.nodes.len(), 2);
    }
}
