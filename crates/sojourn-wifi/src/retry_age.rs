//! Frames given up by their age.

use crate::{AccessCategory, BLOCK_ACK_WINDOW, Frame, LatencySpec, LatencyStats, PeerTid};
use sojourn_units::{Duration, Time};

/// Limits of a frame's age beside the limit of its transmissions: at a low rate, where a transmission takes long,
/// they allow fewer of them, so that frames behind it wait less.
///
/// Source: seed 002 section 4.1, "Reducing the number of retransmissions": "Using a time based limit and optionally
/// including the queue time". They are looked at when a transmission has failed, as the limit of transmissions is; a
/// frame that was young enough then is sent once more, however long it waits for that.
#[derive(Clone, Debug)]
pub(crate) struct RetryAge {
    time: Option<Duration>,
    sojourn: Option<Duration>,
    /// By access category: when the transmission of what is on the air began.
    began: [Time; 4],
    /// By [`PeerTid::index`] and sequence number modulo the window, within which numbers are unique: when a frame's
    /// first transmission began. Empty without `time`.
    first: Vec<[Time; BLOCK_ACK_WINDOW as usize]>,
}

impl RetryAge {
    pub(crate) fn new(spec: &LatencySpec, peers: usize) -> Self {
        let tids = if spec.retry_time.is_some() { peers * 8 } else { 0 };
        Self {
            time: spec.retry_time,
            sojourn: spec.retry_sojourn,
            began: [Time::ZERO; 4],
            first: vec![[Time::ZERO; BLOCK_ACK_WINDOW as usize]; tids],
        }
    }

    /// The head of `category` is on the air.
    pub(crate) fn started(&mut self, category: AccessCategory, now: Time) {
        self.began[category.index()] = now;
    }

    /// The transmission of `frame`, which counts it already, has failed. Answers whether it is too old to be sent
    /// again, and counts it if so.
    #[inline]
    pub(crate) fn expires<P>(&mut self, frame: &Frame<P>, of: PeerTid, now: Time, stats: &mut LatencyStats) -> bool {
        let expires = self.is_too_old(frame, of, now);
        stats.expired += u64::from(expires);
        expires
    }

    #[inline]
    fn is_too_old<P>(&mut self, frame: &Frame<P>, of: PeerTid, now: Time) -> bool {
        if self.sojourn.is_some_and(|most| now.since(frame.enqueued) >= most) {
            return true;
        }
        let Some(most) = self.time else {
            return false;
        };
        let began = self.began[of.tid.access_category().index()];
        let first = &mut self.first[of.index()][usize::from(frame.sequence % BLOCK_ACK_WINDOW)];
        if frame.transmissions == 1 {
            *first = began;
        }
        now.since(*first) >= most
    }
}
