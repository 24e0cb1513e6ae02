//! TCP Prague: a scalable congestion control for L4S, whose marks come in a steady number a round trip.
//!
//! Sources: RFC 9331 section 4; draft-briscoe-iccrg-prague-congestion-control; L4STeam's `tcp_prague.c`, versions 0.6 and
//! 0.7, whose names are in parentheses. Mainline Linux has no Prague.

mod aim;
mod classic;
mod rtt;
mod steering;
#[cfg(test)]
mod tests;
mod version;

pub use rtt::RttControl;
pub use version::PragueVersion;

use super::{Ack, CaState, CongestionControl, Kernels, Listed, Needs, RateSample, Start, Window};
use crate::variant::Variant;
use aim::Aim;
use classic::Detector;
use sojourn_units::{Duration, Time};
use steering::{LEAST_RATE, Steering};

/// A segment, and the whole of all that is delivered, in 2^20ths (`ONE_CWND`, `PRAGUE_MAX_ALPHA`).
const ONE: u64 = 1 << 20;
/// The weight of a new share is 2^-4 (`PRAGUE_SHIFT_G`; draft section 2.3.2).
const SHIFT: u32 = 4;
/// The least window, segments (`MIN_CWND`).
const LEAST: u32 = 2;
/// Bytes of a packet beside its payload: IPv4, TCP, timestamps. Linux reckons the pacing rate in packets of the MTU,
/// and charges payload, so that a window leaves in 0.97 of a round trip (`prague_update_pacing_rate`).
const HEADERS: u64 = 52;

/// What may be set on it. The default is L4STeam's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PragueParams {
    /// It looks for a bottleneck with classic marks, and there reduces its window more (`prague_ecn_fallback`).
    pub fallback: bool,
    /// How its share depends on the RTT (`prague_rtt_scaling`).
    pub rtt: RttControl,
    /// Whose it is.
    pub version: PragueVersion,
}

/// What the sender has told since the last sample.
#[derive(Clone, Copy, Debug, Default)]
struct Feedback {
    /// Marks begin a reduction.
    marks: bool,
    /// A loss begins one.
    loss: bool,
    /// A reduction was for nothing.
    undone: bool,
}

/// The window when a loss reduced it.
#[derive(Clone, Copy, Debug)]
struct Before {
    cwnd: u32,
    aim: Aim,
}

/// A window that each acknowledged segment without a mark makes larger, and that marks reduce by half of their share
/// once a round trip.
///
/// Growth goes on during reductions. A reduction is not at once: the window follows what it is to be by a segment for
/// each acknowledgement. A loss halves the window, which does not grow until all that was out is acknowledged.
///
/// L4STeam's versions differ ([`PragueVersion`]), first of all in how they count what the window is to become (`aim.rs`).
///
/// Deviation: In 0.6-fraction as it is published the window of slow start is lost; this keeps it, as 0.7 does. 0.6
/// doubles a reduction that was for nothing; this takes it back, as later versions do. Without `tcp.gso` segments are
/// paced one by one, and not in bursts of 0.25 ms. The draft suspends growth for no marks at all (section 2.4.2) and
/// updates the share by the clock of a virtual round trip, as this does; it also describes a window below two segments,
/// which L4STeam's TCP does not have.
#[derive(Clone, Copy, Debug)]
pub struct Prague {
    params: PragueParams,
    /// The smoothed share of marked packets, 16 times (`upscaled_alpha`).
    alpha: u64,
    /// When it was updated.
    alpha_at: Time,
    /// When marks reduced the window.
    reduced_at: Option<Time>,
    /// What the window is to become.
    aim: Aim,
    /// The rate, which steers a small window of 0.7.
    steering: Steering,
    /// By what a window of acknowledged segments makes it larger (`ai_ack_increase`).
    growth: u64,
    /// The round is over when this is acknowledged.
    end: u64,
    /// Delivered in it, and of those marked.
    delivered: u64,
    marked: u64,
    /// Rounds since slow start.
    rounds: u32,
    /// A mark has come: there is a queue that marks.
    saw_marks: bool,
    in_loss: bool,
    before: Before,
    feedback: Feedback,
    srtt: Duration,
    /// Bytes of payload in a full segment.
    mss: u16,
    /// Bytes/s.
    pace: Option<u64>,
    detector: Option<Detector>,
}

impl Listed for Prague {
    const NAME: &'static str = "prague";
    const KERNELS: Kernels = Kernels::Some;
    const SCALABLE: bool = true;
    const NEEDS: Needs = Needs {
        samples: true,
        steers: true,
        limits: true,
        pacing: true,
        ..Needs::NONE
    };
    type Params = PragueParams;

    fn new(params: &PragueParams, _: Variant) -> Self {
        let aim = match params.version {
            PragueVersion::V06 => Aim::Change(0),
            PragueVersion::V06Fraction | PragueVersion::V07 => Aim::Whole(0),
        };
        // Before the first mark nothing is known: 0.6 reckons with the worst, and 0.7 halves the window once.
        let alpha = if params.version == PragueVersion::V07 {
            0
        } else {
            ONE << SHIFT
        };
        Self {
            params: *params,
            alpha,
            alpha_at: Time::ZERO,
            reduced_at: None,
            aim,
            steering: Steering::default(),
            growth: ONE,
            end: 0,
            delivered: 0,
            marked: 0,
            rounds: 0,
            saw_marks: false,
            in_loss: false,
            before: Before { cwnd: 0, aim },
            feedback: Feedback::default(),
            srtt: Duration::ZERO,
            mss: 0,
            pace: None,
            detector: None,
        }
    }
}

impl Prague {
    /// Whether short round trips count as longer ones by now (`prague_is_rtt_indep`).
    fn is_independent(&self, window: &Window) -> bool {
        self.params.rtt != RttControl::None
            && !window.in_slow_start()
            && self.rounds >= self.params.version.transition()
    }

    /// Whether it is version 0.7.
    fn is_07(&self) -> bool {
        self.params.version == PragueVersion::V07
    }

    /// Whether the rate steers, and not the window.
    fn is_steered(&self, window: &Window) -> bool {
        self.is_07() && self.steering.steers(self.is_independent(window), self.saw_marks)
    }

    /// `prague_ai_ack_increase`.
    fn set_growth(&mut self) {
        self.growth = if self.rounds < self.params.version.transition() {
            ONE
        } else {
            self.params.rtt.growth(self.srtt)
        };
    }

    /// Marks begin a reduction, or would if the last were long enough ago (`prague_enter_cwr`).
    fn reduce_by_marks(&mut self, window: &Window, now: Time) {
        let least = self.params.rtt.least_round(self.srtt);
        if self.is_independent(window) && self.reduced_at.is_some_and(|at| now.since(at) < least) {
            return;
        }
        self.reduced_at = Some(now);
        let least = self.detector.as_ref().map_or(0, Detector::least_alpha);
        let alpha = (self.alpha >> SHIFT).max(least);
        if self.is_steered(window) {
            self.steering.reduce(alpha);
            self.aim = Aim::Whole(self.steering.window(self.mss));
        } else {
            self.aim.reduce(alpha, window);
        }
    }

    /// A segment was lost (`prague_enter_loss`).
    fn reduce_by_loss(&mut self, window: &Window) {
        self.before = Before {
            cwnd: window.cwnd,
            aim: self.aim,
        };
        let steered = self.is_steered(window);
        self.steering.halve(steered);
        if steered {
            self.aim = Aim::Whole(self.steering.window(self.mss));
        } else {
            self.aim.halve(window);
        }
        self.in_loss = true;
        self.set_growth();
    }

    /// What the sender has feedback.
    fn heed(&mut self, now: Time, state: CaState, window: &mut Window) {
        let feedback = std::mem::take(&mut self.feedback);
        if feedback.undone {
            window.cwnd = window.cwnd.max(self.before.cwnd);
            if self.is_07() {
                self.steering.undo();
                self.aim = Aim::Whole(self.steering.window(self.mss));
                self.in_loss = false;
            } else {
                self.aim.undo(self.before.aim);
            }
        }
        if state == CaState::Open || feedback.marks {
            self.in_loss = false;
        }
        // A loss that a probe has repaired is answered as marks are: Linux goes through the state CWR.
        if feedback.marks || feedback.loss {
            self.reduce_by_marks(window, now);
        }
    }

    /// `prague_update_cwnd`.
    fn update_window(&mut self, sample: &RateSample, window: &mut Window) {
        if sample.marked.packets > 0 {
            if self.is_07() && !self.saw_marks {
                self.aim.halve(window);
            }
            self.saw_marks = true;
        }
        let mut acked = sample.newly_delivered.saturating_sub(sample.marked.packets);
        let may_grow = if self.is_07() {
            !sample.app_limited
        } else {
            sample.sender.may_grow
        };
        if acked > 0 && !self.in_loss && may_grow {
            if window.in_slow_start() {
                acked = window.slow_start(acked);
                self.aim.follow(window);
                if acked == 0 {
                    self.set_growth();
                    return;
                }
            }
            if self.is_steered(window) {
                self.steering.grow(acked, self.srtt, self.mss);
                self.aim.raise(acked, self.steering.window(self.mss));
            } else {
                self.aim.grow(acked, self.growth, window, self.is_07());
            }
        }
        if self.aim.step(window) {
            self.set_growth();
        }
    }

    /// `prague_update_alpha`, if the round is over.
    fn update_alpha(&mut self, ack: &Ack, least: Option<Duration>, window: &Window) {
        let passed = ack.now.since(self.alpha_at);
        if ack.una < self.end || self.is_independent(window) && passed < self.params.rtt.least_round(self.srtt) {
            return;
        }
        if self.saw_marks {
            if let Some(detector) = &mut self.detector {
                detector.judge(least);
            }
            let share = (self.marked << 20) / self.delivered.max(1);
            self.alpha = (self.alpha - (self.alpha >> SHIFT) + share).min(ONE << SHIFT);
            self.alpha_at = ack.now;
        }
        self.steering.on_round(self.srtt);
        self.begin_round(ack.nxt, window);
    }

    /// `prague_new_round`.
    fn begin_round(&mut self, nxt: u64, window: &Window) {
        self.end = nxt;
        (self.delivered, self.marked) = (0, 0);
        if !window.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
        self.set_growth();
    }

    /// A window a round trip; two in slow start; or the rate that steers (`prague_update_pacing_rate`).
    fn set_pace(&mut self, now: Time, flight: u32, window: &Window) {
        if self.is_steered(window) {
            self.pace = Some(self.steering.pace(self.srtt, self.alpha_at, now));
            return;
        }
        let starts = window.ssthresh.segments().is_none_or(|most| window.cwnd < most / 2);
        let segments = u64::from(window.cwnd.max(flight)) << u32::from(starts);
        let bytes = segments * (u64::from(self.mss) + HEADERS);
        let us = (self.srtt.as_nanos() / 1000).max(1);
        let pace = bytes.saturating_mul(1_000_000) / us;
        self.steering.rate = pace.max(LEAST_RATE);
        self.pace = Some(if self.is_07() { self.steering.rate } else { pace });
    }
}

impl CongestionControl for Prague {
    /// `prague_init`.
    fn begin(&mut self, start: &Start) {
        self.srtt = start.rtt;
        self.alpha_at = start.now;
        self.mss = start.mss;
        self.detector = self.params.fallback.then(|| Detector::new(start.rtt, self.is_07()));
        self.aim.begin(&start.window);
        self.steering.begin(start.rtt);
        self.begin_round(0, &start.window);
        self.set_pace(start.now, 0, &start.window);
    }

    fn grow(&mut self, _: &Ack, _: &mut Window) {}

    fn reduce(&mut self, window: &Window) -> u32 {
        self.feedback.loss = true;
        if let Some(detector) = &mut self.detector {
            detector.on_reduction(window.ssthresh.segments());
        }
        window.cwnd
    }

    fn reduce_by_echo(&mut self, window: &Window) -> u32 {
        self.reduce(window);
        self.feedback.loss = false;
        self.feedback.marks = true;
        window.cwnd
    }

    fn on_lost(&mut self, window: &mut Window) {
        self.feedback.loss = false;
        self.reduce_by_loss(window);
    }

    fn on_undone(&mut self) {
        self.feedback.undone = true;
    }

    fn on_sample(&mut self, ack: &Ack, sample: &RateSample, window: &mut Window) {
        self.srtt = sample.sender.srtt.unwrap_or(self.srtt);
        self.mss = ack.mss;
        if let (Some(detector), Some(rtt)) = (&mut self.detector, ack.rtt) {
            detector.on_rtt(rtt);
        }
        self.delivered += u64::from(sample.newly_delivered);
        self.marked += u64::from(sample.marked.packets);
        self.heed(ack.now, sample.sender.state, window);
        self.update_window(sample, window);
        self.update_alpha(ack, sample.sender.min_rtt, window);
        self.set_pace(ack.now, sample.flight, window);
        self.steering.on_window(window.cwnd, self.mss);
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.pace
    }

    /// What leaves in 2^-12 s (`prague_burst_shift`, `prague_tso_segs`).
    fn longest_train(&self, _usual: u32, rate: u64, mss: u16) -> u32 {
        let segments = u32::try_from((rate / u64::from(mss)) >> 12).unwrap_or(u32::MAX);
        segments.max(self.params.version.shortest_train())
    }
}
