//! `BUILD_AGGREGATE` of seed 002, Algorithm 3.

use crate::retry::Originator;
use crate::{AMPDU_MAX, Aggregate, AmpduLength, Band, Format, Frame, NodeId, PhyRate, Response, Tid, mpdu};
use sojourn_qdisc::{MTU, Queued};
use sojourn_units::{Bytes, Duration, Rate, Time};

/// What bounds the aggregates to one peer at its rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AggregateLimits {
    pub(crate) rate: PhyRate,
    pub(crate) band: Band,
    /// Frames.
    frames: usize,
    /// The longest PSDU of more than one frame.
    psdu: Bytes,
}

impl AggregateLimits {
    /// At most `frames` frames, 65535 bytes, and a PPDU of `time`; one frame whatever it takes. A rate without HT and
    /// VHT has no aggregates.
    pub(crate) fn new(rate: PhyRate, band: Band, frames: u32, time: Duration) -> Self {
        // The PPDU grows with the PSDU: the longest that fits is found by halving, once for each change of rate.
        let (mut fits, mut too_long) = (0, AMPDU_MAX.get() + 1);
        while too_long - fits > 1 {
            let middle = u64::midpoint(fits, too_long);
            if rate.ppdu(Bytes::new(middle), band) <= time {
                fits = middle;
            } else {
                too_long = middle;
            }
        }
        let aggregates = rate.format() != Format::Ofdm;
        Self {
            rate,
            band,
            frames: if aggregates { frames as usize } else { 1 },
            psdu: Bytes::new(fits),
        }
    }

    /// Whether so many frames of this size on average fill an aggregate.
    pub(crate) fn filled_by(self, frames: u64, size: Bytes) -> bool {
        frames >= self.frames as u64 || frames * mpdu(size).get() >= self.psdu.get()
    }

    /// Whether more than one frame can be sent at once.
    pub(crate) const fn aggregates(self) -> bool {
        self.frames > 1
    }

    /// The airtime of an exchange with an aggregate of this length.
    fn airtime(self, length: AmpduLength, first: Bytes) -> Duration {
        if length.mpdus() == 1 {
            self.rate.exchange(self.rate.single(first), Response::Ack, self.band)
        } else {
            self.rate.exchange(length.bytes(), Response::BlockAck, self.band)
        }
    }

    /// The airtime of an exchange with a single frame of this size.
    pub(crate) fn single(self, size: Bytes) -> Duration {
        let mut length = AmpduLength::default();
        length.push(mpdu(size));
        self.airtime(length, mpdu(size))
    }

    /// What a peer can receive from an idle medium: full frames in full aggregates, each after AIFS and mean backoff
    /// of best effort.
    ///
    /// Deviation: mac80211 takes the expected throughput of its rate control, which estimates the same with an
    /// average aggregate.
    pub(crate) fn expected_throughput(self) -> Rate {
        let frame = mpdu(MTU);
        let mut length = AmpduLength::default();
        length.push(frame);
        while usize::from(length.mpdus()) < self.frames && length.with(frame) <= self.psdu {
            length.push(frame);
        }
        let backoff = self.band.slot() * 15 / 2;
        let time = self.airtime(length, frame) + self.band.aifs(3) + backoff;
        let bits = u64::from(length.mpdus()) * (MTU.get() - 14) * 8;
        Rate::from_bps(bits * 1_000_000_000 / time.as_nanos())
    }
}

/// Builds one full aggregate of one TID: the frames to be sent again, then new ones from `next_packet` (with what
/// limits of airtime count for them), which get their sequence numbers here. `None` if there is nothing that may be
/// sent, or if everything was dropped.
///
/// At most `most` frames, and what `limits` says. A new frame is never 64 or more ahead of the oldest unsettled one.
/// A packet that does not fit any more is held for the next aggregate.
///
/// `frames` is an empty vector to be used for the aggregate; it is given back if there is none.
pub(crate) fn build<P>(
    (peer, tid): (NodeId, Tid),
    limits: &AggregateLimits,
    most: usize,
    originator: &mut Originator<P>,
    mut next_packet: impl FnMut() -> Option<(Queued<P>, Duration)>,
    now: Time,
    mut frames: Vec<Frame<P>>,
) -> Result<Aggregate<P>, Vec<Frame<P>>> {
    let most = most.min(limits.frames);
    let mut length = AmpduLength::default();
    let fits = |length: AmpduLength, size: Bytes| length.mpdus() == 0 || length.with(mpdu(size)) <= limits.psdu;
    while frames.len() < most {
        let frame = if let Some(retry) = originator.next_retry() {
            if !fits(length, retry.size) {
                break;
            }
            let Some(frame) = originator.take_retry() else { break };
            frame
        } else {
            if !originator.window_is_open() {
                break;
            }
            let held = originator.held.take();
            let held = held.map(|queued| (queued, originator.held_pending));
            let Some((queued, pending)) = held.or_else(&mut next_packet) else {
                break;
            };
            if !fits(length, queued.size) {
                originator.held = Some(queued);
                originator.held_pending = pending;
                break;
            }
            Frame {
                packet: queued.packet,
                peer,
                tid,
                size: queued.size,
                enqueued: queued.since,
                dequeued: now,
                sequence: originator.assign(),
                transmissions: 0,
                pending,
            }
        };
        length.push(mpdu(frame.size));
        frames.push(frame);
    }
    let Some(first) = frames.first() else {
        return Err(frames);
    };
    Ok(Aggregate {
        peer,
        tid,
        rate: limits.rate,
        airtime: limits.airtime(length, mpdu(first.size)),
        single: frames.len() == 1,
        frames,
    })
}

#[cfg(test)]
mod tests;
