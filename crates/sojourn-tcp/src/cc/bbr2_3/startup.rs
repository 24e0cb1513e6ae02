//! Start-up and drain: whether the pipe is full.

use super::constants::{FULL_GROWTH, FULL_ROUNDS};
use super::{Mode, State, Undo};
use crate::cc::bbr::model::{GAIN_SCALE, GAIN_UNIT};
use crate::cc::{CaState, RateSample, Threshold, Window};
use sojourn_units::Time;

/// The estimator of a full pipe: three round trips without growth by a quarter.
///
/// google's version 2 looks at the largest rate once a round trip, the others at each sample.
///
/// Source: draft section 5.3.1.2 (CheckFullBWReached); google/bbr `bbr_check_full_bw_reached`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// The rate from which growth counts.
    pub(super) bw: u64,
    rounds: u32,
    /// It is full now, as far as the current probe tells.
    pub(super) now: bool,
    /// It was full once.
    pub(super) reached: bool,
}

impl FullPipe {
    /// Looks anew, from the rate `bw` on.
    pub(super) fn reset(&mut self, bw: u64) {
        (self.bw, self.rounds, self.now) = (bw, 0, false);
    }

    /// A sample that the application does not limit.
    fn sample(&mut self, bw: u64, round_start: bool) {
        if self.now {
            return;
        }
        if bw >= (self.bw * FULL_GROWTH) >> GAIN_SCALE {
            self.reset(bw);
        } else if round_start {
            self.rounds += 1;
            self.now = self.rounds >= FULL_ROUNDS;
            self.reached |= self.now;
        }
    }
}

impl State {
    /// Source: `bbr_check_loss_too_high_in_startup`; draft section 5.3.1.3.
    pub(super) fn check_startup_losses(&mut self, sample: &RateSample) {
        if self.full.reached {
            return;
        }
        self.loss_events = self.loss_events.saturating_add(u32::from(sample.losses > 0));
        if self.loss_round_start {
            if sample.sender.state == CaState::Recovery
                && self.loss_events >= self.version.numbers().full_losses
                && self.is_inflight_too_high(sample)
            {
                self.undo.mode = Undo::TO_STARTUP;
                self.queue_too_long_in_startup();
            }
            self.loss_events = 0;
        }
    }

    /// Losses or marks tell that the pipe is full. Version 3 allows what was delivered of late, if that is more.
    /// Source: `bbr_handle_queue_too_high_in_startup`.
    pub(super) fn queue_too_long_in_startup(&mut self) {
        self.full.reached = true;
        let pipe = self.inflight(self.max_bw.get(), GAIN_UNIT);
        let third = self.version.is_third();
        self.inflight_longterm = Some(if third { pipe.max(self.latest.inflight) } else { pipe });
    }

    /// Source: `bbr_check_full_bw_reached`, `bbr2_check_full_bw_reached`.
    pub(super) fn check_full(&mut self, sample: &RateSample, bw: u64) {
        if sample.app_limited {
            return;
        }
        if self.version.sees_each_sample() {
            self.full.sample(bw, self.round_start);
        } else if self.round_start && !self.full.reached {
            self.full.sample(self.max_bw.get(), true);
        }
    }

    /// Source: `bbr_check_drain`.
    pub(super) fn check_drained(&mut self, sample: &RateSample, now: Time, window: &mut Window) {
        if self.mode == Mode::StartUp && self.full.reached {
            self.mode = Mode::Drain;
            window.ssthresh = Threshold::Segments(self.inflight(self.max_bw.get(), GAIN_UNIT));
            self.reset_congestion_signals();
        }
        if self.mode == Mode::Drain
            && self.in_net_at_departure(sample.flight, sample, now) <= self.inflight(self.max_bw.get(), GAIN_UNIT)
        {
            self.begin_down(now);
        }
    }
}
