//! Loss recovery as Linux 3.14 had it: forward acknowledgement, early retransmit, and the first tail loss probe.
//!
//! The papers of 2014 and 2015 measured that kernel. At one or two segments a flow its recovery is what a flow's rate
//! depends on: a loss that RACK (RFC 8985) repairs in a round trip is a time-out here.
//!
//! Source: Linux 3.18's `tcp_fastretrans_alert` and what it calls, which is 3.14's but for details; Mathis and Mahdavi,
//! "Forward acknowledgement" (1996); RFC 5827 with the delay of its section 3.2's mitigation A.3; RFC 5682;
//! draft-dukkipati-tcpm-tcp-loss-probe.

use crate::cc::{Ack, CongestionControl};
use crate::sender::{CaState, News, Resend, Sender};
use crate::timers::TimerKind;
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
    /// The path was seen to reorder: SACKed segments are counted instead (RFC 6675), and nothing is retransmitted early.
    reordered: bool,
}

impl Fack {
    pub(crate) fn on_retransmit(&mut self, index: u64, now: Time, nxt: u64) {
        self.retransmitted.push_back((index, now, nxt));
    }

    pub(crate) fn saw_reordering(&mut self) {
        self.reordered = true;
    }

    pub(crate) fn on_timeout(&mut self) {
        self.retransmitted.clear();
    }
}

impl Sender {
    /// The rest of an acknowledgement after the scoreboard has taken it: state, losses, window, timer.
    pub(crate) fn after_ack_3_14(
        &mut self,
        prior_una: u64,
        news: &mut News,
        ack: &Ack,
        (lost_before, flight_before): (u64, u32),
        now: Time,
    ) {
        if news.sacked {
            self.mark_lost_retransmissions();
        }
        if news.advanced {
            self.timer = (!self.board.is_empty()).then(|| (TimerKind::Retransmission, now + self.backed_off_rto()));
        }
        if self.state != CaState::Open || news.sacked || news.ece || !news.not_dup {
            self.judge_3_14(prior_una, news, now);
        }
        let newly_lost = self.board.lost_total() > lost_before;
        if self.in_reduction() {
            self.reduce_proportionally(news.delivered, newly_lost, news.advanced);
        } else if (news.advanced || (self.reordering > DUP_THRESH && news.sacked))
            && flight_before + NEARLY >= self.window.cwnd
        {
            self.cc.grow(ack, &mut self.window);
        }
        if matches!(self.timer, Some((TimerKind::Retransmission, _))) && self.state == CaState::Open {
            self.schedule_probe_3_14(now);
        }
    }

    /// A retransmission is lost once data first sent after it was SACKed.
    fn mark_lost_retransmissions(&mut self) {
        let Some(fack) = &mut self.fack else { return };
        if fack.reordered || self.state != CaState::Recovery {
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

    fn judge_3_14(&mut self, prior_una: u64, news: &mut News, now: Time) {
        let duplicate = !news.not_dup;
        let mut look = duplicate || (news.sacked && self.fackets_out() > self.reordering);
        self.leave_state(news.ece);
        match self.state {
            CaState::Recovery => {
                if self.una > prior_una {
                    if self.undone_by_partial_ack() {
                        return;
                    }
                    look = self.fackets_out() > self.reordering;
                }
                if self.undo.marker.is_some() && self.undo.outstanding == Some(0) {
                    self.undo_reduction(false);
                    self.keep_open();
                    return;
                }
            }
            CaState::Loss => {
                self.process_loss_3_14(news);
                if self.state != CaState::Open {
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
        self.resend = Resend::Lost;
    }

    /// Outside recovery: whether it is entered now.
    fn recovers_from_open(&mut self, news: &News, now: Time) -> bool {
        if self.state <= CaState::Disorder && self.undo.marker.is_some() && self.undo.outstanding == Some(0) {
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
        let reordered = self.fack.as_ref().is_some_and(|f| f.reordered);
        if self.board.lost_out() > 0 {
            return true;
        }
        let (out, sacked) = (self.board.packets_out(), self.board.sacked_out());
        let duplicates = if reordered { sacked + 1 } else { self.fackets_out() };
        if duplicates > self.reordering {
            return true;
        }
        if out <= self.reordering && sacked >= (out / 2).max(DUP_THRESH) && !self.may_send_now() {
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
        if self.timer.is_some_and(|(_, at)| at <= due) {
            return false;
        }
        self.timer = Some((TimerKind::EarlyRetransmit, due));
        true
    }

    pub(crate) fn early_retransmit(&mut self, now: Time) {
        self.arm_rto(now);
        if self.fack.as_ref().is_some_and(|f| f.reordered) {
            return;
        }
        self.enter_recovery(false);
        self.update_scoreboard(true);
        self.resend = Resend::Lost;
    }

    /// Whether window, receiver and application let new data go now.
    fn may_send_now(&self) -> bool {
        self.board.in_flight() < self.window.cwnd && self.written > self.nxt && self.nxt < self.window_end
    }

    /// Everything further below the highest SACKed segment than reordering explains is lost, at least the first.
    fn update_scoreboard(&mut self, entering: bool) {
        if self.fack.as_ref().is_some_and(|f| f.reordered) {
            match self.board.sacked_out().checked_sub(self.reordering) {
                Some(most) => self.board.mark_lost_below(most),
                None if entering => self.board.mark_first_lost(1),
                None => {}
            }
            return;
        }
        let lost = self.fackets_out().saturating_sub(self.reordering).max(1);
        self.board.mark_first_lost(lost);
    }

    fn undone_by_partial_ack(&mut self) -> bool {
        let delayed = self
            .undo
            .first_retransmit
            .is_none_or(|t| self.undo.echo_ms > 0 && self.undo.echo_ms < crate::sender::now_ms(t));
        if self.undo.marker.is_none() || !delayed {
            return false;
        }
        if let Some(fack) = &mut self.fack {
            fack.saw_reordering();
        }
        if self.board.retrans_out() > 0 {
            return true;
        }
        self.undo_reduction(true);
        self.keep_open();
        true
    }

    /// After a time-out: F-RTO (RFC 5682) as first implemented, which goes on sending new data for as long as each
    /// acknowledgement makes progress.
    fn process_loss_3_14(&mut self, news: &News) {
        let recovered = self.una >= self.high_seq;
        if self.frto {
            if self.try_undo_loss(news.original_delivered) {
                return;
            }
            if self.nxt > self.high_seq && (news.sacked || !news.not_dup) {
                self.frto = false;
            } else if news.advanced && !recovered {
                self.high_seq = self.nxt;
                self.resend = Resend::NewFirst;
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
        self.resend = Resend::Lost;
    }

    /// A probe after two RTTs, but not after the time-out, and not while the application has more to send than the window
    /// has let go.
    pub(crate) fn schedule_probe_3_14(&mut self, now: Time) -> bool {
        let Some(srtt) = self.rtt.srtt() else { return false };
        if self.board.is_empty() || self.state != CaState::Open {
            return false;
        }
        if self.window.cwnd > self.board.in_flight() && self.written > self.nxt {
            return false;
        }
        let mut wait = srtt * 2;
        if self.board.packets_out() == 1 {
            wait = wait.max(srtt + srtt / 2 + DELAYED_ACK);
        }
        wait = wait.max(PROBE_MIN);
        let due = match self.timer {
            Some((TimerKind::Retransmission, rto)) if rto > now => (now + wait).min(rto),
            _ => now + wait,
        };
        self.timer = Some((TimerKind::LossProbe, due));
        true
    }
}
