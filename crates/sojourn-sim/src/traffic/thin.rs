//! What becomes of the writes of a thin stream.

use sojourn_units::{Duration, Time};
use std::collections::VecDeque;

/// The writes of an application, until the receiver has them in order.
#[derive(Debug, Default)]
pub(crate) struct WriteTrace {
    /// Bytes written so far.
    written: u64,
    /// Those that are not there yet: where each ends in the stream, and when it was written.
    pending: VecDeque<(u64, Time)>,
    /// How long the others took, in order.
    pub(crate) delays: Vec<Duration>,
}

impl WriteTrace {
    /// The application writes `bytes`.
    pub(crate) fn on_write(&mut self, bytes: u64, now: Time) {
        self.written += bytes;
        self.pending.push_back((self.written, now));
    }

    /// The receiver has the first `bytes` of the stream.
    pub(crate) fn on_delivered(&mut self, bytes: u64, now: Time) {
        while let Some(&(end, written)) = self.pending.front()
            && end <= bytes
        {
            self.delays.push(now.since(written));
            self.pending.pop_front();
        }
    }

    /// Writes so far.
    pub(crate) fn count(&self) -> usize {
        self.delays.len() + self.pending.len()
    }
}
