//! Probes of a window that the peer has closed (RFC 9293 section 3.8.6.1).

use super::{LossRecovery, Machine, Outgoing, TimerKind};
use crate::segment::Flags;
use sojourn_units::Time;

impl<R: LossRecovery> Machine<R> {
    /// Nothing may be sent now. If nothing is out and only the window holds back what is ready, that is probed after a
    /// time-out. Source: Linux `tcp_check_probe_timer`.
    #[inline]
    pub(super) fn watch_window(&mut self, now: Time) {
        if self.board.is_empty() && self.timers.armed.is_none() && self.is_shut() {
            self.timers.probes = 0;
            self.arm_window_probe(now);
        }
    }

    /// Whether that, and not the congestion window, holds back what is ready.
    pub(crate) fn waits_for_window(&self) -> bool {
        self.board.in_flight() < self.window.cwnd && self.is_shut()
    }

    /// Probes since the peer answered last.
    pub(crate) fn unanswered_window_probes(&self) -> u32 {
        if self.timers.is(TimerKind::WindowProbe) {
            self.timers.probes
        } else {
            0
        }
    }

    /// Whether the window does not admit the next segment.
    fn is_shut(&self) -> bool {
        let len = self.next_len();
        len > 0 && self.nxt + u64::from(len) > self.window_end
    }

    /// An acknowledgement came while nothing was out. Source: Linux `tcp_ack_probe`.
    #[inline]
    pub(super) fn watch_after_ack(&mut self, now: Time) {
        if self.timers.is(TimerKind::WindowProbe) {
            self.heed_answer(now);
        }
    }

    #[cold]
    fn heed_answer(&mut self, now: Time) {
        self.timers.probes = 0;
        if self.is_shut() {
            self.arm_window_probe(now);
        } else {
            self.timers.armed = None;
            self.timers.backoff = 0;
        }
    }

    #[cold]
    fn arm_window_probe(&mut self, now: Time) {
        let due = Self::goes_off(self.backed_off_rto(), now);
        self.timers.arm(TimerKind::WindowProbe, due);
    }

    /// The time to probe has come. A window that is open but smaller than the segment gets what it admits; a closed one
    /// gets an old sequence number, which must be answered. Source: Linux `tcp_send_probe0`, `tcp_write_wakeup`.
    #[cold]
    #[inline(never)]
    pub(super) fn probe_window(&mut self, now: Time) -> Option<Outgoing> {
        self.timers.armed = None;
        if !self.board.is_empty() || !self.is_shut() {
            return None;
        }
        self.stats.window_probes += 1;
        if self.window_end > self.nxt {
            // Less than the next segment, whose length is of 16 bits.
            let admitted = (self.window_end - self.nxt) as u16;
            let mut out = self.send_new(admitted, now);
            out.flags |= Flags::PSH;
            self.board.push_last();
            return Some(out);
        }
        self.timers.probes += 1;
        self.timers.backoff += 1;
        self.arm_window_probe(now);
        Some(Outgoing {
            seq: self.nxt - 1,
            len: 0,
            flags: Flags::NONE,
        })
    }
}
