//! RACK: loss is judged by time of sending.

use crate::scoreboard::{Scoreboard, Sent, Verdict};
use sojourn_units::{Duration, Time};

/// Segments a SACK must cover before reordering is ruled out, while none was ever seen (RFC 8985 section 3.3.1).
const DUP_THRESH: u32 = 3;

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
    pub(crate) advanced: bool,
    /// Whether the path was seen to reorder (RACK.reordering_seen).
    reordering_seen: bool,
    /// Quarters of the minimum RTT in the reordering window (RACK.reo_wnd_mult).
    reo_wnd_mult: u32,
    /// Recoveries left before the multiplier falls back to one (RACK.reo_wnd_persist).
    reo_wnd_persist: u32,
    /// No further growth of the window before this is acknowledged (RACK.dsack_round).
    dsack_round: Option<u64>,
}

impl Rack {
    pub(crate) fn new() -> Self {
        Self {
            xmit_ts: Time::ZERO,
            end_seq: 0,
            rtt: Duration::ZERO,
            advanced: false,
            reordering_seen: false,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            dsack_round: None,
        }
    }

    /// A segment was delivered (RFC 8985 section 6.2, steps 1 and 2).
    pub(crate) fn delivered(&mut self, s: &Sent, now: Time, min_rtt: Option<Duration>) {
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

    /// The path reordered.
    pub(crate) fn saw_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// Adapts the window to D-SACKs (RFC 8985 section 6.2, step 4).
    pub(crate) fn update_reo_wnd(&mut self, una: u64, nxt: u64, dsack: bool) {
        if self.dsack_round.is_some_and(|end| una >= end) {
            self.dsack_round = None;
        }
        if dsack && self.dsack_round.is_none() {
            self.dsack_round = Some(nxt);
            self.reo_wnd_mult = (self.reo_wnd_mult + 1).min(255);
            self.reo_wnd_persist = 16;
        } else if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// A recovery ended without a sign of false retransmissions.
    pub(crate) fn recovery_done(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
    }

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
    pub(crate) fn remaining(&self, s: &Sent, reo_wnd: Duration, now: Time) -> Duration {
        (s.sent_at + self.rtt + reo_wnd).since(now)
    }

    /// Judges all outstanding segments; answers how long to wait before asking again, if any is still in the window
    /// (RFC 8985 section 6.2, step 5).
    pub(crate) fn detect_losses(
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
