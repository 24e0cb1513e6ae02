//! The least round trip, and the probe for it.

use super::constants::{LEAST_WINDOW, MIN_RTT_WINDOW, PROBE_RTT, PROBE_RTT_GAIN, PROBE_RTT_INTERVAL};
use super::{AckPhase, Mode, ShortTerm, State};
use crate::cc::bbr::model;
use crate::cc::{Ack, CaState, RateSample, Window};
use sojourn_units::ticks::{self, Ticks};
use sojourn_units::{Duration, Time};

/// The least round trip of 10 s, of which that of 5 s is a part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    /// Of 10 s, microseconds, and when it was measured.
    pub(super) us: u64,
    at: Ticks,
    /// Of 5 s, and when; a probe is due if nothing renews it.
    recent_us: u64,
    recent_at: Ticks,
}

impl MinRtt {
    /// The handshake took so long.
    pub(super) fn begin(&mut self, rtt: Duration, now: Time) {
        let (us, at) = (rtt.as_micros(), ticks::of(now));
        *self = Self {
            us,
            at,
            recent_us: us,
            recent_at: at,
        };
    }

    /// Takes a round trip. Answers whether a probe is due. One that is as short as the least renews that with version
    /// 2, where `equal` is true, but not with version 3. Source: `bbr_update_min_rtt`; draft section 5.3.4.3.
    fn sample(&mut self, rtt: Option<Duration>, delayed: bool, equal: bool, now: Ticks) -> bool {
        let due = now > self.recent_at + PROBE_RTT_INTERVAL;
        if let Some(us) = rtt.map(Duration::as_micros)
            && (us < self.recent_us || equal && us == self.recent_us || due && !delayed)
        {
            (self.recent_us, self.recent_at) = (us, now);
        }
        if self.recent_us <= self.us || now > self.at + MIN_RTT_WINDOW {
            (self.us, self.at) = (self.recent_us, self.recent_at);
        }
        due
    }
}

impl State {
    /// Source: `bbr_probe_rtt_cwnd`.
    pub(super) fn probe_rtt_window(&self) -> u32 {
        model::bdp(self.bandwidth(), self.min_rtt.us, PROBE_RTT_GAIN).max(LEAST_WINDOW)
    }

    /// Source: `bbr_save_cwnd`.
    pub(super) fn save_window(&mut self, window: &Window) {
        self.prior_window = if self.recovery < CaState::Recovery && self.mode != Mode::ProbeRtt {
            window.cwnd
        } else {
            self.prior_window.max(window.cwnd)
        };
    }

    /// Source: `bbr_update_min_rtt`; draft section 5.3.4.3 (CheckProbeRTT).
    pub(super) fn update_min_rtt(&mut self, ack: &Ack, sample: &RateSample, window: &mut Window) {
        let equal = !self.version.is_third();
        let due = self
            .min_rtt
            .sample(ack.rtt, sample.sender.ack_delayed, equal, ticks::of(ack.now));
        if due && !self.restarts && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_window(window);
            self.probe_rtt_done = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.round_end = self.delivered;
        }
        // With so small a window the flow does not show the path's rate.
        self.app_limited = self.mode == Mode::ProbeRtt;
        if self.app_limited {
            self.stay_in_probe_rtt(ack.now, sample, window);
        }
        if sample.delivered > 0 {
            self.restarts = false;
        }
    }

    /// For 200 ms and a round trip, once no more is in flight than half of the pipe.
    fn stay_in_probe_rtt(&mut self, now: Time, sample: &RateSample, window: &mut Window) {
        if self.probe_rtt_done.is_some() {
            self.probe_rtt_round |= self.round_start;
            if self.probe_rtt_round {
                self.end_probe_rtt(now, window);
            }
        } else if sample.flight <= self.probe_rtt_window() {
            self.probe_rtt_done = Some(ticks::of(now) + PROBE_RTT);
            self.probe_rtt_round = false;
            self.round_end = self.delivered;
        }
    }

    /// If the time has come. Source: `bbr_check_probe_rtt_done`, `bbr_exit_probe_rtt`.
    pub(super) fn end_probe_rtt(&mut self, now: Time, window: &mut Window) {
        let at = ticks::of(now);
        if self.probe_rtt_done.is_none_or(|done| at <= done) {
            return;
        }
        self.min_rtt.recent_at = at;
        window.cwnd = window.cwnd.max(self.prior_window);
        self.short_term = ShortTerm::default();
        if self.full.reached {
            self.begin_down(now);
            self.begin_cruise();
        } else {
            self.mode = Mode::StartUp;
        }
    }
}
