//! Voice frames that ride at the head of a station's other aggregates.

use crate::PeerTid;
use crate::retry::Originator;
use crate::{AccessCategory, FrameSink, WifiQueues};
use sojourn_qdisc::{Packet, Queued};
use sojourn_units::Time;

/// The voice packets of a station on their way into an aggregate of another category, in front of its own packets.
///
/// They are taken from their queues as for a transmission of their own, and get the traffic identifier, the sequence
/// numbers and the rest of the fate of the aggregate's frames: so they come after frames that are sent again, and
/// their airtime is charged to the aggregate's category. A packet that finds no room waits as the next voice packet.
///
/// Only what is still queued rides. What is in the hardware queue of voice already may be sent before or after it: so
/// packets of one voice flow can overtake each other, which no reorder buffer sees, because it is kept by TID.
///
/// Voice is soon sent, so hardly any is queued when an aggregate is built. With [`crate::Policies::vo_hold`] a
/// station's voice waits for one, while the station has other data queued and no more voice than that; then it goes
/// by itself.
///
/// Source: seed 002 section 4.3, "Improved network efficiency". How contended the medium is does not enter.
pub(crate) struct Riders<P> {
    /// How many may still ride.
    left: u32,
    taken: u64,
    /// The voice packet that found no room before, and its TID.
    held: [Option<Queued<P>>; 2],
    /// The aggregate's own packet that found no room before.
    own: Option<Queued<P>>,
    /// The TID whose packet was given last; `None` for the aggregate's own.
    last: Option<usize>,
}

const TIDS: [crate::Tid; 2] = AccessCategory::Voice.tids();

impl<P: Packet> Riders<P> {
    /// Before an aggregate for `to` is built; at most `most` voice packets.
    pub(crate) fn board(most: u32, to: PeerTid, originators: &mut [Originator<P>]) -> Self {
        let voice = TIDS.map(|tid| PeerTid { tid, ..to }.index());
        Self {
            left: most,
            taken: 0,
            held: voice.map(|index| originators[index].held.take()),
            own: originators[to.index()].held.take(),
            last: None,
        }
    }

    /// The next packet of the aggregate.
    pub(crate) fn next(
        &mut self,
        to: PeerTid,
        queues: &mut WifiQueues<P>,
        now: Time,
        drops: &mut dyn FrameSink<P>,
    ) -> Option<Queued<P>> {
        for (i, tid) in TIDS.into_iter().enumerate() {
            if self.left == 0 {
                break;
            }
            let voice = PeerTid { tid, ..to };
            if let Some(queued) = self.held[i].take().or_else(|| queues.dequeue(voice, now, drops)) {
                self.left -= 1;
                self.taken += 1;
                self.last = Some(i);
                return Some(queued);
            }
        }
        self.last = None;
        self.own.take().or_else(|| queues.dequeue(to, now, drops))
    }

    /// After it was built: what found no room goes back to where it came from. Answers how many rode.
    pub(crate) fn alight(mut self, to: PeerTid, originators: &mut [Originator<P>]) -> u64 {
        if let Some(i) = self.last
            && let Some(queued) = originators[to.index()].held.take()
        {
            self.held[i] = Some(queued);
            self.taken -= 1;
        }
        for (tid, held) in TIDS.into_iter().zip(self.held) {
            let voice = PeerTid { tid, ..to };
            originators[voice.index()].held = held;
        }
        if self.own.is_some() {
            originators[to.index()].held = self.own;
        }
        self.taken
    }
}

#[cfg(test)]
mod tests;
