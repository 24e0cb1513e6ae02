//! Loss recovery of Linux since 4.18, and of 6.1 in its details: RACK judges loss by the time of sending, RACK-TLP
//! probes the tail (RFC 8985).

use crate::machine::{CaState, LossRecovery, Machine, News, Resend, TimerKind, Times};
use crate::rtt::RTO_INITIAL;
use crate::scoreboard::{Scoreboard, Sent, Verdict};
use sojourn_units::{Duration, Time};

/// Segments a SACK must cover before reordering is ruled out, while none was ever seen (RFC 8985 section 3.3.1).
const DUP_THRESH: u32 = 3;

/// Slack of the reordering and probe timers. Source: Linux 6.1 `TCP_TIMEOUT_MIN_US`.
const TIMER_MIN: Duration = Duration::from_millis(2);

/// State of RACK. Source: RFC 8985 section 5.2; names are the RFC's.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// When the most recently sent of all delivered segments was sent (RACK.xmit_ts).
    xmit_ts: Time,
    /// Its last byte (RACK.end_seq).
    end_seq: u64,
    /// Its RTT (RACK.rtt).
    rtt: Duration,
    /// Whether the above has changed since the last judgement.
    advanced: bool,
    /// Whether the path was seen to reorder (RACK.reordering_seen).
    reordering_seen: bool,
    /// Quarters of the minimum RTT in the reordering window (RACK.reo_wnd_mult).
    reo_wnd_mult: u32,
    /// Recoveries left before the multiplier falls back to one (RACK.reo_wnd_persist).
    reo_wnd_persist: u32,
    /// No further growth of the window before this is acknowledged (RACK.dsack_round).
    dsack_round: Option<u64>,
    /// When the probe timer was set for a segment that was not alone, unless an acknowledgement came since.
    probe_set: Time,
}

impl Rack {
    fn reo_wnd(
        &self,
        sacked_out: u32,
        in_recovery: bool,
        min_rtt: Option<Duration>,
        srtt: Option<Duration>,
    ) -> Duration {
        if !self.reordering_seen && (in_recovery || sacked_out >= DUP_THRESH) {
            return Duration::ZERO;
        }
        let quarter = min_rtt.map_or(Duration::ZERO, |m| m / 4);
        quarter
            .saturating_mul(u64::from(self.reo_wnd_mult))
            .min(srtt.unwrap_or(Duration::MAX))
    }

    /// How long until `s` counts as lost; zero if it does now.
    fn remaining(&self, s: &Sent, reo_wnd: Duration, now: Time) -> Duration {
        (s.sent_at + self.rtt + reo_wnd).since(now)
    }

    /// Judges all outstanding segments; answers how long to wait before asking again, if any is still in the window
    /// (RFC 8985 section 6.2, step 5).
    fn detect_losses(
        &mut self,
        board: &mut Scoreboard,
        now: Time,
        in_recovery: bool,
        min_rtt: Option<Duration>,
        srtt: Option<Duration>,
    ) -> Option<Duration> {
        let reo_wnd = self.reo_wnd(board.sacked_out(), in_recovery, min_rtt, srtt);
        let newest = (self.xmit_ts, self.end_seq);
        let mut wait = None;
        board.judge_losses(|s| {
            if newest <= (s.sent_at, s.end()) {
                return Verdict::Later;
            }
            let left = self.remaining(s, reo_wnd, now);
            if left.is_zero() {
                Verdict::Lost
            } else {
                wait = wait.max(Some(left));
                Verdict::Wait
            }
        });
        wait
    }
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            xmit_ts: Time::ZERO,
            end_seq: 0,
            rtt: Duration::ZERO,
            advanced: false,
            reordering_seen: false,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            dsack_round: None,
            probe_set: Time::MAX,
        }
    }
}

impl LossRecovery for Rack {
    const TICKS: bool = true;
    const PROBE_REPLACES: bool = true;
    const SHORTEST_WAIT: Duration = Duration::from_micros(1);
    const AVOIDANCE_PACING: u64 = 120;
    const PRR_ALWAYS_ADDS: bool = false;
    const HEEDS_DEVICE: bool = true;
    const PUSHES_TRAINS: bool = true;
    const REPAIR_CLOCK: bool = true;
    const COUNTS_DUPLICATES: bool = true;
    const AVOIDS_AT_THRESHOLD: bool = true;

    #[inline]
    fn on_ack(m: &mut Machine<Self>, _: Time) {
        m.recovery.probe_set = Time::MAX;
    }

    /// RFC 8985 section 6.2, steps 1 and 2.
    fn on_delivered(&mut self, s: &Sent, now: Time, min_rtt: Option<Duration>) {
        let rtt = now.since(s.sent_at);
        // An acknowledgement faster than any round trip is of the original, not of this retransmission.
        if s.retransmitted() && min_rtt.is_some_and(|m| rtt < m) {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if (s.sent_at, s.end()) > (self.xmit_ts, self.end_seq) {
            self.xmit_ts = s.sent_at;
            self.end_seq = s.end();
        }
    }

    fn on_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// Adapts the window to D-SACKs (RFC 8985 section 6.2, step 4). Linux heeds them only once it has seen the path reorder.
    fn on_covered(&mut self, una: u64, nxt: u64, dsack: bool) {
        if self.dsack_round.is_some_and(|end| una >= end) {
            self.dsack_round = None;
        }
        if dsack && self.reordering_seen && self.dsack_round.is_none() {
            self.dsack_round = Some(nxt);
            self.reo_wnd_mult = (self.reo_wnd_mult + 1).min(255);
            self.reo_wnd_persist = 16;
        } else if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    fn judge(m: &mut Machine<Self>, prior_una: u64, news: &mut News, times: &Times, now: Time) {
        // A SACK restarts the timer only if it measures data that is older than the head (so the head was
        // retransmitted).
        let mut set_timer = news.advanced
            || times
                .sacked
                .is_some_and(|(first, _)| m.board.head().is_some_and(|head| head.sent_at > first));
        if m.episode.state != CaState::Open || news.is_unusual() || news.dsack {
            set_timer &= !m.judge(prior_una, news, now);
        }
        if set_timer {
            m.set_timer(now);
        }
    }

    fn was_limited(m: &Machine<Self>, _: u32) -> bool {
        m.window_limited()
    }

    fn on_undone(&mut self) {
        self.advanced = true;
    }

    fn on_recovered(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
    }

    /// What was sent recently is spared (RFC 8985 section 6.3).
    fn mark_after_timeout(m: &mut Machine<Self>, now: Time) {
        let rack = &m.recovery;
        m.board
            .mark_all_lost(|s| !rack.remaining(s, Duration::ZERO, now).is_zero());
    }

    /// For two RTTs (RFC 8985 section 7.2), but not after the time-out.
    fn arm_probe(m: &mut Machine<Self>, now: Time, fresh: bool) -> bool {
        if m.board.is_empty() || !matches!(m.episode.state, CaState::Open | CaState::Cwr) {
            return false;
        }
        let lone = m.board.packets_out() == 1;
        if !fresh && m.recovery.probe_set == now && !lone && m.timers.is(TimerKind::LossProbe) && !m.is_paced() {
            // It was set for the segment before, which left at the same time.
            return true;
        }
        m.recovery.probe_set = if fresh || lone { Time::MAX } else { now };
        let wait = match m.rtt.srtt() {
            // A lone segment may meet a delayed acknowledgement.
            Some(srtt) => srtt * 2 + if lone { Duration::from_millis(200) } else { TIMER_MIN },
            None => RTO_INITIAL,
        };
        let rto_due = match m.board.head() {
            Some(head) if !fresh => head.sent_at + m.backed_off_rto(),
            _ => now + m.backed_off_rto(),
        };
        let wait = if rto_due > now {
            wait.min(rto_due.since(now))
        } else {
            wait
        };
        let due = Machine::<Self>::goes_off(wait + m.pacing_delay(now), now);
        m.timers.arm(TimerKind::LossProbe, due);
        true
    }

    /// The time-out counts from now, whatever the probe is. Source: Linux `tcp_send_loss_probe`, which forgets that a
    /// probe timer was set before it calls `tcp_rearm_rto`.
    fn on_probe(m: &mut Machine<Self>, new: bool, now: Time) {
        m.arm_whole_rto(now);
        m.probe = Some((m.nxt, !new));
    }

    /// The reordering window is over (RFC 8985 section 6.2).
    fn on_timer(m: &mut Machine<Self>, now: Time) {
        let (before, lost_before) = (m.board.in_flight(), m.board.lost_total());
        let in_recovery = m.episode.state >= CaState::Recovery;
        let (min_rtt, srtt) = (m.min_rtt.get(), m.rtt.srtt());
        // What is still within the window waits for another acknowledgement: Linux does not set this timer again here.
        m.recovery.detect_losses(&mut m.board, now, in_recovery, min_rtt, srtt);
        if m.board.in_flight() != before {
            if m.episode.state != CaState::Recovery {
                m.enter_recovery(false);
                if !m.is_steered() {
                    m.reduce_proportionally(1, m.board.lost_total() > lost_before, false);
                }
            }
            m.episode.resend = Resend::Lost;
        }
        m.arm_rto(now);
    }
}

impl Machine<Rack> {
    /// Judges an acknowledgement that is not plain progress: losses, changes of state, undoing. Sets `resend`.
    /// Answers whether the reordering timer was armed instead of the time-out.
    #[inline(never)]
    fn judge(&mut self, prior_una: u64, news: &mut News, now: Time) -> bool {
        self.leave_state(news.ece);
        let mut armed = false;
        match self.episode.state {
            CaState::Recovery => {
                if self.una > prior_una && self.try_undo_partial() {
                    return armed;
                }
                if self.undo.all_duplicates() {
                    self.undo_reduction(false);
                    self.keep_open();
                }
                armed |= self.identify_losses(news, now);
                if self.episode.state != CaState::Recovery {
                    if self.board.lost_out() == 0 {
                        return armed;
                    }
                    self.enter_recovery(news.ece);
                }
            }
            CaState::Loss => {
                self.process_loss(news);
                // Also while the time-out's repair goes on: a retransmission lost again must not wait for another
                // time-out.
                armed |= self.identify_losses(news, now);
                if self.episode.state != CaState::Open && !news.lost_retransmission {
                    return armed;
                }
                armed |= self.judge_open(news, now);
            }
            CaState::Open | CaState::Disorder | CaState::Cwr => armed |= self.judge_open(news, now),
        }
        armed
    }

    /// Outside recovery: enters it if anything is lost.
    fn judge_open(&mut self, news: &mut News, now: Time) -> bool {
        if self.episode.state <= CaState::Disorder && self.undo.all_duplicates() {
            self.undo_reduction(false);
        }
        let armed = self.identify_losses(news, now);
        if self.board.lost_out() == 0 {
            self.nothing_lost(news.ece);
            return armed;
        }
        self.enter_recovery(news.ece);
        self.episode.resend = Resend::Lost;
        armed
    }

    /// RACK (RFC 8985 section 6.2). Answers whether its timer was armed.
    fn identify_losses(&mut self, news: &mut News, now: Time) -> bool {
        if self.board.is_empty() {
            return false;
        }
        if self.judge_without_sack(news.advanced) {
            if self.episode.state == CaState::Recovery {
                self.episode.resend = Resend::Lost;
            }
            return false;
        }
        let before = self.board.retrans_out();
        let in_recovery = self.episode.state >= CaState::Recovery;
        let (min_rtt, srtt) = (self.min_rtt.get(), self.rtt.srtt());
        // Without a new delivery nothing can have become lost that its timer would not tell of.
        let wait = if std::mem::take(&mut self.recovery.advanced) {
            self.recovery
                .detect_losses(&mut self.board, now, in_recovery, min_rtt, srtt)
        } else {
            None
        };
        news.lost_retransmission |= self.board.retrans_out() < before;
        if self.episode.state == CaState::Recovery {
            self.episode.resend = Resend::Lost;
        }
        if let Some(wait) = wait {
            let due = Self::goes_off(wait + TIMER_MIN, now);
            self.timers.arm(TimerKind::Reordering, due);
            return true;
        }
        false
    }

    /// A partial acknowledgement in recovery that proves the first retransmission unnecessary: nothing is lost, the
    /// path reorders. Answers true if nothing else is to be done.
    fn try_undo_partial(&mut self) -> bool {
        if self.undo.marker.is_none() || self.was_delayed() == Some(false) {
            return false;
        }
        self.recovery.on_reordering();
        if self.board.retrans_out() > 0 {
            return true;
        }
        self.forget_first_retransmit();
        self.undo_reduction(true);
        self.keep_open();
        false
    }

    /// An acknowledgement after a time-out: F-RTO (RFC 5682 section 3.1) tells a false one.
    fn process_loss(&mut self, news: &News) {
        let recovered = self.una >= self.episode.high_seq;
        if news.advanced && self.try_undo_loss(false) {
            return;
        }
        if self.episode.frto {
            // Step 3b: data never retransmitted arrived, so the time-out was false.
            if news.original_delivered && self.try_undo_loss(true) {
                return;
            }
            if self.nxt > self.episode.high_seq {
                // Step 3a.
                if news.sacked || !news.not_dup {
                    self.episode.frto = false;
                }
            } else if news.advanced && !recovered {
                // Step 2b: try new data.
                self.episode.high_seq = self.nxt;
                self.episode.resend = Resend::NewFirst;
                return;
            }
        }
        if recovered {
            self.episode.frto = false;
            self.try_undo_recovery();
            return;
        }
        self.episode.resend = Resend::Lost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: Linux 6.1 `tcp_dsack_seen`, which RFC 8985 section 6.2, step 4, has without the condition.
    #[test]
    fn duplicates_widen_the_window_only_where_reordering_was_seen() {
        let wnd = |rack: &Rack| {
            rack.reo_wnd(1, false, Some(Duration::from_millis(20)), None)
                .as_millis()
        };
        let mut rack = Rack::default();
        rack.on_covered(1, 100, true);
        assert_eq!(wnd(&rack), 5);
        rack.on_reordering();
        rack.on_covered(1, 100, true);
        assert_eq!(wnd(&rack), 10);
        // Once a round trip.
        rack.on_covered(50, 200, true);
        assert_eq!(wnd(&rack), 10);
        rack.on_covered(100, 200, true);
        assert_eq!(wnd(&rack), 15);
    }
}
