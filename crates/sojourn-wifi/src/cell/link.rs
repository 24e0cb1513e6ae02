//! One direction of the link between a station and the access point.

use super::{CellSink, FrameTimes};
use crate::rate_control::Learner;
use crate::receiver::Reorder;
use crate::{BLOCK_ACK_WINDOW, Frame, NodeId, PhyRate, RateControl, Tid};
use sojourn_units::{Bytes, Stream, Time};

#[derive(Debug)]
pub(super) struct Link<P> {
    /// The chance that an MPDU is lost.
    error: f64,
    errors: Stream,
    /// The best rate that the link carries.
    best: PhyRate,
    /// The rate of the next aggregate to be built.
    pub(super) rate: PhyRate,
    pub(super) learner: Option<Learner>,
    /// The receiver's buffers by TID, once one is needed.
    reorder: [Option<Reorder<P>>; 8],
    pub(super) collisions: u64,
    pub(super) packets: u64,
    pub(super) bytes: Bytes,
}

impl<P> Link<P> {
    /// `name` names the stream of errors.
    pub(super) fn new(best: PhyRate, error: f64, rate_control: RateControl, seed: u64, name: &str) -> Self {
        let learner = match rate_control {
            RateControl::Fixed => None,
            RateControl::Simple => Some(Learner::new(best)),
        };
        Self {
            error,
            errors: Stream::named(seed, name),
            best,
            rate: learner.as_ref().map_or(best, Learner::first),
            learner,
            reorder: [const { None }; 8],
            collisions: 0,
            packets: 0,
            bytes: Bytes::ZERO,
        }
    }

    /// Which of `mpdus` MPDUs sent at `rate` arrive: bit i for number i.
    pub(super) fn draw(&mut self, rate: PhyRate, mpdus: usize) -> u64 {
        debug_assert!((1..=usize::from(BLOCK_ACK_WINDOW)).contains(&mpdus));
        if rate.nominal() > self.best.nominal() {
            return 0;
        }
        if self.error <= 0.0 {
            return u64::MAX >> (64 - mpdus);
        }
        (0..mpdus).fold(0, |received, i| {
            received | u64::from(self.errors.unit() >= self.error) << i
        })
    }

    /// Takes what arrived, and releases to `sink` what is in order. `window_start` is told after it.
    pub(super) fn receive(
        &mut self,
        (from, to): (NodeId, NodeId),
        tid: Tid,
        arrived: &mut Vec<Frame<P>>,
        window_start: Option<u16>,
        now: Time,
        sink: &mut dyn CellSink<P>,
    ) {
        let reorder = self.reorder[usize::from(tid.value())].get_or_insert_default();
        let (packets, bytes) = (&mut self.packets, &mut self.bytes);
        let mut release = |frame: Frame<P>, received: Time| {
            *packets += 1;
            *bytes += frame.size;
            let times = FrameTimes {
                enqueued: frame.enqueued,
                dequeued: frame.dequeued,
                received,
                delivered: now,
                transmissions: frame.transmissions,
            };
            sink.delivered(from, to, frame.packet, times);
        };
        for frame in arrived.drain(..) {
            let duplicate = reorder.receive(frame, now, &mut release);
            debug_assert!(duplicate.is_none(), "answers are not lost, so nothing arrives twice");
        }
        if let Some(start) = window_start {
            reorder.announced(start, &mut release);
        }
    }

    /// Packets that wait for others before them.
    pub(super) fn held(&self) -> u64 {
        self.reorder
            .iter()
            .flatten()
            .map(|reorder| u64::from(reorder.holds()))
            .sum()
    }

    pub(super) fn begin(&mut self) {
        (self.collisions, self.packets, self.bytes) = (0, 0, Bytes::ZERO);
    }
}
