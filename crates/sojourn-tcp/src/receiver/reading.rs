//! A receiver whose application reads when it likes: what its memory decides.

use super::memory::{Arrival, Held, Verdict};
use super::{AckNeed, Receiver};
use crate::segment::{Flags, Segment, WINDOW_UNIT};
use sojourn_units::Time;

impl Receiver {
    /// What its memory holds, if it has some.
    #[must_use]
    pub fn held_memory(&self) -> Option<Held> {
        self.memory.as_ref().map(|memory| memory.held())
    }

    /// Judges what has come. Answers whether it is taken; if not, it is answered.
    #[cold]
    #[inline(never)]
    pub(super) fn has_memory_for(&mut self, segment: &Segment) -> bool {
        let Some(memory) = &mut self.memory else {
            return true;
        };
        let arrival = Arrival {
            start: segment.seq,
            len: segment.len.into(),
            fin: segment.flags.has(Flags::FIN),
        };
        let verdict = memory.judge(arrival, self.next);
        self.edge = self.edge.max(memory.edge);
        if memory.grew() {
            self.quick |= 1;
        }
        self.largest_segment = memory.held().segment;
        let answers = memory.is_full() || verdict != Verdict::Taken;
        if matches!(verdict, Verdict::Repeats | Verdict::DroppedRepeat) {
            self.dsack = Some(Box::new((segment.seq, self.next)));
        }
        if verdict != Verdict::Taken {
            self.quick = self.quick.max(super::QUICK_ACKS);
            self.answers = false;
        }
        if answers {
            self.acknowledge_now();
        }
        matches!(verdict, Verdict::Taken | Verdict::Repeats)
    }

    /// When what was taken in order is acknowledged. Source: Linux `__tcp_ack_snd_check`: at once only if the window is
    /// as large as before; what the application reads does the rest.
    #[cold]
    #[inline(never)]
    pub(super) fn decide_by_memory(&mut self, now: Time) {
        let Some(memory) = &self.memory else {
            return;
        };
        let mut many = self.next - self.acked > self.largest_segment;
        if many {
            let selected = memory.select();
            if selected.crowded {
                self.quick = 0;
            }
            many = selected.window >= memory.window;
        }
        if many || self.quick > 0 && !self.answers || !self.delayed {
            self.need = AckNeed::Now;
        } else if self.ranges.is_empty() {
            self.delay_ack(now);
        } else {
            self.compress(now);
        }
    }

    /// Writes the window by its memory.
    #[cold]
    #[inline(never)]
    pub(crate) fn write_window(&mut self, segment: &mut Segment) {
        if let Some(memory) = &mut self.memory {
            let selected = memory.say(self.next);
            segment.window = (selected.window / WINDOW_UNIT).min(u64::from(u16::MAX)) as u16;
            segment.window_rest = (selected.window % WINDOW_UNIT) as u8;
            self.edge = self.edge.max(memory.edge);
            if selected.crowded {
                self.quick = 0;
            }
        }
    }

    /// The application has read `bytes`. Source: Linux `__tcp_cleanup_rbuf`.
    pub(crate) fn read(&mut self, bytes: u64) {
        let Some(memory) = &mut self.memory else {
            return;
        };
        let opens = memory.read(bytes, self.next) && !self.is_finished();
        let waits = matches!(self.need, AckNeed::At(_));
        let empty = self.memory.as_ref().is_some_and(|memory| memory.is_empty());
        let many = self.next - self.acked > self.largest_segment;
        if opens || waits && (many || bytes > 0 && self.pushed && !self.answers && empty) {
            self.acknowledge_now();
        }
    }

    /// The application sets the size of its memory, bytes.
    pub(crate) fn set_memory(&mut self, size: u64) {
        if let Some(memory) = &mut self.memory {
            memory.set_size(size);
        }
    }

    /// Whether an application has the connection.
    pub(crate) fn set_owned(&mut self, owned: bool) {
        if let Some(memory) = &mut self.memory {
            memory.owned = owned;
        }
    }
}
