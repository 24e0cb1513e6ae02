//! A receiver whose application reads when it likes: what its memory decides.

use super::unread::{Arrival, Held, Verdict};
use super::{AckNeed, Receiver};
use crate::segment::{Flags, Segment, WINDOW_UNIT};

impl Receiver {
    /// What its memory holds, if it has some.
    #[must_use]
    pub fn held_memory(&self) -> Option<Held> {
        self.unread.as_ref().map(|unread| unread.held(&self.window))
    }

    /// Judges what has come. Answers whether it is taken; if not, it is answered.
    #[cold]
    #[inline(never)]
    pub(super) fn has_memory_for(&mut self, segment: &Segment) -> bool {
        let Some(unread) = &mut self.unread else {
            return true;
        };
        let arrival = Arrival {
            start: segment.seq,
            len: segment.len.into(),
            fin: segment.flags.has(Flags::FIN),
        };
        let verdict = unread.judge(arrival, self.next, &mut self.window);
        self.edge = self.edge.max(unread.edge);
        if unread.grew() {
            self.quick |= 1;
        }
        self.largest_segment = self.window.segment();
        let answers = unread.is_full() || verdict != Verdict::Taken;
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

    /// Whether the window would be as large as before. Only then two segments that are not read are acknowledged at once:
    /// what the application reads does the rest. Source: Linux `__tcp_ack_snd_check`.
    #[cold]
    #[inline(never)]
    pub(super) fn keeps_window(&mut self) -> bool {
        let Some(unread) = &self.unread else { return true };
        let selected = unread.select(&self.window);
        if selected.crowded {
            self.quick = 0;
        }
        selected.window >= unread.window
    }

    /// Writes the window that is left where something lies above a gap, or is not read.
    #[inline(never)]
    pub(crate) fn write_window(&mut self, segment: &mut Segment) {
        if self.unread.is_none() && self.window.is_roomy(self.held()) {
            self.write_whole_window(segment);
            return;
        }
        let selected = if let Some(unread) = &mut self.unread {
            unread.say(self.next, &self.window)
        } else {
            let mut selected = self.window.select(self.held(), 0);
            // RFC 9293 section 3.8.6.2.1: what was offered is not taken back.
            selected.window = selected
                .window
                .max(self.edge.saturating_sub(self.next))
                .next_multiple_of(WINDOW_UNIT);
            selected
        };
        segment.window = (selected.window / WINDOW_UNIT).min(u64::from(u16::MAX)) as u16;
        segment.window_rest = (selected.window % WINDOW_UNIT) as u8;
        self.edge = self.edge.max(self.next + selected.window);
        if selected.crowded {
            self.quick = 0;
        }
    }

    /// The application has read `bytes`. Source: Linux `__tcp_cleanup_rbuf`.
    pub(crate) fn read(&mut self, bytes: u64) {
        let Some(unread) = &mut self.unread else {
            return;
        };
        let (opens, empty) = (unread.read(bytes, self.next, &self.window), unread.is_empty());
        let opens = opens && !self.is_finished();
        let waits = matches!(self.need, AckNeed::At(_));
        let many = self.next - self.acked > self.largest_segment;
        if opens || waits && (many || bytes > 0 && self.pushed && !self.answers && empty) {
            self.acknowledge_now();
        }
    }

    /// The application sets the size of its memory, bytes.
    pub(crate) fn set_memory(&mut self, size: u64) {
        if let Some(unread) = &self.unread {
            self.window.set_size(size, unread.window);
        }
    }

    /// Whether an application has the connection.
    pub(crate) fn set_owned(&mut self, owned: bool) {
        if let Some(unread) = &mut self.unread {
            unread.owned = owned;
        }
    }
}
