//! From a sign of loss to recovery and back: states, PRR, undo, and the end of a time-out or a probe.

use super::state::Prr;
use super::{CaState, LossRecovery, Machine, News, Resend};
use crate::cc::{CongestionControl, Threshold};
use crate::scoreboard::Sent;
use crate::timestamp::now_ms;
use sojourn_units::Time;

/// What tells of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// An ECN echo.
    Echo,
    /// A loss.
    Loss,
}

impl<R: LossRecovery> Machine<R> {
    /// What every judgement begins with: an ECN echo forbids undoing, and an acknowledgement of all that was out when
    /// a reduction began ends it.
    pub(crate) fn leave_state(&mut self, ece: bool) {
        if ece {
            self.undo.prior_ssthresh = None;
        }
        if self.episode.state == CaState::Open {
            self.undo.first_retransmit = None;
        } else if self.una >= self.episode.high_seq {
            match self.episode.state {
                CaState::Cwr if self.una != self.episode.high_seq => {
                    self.end_reduction();
                    self.set_state(CaState::Open);
                }
                CaState::Recovery => {
                    let holds = self.holds_recovery();
                    if !holds {
                        self.try_undo_recovery();
                        self.end_reduction();
                    }
                }
                _ => {}
            }
        }
    }

    /// Outside recovery and without a loss: an ECN echo reduces the window (RFC 3168 section 6.1.2).
    pub(crate) fn nothing_lost(&mut self, ece: bool) {
        self.forget_first_retransmit();
        if ece && self.episode.state < CaState::Cwr {
            self.undo.prior_ssthresh = None;
            self.undo.marker = None;
            self.stats.ecn_reductions += 1;
            self.begin_reduction(Sign::Echo);
            self.set_state(CaState::Cwr);
        }
        if self.episode.state != CaState::Cwr {
            self.keep_open();
        }
    }

    /// The host's own device has dropped a segment. Source: Linux `tcp_enter_cwr`.
    #[cold]
    pub(super) fn reduce_for_device(&mut self) {
        self.undo.prior_ssthresh = None;
        self.undo.marker = None;
        self.begin_reduction(Sign::Loss);
        self.set_state(CaState::Cwr);
    }

    /// Source: Linux `tcp_set_ca_state`.
    fn set_state(&mut self, state: CaState) {
        self.episode.state = state;
        self.cc.on_state(state, self.nxt);
    }

    /// Whether anything that is out was sent again; of what is not under way the oldest tells.
    fn any_retransmitted(&self) -> bool {
        self.board.retrans_out() > 0 || R::REPAIR_CLOCK && self.board.head().is_some_and(Sent::retransmitted)
    }

    /// The clock of the next retransmission begins with it, if none before is out.
    pub(crate) fn forget_first_retransmit(&mut self) {
        if R::REPAIR_CLOCK && !self.any_retransmitted() {
            self.undo.first_retransmit = None;
        }
    }

    /// Open, or Disorder while anything is SACKed or was retransmitted.
    pub(crate) fn keep_open(&mut self) {
        let left = self.board.sacked_out() + self.board.lost_out() > 0 || self.any_retransmitted();
        let state = if left { CaState::Disorder } else { CaState::Open };
        if state != self.episode.state {
            self.set_state(state);
            self.episode.high_seq = self.nxt;
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
            self.begin_reduction(Sign::Loss);
        }
        self.cc.on_lost(&mut self.window);
        self.set_state(CaState::Recovery);
        self.episode.resend = Resend::Lost;
    }

    fn init_undo(&mut self) {
        self.undo.marker = Some(self.una);
        let out = self.board.retrans_out();
        self.undo.outstanding = (out > 0).then_some(out);
    }

    /// The threshold to go back to if this reduction is undone.
    pub(super) fn current_ssthresh(&self) -> Threshold {
        if self.in_reduction() {
            self.window.ssthresh
        } else {
            let three_quarters = self.window.cwnd / 2 + self.window.cwnd / 4;
            self.window.ssthresh.max(Threshold::Segments(three_quarters))
        }
    }

    /// Starts proportional rate reduction (RFC 6937 section 3). The next new segment tells the receiver of it (RFC 3168
    /// section 6.1.2), whatever the sign was. Source: Linux `tcp_init_cwnd_reduction`.
    fn begin_reduction(&mut self, sign: Sign) {
        self.episode.high_seq = self.nxt;
        self.probe = None;
        self.window.credit = 0;
        self.prr = Prr {
            prior_cwnd: self.window.cwnd,
            ..Prr::default()
        };
        self.episode.send_cwr = self.ecn;
        self.window.ssthresh = self.reduced_threshold(sign);
    }

    /// The threshold after congestion. A control that sets the window by itself keeps its own.
    fn reduced_threshold(&mut self, sign: Sign) -> Threshold {
        let reduced = if sign == Sign::Echo && (self.abe || self.is_steered()) {
            self.cc.reduce_by_echo(&self.window)
        } else {
            self.cc.reduce(&self.window)
        };
        if self.is_steered() {
            self.window.ssthresh
        } else {
            Threshold::Segments(reduced)
        }
    }

    /// The end of a reduction: the window is the threshold (RFC 6937 section 3.1, "at the end of recovery").
    fn end_reduction(&mut self) {
        if let Threshold::Segments(ssthresh) = self.window.ssthresh
            && (self.episode.state == CaState::Cwr || self.undo.marker.is_some())
            && !self.is_steered()
        {
            self.window.cwnd = ssthresh;
        }
    }

    /// RFC 6937 section 3, with the slow-start reduction bound, and one more segment where progress brought no new
    /// loss.
    #[inline(never)]
    pub(crate) fn reduce_proportionally(&mut self, delivered: u32, newly_lost: bool, advanced: bool) {
        let prr = &mut self.prr;
        let Threshold::Segments(ssthresh) = self.window.ssthresh else {
            return;
        };
        if delivered == 0 || prr.prior_cwnd == 0 {
            return;
        }
        prr.delivered += delivered;
        let (ssthresh, in_flight) = (i64::from(ssthresh), i64::from(self.board.in_flight()));
        let (prr_delivered, prr_out) = (i64::from(prr.delivered), i64::from(prr.out));
        let room = ssthresh - in_flight;
        let send = if room < 0 {
            let prior = i64::from(prr.prior_cwnd);
            (ssthresh * prr_delivered + prior - 1) / prior - prr_out
        } else {
            let mut bound = (prr_delivered - prr_out).max(i64::from(delivered));
            if R::PRR_ALWAYS_ADDS || (advanced && !newly_lost) {
                bound += 1;
            }
            bound.min(room)
        };
        // The first retransmission goes out whatever the reckoning.
        let send = send.max(i64::from(prr.out == 0));
        self.window.cwnd = (in_flight + send).max(1) as u32;
    }

    // ---------------------------------------------------------------- undo

    /// Whether the reduction was for nothing: every retransmission was reported as a duplicate (RFC 3708), or the
    /// echoed timestamp is older than the first retransmission (RFC 3522).
    fn may_undo(&self) -> bool {
        let undo = &self.undo;
        undo.all_duplicates() || undo.marker.is_some() && self.was_delayed().unwrap_or(R::REPAIR_CLOCK)
    }

    /// Whether what was acknowledged now was only late: the echoed timestamp is older than the first retransmission.
    /// `None` if nothing was sent again yet.
    pub(crate) fn was_delayed(&self) -> Option<bool> {
        let first = self.undo.first_retransmit?;
        Some(self.episode.echo_ms > 0 && self.episode.echo_ms < now_ms(first))
    }

    pub(crate) fn undo_reduction(&mut self, unmark: bool) {
        if unmark {
            self.board.unmark_lost();
        }
        if let Some(prior) = self.undo.prior_ssthresh {
            if !self.is_steered() {
                self.window.cwnd = self.window.cwnd.max(self.prr.prior_cwnd);
            }
            if prior > self.window.ssthresh {
                self.window.ssthresh = prior;
                self.episode.send_cwr = false;
            }
            self.stats.undone += 1;
            self.cc.on_undone();
        }
        self.undo.marker = None;
        self.recovery.on_undone();
    }

    pub(crate) fn try_undo_recovery(&mut self) {
        if self.may_undo() {
            self.undo_reduction(false);
        } else {
            self.recovery.on_recovered();
        }
        self.set_state(CaState::Open);
    }

    pub(crate) fn try_undo_loss(&mut self, false_timeout: bool) -> bool {
        if !false_timeout && !self.may_undo() {
            return false;
        }
        self.undo_reduction(true);
        self.timers.timeouts = 0;
        self.set_state(CaState::Open);
        true
    }

    // ---------------------------------------------------------------- time-out

    /// A retransmission time-out: everything not recently sent is lost, the window is one segment, and slow start
    /// begins (RFC 6298 section 5.4 to 5.6, RFC 5681 section 3.1, RFC 8985 section 6.3).
    pub(super) fn enter_loss(&mut self, now: Time) {
        let new_recovery = self.episode.state < CaState::Recovery;
        if !self.sack {
            self.board.count_as_sacked(0);
        }
        R::mark_after_timeout(self, now);
        if self.episode.state <= CaState::Disorder
            || self.una >= self.episode.high_seq
            || (self.episode.state == CaState::Loss && self.timers.timeouts == 0)
        {
            self.undo.prior_ssthresh = Some(self.current_ssthresh());
            self.prr.prior_cwnd = self.window.cwnd;
            self.window.ssthresh = self.reduced_threshold(Sign::Loss);
            self.cc.on_lost(&mut self.window);
            self.init_undo();
        }
        self.cc.on_timeout(now, self.nxt);
        if self.rates.is_some() {
            self.rates_on_timeout(now);
        }
        self.window.cwnd = self.board.in_flight() + 1;
        self.window.credit = 0;
        self.set_state(CaState::Loss);
        self.episode.high_seq = self.nxt;
        self.episode.send_cwr = self.ecn;
        self.probe = None;
        self.episode.frto = new_recovery || self.timers.timeouts > 0;
        self.episode.resend = Resend::Lost;
    }

    // ---------------------------------------------------------------- tail loss probe

    /// An acknowledgement while a probe is out (RFC 8985 section 7.4).
    #[cold]
    #[inline(never)]
    pub(super) fn probe_acked(&mut self, ack: u64, news: &News, now: Time) {
        let Some((end, retransmitted)) = self.probe else {
            return;
        };
        if ack < end {
            return;
        }
        let unnecessary = if R::COUNTS_DUPLICATES {
            news.dsack_of_probe
        } else {
            news.dsack
        };
        if !retransmitted || unnecessary {
            self.probe = None;
        } else if ack > end {
            // The probe repaired a loss that nothing else told of: reduce the window as for any loss.
            self.begin_reduction(Sign::Loss);
            self.set_state(CaState::Cwr);
            self.end_reduction();
            self.set_state(CaState::Open);
            self.keep_open();
            self.rates_on_repair(news.delivered, now);
        } else if !news.advanced && !news.not_dup && !news.sacked {
            self.probe = None;
        } else {
            self.rates_on_probe_acked();
        }
    }
}
