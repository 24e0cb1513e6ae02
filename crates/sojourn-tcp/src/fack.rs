//! Loss recovery as Linux 3.14 had it: forward acknowledgement, early retransmit, and the first tail loss probe.
//!
//! The papers of 2014 and 2015 measured that kernel. At one or two segments a flow its recovery is what a flow's rate
//! depends on: a loss that RACK (RFC 8985) repairs in a round trip is a time-out here.
//!
//! Source: Linux 3.18's `tcp_fastretrans_alert` and what it calls, which is 3.14's but for details; Mathis and
//! Mahdavi, "Forward acknowledgement" (1996); RFC 5827 with the delay of its section 3.2's mitigation A.3; RFC 5682;
//! draft-dukkipati-tcpm-tcp-loss-probe.

use crate::machine::{CaState, LossRecovery, Machine, News, Resend, TimerKind, Times};
use sojourn_units::{Duration, Time};
use std::collections::VecDeque;

/// Duplicate acknowledgements that mean a loss (RFC 5681 section 3.2).
const DUP_THRESH: u32 = 3;
/// Shortest delay of an early retransmit: two ticks.
const EARLY_MIN: Duration = Duration::from_millis(2);
/// Shortest wait of a tail loss probe.
const PROBE_MIN: Duration = Duration::from_millis(10);
/// What a lone segment's probe waits longer, because its acknowledgement may be delayed (`TCP_DELACK_MAX`).
const DELAYED_ACK: Duration = Duration::from_millis(200);

/// How far below the window the flight may be while the window still counts as the limit (`tcp_max_burst`).
const NEARLY: u32 = 3;

/// What forward acknowledgement remembers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fack {
    /// Outstanding retransmissions in the order sent: segment, when, and the next new byte at that time.
    retransmitted: VecDeque<(u64, Time, u64)>,
    /// The path was seen to reorder: SACKed segments are counted instead (RFC 6675), and nothing is retransmitted
    /// early.
    reordered: bool,
}

impl LossRecovery for Fack {
    const TICKS: bool = false;
    const PROBE_REPLACES: bool = false;
    const SHORTEST_WAIT: Duration = Duration::from_millis(1);
    const AVOIDANCE_PACING: u64 = 200;
    const PRR_ALWAYS_ADDS: bool = true;
    const HEEDS_DEVICE: bool = false;
    const PUSHES_TRAINS: bool = false;
    const REPAIR_CLOCK: bool = false;
    const COUNTS_DUPLICATES: bool = false;
    const AVOIDS_AT_THRESHOLD: bool = false;

    fn on_ack(m: &mut Machine<Self>, now: Time) {
        if !m.timers.is(TimerKind::Retransmission) {
            m.arm_rto(now);
        }
    }

    fn on_reordering(&mut self) {
        self.reordered = true;
    }

    fn on_remembered_reordering(&mut self) {
        self.reordered = true;
    }

    fn judge(m: &mut Machine<Self>, prior_una: u64, news: &mut News, _: &Times, now: Time) {
        if news.sacked {
            m.mark_lost_retransmissions();
        }
        if news.advanced {
            m.timers.armed = (!m.board.is_empty()).then(|| (TimerKind::Retransmission, now + m.backed_off_rto()));
        }
        if m.episode.state != CaState::Open || news.is_unusual() {
            m.judge(prior_una, news, now);
        }
    }

    fn was_limited(m: &Machine<Self>, flight: u32) -> bool {
        flight + NEARLY >= m.window.cwnd
    }

    fn on_acked(m: &mut Machine<Self>, now: Time) {
        if m.timers.is(TimerKind::Retransmission) {
            Self::arm_probe(m, now, false);
        }
    }

    fn on_retransmit(m: &mut Machine<Self>, index: u64, now: Time) {
        m.recovery.retransmitted.push_back((index, now, m.nxt));
        m.board.forget_retransmissions();
    }

    fn mark_after_timeout(m: &mut Machine<Self>, _: Time) {
        m.board.mark_all_lost(|_| false);
        m.board.forget_retransmissions();
        m.recovery.retransmitted.clear();
    }

    /// A probe after two RTTs, but not after the time-out, and not while the application has more to send than the
    /// window has let go.
    fn arm_probe(m: &mut Machine<Self>, now: Time, _: bool) -> bool {
        let Some(srtt) = m.rtt.srtt() else { return false };
        if m.board.is_empty() || m.episode.state != CaState::Open {
            return false;
        }
        if m.window.cwnd > m.board.in_flight() && m.written > m.nxt {
            return false;
        }
        let mut wait = srtt * 2;
        if m.board.packets_out() == 1 {
            wait = wait.max(srtt + srtt / 2 + DELAYED_ACK);
        }
        wait = wait.max(PROBE_MIN);
        let due = match m.timers.armed {
            Some((TimerKind::Retransmission, rto)) if rto > now => (now + wait).min(rto),
            _ => now + wait,
        };
        m.timers.arm(TimerKind::LossProbe, due);
        true
    }

    /// Only the answer to a probe that repeats data is watched for.
    fn on_probe(m: &mut Machine<Self>, new: bool, now: Time) {
        m.arm_whole_rto(now);
        m.probe = (!new).then_some((m.nxt, true));
    }

    /// An early retransmit, after its delay.
    fn on_timer(m: &mut Machine<Self>, now: Time) {
        m.arm_rto(now);
        if m.recovery.reordered {
            return;
        }
        m.enter_recovery(false);
        m.update_scoreboard(true);
        m.episode.resend = Resend::Lost;
    }
}

impl Machine<Fack> {
    /// A retransmission is lost once data first sent after it was SACKed.
    fn mark_lost_retransmissions(&mut self) {
        let fack = &mut self.recovery;
        if fack.reordered || self.episode.state != CaState::Recovery {
            return;
        }
        let Some(highest) = self.board.highest_sacked_start() else {
            return;
        };
        while let Some(&(index, at, nxt)) = fack.retransmitted.front() {
            if self.board.is_retransmission(index, at) {
                if highest <= nxt {
                    break;
                }
                self.board.mark_retransmission_lost(index);
            }
            fack.retransmitted.pop_front();
        }
    }

    /// Segments up to the highest SACKed one, the holes included (`fackets_out`).
    fn fackets_out(&self) -> u32 {
        self.board.up_to_highest_sacked()
    }

    fn judge(&mut self, prior_una: u64, news: &mut News, now: Time) {
        let duplicate = !news.not_dup;
        let mut look = duplicate || (news.sacked && self.fackets_out() > self.episode.reordering);
        self.leave_state(news.ece);
        match self.episode.state {
            CaState::Recovery => {
                if self.una > prior_una {
                    if self.undone_by_partial_ack() {
                        return;
                    }
                    look = self.fackets_out() > self.episode.reordering;
                }
                if self.undo.all_duplicates() {
                    self.undo_reduction(false);
                    self.keep_open();
                    return;
                }
            }
            CaState::Loss => {
                self.process_loss(news);
                if self.episode.state != CaState::Open {
                    return;
                }
                if !self.recovers_from_open(news, now) {
                    return;
                }
            }
            CaState::Open | CaState::Disorder | CaState::Cwr => {
                if !self.recovers_from_open(news, now) {
                    return;
                }
            }
        }
        if look {
            self.update_scoreboard(true);
        }
        self.episode.resend = Resend::Lost;
    }

    /// Outside recovery: whether it is entered now.
    fn recovers_from_open(&mut self, news: &News, now: Time) -> bool {
        if self.episode.state <= CaState::Disorder && self.undo.all_duplicates() {
            self.undo_reduction(false);
        }
        if !self.time_to_recover(news, now) {
            self.nothing_lost(news.ece);
            return false;
        }
        self.enter_recovery(news.ece);
        true
    }

    fn time_to_recover(&mut self, news: &News, now: Time) -> bool {
        let reordered = self.recovery.reordered;
        if self.board.lost_out() > 0 {
            return true;
        }
        let (out, sacked) = (self.board.packets_out(), self.board.sacked_out());
        let duplicates = if reordered { sacked + 1 } else { self.fackets_out() };
        if duplicates > self.episode.reordering {
            return true;
        }
        if out <= self.episode.reordering && sacked >= (out / 2).max(DUP_THRESH) && !self.may_send_now() {
            return true;
        }
        // RFC 5827: too few are out for three duplicates ever to come.
        let early = !reordered && self.board.retrans_out() == 0 && sacked > 0 && out > sacked && out < 4;
        early && !self.may_send_now() && !self.delays_early_retransmit(news, now)
    }

    /// Mitigation A.3 of RFC 5827: a quarter of the RTT of patience, unless the time-out comes first.
    fn delays_early_retransmit(&mut self, news: &News, now: Time) -> bool {
        let Some(srtt) = self.rtt.srtt() else { return false };
        if news.ece {
            return false;
        }
        let due = now + (srtt / 4).max(EARLY_MIN);
        if self.timers.armed.is_some_and(|(_, at)| at <= due) {
            return false;
        }
        self.timers.arm(TimerKind::EarlyRetransmit, due);
        true
    }

    /// Whether window, receiver and application let new data go now.
    fn may_send_now(&self) -> bool {
        self.board.in_flight() < self.window.cwnd && self.written > self.nxt && self.nxt < self.window_end
    }

    /// Everything further below the highest SACKed segment than reordering explains is lost, at least the first.
    fn update_scoreboard(&mut self, entering: bool) {
        if self.recovery.reordered {
            match self.board.sacked_out().checked_sub(self.episode.reordering) {
                Some(most) => self.board.mark_lost_below(most),
                None if entering => self.board.mark_first_lost(1),
                None => {}
            }
            return;
        }
        let lost = self.fackets_out().saturating_sub(self.episode.reordering).max(1);
        self.board.mark_first_lost(lost);
    }

    fn undone_by_partial_ack(&mut self) -> bool {
        if self.undo.marker.is_none() || self.was_delayed() == Some(false) {
            return false;
        }
        self.recovery.on_reordering();
        if self.board.retrans_out() > 0 {
            return true;
        }
        self.undo_reduction(true);
        self.keep_open();
        true
    }

    /// After a time-out: F-RTO (RFC 5682) as first implemented, which goes on sending new data for as long as each
    /// acknowledgement makes progress.
    fn process_loss(&mut self, news: &News) {
        let recovered = self.una >= self.episode.high_seq;
        if self.episode.frto {
            if self.try_undo_loss(news.original_delivered) {
                return;
            }
            if self.nxt > self.episode.high_seq && (news.sacked || !news.not_dup) {
                self.episode.frto = false;
            } else if news.advanced && !recovered {
                self.episode.high_seq = self.nxt;
                self.episode.resend = Resend::NewFirst;
                return;
            }
        }
        if recovered {
            self.try_undo_recovery();
            return;
        }
        if self.try_undo_loss(false) {
            return;
        }
        self.episode.resend = Resend::Lost;
    }
}
