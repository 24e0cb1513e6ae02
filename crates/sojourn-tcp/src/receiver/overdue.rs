//! Acknowledgements of what was before the segment at hand, which go before all others.

use super::Receiver;
use crate::segment::{Flags, Segment, WINDOW_UNIT};

impl Receiver {
    /// An acknowledgement of what has come so far.
    pub(super) fn bare_ack(&self) -> Segment {
        Segment {
            ack: self.next,
            flags: Flags::ACK | self.ecn_flags(),
            ..Segment::default()
        }
    }

    /// Data from `start` to `end` lies above a gap. If an acknowledgement is held back that would not report all any
    /// more with it, that goes out as it is. Source: Linux 6.1 `tcp_sack_new_ofo_skb`, `tcp_sack_compress_send_ack`.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room(&mut self, start: u64, end: u64) {
        if self.compressed == 0 || !self.sacks.crowd(start, end) {
            return;
        }
        let mut ack = self.bare_ack();
        self.write_ack(&mut ack);
        self.overdue = Some(Box::new(ack));
    }

    /// The acknowledgement that goes before all others, if there is one.
    #[inline]
    #[cold]
    pub(crate) fn take_overdue(&mut self, nxt: u64, ts_val: u32) -> Option<Segment> {
        let overdue = *self.overdue.take()?;
        let window = self.window.units();
        self.edge = self.edge.max(overdue.ack + u64::from(window) * WINDOW_UNIT);
        Some(Segment {
            seq: nxt,
            window,
            ts_val,
            ts_ecr: self.ts_recent,
            ..overdue
        })
    }
}
