//! What the model comes to: the rate, and the window.

use super::constants::{DRAIN_GAIN, LEAST_WINDOW, SEND_LEAST, SEND_OF_RTT, SEND_ONE_BELOW, SEND_RTT_SHIFT, UP_GAIN};
use super::version::WINDOW_GAIN;
use super::{Mode, Phase, State};
use crate::cc::bbr::model::{self, GAIN_UNIT, bytes_a_second};
use crate::cc::{RateSample, Window};
use sojourn_units::Time;

impl State {
    /// The rate that the path is believed to have. Source: `bbr_bw`; draft section 5.5.10.3 (BoundBWForModel).
    pub(super) fn bandwidth(&self) -> u64 {
        let most = self.max_bw.get();
        self.short_term.bw.map_or(most, |bound| bound.min(most))
    }

    /// Source: `bbr_update_gains`; draft section 5.6.1.
    pub(super) fn set_gains(&mut self) {
        let of = self.version.numbers();
        (self.pacing_gain, self.window_gain) = match self.mode {
            Mode::StartUp => (of.startup_gain, of.startup_window_gain),
            Mode::Drain => (DRAIN_GAIN, of.startup_window_gain),
            Mode::ProbeBw(Phase::Up) => (UP_GAIN, of.up_window_gain),
            Mode::ProbeBw(Phase::Down) => (of.down_gain, WINDOW_GAIN),
            Mode::ProbeBw(Phase::Cruise | Phase::Refill) => (GAIN_UNIT, WINDOW_GAIN),
            Mode::ProbeRtt => (GAIN_UNIT, GAIN_UNIT),
        };
    }

    /// Before the pipe is full, the rate only grows. Source: `bbr_set_pacing_rate`; draft section 5.6.2.
    pub(super) fn pace(&mut self, bw: u64, gain: u64) {
        let rate = bytes_a_second(self.mss, bw, gain).max(1);
        if self.full.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Segments of one send. Source: `bbr_tso_segs_goal`.
    pub(super) fn send_quantum(&self) -> u32 {
        let halvings = self.min_rtt.us >> SEND_RTT_SHIFT;
        let of_rtt = if halvings < 32 { SEND_OF_RTT >> halvings } else { 0 };
        let bytes = ((self.pacing_rate >> self.pacing_shift) + of_rtt).min(model::SEND_MAX);
        let slow = !self.version.is_third() && self.pacing_rate < SEND_ONE_BELOW;
        let least = if slow { 1 } else { SEND_LEAST };
        (bytes / self.mss.max(1)).max(least) as u32
    }

    /// At least three sends, and two segments more to probe with. Source: `bbr_quantization_budget`; draft section
    /// 5.6.4.2.
    fn with_budget(&self, window: u32) -> u32 {
        let window = window.max(3 * self.send_quantum()).max(LEAST_WINDOW);
        if self.mode == Mode::ProbeBw(Phase::Up) {
            window.saturating_add(2)
        } else {
            window
        }
    }

    /// Source: `bbr_inflight`.
    pub(super) fn inflight(&self, bw: u64, gain: u64) -> u32 {
        self.with_budget(model::bdp(bw, self.min_rtt.us, gain))
    }

    /// In flight when the next segment may depart, if `in_flight` are now. Source: `bbr_packets_in_net_at_edt`.
    pub(super) fn in_net_at_departure(&self, in_flight: u32, sample: &RateSample, now: Time) -> u32 {
        let more = if self.pacing_gain > GAIN_UNIT {
            self.send_quantum()
        } else {
            0
        };
        model::in_net_at_departure(in_flight + more, self.bandwidth(), sample, now)
    }

    /// Source: `bbr_set_cwnd`; draft section 5.6.4.6.
    pub(super) fn set_window(&self, sample: &RateSample, window: &mut Window) {
        let (acked, mut cwnd) = (sample.newly_delivered, window.cwnd);
        if acked > 0 {
            let bw = self.bandwidth();
            let pipes = model::bdp(bw, self.min_rtt.us, self.window_gain);
            let target = self.with_budget(pipes.saturating_add(self.aggregation.enlarges(bw)));
            if self.full.reached {
                cwnd = cwnd.saturating_add(acked).min(target);
            } else if cwnd < target || cwnd < 2 * self.initial_window {
                cwnd = cwnd.saturating_add(acked);
            }
            cwnd = cwnd.max(LEAST_WINDOW);
        }
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt_window());
        }
        window.cwnd = self.bound(cwnd);
    }
}
