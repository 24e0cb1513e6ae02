//! The sender's one timer, and what happens when it goes off.

use crate::rtt::RTO_MAX;
use crate::sender::{CaState, Outgoing, Sender};
use crate::ticks;
use sojourn_units::{Duration, Time};

/// Slack of the reordering and probe timers. Source: Linux 6.1 `TCP_TIMEOUT_MIN_US`.
pub(crate) const TIMER_MIN: Duration = Duration::from_millis(2);

/// What the timer is armed for. There is one at a time, as in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerKind {
    /// Time-out (RFC 6298).
    Retransmission,
    /// Tail loss probe (RFC 8985 section 7).
    LossProbe,
    /// Early retransmit (RFC 5827), after its delay; only in the variant of Linux 3.14.
    EarlyRetransmit,
    /// The reordering window ends (RFC 8985 section 6.2).
    Reordering,
}

impl Sender {
    /// Source: Linux `tcp_set_rto`, which keeps it in ticks.
    pub(crate) fn backed_off_rto(&self) -> Duration {
        let rto = self.rtt.rto();
        let rto = if self.fack.is_some() {
            rto
        } else {
            ticks::up(rto).as_duration()
        };
        rto.saturating_mul(1 << self.backoff.min(16)).min(RTO_MAX)
    }

    /// When a timer goes off that is set at `now` to `wait` later: Linux rounds the wait up to ticks, counts them from the last one, and its
    /// timers are never early. So it is late by up to 2 ms, and by up to an eighth of a wait of more than 62.
    ///
    /// Source: Linux 6.1 `usecs_to_jiffies`, `sk_reset_timer`. Deviation: exact in the variant of Linux 3.14, whose timers had other wheels.
    pub(crate) fn goes_off(&self, wait: Duration, now: Time) -> Time {
        if self.fack.is_some() {
            return now + wait;
        }
        let tick = ticks::of(now);
        ticks::fires(tick, tick + ticks::up(wait))
    }

    /// Arms the time-out for a whole one from now.
    pub(crate) fn arm_whole_rto(&mut self, now: Time) {
        let due = self.goes_off(self.backed_off_rto(), now);
        self.timer = Some((TimerKind::Retransmission, due));
    }

    /// Arms the time-out (RFC 6298 section 5); in place of another timer, for what is left of it since the oldest
    /// segment was sent.
    pub(crate) fn arm_rto(&mut self, now: Time) {
        let rto = self.backed_off_rto();
        let wait = match (self.timer, self.board.head()) {
            (Some((TimerKind::LossProbe | TimerKind::Reordering | TimerKind::EarlyRetransmit, _)), Some(head)) => {
                (head.sent_at + rto).since(now).max(self.shortest_wait())
            }
            _ => rto,
        };
        let due = self.goes_off(wait, now);
        self.timer = Some((TimerKind::Retransmission, due));
    }

    /// What a time-out that is due already waits: a microsecond, and in the variant of Linux 3.14 a tick.
    fn shortest_wait(&self) -> Duration {
        if self.fack.is_some() {
            Duration::from_millis(1)
        } else {
            Duration::from_micros(1)
        }
    }

    /// After an acknowledgement: the probe timer if a probe may be sent, else the time-out.
    pub(crate) fn set_timer(&mut self, now: Time) {
        if self.board.is_empty() {
            self.timer = None;
        } else if !self.schedule_probe(now, true) {
            self.arm_rto(now);
        }
    }

    /// Arms the probe timer for two RTTs (RFC 8985 section 7.2), but not after the time-out. With `fresh` the time-out
    /// counts from now.
    pub(crate) fn schedule_probe(&mut self, now: Time, fresh: bool) -> bool {
        if self.board.is_empty() || !matches!(self.state, CaState::Open | CaState::Cwr) {
            return false;
        }
        if self.fack.is_some() {
            return self.schedule_probe_3_14(now);
        }
        let wait = match self.rtt.srtt() {
            // A lone segment may meet a delayed acknowledgement.
            Some(srtt) => {
                srtt * 2
                    + if self.board.packets_out() == 1 {
                        Duration::from_millis(200)
                    } else {
                        TIMER_MIN
                    }
            }
            None => crate::rtt::RTO_INITIAL,
        };
        let rto_due = match self.board.head() {
            Some(head) if !fresh => head.sent_at + self.backed_off_rto(),
            _ => now + self.backed_off_rto(),
        };
        let wait = if rto_due > now {
            wait.min(rto_due.since(now))
        } else {
            wait
        };
        let due = self.goes_off(wait, now);
        self.timer = Some((TimerKind::LossProbe, due));
        true
    }

    pub(crate) fn timeout(&self) -> Option<Time> {
        self.timer.map(|(_, at)| at)
    }

    /// The time has come, or not yet: early calls do nothing. Answers a segment that must go out whatever the window.
    pub(crate) fn on_timeout(&mut self, now: Time) -> Option<Outgoing> {
        let (kind, _) = self.timer.filter(|&(_, at)| at <= now)?;
        if self.board.is_empty() {
            self.timer = None;
            return None;
        }
        match kind {
            TimerKind::Reordering => {
                self.reordering_timeout(now);
                None
            }
            TimerKind::EarlyRetransmit => {
                self.early_retransmit(now);
                None
            }
            TimerKind::LossProbe => self.send_probe(now),
            TimerKind::Retransmission => {
                self.stats.timeouts += 1;
                self.enter_loss(now);
                self.backoff += 1;
                self.arm_whole_rto(now);
                None
            }
        }
    }

    fn reordering_timeout(&mut self, now: Time) {
        let (before, lost_before) = (self.board.in_flight(), self.board.lost_total());
        let in_recovery = self.state >= CaState::Recovery;
        let (min_rtt, srtt) = (self.min_rtt.get(), self.rtt.srtt());
        // What is still within the window waits for another acknowledgement: Linux does not set this timer again here.
        self.rack
            .detect_losses(&mut self.board, now, in_recovery, min_rtt, srtt);
        if self.board.in_flight() != before {
            if self.state != CaState::Recovery {
                self.enter_recovery(false);
                self.reduce_proportionally(1, self.board.lost_total() > lost_before, false);
            }
            self.resend = crate::sender::Resend::Lost;
        }
        self.arm_rto(now);
    }

    /// Sends new data if there is any and the receiver admits it, else the last segment again (RFC 8985 section 7.3).
    ///
    /// After new data the time-out counts from now, after a repeated segment from when the oldest was sent, as in Linux.
    /// (Counting from the oldest in both cases makes most of the time-outs at 1 Mbit/s false ones.) What the host's own device
    /// has no room for, or still holds, is not sent: the time-out remains. Source: Linux 6.1 `tcp_send_loss_probe`.
    fn send_probe(&mut self, now: Time) -> Option<Outgoing> {
        if self.probe.is_some() {
            self.arm_rto(now);
            return None;
        }
        let len = self.next_len();
        let new = len > 0 && self.nxt + u64::from(len) <= self.window_end;
        let last = self.board.last_index()?;
        let held = if new {
            self.waits_for_device(false)
        } else {
            self.still_held(last)
        };
        if held {
            self.arm_rto(now);
            return None;
        }
        self.stats.loss_probes += 1;
        let out = if new {
            let out = self.send_new(len, now);
            self.arm_whole_rto(now);
            // Linux 3.14 watches only for the answer to a probe that repeats data.
            self.probe = self.fack.is_none().then_some((self.nxt, false));
            out
        } else {
            self.board.resend(last, now, false);
            self.stats.segments_sent += 1;
            self.stats.retransmissions += 1;
            self.arm_rto(now);
            if self.fack.is_some() {
                self.arm_whole_rto(now);
            }
            self.probe = Some((self.nxt, true));
            let s = *self.board.get(last);
            self.outgoing(s.seq, s.len, crate::Flags::NONE)
        };
        Some(out)
    }
}
