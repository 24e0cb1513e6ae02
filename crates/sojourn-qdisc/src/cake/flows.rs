//! Flows and hosts: which queue a packet goes to, and how many bulk flows its hosts have.
//!
//! Source: Linux 6.1 `sch_cake.c`: `cake_hash`, `cake_get_flow_quantum`, and the functions that count bulk flows of a
//! host. A flow has eight queues to choose from (a set). It gets its own place in the set if that is free, else another
//! free one. Only if all eight are taken does it share one.
//!
//! Deviation: the kernel finds its own hashes of addresses and ports, with a seed. Here a packet tells them:
//! `flow_hash`, `source` and `destination`.

use super::cobalt::Cobalt;
use super::params::CakeFlowMode;
use crate::Packet;
use crate::slab::{List, NIL};
use sojourn_units::Stream;

/// Queues of a tin, and places for hosts of it.
pub(super) const QUEUES: usize = 1024;
/// Places in a set.
const WAYS: usize = 8;

/// How often a packet was not in its flow's own place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ways {
    /// Its flow had another place of the set.
    pub(super) hits: u64,
    /// Its flow got a free place.
    pub(super) misses: u64,
    /// All places were taken.
    pub(super) collisions: u64,
}

/// What a queue is to the scheduler of its tin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    /// It has no packets and no state: it belongs to nobody.
    None,
    /// Its flow sends little.
    Sparse,
    /// It is empty and in the round of bulk flows, but counts as sparse.
    SparseWait,
    /// Its flow sends all the time.
    Bulk,
    /// It is empty, and its state is still remembered.
    Decaying,
}

/// One queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) packets: List,
    /// The hash of the flow whose packets go here.
    tag: u32,
    pub(super) set: Set,
    /// Places of its hosts.
    source: u16,
    destination: u16,
    next: u32,
    prev: u32,
    pub(super) deficit: i64,
    /// Bytes that it holds.
    pub(super) backlog: u64,
    pub(super) cobalt: Cobalt,
}

/// A host, as a source and as a destination.
#[derive(Clone, Copy, Debug, Default)]
struct Host {
    source: Place,
    destination: Place,
}

/// The hash of an address, and how many bulk flows it has.
#[derive(Clone, Copy, Debug)]
struct Place {
    tag: u32,
    bulk_flows: u16,
    /// What each of them has of a quantum, of 65,535.
    share: u16,
}

/// A whole quantum.
const WHOLE: u16 = 65_535;

impl Default for Place {
    fn default() -> Self {
        Self {
            tag: 0,
            bulk_flows: 0,
            share: WHOLE,
        }
    }
}

impl Place {
    fn add(&mut self) {
        self.set((self.bulk_flows + 1).min(QUEUES as u16));
    }

    fn remove(&mut self) {
        self.set(self.bulk_flows.saturating_sub(1));
    }

    fn set(&mut self, bulk_flows: u16) {
        self.bulk_flows = bulk_flows;
        self.share = WHOLE / bulk_flows.max(1);
    }
}

/// A list of queues of one tin, in the order of service.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowList {
    head: u32,
    tail: u32,
}

impl FlowList {
    pub(super) const EMPTY: Self = Self { head: NIL, tail: NIL };

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.head == NIL
    }

    /// The queue whose turn it is.
    #[inline]
    pub(super) fn first(self) -> Option<usize> {
        (self.head != NIL).then_some(self.head as usize)
    }

    #[inline]
    pub(super) fn push_back(&mut self, flows: &mut [Flow], index: usize) {
        let flow = &mut flows[index];
        (flow.next, flow.prev) = (NIL, self.tail);
        match self.tail {
            NIL => self.head = index as u32,
            tail => flows[tail as usize].next = index as u32,
        }
        self.tail = index as u32;
    }

    /// Queues before queue `index` go behind the others, in their order.
    #[inline]
    fn rotate(&mut self, flows: &mut [Flow], index: u32) {
        let before = std::mem::replace(&mut flows[index as usize].prev, NIL);
        if before == NIL {
            return;
        }
        flows[before as usize].next = NIL;
        flows[self.tail as usize].next = self.head;
        flows[self.head as usize].prev = self.tail;
        (self.head, self.tail) = (index, before);
    }

    #[inline]
    pub(super) fn remove(&mut self, flows: &mut [Flow], index: usize) {
        let (next, prev) = (flows[index].next, flows[index].prev);
        match prev {
            NIL => self.head = next,
            prev => flows[prev as usize].next = next,
        }
        match next {
            NIL => self.tail = prev,
            next => flows[next as usize].prev = prev,
        }
    }
}

/// The queues of all tins, those of tin t from `t * QUEUES` on, and the places of hosts likewise.
#[derive(Clone, Debug)]
pub(super) struct Flows {
    pub(super) all: Vec<Flow>,
    /// None if no mode looks at hosts.
    hosts: Vec<Host>,
    mode: CakeFlowMode,
}

impl Flows {
    /// All queues of `tins` tins, empty.
    pub(super) fn new(mode: CakeFlowMode, tins: usize) -> Self {
        let flow = Flow {
            packets: List::EMPTY,
            tag: 0,
            set: Set::None,
            source: 0,
            destination: 0,
            next: NIL,
            prev: NIL,
            deficit: 0,
            backlog: 0,
            cobalt: Cobalt::NEW,
        };
        let hosts = if mode.shares_by_source() || mode.shares_by_destination() {
            tins * QUEUES
        } else {
            0
        };
        Self {
            all: vec![flow; tins * QUEUES],
            hosts: vec![Host::default(); hosts],
            mode,
        }
    }

    /// The queue of a packet in tin `tin`.
    #[inline]
    pub(super) fn find<P: Packet>(&mut self, packet: &P, tin: usize, ways: &mut Ways) -> usize {
        use CakeFlowMode::{Dsthost, Flowblind, Hosts, Srchost};
        let hash = match self.mode {
            Flowblind => return tin * QUEUES,
            Srchost => packet.source(),
            Dsthost => packet.destination(),
            Hosts => packet.source() ^ packet.destination(),
            _ => packet.flow_hash(),
        };
        let index = tin * QUEUES + hash as usize % QUEUES;
        let flow = &self.all[index];
        if flow.tag == hash && flow.set != Set::None {
            return index;
        }
        self.search(packet, tin, hash, ways)
    }

    /// The queue of a packet that is not in its flow's own place.
    #[inline(never)]
    fn search<P: Packet>(&mut self, packet: &P, tin: usize, hash: u32, ways: &mut Ways) -> usize {
        let base = tin * QUEUES;
        let (set, way) = set_of(hash);
        let all = || (0..WAYS).map(move |i| base + set + (way + i) % WAYS);
        let mut new = true;
        let index = if let Some(index) = all().find(|&k| self.all[k].tag == hash) {
            ways.hits += u64::from(index != base + set + way);
            new = self.all[index].set == Set::None;
            index
        } else if let Some(index) = all().find(|&k| self.all[k].set == Set::None) {
            ways.misses += 1;
            index
        } else {
            // It shares the queue that would be its own, and that queue is now of its hosts.
            ways.collisions += 1;
            let index = base + set + way;
            if self.all[index].set == Set::Bulk {
                self.remove_bulk(tin, index);
            }
            index
        };
        self.all[index].tag = hash;
        if new {
            self.settle(packet, tin, index);
        }
        index
    }

    /// The queue is of this packet's hosts.
    fn settle<P: Packet>(&mut self, packet: &P, tin: usize, index: usize) {
        let base = tin * QUEUES;
        let Some(hosts) = self.hosts.get_mut(base..base + QUEUES) else {
            return;
        };
        let flow = &mut self.all[index];
        if self.mode.shares_by_source() {
            flow.source = host_place(hosts, packet.source(), |host| &mut host.source);
            if flow.set == Set::Bulk {
                hosts[usize::from(flow.source)].source.add();
            }
        }
        if self.mode.shares_by_destination() {
            flow.destination = host_place(hosts, packet.destination(), |host| &mut host.destination);
            if flow.set == Set::Bulk {
                hosts[usize::from(flow.destination)].destination.add();
            }
        }
    }

    /// The hosts of a queue have a bulk flow more.
    #[inline]
    pub(super) fn add_bulk(&mut self, tin: usize, index: usize) {
        self.count_bulk(tin, index, Place::add);
    }

    /// The hosts of a queue have a bulk flow less.
    #[inline]
    pub(super) fn remove_bulk(&mut self, tin: usize, index: usize) {
        self.count_bulk(tin, index, Place::remove);
    }

    #[inline]
    fn count_bulk(&mut self, tin: usize, index: usize, count: fn(&mut Place)) {
        let flow = &self.all[index];
        if self.mode.shares_by_source() {
            count(&mut self.hosts[tin * QUEUES + usize::from(flow.source)].source);
        }
        if self.mode.shares_by_destination() {
            count(&mut self.hosts[tin * QUEUES + usize::from(flow.destination)].destination);
        }
    }

    /// The bytes that a queue may send in its round: the quantum of its tin, divided by the bulk flows of its busier host.
    ///
    /// A random number rounds up or down, so that the mean is exact; the kernel draws 16 bits for it.
    #[inline]
    pub(super) fn quantum(&self, tin: usize, whole: u32, index: usize, stream: &mut Stream) -> i64 {
        let hosts = Hosts::of(self.mode, &self.hosts, tin);
        dithered(whole * hosts.share(&self.all[index]), stream)
    }

    /// Gives the queues of `list` their quanta, turn by turn, until it is the turn of one that may send, or of one whose
    /// flow counts as sparse. With many bulk flows at a host a packet takes as many turns.
    #[inline(never)]
    pub(super) fn go_round(&mut self, tin: usize, whole: u32, list: &mut FlowList, stream: &mut Stream) {
        let hosts = Hosts::of(self.mode, &self.hosts, tin);
        let (all, mut draws) = (&mut *self.all, stream.clone());
        let mut index = list.head;
        loop {
            let flow = &mut all[index as usize];
            if flow.deficit > 0 || flow.set == Set::Sparse {
                break;
            }
            flow.deficit += dithered(whole * hosts.share(flow), &mut draws);
            index = if flow.next == NIL { list.head } else { flow.next };
        }
        *stream = draws;
        list.rotate(all, index);
    }
}

/// The hosts of a tin, in a mode that shares by some of them.
struct Hosts<'a> {
    places: &'a [Host],
    by_source: bool,
    by_destination: bool,
}

impl<'a> Hosts<'a> {
    #[inline]
    fn of(mode: CakeFlowMode, all: &'a [Host], tin: usize) -> Self {
        Self {
            places: all.get(tin * QUEUES..(tin + 1) * QUEUES).unwrap_or_default(),
            by_source: mode.shares_by_source(),
            by_destination: mode.shares_by_destination(),
        }
    }

    /// What a queue has of a quantum.
    #[inline]
    fn share(&self, flow: &Flow) -> u32 {
        let mut share = WHOLE;
        if self.by_source {
            share = share.min(self.places[usize::from(flow.source)].source.share);
        }
        if self.by_destination {
            share = share.min(self.places[usize::from(flow.destination)].destination.share);
        }
        u32::from(share)
    }
}

/// So many bytes of 2^16th, rounded up or down by 16 random bits.
#[inline]
fn dithered(bytes: u32, stream: &mut Stream) -> i64 {
    i64::from((bytes + (stream.u32() >> 16)) >> 16)
}

/// The first queue of a hash's set, and the hash's own place in it.
const fn set_of(hash: u32) -> (usize, usize) {
    let reduced = hash as usize % QUEUES;
    (reduced - reduced % WAYS, reduced % WAYS)
}

/// The place of a host: the one that it has, one without bulk flows, or in want of these its own.
fn host_place(hosts: &mut [Host], hash: u32, side: impl Fn(&mut Host) -> &mut Place) -> u16 {
    let (set, way) = set_of(hash);
    let ways = || (0..WAYS).map(move |i| set + (way + i) % WAYS);
    let mut found = ways().find(|&k| side(&mut hosts[k]).tag == hash);
    if found.is_none() {
        let free = ways().find(|&k| side(&mut hosts[k]).bulk_flows == 0);
        let place = free.unwrap_or(set + way);
        side(&mut hosts[place]).tag = hash;
        found = Some(place);
    }
    found.unwrap_or(0) as u16
}
