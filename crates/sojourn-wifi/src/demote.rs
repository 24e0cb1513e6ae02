//! Soft admission to voice and video: a flow that builds a queue there goes on as best effort.

use crate::{PeerTid, Tid};
use sojourn_units::{Bytes, Duration, Time};

/// How long after its last long wait a flow stays demoted.
const REST: Duration = Duration::from_secs(1);

/// What must still be queued behind a packet that waited long: more than one full frame, as for `CoDel`.
const BEHIND: Bytes = sojourn_qdisc::MTU;

/// Which queues are demoted.
///
/// The rule. A queue that belongs to a voice or video TID is looked at when a packet leaves it: if that packet has
/// waited for longer than `demote`, and more than 1514 bytes are queued behind it, the queue goes over to best effort
/// of the same station, with all that is in it, in order. Packets that come later for a demoted queue join it,
/// whatever their TID of voice or video. While it is demoted, each packet that waits for so long, with as much behind
/// it, renews that. A demoted queue is admitted again when it is empty and that was a second ago.
///
/// The bytes behind spare a voice stream, whose packets are small: one that waits because the air is taken builds no
/// queue of a full frame for many packets.
///
/// Source: seed 002 section 4.3, "Admission control"; the rule is ours, in the spirit of Cake, which measures no rate
/// either.
#[derive(Clone, Debug)]
pub(crate) struct Demotion {
    after: Duration,
    /// By queue: until when it is demoted at least, and whose it was.
    until: Vec<Option<(Time, u16)>>,
    /// Stations whose best effort was given a queue, until the scheduler is told.
    woken: Vec<u16>,
    /// By station: queues demoted.
    counts: Vec<u64>,
}

impl Demotion {
    pub(crate) fn new(after: Duration, queues: usize, peers: usize) -> Self {
        Self {
            after,
            until: vec![None; queues],
            woken: Vec::new(),
            counts: vec![0; peers],
        }
    }

    /// The TID that a packet for `tid` joins, given its queue and whether that is empty and on no list.
    pub(crate) fn admit(&mut self, queue: usize, tid: PeerTid, inactive: bool, now: Time) -> PeerTid {
        let Some((until, peer)) = self.until[queue] else {
            return tid;
        };
        if inactive && now >= until {
            self.until[queue] = None;
            return tid;
        }
        if peer == tid.peer && is_high(tid.tid) {
            PeerTid {
                tid: Tid::BEST_EFFORT,
                ..tid
            }
        } else {
            tid
        }
    }

    /// A packet has left a queue after so long a wait, with so much behind it. Answers whether the queue is to go
    /// over to best effort.
    #[inline]
    pub(crate) fn left(&mut self, queue: usize, tid: PeerTid, sojourn: Duration, behind: u64, now: Time) -> bool {
        if sojourn <= self.after || behind <= BEHIND.get() {
            return false;
        }
        let demoted = matches!(self.until[queue], Some((_, peer)) if peer == tid.peer);
        let high = is_high(tid.tid);
        if high || demoted && tid.tid == Tid::BEST_EFFORT {
            self.until[queue] = Some((now + REST, tid.peer));
        }
        if high {
            self.woken.push(tid.peer);
            self.counts[usize::from(tid.peer)] += 1;
        }
        high
    }

    /// A station whose best effort was given a queue.
    #[inline]
    pub(crate) fn take_woken(&mut self) -> Option<u16> {
        self.woken.pop()
    }

    /// How many queues of a peer were demoted.
    pub(crate) fn count(&self, peer: u16) -> u64 {
        self.counts[usize::from(peer)]
    }

    pub(crate) fn begin(&mut self) {
        self.counts.fill(0);
    }
}

/// Voice or video.
const fn is_high(tid: Tid) -> bool {
    tid.value() >= 4
}

#[cfg(test)]
mod tests;
