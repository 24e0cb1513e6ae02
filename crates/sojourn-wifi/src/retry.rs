//! The sender's side of a Block Ack agreement: sequence numbers, the window, and the priority queue of frames to be
//! sent again.

use crate::{BLOCK_ACK_WINDOW, Frame};
use sojourn_qdisc::Queued;
use sojourn_units::Duration;
use std::collections::VecDeque;

/// Sequence numbers have 12 bits. Source: IEEE 802.11-2020 section 9.2.4.4.2.
const SEQUENCES: u16 = 1 << 12;

/// How far `sequence` lies ahead of `start`.
pub(crate) const fn ahead(sequence: u16, start: u16) -> u16 {
    sequence.wrapping_sub(start) % SEQUENCES
}

/// One TID of one peer.
///
/// Source: IEEE 802.11-2020 section 10.25.6.3; ath9k, `ath_tx_addto_baw` and `ath_tx_update_baw`.
#[derive(Clone, Debug)]
pub(crate) struct Originator<P> {
    /// The oldest sequence number that is neither acknowledged nor given up; `next` if there is none.
    start: u16,
    /// The sequence number of the next new frame.
    next: u16,
    /// Bit i: frame `start + i` is acknowledged or given up.
    settled: u64,
    /// Bit i: frame `start + i` is given up.
    given_up: u64,
    /// Frames to be sent again, in the order of their sequence numbers.
    retries: VecDeque<Frame<P>>,
    /// A packet that was taken out of its queue and did not fit into the aggregate. It is the next new frame.
    pub(crate) held: Option<Queued<P>>,
    /// What airtime queue limits count for it.
    pub(crate) held_pending: Duration,
}

impl<P> Default for Originator<P> {
    fn default() -> Self {
        Self {
            start: 0,
            next: 0,
            settled: 0,
            given_up: 0,
            retries: VecDeque::new(),
            held: None,
            held_pending: Duration::ZERO,
        }
    }
}

impl<P> Originator<P> {
    /// Whether a new frame may be sent: its number is less than 64 ahead of the oldest unsettled one.
    #[inline]
    pub(crate) const fn window_is_open(&self) -> bool {
        ahead(self.next, self.start) < BLOCK_ACK_WINDOW
    }

    /// How many new frames may be sent.
    pub(crate) const fn window(&self) -> u16 {
        BLOCK_ACK_WINDOW - ahead(self.next, self.start)
    }

    /// The sequence number of a new frame. The window must be open.
    #[inline]
    pub(crate) fn assign(&mut self) -> u16 {
        debug_assert!(self.window_is_open(), "the Block Ack window is 64 frames");
        let sequence = self.next;
        self.next = (self.next + 1) % SEQUENCES;
        sequence
    }

    /// The frame to be sent again first.
    #[inline]
    pub(crate) fn next_retry(&self) -> Option<&Frame<P>> {
        self.retries.front()
    }

    #[inline]
    pub(crate) fn take_retry(&mut self) -> Option<Frame<P>> {
        self.retries.pop_front()
    }

    /// Frames to be sent again.
    pub(crate) fn retries(&self) -> usize {
        self.retries.len()
    }

    /// `frame` did not arrive and is to be sent again. It takes its place by sequence number: frames of a later
    /// aggregate may have failed before it.
    pub(crate) fn retry(&mut self, frame: Frame<P>) {
        let offset = ahead(frame.sequence, self.start);
        let start = self.start;
        let at = self.retries.partition_point(|f| ahead(f.sequence, start) < offset);
        self.retries.insert(at, frame);
    }

    /// Frame `sequence` was acknowledged.
    #[inline]
    pub(crate) fn acknowledged(&mut self, sequence: u16) {
        self.settled |= 1 << ahead(sequence, self.start);
    }

    /// Frame `sequence` will not be sent again.
    #[inline]
    pub(crate) fn give_up(&mut self, sequence: u16) {
        let bit = 1 << ahead(sequence, self.start);
        self.settled |= bit;
        self.given_up |= bit;
    }

    /// Moves the window over the settled frames at its start. Answers the new start if it went over a frame that was
    /// given up: the receiver waits for that one until it is told.
    #[inline]
    pub(crate) fn advance(&mut self) -> Option<u16> {
        let n = self.settled.trailing_ones();
        let missed = self.given_up.trailing_zeros() < n;
        self.settled = self.settled.unbounded_shr(n);
        self.given_up = self.given_up.unbounded_shr(n);
        self.start = (self.start + n as u16) % SEQUENCES;
        missed.then_some(self.start)
    }
}

#[cfg(test)]
mod tests;
