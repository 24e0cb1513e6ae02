//! The bounds on rate and volume: of the short term, from what was delivered since the last probe, and of the long
//! term, from what probes found.

use super::constants::{BETA, HEADROOM, LEAST_WINDOW, LOSS_THRESHOLD};
use super::{AckPhase, Mode, Phase, State, Undo};
use crate::cc::bbr::model::{GAIN_SCALE, GAIN_UNIT};
use crate::cc::{CaState, LostSegment, RateSample, Window};
use sojourn_units::Time;

/// The largest sample of the rate in this cycle and in the one before.
///
/// Source: draft section 5.5.6; google/bbr `bbr_advance_max_bw_filter`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxBandwidth([u64; 2]);

impl MaxBandwidth {
    pub(super) fn get(&self) -> u64 {
        self.0[0].max(self.0[1])
    }

    pub(super) fn sample(&mut self, bw: u64) {
        self.0[1] = self.0[1].max(bw);
    }

    /// Another cycle begins. One without samples is as if it had not been.
    fn advance(&mut self) {
        if self.0[1] > 0 {
            self.0 = [self.0[1], 0];
        }
    }
}

/// What was delivered in the latest round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latest {
    pub(super) bw: u64,
    pub(super) inflight: u32,
}

/// What losses and marks since the last probe leave; `None` without any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ShortTerm {
    pub(super) bw: Option<u64>,
    pub(super) inflight: Option<u32>,
}

/// A volume, times so many 256ths.
fn scaled(volume: u32, share: u64) -> u32 {
    ((u64::from(volume) * share) >> GAIN_SCALE) as u32
}

/// The lesser of two bounds, of which each may be none.
fn tighter<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (bound, None) | (None, bound) => bound,
    }
}

/// The greater of two bounds, of which each may be none.
pub(super) fn looser<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    a.zip(b).map(|(a, b)| a.max(b))
}

/// At which volume in flight the losses crossed the threshold, if it was `tx` when the segment was sent and `lost` were
/// lost from then on, both with the segment.
///
/// It solves (lost before + x) / (in flight before + x) = threshold for x. Source: draft section 5.5.10.2
/// (InflightAtLoss); google/bbr `bbr_inflight_hi_from_lost_skb`, for its rounding.
fn inflight_at_loss(tx: u32, lost: u32) -> Option<u32> {
    let (before, lost_before) = (u64::from(tx.checked_sub(1)?), u64::from(lost.checked_sub(1)?));
    let budget = (before * LOSS_THRESHOLD + GAIN_UNIT - 1) >> GAIN_SCALE;
    let prefix = (budget.saturating_sub(lost_before) << GAIN_SCALE) / (GAIN_UNIT - LOSS_THRESHOLD);
    u32::try_from(before + prefix).ok()
}

/// Whether more than 2 % of `tx` segments were lost. Source: `bbr_is_inflight_too_high`.
fn lost_too_many(tx: u32, lost: u32) -> bool {
    lost > 0 && tx > 0 && lost > scaled(tx, LOSS_THRESHOLD)
}

impl State {
    // ---------------------------------------------------------------- what was delivered

    /// Source: `bbr_update_latest_delivery_signals`.
    pub(super) fn update_latest(&mut self, sample: &RateSample, bw: u64) {
        self.latest.bw = self.latest.bw.max(bw);
        self.latest.inflight = self.latest.inflight.max(sample.delivered as u32);
        if sample.prior_delivered >= self.loss_round_end {
            self.loss_round_end = sample.delivered_in_all;
            self.loss_round_start = true;
        }
    }

    /// The round trip of losses is over: what this acknowledgement delivers begins the next. Version 3 does so when all
    /// else is done, and not with an acknowledgement that may be of the tail loss probe. Source:
    /// `bbr_advance_latest_delivery_signals`; `bbr2_update_congestion_signals`.
    pub(super) fn advance_latest(&mut self, sample: &RateSample, bw: u64) {
        if self.loss_round_start && !(self.version.is_third() && sample.acks_probe) {
            self.latest = Latest {
                bw,
                inflight: sample.delivered as u32,
            };
        }
    }

    /// Source: `bbr_update_congestion_signals`.
    pub(super) fn update_congestion(&mut self, sample: &RateSample, bw: u64, window: &Window) {
        if !sample.app_limited || bw >= self.max_bw.get() {
            self.max_bw.sample(bw);
        }
        self.loss_in_round |= sample.losses > 0;
        if self.loss_round_start {
            self.adapt_short_term(window.cwnd);
            (self.loss_in_round, self.ecn_in_round) = (false, false);
        }
        if !self.version.is_third() {
            self.advance_latest(sample, bw);
        }
    }

    /// Source: `bbr_reset_congestion_signals`.
    pub(super) fn reset_congestion_signals(&mut self) {
        (self.loss_in_round, self.ecn_in_round) = (false, false);
        (self.loss_in_cycle, self.ecn_in_cycle) = (false, false);
        self.latest = Latest::default();
    }

    // ---------------------------------------------------------------- the short term

    /// A round trip in which something was lost or marked reduces the bounds, unless the flow probes just then.
    ///
    /// Source: draft section 5.5.10.3 (AdaptLowerBoundsFromCongestion); google/bbr `bbr_adapt_lower_bounds`.
    fn adapt_short_term(&mut self, cwnd: u32) {
        let marked = self.ecn_in_round && self.marks.eligible;
        if self.is_probing() || !self.loss_in_round && !marked {
            return;
        }
        let inflight = self.short_term.inflight.unwrap_or(cwnd);
        let after_marks = marked.then(|| self.marks.cut(inflight));
        let mut after_losses = inflight;
        if self.loss_in_round {
            let bw = self.short_term.bw.unwrap_or_else(|| self.max_bw.get());
            self.short_term.bw = Some(((bw * BETA) >> GAIN_SCALE).max(self.latest.bw).max(1));
            after_losses = scaled(inflight, BETA).max(self.latest.inflight);
        }
        self.short_term.inflight = tighter(Some(after_losses), after_marks);
    }

    // ---------------------------------------------------------------- the long term

    /// What is in flight if the flow leaves room to others. Source: `bbr_inflight_with_headroom`.
    pub(super) fn with_headroom(&self) -> Option<u32> {
        self.inflight_longterm.map(|bound| {
            let headroom = scaled(bound, HEADROOM).max(1);
            bound.saturating_sub(headroom).max(LEAST_WINDOW)
        })
    }

    /// Source: `bbr_bound_cwnd_for_inflight_model`.
    pub(super) fn bound(&self, cwnd: u32) -> u32 {
        let long_term = match self.mode {
            Mode::StartUp | Mode::Drain => None,
            Mode::ProbeRtt | Mode::ProbeBw(Phase::Cruise) => self.with_headroom(),
            Mode::ProbeBw(_) => self.inflight_longterm,
        };
        let cap = tighter(long_term, self.short_term.inflight);
        cap.map_or(cwnd, |cap| cwnd.min(cap.max(LEAST_WINDOW)))
    }

    /// Source: `bbr_is_inflight_too_high`.
    pub(super) fn is_inflight_too_high(&self, sample: &RateSample) -> bool {
        lost_too_many(sample.tx_in_flight, sample.lost) || self.marks.too_many(sample)
    }

    /// Too much was lost or marked while `tx` segments were in flight, the first time in this probe.
    ///
    /// Source: draft section 5.5.10.2 (HandleInflightTooHigh); google/bbr `bbr_handle_inflight_too_high`.
    fn inflight_was_too_high(&mut self, tx: Option<u32>, app_limited: bool, now: Time, cwnd: u32) {
        self.prev_probe_too_high = true;
        self.is_probe_sample = false;
        if !app_limited {
            let least = scaled(self.target_inflight(cwnd), BETA);
            self.inflight_longterm = tx.map(|tx| tx.max(least));
        }
        if self.mode == Mode::ProbeBw(Phase::Up) {
            self.undo.mode = Undo::TO_PROBE;
            self.begin_down(now);
        }
    }

    /// Takes what probes tell of the long term. Answers whether another phase was begun.
    ///
    /// Source: draft section 5.3.3.9 (AdaptLongTermModel); google/bbr `bbr_adapt_upper_bounds`.
    pub(super) fn adapt_long_term(&mut self, sample: &RateSample, now: Time, cwnd: u32) -> bool {
        let probes_bw = matches!(self.mode, Mode::ProbeBw(_));
        if self.round_start {
            match self.ack_phase {
                AckPhase::ProbeStarting => self.ack_phase = AckPhase::ProbeFeedback,
                AckPhase::ProbeStopping => {
                    self.is_probe_sample = false;
                    self.ack_phase = AckPhase::None;
                    // The probe's rate has been measured by now: the cycle before is forgotten.
                    if probes_bw && !sample.app_limited {
                        self.max_bw.advance();
                    }
                    if probes_bw && self.prev_probe_precautionary && !self.prev_probe_too_high {
                        self.begin_refill(0);
                        return true;
                    }
                }
                AckPhase::None | AckPhase::Refilling | AckPhase::ProbeFeedback => {}
            }
        }
        if self.is_inflight_too_high(sample) {
            if self.is_probe_sample {
                self.inflight_was_too_high(Some(sample.tx_in_flight), sample.app_limited, now, cwnd);
            }
        } else if let Some(bound) = self.inflight_longterm {
            self.inflight_longterm = Some(bound.max(sample.tx_in_flight));
            if self.mode == Mode::ProbeBw(Phase::Up) {
                self.raise_longterm(sample, cwnd);
            }
        }
        false
    }

    // ---------------------------------------------------------------- losses

    /// Saves what losses may change, in case they were none.
    pub(super) fn save_bounds(&mut self) {
        self.undo = Undo {
            mode: None,
            short_term: self.short_term,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// What an episode of losses begins from is saved before the first of them reduces anything, as the draft has it
    /// (section 5.5.11.1); with version 2 when recovery begins. Source: `bbr_note_loss`; draft section 5.5.10.2
    /// (NoteLoss).
    fn note_loss(&mut self) {
        if !self.loss_in_round {
            self.loss_round_end = self.delivered;
            if self.version.is_third() && self.recovery < CaState::Recovery {
                self.save_bounds();
            }
        }
        self.loss_in_round = true;
        self.loss_in_cycle = true;
    }

    /// Version 2 does not hear of a loss that a tail loss probe has repaired. Source: `bbr_skb_marked_lost`,
    /// `bbr_run_loss_probe_recovery`; draft section 5.5.10.2 (HandleLostPacket).
    pub(super) fn take_loss(&mut self, lost: &LostSegment, window: &Window) {
        if lost.tx_in_flight.is_none() && !self.version.is_third() {
            return;
        }
        self.delivered = lost.delivered_in_all;
        self.note_loss();
        if !self.is_probe_sample {
            return;
        }
        let tx = lost.tx_in_flight.unwrap_or(self.latest.inflight + lost.lost);
        if lost_too_many(tx, lost.lost) {
            let at_loss = match lost.tx_in_flight {
                Some(tx) => inflight_at_loss(tx, lost.lost),
                None => Some(tx),
            };
            self.inflight_was_too_high(at_loss, lost.app_limited, lost.now, window.cwnd);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2 % are 5/256. Of 1000 segments 5000 >> 8 = 19 may be lost, of 51 none: 255 >> 8 = 0, and of 52 one.
    #[test]
    fn more_than_two_percent_are_too_many() {
        let most = |tx| (0..100).rev().find(|&lost| !lost_too_many(tx, lost));
        assert_eq!([1000, 100, 52, 51, 1].map(most), [19, 1, 1, 0, 0].map(Some));
        assert!(!lost_too_many(0, 5), "nothing is known of the sending");
    }

    /// By the draft: (0.02 x 999 - 0) / 0.98 = 20.4 beyond 999, if the first loss is of the thousandth. In the kernel's
    /// integers the budget is (999 x 5 + 255) >> 8 = 20, and (20 << 8) / 251 = 20. With 20 lost before nothing is left.
    #[test]
    fn the_volume_at_which_losses_crossed_the_threshold_is_found_within_a_burst() {
        assert_eq!(inflight_at_loss(1000, 1), Some(999 + 20));
        assert_eq!(inflight_at_loss(1000, 11), Some(999 + 10));
        assert_eq!(inflight_at_loss(1000, 21), Some(999));
        assert_eq!(inflight_at_loss(1000, 500), Some(999));
        assert_eq!(inflight_at_loss(0, 1), None);
        assert_eq!(inflight_at_loss(u32::MAX, 1), None);
    }

    #[test]
    fn the_rate_of_two_cycles_is_remembered_and_an_empty_cycle_is_none() {
        let mut max = MaxBandwidth::default();
        max.sample(7);
        max.sample(5);
        assert_eq!(max.get(), 7);
        max.advance();
        max.sample(5);
        assert_eq!(max.get(), 7);
        max.advance();
        max.advance();
        assert_eq!(max.get(), 5);
    }
}
