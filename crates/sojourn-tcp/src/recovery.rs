//! From a sign of loss to recovery and back: the sender's judgement, PRR, undo and F-RTO.

use crate::cc::CongestionControl;
use crate::sender::{CaState, News, Resend, Sender};
use crate::timers::TimerKind;
use sojourn_units::Time;

/// What is needed to take a reduction back when it turns out that nothing was lost (RFC 4015).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Undo {
    /// `una` when the reduction began; `None` if there is nothing to undo.
    pub(crate) marker: Option<u64>,
    /// Retransmissions not yet reported as duplicates (RFC 2883); `None` before the first.
    pub(crate) outstanding: Option<u32>,
    /// When the first retransmission of this episode was sent: an echo of an older timestamp proves it unnecessary.
    pub(crate) first_retransmit: Option<Time>,
    /// Slow-start threshold and window before the reduction; `None` if an ECN echo caused it.
    pub(crate) prior_ssthresh: Option<u32>,
    /// Oldest timestamp echoed by the acknowledgement at hand, ms.
    pub(crate) echo_ms: u32,
}

impl Sender {
    /// Judges an acknowledgement that is not plain progress: losses, changes of state, undoing. Sets `resend`. Answers
    /// whether the reordering timer was armed instead of the time-out.
    pub(crate) fn judge(&mut self, prior_una: u64, news: &mut News, now: Time) -> bool {
        self.leave_state(news.ece);
        let mut armed = false;
        match self.state {
            CaState::Recovery => {
                if self.una > prior_una && self.try_undo_partial() {
                    return armed;
                }
                if self.undo.marker.is_some() && self.undo.outstanding == Some(0) {
                    self.undo_reduction(false);
                    self.keep_open();
                }
                armed |= self.identify_losses(news, now);
                if self.state != CaState::Recovery {
                    if self.board.lost_out() == 0 {
                        return armed;
                    }
                    self.enter_recovery(news.ece);
                }
            }
            CaState::Loss => {
                self.process_loss(news);
                // Also while the time-out's repair goes on: a retransmission lost again must not wait for another time-out.
                armed |= self.identify_losses(news, now);
                if self.state != CaState::Open && !news.lost_retransmission {
                    return armed;
                }
                armed |= self.judge_open(news, now);
            }
            CaState::Open | CaState::Disorder | CaState::Cwr => armed |= self.judge_open(news, now),
        }
        armed
    }

    /// What every judgement begins with: an ECN echo forbids undoing, and an acknowledgement of all that was out when a
    /// reduction began ends it.
    pub(crate) fn leave_state(&mut self, ece: bool) {
        if ece {
            self.undo.prior_ssthresh = None;
        }
        if self.state == CaState::Open {
            self.undo.first_retransmit = None;
        } else if self.una >= self.high_seq {
            match self.state {
                CaState::Cwr if self.una != self.high_seq => {
                    self.end_reduction();
                    self.state = CaState::Open;
                }
                CaState::Recovery => {
                    self.try_undo_recovery();
                    self.end_reduction();
                }
                _ => {}
            }
        }
    }

    /// Outside recovery: enters it if anything is lost.
    fn judge_open(&mut self, news: &mut News, now: Time) -> bool {
        if self.state <= CaState::Disorder && self.undo.marker.is_some() && self.undo.outstanding == Some(0) {
            self.undo_reduction(false);
        }
        let armed = self.identify_losses(news, now);
        if self.board.lost_out() == 0 {
            self.nothing_lost(news.ece);
            return armed;
        }
        self.enter_recovery(news.ece);
        self.resend = Resend::Lost;
        armed
    }

    /// Outside recovery and without a loss: an ECN echo reduces the window (RFC 3168 section 6.1.2).
    pub(crate) fn nothing_lost(&mut self, ece: bool) {
        self.forget_first_retransmit();
        if ece && self.state < CaState::Cwr {
            self.undo.prior_ssthresh = None;
            self.undo.marker = None;
            self.begin_reduction();
            self.send_cwr = true;
            self.state = CaState::Cwr;
        }
        if self.state != CaState::Cwr {
            self.keep_open();
        }
    }

    /// RACK (RFC 8985 section 6.2). Answers whether its timer was armed.
    pub(crate) fn identify_losses(&mut self, news: &mut News, now: Time) -> bool {
        if self.board.is_empty() {
            return false;
        }
        let before = self.board.retrans_out();
        let in_recovery = self.state >= CaState::Recovery;
        let (min_rtt, srtt) = (self.min_rtt.get(), self.rtt.srtt());
        // Without a new delivery nothing can have become lost that its timer would not tell of.
        let wait = if std::mem::take(&mut self.rack.advanced) {
            self.rack
                .detect_losses(&mut self.board, now, in_recovery, min_rtt, srtt)
        } else {
            None
        };
        news.lost_retransmission |= self.board.retrans_out() < before;
        if self.state == CaState::Recovery {
            self.resend = Resend::Lost;
        }
        if let Some(wait) = wait {
            self.arm_reordering(wait, now);
            return true;
        }
        false
    }

    /// Whether anything that is out was sent again. Source: Linux `tcp_any_retrans_done`, which of what is not under way looks at the oldest.
    fn any_retransmitted(&self) -> bool {
        self.board.retrans_out() > 0 || self.board.head().is_some_and(crate::scoreboard::Sent::retransmitted)
    }

    /// The clock of the next retransmission begins with it, if none before is out. Source: Linux 6.1 `tcp_retrans_stamp_cleanup`,
    /// `tcp_try_to_open`.
    fn forget_first_retransmit(&mut self) {
        if self.fack.is_none() && !self.any_retransmitted() {
            self.undo.first_retransmit = None;
        }
    }

    /// Open, or Disorder while anything is SACKed or was retransmitted.
    pub(crate) fn keep_open(&mut self) {
        let again = if self.fack.is_some() {
            self.board.retrans_out() > 0
        } else {
            self.any_retransmitted()
        };
        let left = self.board.sacked_out() + self.board.lost_out() > 0 || again;
        let state = if left { CaState::Disorder } else { CaState::Open };
        if state != self.state {
            self.state = state;
            self.high_seq = self.nxt;
        }
    }

    pub(crate) fn enter_recovery(&mut self, ece: bool) {
        self.stats.recoveries += 1;
        self.forget_first_retransmit();
        self.undo.prior_ssthresh = None;
        self.init_undo();
        if !self.in_reduction() {
            if !ece {
                self.undo.prior_ssthresh = Some(self.current_ssthresh());
            }
            self.begin_reduction();
        }
        self.state = CaState::Recovery;
        self.resend = Resend::Lost;
    }

    pub(crate) fn init_undo(&mut self) {
        self.undo.marker = Some(self.una);
        let out = self.board.retrans_out();
        self.undo.outstanding = (out > 0).then_some(out);
    }

    /// The threshold to go back to if this reduction is undone.
    pub(crate) fn current_ssthresh(&self) -> u32 {
        if self.in_reduction() {
            self.window.ssthresh
        } else {
            self.window.ssthresh.max(self.window.cwnd / 2 + self.window.cwnd / 4)
        }
    }

    /// Starts proportional rate reduction (RFC 6937 section 3).
    pub(crate) fn begin_reduction(&mut self) {
        self.high_seq = self.nxt;
        self.probe = None;
        self.window.credit = 0;
        self.prior_cwnd = self.window.cwnd;
        self.prr_delivered = 0;
        self.prr_out = 0;
        self.window.ssthresh = self.cc.reduce(&self.window);
    }

    /// The end of a reduction: the window is the threshold (RFC 6937 section 3.1, "at the end of recovery").
    pub(crate) fn end_reduction(&mut self) {
        if self.window.ssthresh < u32::MAX && (self.state == CaState::Cwr || self.undo.marker.is_some()) {
            self.window.cwnd = self.window.ssthresh;
        }
    }

    /// RFC 6937 section 3, with the slow-start reduction bound, and one more segment where progress brought no new loss.
    pub(crate) fn reduce_proportionally(&mut self, delivered: u32, newly_lost: bool, advanced: bool) {
        if delivered == 0 || self.prior_cwnd == 0 {
            return;
        }
        self.prr_delivered += delivered;
        let (ssthresh, in_flight) = (i64::from(self.window.ssthresh), i64::from(self.board.in_flight()));
        let (prr_delivered, prr_out) = (i64::from(self.prr_delivered), i64::from(self.prr_out));
        let room = ssthresh - in_flight;
        let send = if room < 0 {
            let prior = i64::from(self.prior_cwnd);
            (ssthresh * prr_delivered + prior - 1) / prior - prr_out
        } else {
            let mut bound = (prr_delivered - prr_out).max(i64::from(delivered));
            if self.fack.is_some() || (advanced && !newly_lost) {
                bound += 1;
            }
            bound.min(room)
        };
        // The first retransmission goes out whatever the reckoning.
        let send = send.max(i64::from(self.prr_out == 0));
        self.window.cwnd = (in_flight + send).max(1) as u32;
    }

    // ---------------------------------------------------------------- undo

    /// Whether the reduction was for nothing: every retransmission was reported as a duplicate (RFC 3708), or the echoed
    /// timestamp is older than the first retransmission (RFC 3522).
    pub(crate) fn may_undo(&self) -> bool {
        self.undo.marker.is_some() && (self.undo.outstanding == Some(0) || self.was_delayed())
    }

    /// Whether what was acknowledged now was only late: nothing was sent again yet, or the echoed timestamp is older than the first
    /// retransmission. Source: Linux 6.1 `tcp_packet_delayed`.
    fn was_delayed(&self) -> bool {
        match self.undo.first_retransmit {
            Some(first) => self.undo.echo_ms > 0 && self.undo.echo_ms < crate::sender::now_ms(first),
            None => self.fack.is_none(),
        }
    }

    pub(crate) fn undo_reduction(&mut self, unmark: bool) {
        if unmark {
            self.board.unmark_lost();
        }
        if let Some(prior) = self.undo.prior_ssthresh {
            self.window.cwnd = self.window.cwnd.max(self.prior_cwnd);
            self.window.ssthresh = self.window.ssthresh.max(prior);
            self.stats.undone += 1;
        }
        self.undo.marker = None;
        self.rack.advanced = true;
    }

    pub(crate) fn try_undo_recovery(&mut self) {
        if self.may_undo() {
            self.undo_reduction(false);
        } else {
            self.rack.recovery_done();
        }
        self.state = CaState::Open;
    }

    /// A partial acknowledgement in recovery that proves the first retransmission unnecessary: nothing is lost, the path
    /// reorders. Answers true if nothing else is to be done.
    fn try_undo_partial(&mut self) -> bool {
        if self.undo.marker.is_none() || !self.was_delayed() {
            return false;
        }
        self.rack.saw_reordering();
        if self.board.retrans_out() > 0 {
            return true;
        }
        self.forget_first_retransmit();
        self.undo_reduction(true);
        self.keep_open();
        false
    }

    pub(crate) fn try_undo_loss(&mut self, false_timeout: bool) -> bool {
        if !false_timeout && !self.may_undo() {
            return false;
        }
        self.undo_reduction(true);
        self.backoff = 0;
        self.state = CaState::Open;
        true
    }

    // ---------------------------------------------------------------- time-out

    /// A retransmission time-out: everything not recently sent is lost, the window is one segment, and slow start begins
    /// (RFC 6298 section 5.4 to 5.6, RFC 5681 section 3.1, RFC 8985 section 6.3).
    pub(crate) fn enter_loss(&mut self, now: Time) {
        let new_recovery = self.state < CaState::Recovery;
        if let Some(fack) = &mut self.fack {
            self.board.mark_all_lost(|_| false);
            self.board.forget_retransmissions();
            fack.on_timeout();
        } else {
            let rack = &self.rack;
            self.board
                .mark_all_lost(|s| !rack.remaining(s, sojourn_units::Duration::ZERO, now).is_zero());
        }
        if self.state <= CaState::Disorder
            || self.una >= self.high_seq
            || (self.state == CaState::Loss && self.backoff == 0)
        {
            self.undo.prior_ssthresh = Some(self.current_ssthresh());
            self.prior_cwnd = self.window.cwnd;
            self.window.ssthresh = self.cc.reduce(&self.window);
            self.init_undo();
        }
        self.cc.on_timeout(now, self.nxt);
        self.window.cwnd = self.board.in_flight() + 1;
        self.window.credit = 0;
        self.state = CaState::Loss;
        self.high_seq = self.nxt;
        self.probe = None;
        self.frto = new_recovery || self.backoff > 0;
        self.resend = Resend::Lost;
    }

    /// An acknowledgement after a time-out: F-RTO (RFC 5682 section 3.1) tells a false one.
    fn process_loss(&mut self, news: &News) {
        let recovered = self.una >= self.high_seq;
        if news.advanced && self.try_undo_loss(false) {
            return;
        }
        if self.frto {
            // Step 3b: data never retransmitted arrived, so the time-out was false.
            if news.original_delivered && self.try_undo_loss(true) {
                return;
            }
            if self.nxt > self.high_seq {
                // Step 3a.
                if news.sacked || !news.not_dup {
                    self.frto = false;
                }
            } else if news.advanced && !recovered {
                // Step 2b: try new data.
                self.high_seq = self.nxt;
                self.resend = Resend::NewFirst;
                return;
            }
        }
        if recovered {
            self.frto = false;
            self.try_undo_recovery();
            return;
        }
        self.resend = Resend::Lost;
    }

    // ---------------------------------------------------------------- tail loss probe

    /// An acknowledgement while a probe is out (RFC 8985 section 7.4).
    pub(crate) fn probe_acked(&mut self, ack: u64, news: &News) {
        let Some((end, retransmitted)) = self.probe else { return };
        if ack < end {
            return;
        }
        if !retransmitted || news.dsack {
            self.probe = None;
        } else if ack > end {
            // The probe repaired a loss that nothing else told of: reduce the window as for any loss.
            self.begin_reduction();
            self.state = CaState::Cwr;
            self.end_reduction();
            self.state = CaState::Open;
            self.keep_open();
        } else if !news.advanced && !news.not_dup && !news.sacked {
            self.probe = None;
        }
    }

    pub(crate) fn arm_reordering(&mut self, wait: sojourn_units::Duration, now: Time) {
        let due = self.goes_off(wait + crate::timers::TIMER_MIN, now);
        self.timer = Some((TimerKind::Reordering, due));
    }
}
