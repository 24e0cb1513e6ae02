//! The sender's one timer, and what happens when it goes off.

use super::{LossRecovery, Machine, Outgoing, TimerKind};
use sojourn_units::ticks;
use sojourn_units::{Duration, Time};

impl<R: LossRecovery> Machine<R> {
    /// The time-out, doubled for each that has passed.
    #[inline]
    pub(crate) fn backed_off_rto(&self) -> Duration {
        let rto = if R::TICKS {
            self.rtt.rto_in_ticks()
        } else {
            self.rtt.rto()
        };
        if self.timers.backoff == 0 {
            return rto.min(self.rtt.max_rto());
        }
        rto.saturating_mul(1 << self.timers.backoff.min(16))
            .min(self.rtt.max_rto())
    }

    /// When a timer goes off that is set at `now` to `wait` later.
    pub(crate) fn goes_off(wait: Duration, now: Time) -> Time {
        if R::TICKS { ticks::after(wait, now) } else { now + wait }
    }

    /// Arms the time-out for a whole one from now.
    pub(crate) fn arm_whole_rto(&mut self, now: Time) {
        let wait = self.clamp_rto(self.backed_off_rto(), now);
        let due = Self::goes_off(wait + self.pacing_delay(now), now);
        self.timers.arm(TimerKind::Retransmission, due);
    }

    /// Arms the time-out (RFC 6298 section 5); in place of another timer, for what is left of it since the oldest
    /// segment was sent.
    pub(crate) fn arm_rto(&mut self, now: Time) {
        let rto = self.backed_off_rto();
        let wait = match (self.timers.armed, self.board.head()) {
            (Some((TimerKind::LossProbe | TimerKind::Reordering | TimerKind::EarlyRetransmit, _)), Some(head)) => {
                (head.sent_at + rto).since(now).max(R::SHORTEST_WAIT)
            }
            _ => rto,
        };
        let due = Self::goes_off(wait + self.pacing_delay(now), now);
        self.timers.arm(TimerKind::Retransmission, due);
    }

    /// After an acknowledgement: the probe timer if a probe may be sent, else the time-out.
    pub(crate) fn set_timer(&mut self, now: Time) {
        if self.board.is_empty() {
            self.timers.armed = None;
        } else if !R::arm_probe(self, now, true) {
            self.arm_rto(now);
        }
    }

    /// When the timer goes off.
    #[inline]
    pub(crate) fn timer(&self) -> Option<Time> {
        self.timers.armed.map(|(_, at)| at)
    }

    pub(crate) fn timeout(&self) -> Option<Time> {
        let timer = self.timer();
        match self.pacing_due() {
            None => timer,
            Some(due) => Some(timer.map_or(due, |at| at.min(due))),
        }
    }

    /// The time has come, or not yet: early calls do nothing. Answers a segment that must go out whatever the window.
    pub(crate) fn on_timeout(&mut self, now: Time) -> Option<Outgoing> {
        self.pace_on_timeout(now);
        let (kind, _) = self.timers.armed.filter(|&(_, at)| at <= now)?;
        if kind == TimerKind::WindowProbe {
            return self.probe_window(now);
        }
        if self.board.is_empty() {
            self.timers.armed = None;
            return None;
        }
        match kind {
            TimerKind::Reordering | TimerKind::EarlyRetransmit => {
                R::on_timer(self, now);
                if self.rates.is_some() {
                    self.rates_on_lost(0, now);
                }
                None
            }
            TimerKind::LossProbe => self.send_probe(now),
            TimerKind::WindowProbe => None,
            TimerKind::Retransmission => {
                if self.options.is_some() && self.gives_up_retransmitting(now) {
                    return None;
                }
                self.stats.timeouts += 1;
                self.enter_loss(now);
                self.timers.timeouts += 1;
                if self.device_drops() {
                    self.retry_soon(now);
                } else {
                    self.timers.backoff += 1;
                    self.arm_whole_rto(now);
                }
                None
            }
        }
    }

    /// Sends new data if there is any and the receiver admits it, else the last segment again (RFC 8985 section 7.3).
    ///
    /// The time-out counts from now. What the host's own device has no room for, or still holds, is not sent: the
    /// time-out remains. Source: Linux 6.1 `tcp_send_loss_probe`.
    fn send_probe(&mut self, now: Time) -> Option<Outgoing> {
        if self.probe.is_some() {
            self.arm_rto(now);
            return None;
        }
        let len = self.next_len();
        let new = len > 0 && self.nxt + u64::from(len) <= self.window_end;
        let last = self.board.last_index()?;
        let held = if self.device_refuses() {
            true
        } else if new {
            self.waits_for_device(false) || self.waits_for_pace(now)
        } else {
            self.still_held(last)
        };
        if held {
            self.arm_rto(now);
            return None;
        }
        self.stats.loss_probes += 1;
        let out = if new {
            self.send_new(len, now)
        } else {
            self.board.resend(last, now, false);
            self.stats.segments_sent += 1;
            self.stats.retransmissions += 1;
            let s = *self.board.get(last);
            if self.rates.is_some() {
                self.rates_on_sent(s.seq, s.len, true, now);
            }
            self.outgoing(s.seq, s.len, Self::flags_again(&s))
        };
        R::on_probe(self, new, now);
        Some(out)
    }
}
