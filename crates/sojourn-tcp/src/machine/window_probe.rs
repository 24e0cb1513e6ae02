//! Probes of a window that the peer has closed (RFC 9293 section 3.8.6.1).

use super::{LossRecovery, Machine, Outgoing, TimerKind};
use crate::segment::Flags;
use sojourn_units::{Duration, Time};

/// How soon what the device has dropped is tried again. Source: Linux `TCP_RESOURCE_PROBE_INTERVAL`.
const RETRY: Duration = Duration::from_millis(500);

impl<R: LossRecovery> Machine<R> {
    /// Nothing may be sent now. If nothing is out and only the window holds back what is ready, that is probed after a
    /// time-out; so is what waits for more of the application, or for the device. Source: Linux `tcp_check_probe_timer`.
    #[inline]
    pub(super) fn watch_window(&mut self, now: Time) {
        if self.board.is_empty() && self.timers.armed.is_none() && self.waits_for_probe() {
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
        if self.timers.is(TimerKind::WindowProbe) || self.has_expired() {
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

    /// Whether something is ready that the peer's window holds back, or the application, or the device.
    fn waits_for_probe(&self) -> bool {
        self.is_shut() || self.is_withheld(self.next_len())
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
            self.end_probing();
        }
    }

    #[cold]
    fn arm_window_probe(&mut self, now: Time) {
        let due = Self::goes_off(self.clamp_probe(self.backed_off_rto(), now), now);
        self.timers.arm(TimerKind::WindowProbe, due);
    }

    /// The time to probe has come. A window that is open but smaller than the segment gets what it admits; a closed one
    /// gets an old sequence number, which must be answered. Source: Linux `tcp_send_probe0`, `tcp_write_wakeup`.
    #[cold]
    #[inline(never)]
    pub(super) fn probe_window(&mut self, now: Time) -> Option<Outgoing> {
        self.timers.armed = None;
        if !self.board.is_empty() || !self.waits_for_probe() {
            self.end_probing();
            return None;
        }
        if self.gives_up_probing(now) {
            return None;
        }
        if self.device_refuses() {
            self.timers.probes += 1;
            let due = Self::goes_off(self.clamp_probe(RETRY, now), now);
            self.timers.arm(TimerKind::WindowProbe, due);
            return None;
        }
        self.stats.window_probes += 1;
        if self.window_end > self.nxt {
            let admitted = (self.window_end - self.nxt).min(self.next_len().into()) as u16;
            self.end_probing();
            let mut out = self.send_new(admitted, now);
            out.flags |= Flags::PSH;
            self.board.push_last();
            return Some(out);
        }
        self.timers.probes += 1;
        self.timers.backoff += 1;
        self.arm_window_probe(now);
        Some(Outgoing::new(self.nxt - 1, 0, Flags::NONE))
    }

    /// A time-out has passed, and the device drops what it calls for. Source: Linux `tcp_retransmit_timer`.
    #[cold]
    pub(super) fn retry_soon(&mut self, now: Time) {
        self.undo.first_retransmit.get_or_insert(now);
        self.timers.arm(TimerKind::Retransmission, Self::goes_off(RETRY, now));
    }
}
