//! Building aggregates at one moment, as the scheduler asks for them.

use super::sender::{Sender, tids};
use super::source::Source;
use crate::aggregate::build;
use crate::policy::SharedDriver;
use crate::vo_in_aggregate::Riders;
use crate::{AccessCategory, Driver, FrameSink, PeerTid, WifiPacket};
use sojourn_units::{Duration, Time};
use std::collections::VecDeque;

/// The sender at one moment.
pub(super) struct Building<'a, P> {
    sender: &'a mut Sender<P>,
    /// Whether any station with something to send has room below the queues.
    room: bool,
    now: Time,
    drops: &'a mut dyn FrameSink<P>,
}

impl<'a, P: WifiPacket> Building<'a, P> {
    #[inline]
    pub(super) fn new(
        sender: &'a mut Sender<P>,
        category: AccessCategory,
        now: Time,
        drops: &'a mut dyn FrameSink<P>,
    ) -> Self {
        Self {
            room: sender.any_has_room(category),
            sender,
            now,
            drops,
        }
    }
}

impl<P: WifiPacket> Driver for Building<'_, P> {
    #[inline]
    fn hardware_queue_is_full(&self, category: AccessCategory) -> bool {
        let sender = &*self.sender;
        let places = sender
            .deferral
            .places(category, sender.spec.hardware_queue as usize, self.now);
        !self.room || sender.hardware[category.index()].len() >= places
    }

    #[inline]
    fn pending(&self, station: u16, category: AccessCategory) -> Duration {
        self.sender.pending.of(station, category)
    }

    #[inline]
    fn has_room(&self, station: u16, category: AccessCategory) -> bool {
        self.sender.has_room(station, category)
    }

    fn held_back(&mut self, category: AccessCategory) -> Option<u16> {
        self.sender.held_back(category)
    }

    fn may_schedule(&self, category: AccessCategory, listed: usize) -> bool {
        let pending = &self.sender.pending;
        pending.may_schedule(category, listed) || self.sender.hardware[category.index()].is_empty()
    }

    #[inline]
    fn queue_is_empty(&self, station: u16, category: AccessCategory) -> bool {
        let empty = !tids(station, category).any(|of| self.sender.has_packets(of));
        empty || category == AccessCategory::Voice && self.sender.holds_voice(station)
    }

    #[inline]
    fn window_is_closed(&self, station: u16, category: AccessCategory) -> bool {
        self.sender.window_is_closed(station, category)
    }

    /// The two TIDs of the access category take turns. Voice is not aggregated.
    fn build_aggregate(&mut self, station: u16, category: AccessCategory) {
        let (now, drops) = (self.now, &mut *self.drops);
        let turn = self.sender.peers[usize::from(station)].turn[category.index()];
        let tids = [turn, 1 - turn].map(|i| PeerTid {
            peer: station,
            tid: category.tids()[i],
        });
        let from = if self.sender.can_send(tids[0]) {
            tids[0]
        } else {
            tids[1]
        };
        let is_dense = self.sender.is_dense(category);
        let Sender {
            spec,
            peers,
            source,
            originators,
            hardware,
            spare,
            pending,
            dense,
            ..
        } = &mut *self.sender;
        let peer = &mut peers[usize::from(station)];
        peer.turn[category.index()] = if from == tids[0] { 1 - turn } else { turn };
        let most = match category {
            AccessCategory::Voice => 1,
            _ => spec.aggregate_frames as usize,
        };
        let rate = peer.limits.rate;
        let mut riders = match spec.policies.vo_in_aggregate {
            Some(most_riders) if category != AccessCategory::Voice && peer.limits.aggregates() => {
                Some(Riders::board(most_riders, from, originators))
            }
            _ => None,
        };
        let next_packet = || {
            if !pending.counts_aggregates() && !pending.has_room(station, category) {
                return None;
            }
            let queued = match (&mut *source, &mut riders) {
                (Source::Driver(driver), _) => driver.dequeue(from),
                (Source::Queues(queues), None) => queues.dequeue(from, now, drops),
                (Source::Queues(queues), Some(riders)) => riders.next(from, queues, now, drops),
            }?;
            let estimate = pending.estimate(rate, queued.size, category);
            pending.add(station, category, estimate);
            Some((queued, estimate))
        };
        let limits = match dense {
            Some(dense) if is_dense => dense.limits[usize::from(station)],
            _ => peer.limits,
        };
        let built = build(
            (peer.node, from.tid),
            &limits,
            most,
            &mut originators[from.index()],
            next_packet,
            now,
            spare.pop().unwrap_or_default(),
        );
        if let Some(riders) = riders {
            peer.stats.voice_in_aggregates += riders.alight(from, originators);
        }
        match built {
            Ok(aggregate) => {
                let of_aggregate = if pending.counts_aggregates() {
                    aggregate.airtime
                } else {
                    Duration::ZERO
                };
                let pending = pending.add(station, category, of_aggregate);
                peer.latency.built(pending, is_dense);
                hardware[category.index()].push_back(aggregate);
            }
            Err(frames) => spare.push(frames),
        }
        self.sender.note_taken(station, category);
        self.room = self.sender.any_has_room(category);
    }
}

impl<P: WifiPacket> SharedDriver for Building<'_, P> {
    fn shared_queue_is_full(&self) -> bool {
        let built: usize = self.sender.hardware.iter().map(VecDeque::len).sum();
        let places = self.sender.spec.hardware_queue as usize;
        let mut of_each = AccessCategory::ALL
            .map(|c| self.sender.deferral.places(c, places, self.now))
            .into_iter();
        of_each.any(|places| built >= places)
    }
}
