//! FIFOs: `pfifo`, `bfifo` and `pfifo_fast`.
//!
//! Source: seed 000 section 4.1; Linux `sch_fifo.c` and `pfifo_fast` of `sch_generic.c`.

mod descriptor;
mod ring;
#[cfg(test)]
mod tests;

pub(crate) use descriptor::{Bfifo, Pfifo};

use crate::ledger::Ledger;
use crate::param::in_range;
use crate::{Admission, Backlog, Departure, DropReason, DropSink, Packet, ParamError, Qdisc, QdiscStats, Queued};
use ring::Places;
use sojourn_units::{Bytes, Time, words};
use std::collections::VecDeque;

/// Linux's default transmit queue length of an Ethernet device, the limit of `pfifo` and of a band of `pfifo_fast`.
pub const TX_QUEUE_LEN: u32 = 1000;
/// An Ethernet frame of 1500 bytes of IP with its header, as `tc` counts: `psched_mtu` of an Ethernet device.
pub const MTU: Bytes = Bytes::new(1514);

/// What a FIFO's limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FifoLimit {
    /// `pfifo`: packets; an arrival is refused when so many are queued.
    Packets(u32),
    /// `bfifo`: bytes; an arrival is refused when it would exceed them.
    Bytes(Bytes),
}

impl FifoLimit {
    /// Checks the limit.
    ///
    /// # Errors
    /// [`ParamError`] unless it is above zero.
    pub fn validate(self) -> Result<(), ParamError> {
        match self {
            Self::Packets(n) => in_range("pfifo", "limit", u64::from(n), 1, u64::from(u32::MAX)),
            Self::Bytes(n) => in_range("bfifo", "limit", n.get(), 1, u64::from(u32::MAX)),
        }
    }
}

/// `pfifo` or `bfifo`: one queue, arrivals beyond the limit are refused (tail drop).
#[derive(Clone, Debug)]
pub struct Fifo<P> {
    limit: FifoLimit,
    ring: VecDeque<Queued<P>>,
    ledger: Ledger,
}

impl<P: Packet> Fifo<P> {
    /// An empty queue.
    ///
    /// # Errors
    /// [`ParamError`] if the limit is zero.
    pub fn new(limit: FifoLimit) -> Result<Self, ParamError> {
        limit.validate()?;
        Ok(Self {
            limit,
            ring: VecDeque::new(),
            ledger: Ledger::default(),
        })
    }

    /// Its limit.
    #[must_use]
    pub fn limit(&self) -> FifoLimit {
        self.limit
    }
}

impl<P: Packet> Qdisc<P> for Fifo<P> {
    #[inline]
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        self.ledger.arrive();
        let size = packet.size();
        let fits = match self.limit {
            FifoLimit::Packets(n) => self.ledger.backlog.packets < u64::from(n),
            FifoLimit::Bytes(n) => self.ledger.backlog.bytes + size <= n,
        };
        if !fits {
            return self.ledger.refuse(packet, DropReason::QueueLimit, drops);
        }
        self.ledger.enter(size);
        self.ring.push_back(Queued::new(packet, now));
        Admission::Queued
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
        let queued = self.ring.pop_front()?;
        self.ledger.leave(queued.size);
        self.ledger.send(queued.size);
        Some(queued.depart(now, false))
    }

    fn ready_at(&mut self, now: Time, _drops: &mut dyn DropSink<P>) -> Option<Time> {
        (!self.ring.is_empty()).then_some(now)
    }

    #[inline]
    fn peek_size(&self) -> Option<Bytes> {
        self.ring.front().map(|queued| queued.size)
    }

    /// It does if no packet waits, unless one of that size alone exceeds the limit.
    #[inline]
    fn lets_pass(&self, size: Bytes) -> bool {
        let fits = match self.limit {
            FifoLimit::Packets(_) => true,
            FifoLimit::Bytes(n) => size <= n,
        };
        fits && self.ring.is_empty()
    }

    #[inline]
    fn passed(&mut self, size: Bytes) {
        self.ledger.arrive();
        self.ledger.send(size);
    }

    fn backlog(&self) -> Backlog {
        self.ledger.backlog
    }

    fn stats(&self) -> QdiscStats {
        self.ledger.stats
    }
}

words! {
    /// What the limit of [`PfifoFast`] applies to.
    #[derive(Default)]
    pub enum PfifoFastVariant {
        /// Current Linux (since 4.16): each band has a ring of `limit` places. Of a ring of 32 places or more those that
        /// packets have left can be taken again when 16 of them have, or the last of the ring, and not before: a band
        /// that overflows takes arrivals 16 at a time.
        #[default]
        Linux = "linux",
        /// Linux 3.14: the three bands together hold `limit` packets.
        Linux314 = "linux-3.14",
    }
}

/// Parameters of [`PfifoFast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfifoFastParams {
    /// The device's txqueuelen, packets.
    pub limit: u32,
    /// Whether the bands share it.
    pub variant: PfifoFastVariant,
}

impl Default for PfifoFastParams {
    fn default() -> Self {
        Self {
            limit: TX_QUEUE_LEN,
            variant: PfifoFastVariant::Linux,
        }
    }
}

impl PfifoFastParams {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`ParamError`] unless the limit is above zero.
    pub fn validate(&self) -> Result<(), ParamError> {
        in_range("pfifo_fast", "limit", u64::from(self.limit), 1, u64::from(u32::MAX))
    }
}

/// `pfifo_fast`: three FIFOs by [`Packet::band`]; a packet leaves only while every band above it is empty.
///
/// Deviation: in `tc` the limit is the device's txqueuelen and not a word of the discipline; here it is, as `limit`.
#[derive(Clone, Debug)]
pub struct PfifoFast<P> {
    params: PfifoFastParams,
    bands: [VecDeque<Queued<P>>; 3],
    /// Of the bands, in current Linux.
    places: [Places; 3],
    ledger: Ledger,
}

impl<P: Packet> PfifoFast<P> {
    /// Three empty bands.
    ///
    /// # Errors
    /// [`ParamError`] if the limit is zero.
    pub fn new(params: PfifoFastParams) -> Result<Self, ParamError> {
        params.validate()?;
        Ok(Self {
            params,
            bands: [VecDeque::new(), VecDeque::new(), VecDeque::new()],
            places: [Places::new(params.limit); 3],
            ledger: Ledger::default(),
        })
    }
}

impl<P: Packet> Qdisc<P> for PfifoFast<P> {
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        self.ledger.arrive();
        let band = usize::from(packet.band().min(2));
        let held = match self.params.variant {
            PfifoFastVariant::Linux => self.bands[band].len() as u64 + u64::from(self.places[band].left()),
            PfifoFastVariant::Linux314 => self.ledger.backlog.packets,
        };
        if held >= u64::from(self.params.limit) {
            return self.ledger.refuse(packet, DropReason::QueueLimit, drops);
        }
        let queued = Queued::new(packet, now);
        self.ledger.enter(queued.size);
        self.bands[band].push_back(queued);
        Admission::Queued
    }

    fn dequeue(&mut self, now: Time, _drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
        let mut bands = self.bands.iter_mut().zip(&mut self.places);
        let (queued, places) = bands.find_map(|(band, places)| Some((band.pop_front()?, places)))?;
        places.leave();
        self.ledger.leave(queued.size);
        self.ledger.send(queued.size);
        Some(queued.depart(now, false))
    }

    fn ready_at(&mut self, now: Time, _drops: &mut dyn DropSink<P>) -> Option<Time> {
        (self.ledger.backlog.packets > 0).then_some(now)
    }

    fn peek_size(&self) -> Option<Bytes> {
        self.bands.iter().find_map(VecDeque::front).map(|queued| queued.size)
    }

    fn backlog(&self) -> Backlog {
        self.ledger.backlog
    }

    fn stats(&self) -> QdiscStats {
        self.ledger.stats
    }
}
