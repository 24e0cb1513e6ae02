//! The end of an aggregate: what arrived, what is sent again, what is given up.

use super::Transmitter;
use super::sender::Peer;
use super::source::Source;
use crate::{AccessCategory, Frame, FrameSink, NodeId, PeerTid, Tid, WifiPacket};
use sojourn_qdisc::{DropReason, Dropped};
use sojourn_units::{Duration, Time};

/// What became of the frames of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// For whom they were.
    pub peer: NodeId,
    /// Their traffic identifier.
    pub tid: Tid,
    /// How many arrived.
    pub arrived: u32,
    /// How many will be sent again.
    pub retried: u32,
    /// How many were given up.
    pub given_up: u32,
    /// The start of the Block Ack window, if the receiver must be told by a BlockAckReq: the window has moved over
    /// frames that were given up, for which the receiver would wait.
    pub window_start: Option<u16>,
}

impl<P: WifiPacket> Transmitter<P> {
    /// The aggregate at the head of `category` was sent and took `airtime`. Bit i of `received` says that its frame i
    /// arrived; none says that there was no answer. Frames that arrived are appended to `arrived` in order; the
    /// others are sent again, or dropped if they were sent as often as may be.
    ///
    /// A frame that failed goes into its TID's retry queue and leads the next aggregate built; one that was built
    /// already goes before it, so the receiver sees gaps. Deviation: voice frames are no part of a Block Ack
    /// agreement in Linux, and the hardware sends one again before any other: here too, so that it stays at the
    /// head, at the rate of the moment.
    ///
    /// # Panics
    /// If the hardware queue is empty.
    pub fn completed(
        &mut self,
        category: AccessCategory,
        received: u64,
        airtime: Duration,
        now: Time,
        arrived: &mut Vec<Frame<P>>,
        drops: &mut dyn FrameSink<P>,
    ) -> Completion {
        let sender = &mut self.sender;
        let hardware = &mut sender.hardware[category.index()];
        let mut aggregate = hardware
            .pop_front()
            .expect("only what is in the hardware queue can be sent");
        let (peer, tid) = (aggregate.peer, aggregate.tid);
        let place = self.places[usize::from(peer.0)].expect("aggregates are built for peers only");
        let peer_tid = PeerTid { peer: place, tid };
        if sender.pending.counts_aggregates() {
            sender.pending.remove(place, category, aggregate.airtime);
        }
        sender.deferral.ended(category);
        let Peer { stats, latency, .. } = &mut sender.peers[usize::from(place)];
        let originator = &mut sender.originators[peer_tid.index()];

        stats.airtime_tx += airtime;
        stats.aggregates += 1;
        stats.transmissions += aggregate.frames.len() as u64;
        if sender.spec.airtime_tx {
            self.scheduler.charge(place, category, airtime, now);
        }
        let mut arrived_bytes = 0;
        let mut completion = Completion {
            peer,
            tid,
            arrived: 0,
            retried: 0,
            given_up: 0,
            window_start: None,
        };
        for (i, mut frame) in aggregate.frames.drain(..).enumerate() {
            stats.bytes += frame.size;
            stats.retries += u64::from(frame.transmissions > 0);
            frame.transmissions += 1;
            let pending = frame.pending;
            if received >> i & 1 == 1 {
                sender.pending.remove(place, category, pending);
                originator.acknowledged(frame.sequence);
                completion.arrived += 1;
                arrived_bytes += frame.size.get();
                arrived.push(frame);
            } else if frame.transmissions >= sender.spec.retries
                || sender.retry_age.expires(&frame, peer_tid, now, latency)
            {
                sender.pending.remove(place, category, pending);
                originator.give_up(frame.sequence);
                completion.given_up += 1;
                let drop = Dropped {
                    packet: frame.packet,
                    reason: DropReason::RetryLimit,
                    sojourn: now.since(frame.enqueued),
                };
                drops.dropped(peer, drop);
            } else {
                completion.retried += 1;
                originator.retry(frame);
            }
        }
        stats.given_up += u64::from(completion.given_up);
        self.scheduler.arrived(place, arrived_bytes);
        completion.window_start = originator.advance();
        if category == AccessCategory::Voice
            && let Some(frame) = originator.take_retry()
        {
            let limits = &sender.peers[usize::from(place)].limits;
            (aggregate.rate, aggregate.airtime) = (limits.rate, limits.single(frame.size));
            aggregate.frames.push(frame);
            if sender.pending.counts_aggregates() {
                sender.pending.add(place, category, aggregate.airtime);
            }
            sender.hardware[category.index()].push_front(aggregate);
        } else {
            sender.spare.push(aggregate.frames);
        }
        sender.note_taken(place, category);
        if let Source::Driver(driver) = &mut sender.source {
            driver.completed(category, completion.arrived + completion.given_up);
        }
        if completion.retried > 0 {
            self.scheduler.wake(place, category, now);
            self.sender.hold_voice(place, category);
        }
        if self.couples_categories() {
            for category in AccessCategory::ALL {
                self.schedule(category, now, drops);
            }
        } else {
            self.schedule(category, now, drops);
        }
        // The driver builds in the interrupt that ends an aggregate; that lets the discipline go on, later, in a
        // softirq. So the frames that take the places of those that left miss this turn. Source: ath9k
        // `ath_tx_process_buffer`, `ath_txq_schedule`; mac80211 `ieee80211_wake_queue`, `__netif_schedule`.
        self.refill(category, now, drops);
        completion
    }
}
