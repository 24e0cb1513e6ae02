//! The cycle of probes for bandwidth: down, cruise, refill, up.

use super::constants::{PROBE_RANDOM_ROUNDS, PROBE_RANDOM_US, PROBE_ROUNDS, PROBE_WAIT_US, UP_INFLIGHT, UP_ROUNDS_MAX};
use super::{AckPhase, Mode, Phase, State};
use crate::cc::bbr::model::{GAIN_SCALE, GAIN_UNIT, micros};
use crate::cc::{CaState, RateSample, Window};
use sojourn_units::Time;

impl State {
    /// Whether the flow sends more than it knows to be safe. Source: `bbr_is_probing_bandwidth`.
    pub(super) fn is_probing(&self) -> bool {
        matches!(self.mode, Mode::StartUp | Mode::ProbeBw(Phase::Refill | Phase::Up))
    }

    /// What the flow wants in flight: the pipe, unless the window is smaller. Source: `bbr_target_inflight`.
    pub(super) fn target_inflight(&self, cwnd: u32) -> u32 {
        self.inflight(self.bandwidth(), GAIN_UNIT).min(cwnd)
    }

    // ---------------------------------------------------------------- how a phase begins

    /// Source: `bbr_start_bw_probe_down`, `bbr_pick_probe_wait`.
    pub(super) fn begin_down(&mut self, now: Time) {
        self.reset_congestion_signals();
        self.rounds_since_probe = self.random.below(PROBE_RANDOM_ROUNDS) as u32;
        self.probe_wait_us = PROBE_WAIT_US + self.random.below(PROBE_RANDOM_US);
        self.phase_us = micros(now);
        self.ack_phase = AckPhase::ProbeStopping;
        self.round_end = self.delivered;
        self.mode = Mode::ProbeBw(Phase::Down);
    }

    /// Source: `bbr_start_bw_probe_cruise`.
    pub(super) fn begin_cruise(&mut self) {
        if let (Some(short), Some(long)) = (&mut self.short_term.inflight, self.inflight_longterm) {
            *short = long.min(*short);
        }
        self.mode = Mode::ProbeBw(Phase::Cruise);
    }

    /// The pipe is filled before the probe. Its first step is 2^`rounds` segments. Source: `bbr_start_bw_probe_refill`.
    pub(super) fn begin_refill(&mut self, rounds: u32) {
        self.short_term = super::ShortTerm::default();
        self.up_rounds = rounds;
        self.up_acked = 0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.round_end = self.delivered;
        self.mode = Mode::ProbeBw(Phase::Refill);
    }

    /// Source: `bbr_start_bw_probe_up`.
    fn begin_up(&mut self, bw: u64, now: Time, cwnd: u32) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.round_end = self.delivered;
        self.phase_us = micros(now);
        self.full.reset(bw);
        self.mode = Mode::ProbeBw(Phase::Up);
        self.steepen(cwnd);
    }

    // ---------------------------------------------------------------- the long-term bound while it is probed

    /// Each round trip the bound grows by twice as much. Source: `bbr_raise_inflight_hi_slope`.
    fn steepen(&mut self, cwnd: u32) {
        self.up_acked_per_step = (cwnd >> self.up_rounds).max(1);
        self.up_rounds = (self.up_rounds + 1).min(UP_ROUNDS_MAX);
    }

    /// Only version 2 forgets what was acknowledged towards the next step once the bound does not limit the flow.
    /// Source: `bbr_probe_inflight_hi_upward`.
    pub(super) fn raise_longterm(&mut self, sample: &RateSample, cwnd: u32) {
        let Some(bound) = &mut self.inflight_longterm else {
            return;
        };
        if !sample.sender.window_limited || cwnd < *bound {
            if !self.version.is_third() {
                self.up_acked = 0;
            }
            return;
        }
        self.up_acked += sample.newly_delivered;
        let steps = self.up_acked / self.up_acked_per_step;
        self.up_acked -= steps * self.up_acked_per_step;
        *bound = bound.saturating_add(steps);
        if self.round_start {
            self.steepen(cwnd);
        }
    }

    // ---------------------------------------------------------------- when it ends

    /// Source: draft section 5.3.3.9 (UpdateProbeBWCyclePhase); google/bbr `bbr_update_cycle_phase`.
    pub(super) fn update_phase(&mut self, sample: &RateSample, bw: u64, now: Time, window: &Window) {
        if !self.full.reached || self.adapt_long_term(sample, now, window.cwnd) {
            return;
        }
        let Mode::ProbeBw(phase) = self.mode else { return };
        match phase {
            Phase::Cruise => {
                self.probe_if_it_is_time(sample, now, window.cwnd);
            }
            Phase::Refill => {
                if self.round_start {
                    self.is_probe_sample = true;
                    self.begin_up(bw, now, window.cwnd);
                }
            }
            Phase::Up => {
                if self.is_time_to_go_down(sample, bw, now, window.cwnd) {
                    self.prev_probe_too_high = false;
                    self.begin_down(now);
                }
            }
            Phase::Down => {
                if !self.probe_if_it_is_time(sample, now, window.cwnd) && self.is_time_to_cruise(sample, now) {
                    self.begin_cruise();
                }
            }
        }
    }

    /// Source: `bbr_check_time_to_probe_bw`, `bbr_is_reno_coexistence_probe_time`; draft section 5.3.3.8.
    fn probe_if_it_is_time(&mut self, sample: &RateSample, now: Time, cwnd: u32) -> bool {
        // Marks have ceased, and nothing was lost: others may have left.
        if let Some(share) = self.version.numbers().ecn_reprobe
            && self.marks.eligible
            && self.ecn_in_cycle
            && !self.loss_in_cycle
            && sample.sender.state == CaState::Open
        {
            let rounds = self.inflight_longterm.map_or(UP_ROUNDS_MAX, |bound| {
                let step = (u64::from(bound) * share) >> GAIN_SCALE;
                step.checked_ilog2().unwrap_or(0)
            });
            self.begin_refill(rounds);
            return true;
        }
        let waited = micros(now) > self.phase_us + self.probe_wait_us;
        let time = waited || self.rounds_since_probe >= self.target_inflight(cwnd).min(PROBE_ROUNDS);
        if time {
            self.begin_refill(0);
        }
        time
    }

    /// Source: `bbr_check_time_to_cruise`.
    fn is_time_to_cruise(&self, sample: &RateSample, now: Time) -> bool {
        let in_net = self.in_net_at_departure(sample.flight_before, sample, now);
        self.with_headroom().is_none_or(|most| in_net <= most) && in_net <= self.inflight(self.max_bw.get(), GAIN_UNIT)
    }

    /// Version 3 goes on until the rate no longer grows, version 2 until a quarter of the pipe is queued, but for the
    /// least round trip at least. Source: draft section 5.3.3.7 (IsTimeToGoDown); google/bbr `bbr_update_cycle_phase`,
    /// `bbr2_update_cycle_phase`.
    fn is_time_to_go_down(&mut self, sample: &RateSample, bw: u64, now: Time, cwnd: u32) -> bool {
        let in_net = self.in_net_at_departure(sample.flight_before, sample, now);
        if self.prev_probe_too_high && self.inflight_longterm.is_some_and(|bound| in_net >= bound) {
            self.prev_probe_precautionary = true;
            return true;
        }
        if !self.version.is_third() {
            let lasted = micros(now) > self.phase_us + self.min_rtt.us;
            return lasted && in_net >= self.inflight(self.max_bw.get(), UP_INFLIGHT);
        }
        if sample.sender.window_limited && self.inflight_longterm.is_some_and(|bound| cwnd >= bound) {
            // The bound, not the path, limits the rate.
            self.full.reset(bw);
            return false;
        }
        self.full.now
    }
}
