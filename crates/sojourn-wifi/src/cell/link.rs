//! One direction of the link between a station and the access point.

use super::{CellSink, FrameTimes};
use crate::rate_control::Learner;
use crate::receiver::Reorder;
use crate::{BLOCK_ACK_WINDOW, Frame, NodeId, PhyRate, RateControl, Tid, Variant};
use sojourn_qdisc::{DropReason, Dropped};
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
    /// Whether the receiver waits for a frame only so long.
    impatient: bool,
    /// When it gives up waiting next.
    due: Option<Time>,
    pub(super) collisions: u64,
    pub(super) packets: u64,
    pub(super) bytes: Bytes,
}

impl<P> Link<P> {
    /// `name` names the stream of errors; `receiver` is whose buffers they are that restore the order.
    pub(super) fn new(
        best: PhyRate,
        error: f64,
        rate_control: RateControl,
        receiver: Variant,
        seed: u64,
        name: &str,
    ) -> Self {
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
            impatient: receiver == Variant::Linux612,
            due: None,
            collisions: 0,
            packets: 0,
            bytes: Bytes::ZERO,
        }
    }

    /// Which of `mpdus` MPDUs sent at `rate` arrive: bit i for number i. In a fade the chance that one is lost is
    /// that of `fade`.
    pub(super) fn draw(&mut self, rate: PhyRate, mpdus: usize, fade: Option<f64>) -> u64 {
        debug_assert!((1..=usize::from(BLOCK_ACK_WINDOW)).contains(&mpdus));
        if rate.nominal() > self.best.nominal() {
            return 0;
        }
        let error = fade.unwrap_or(self.error);
        if error <= 0.0 {
            return u64::MAX >> (64 - mpdus);
        }
        (0..mpdus).fold(0, |received, i| received | u64::from(self.errors.unit() >= error) << i)
    }

    /// When [`Link::give_up_waiting`] must be called; `None` if nothing waits, or the receiver is patient.
    #[inline]
    pub(super) fn due(&self) -> Option<Time> {
        self.due
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
        let reorder = self.reorder[usize::from(tid.value())].get_or_insert_with(|| Reorder::new(self.impatient));
        let mut books = Books {
            way: (from, to),
            packets: &mut self.packets,
            bytes: &mut self.bytes,
            now,
            sink,
        };
        for frame in arrived.drain(..) {
            if let Some(late) = reorder.receive(frame, now, |frame, received| books.release(frame, received)) {
                debug_assert!(self.impatient, "answers are not lost, so nothing arrives twice");
                books.refuse(late);
            }
        }
        if let Some(start) = window_start {
            reorder.announced(start, |frame, received| books.release(frame, received));
        }
        if self.impatient {
            self.set_due();
        }
    }

    /// The receiver waits no longer for what is due now. To be called at the time of [`Link::due`].
    pub(super) fn give_up_waiting(&mut self, (from, to): (NodeId, NodeId), now: Time, sink: &mut dyn CellSink<P>) {
        let mut books = Books {
            way: (from, to),
            packets: &mut self.packets,
            bytes: &mut self.bytes,
            now,
            sink,
        };
        for reorder in self.reorder.iter_mut().flatten() {
            reorder.give_up_waiting(now, |frame, received| books.release(frame, received));
        }
        self.set_due();
    }

    fn set_due(&mut self) {
        self.due = self.reorder.iter().flatten().filter_map(Reorder::due).min();
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

/// Books what a receiver lets out of its buffers, and passes it on.
struct Books<'a, P> {
    way: (NodeId, NodeId),
    packets: &'a mut u64,
    bytes: &'a mut Bytes,
    now: Time,
    sink: &'a mut dyn CellSink<P>,
}

impl<P> Books<'_, P> {
    fn release(&mut self, frame: Frame<P>, received: Time) {
        *self.packets += 1;
        *self.bytes += frame.size;
        let times = FrameTimes {
            enqueued: frame.enqueued,
            dequeued: frame.dequeued,
            received,
            delivered: self.now,
            transmissions: frame.transmissions,
        };
        let (from, to) = self.way;
        self.sink.delivered(from, to, frame.packet, times);
    }

    /// It comes too late.
    fn refuse(&mut self, frame: Frame<P>) {
        let drop = Dropped {
            packet: frame.packet,
            reason: DropReason::ReorderTimeout,
            sojourn: self.now.since(frame.enqueued),
        };
        let (from, to) = self.way;
        self.sink.dropped(from, to, drop);
    }
}
