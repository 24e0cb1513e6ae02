//! BBR version 1: a model of the path, its bandwidth and its least round trip, in place of losses.
//!
//! Sources: Linux 6.1 `tcp_bbr.c`, which 7.3 has unchanged; Cardwell and others, BBR: congestion-based congestion
//! control, ACM Queue 2016; draft-cardwell-iccrg-bbr-congestion-control-00.

pub(super) mod aggregation;
mod filter;
mod long_term;
pub(super) mod model;
#[cfg(test)]
mod tests;

use super::{Ack, CaState, CongestionControl, Listed, Needs, RateSample, Restart, Start, Threshold, Window};
use crate::variant::Variant;
use aggregation::Aggregation;
use filter::WindowedMax;
use long_term::{Answer, Event, LongTerm, Totals};
use model::{BW_SCALE, GAIN_SCALE, GAIN_UNIT, bytes_a_second, interval, micros};
use sojourn_units::ticks::{self, Ticks};
use sojourn_units::{Duration, Stream, Time};

/// The least gain that doubles the rate each round trip, 2/ln(2), and what drains the queue that it builds.
const HIGH_GAIN: u64 = GAIN_UNIT * 2885 / 1000 + 1;
const DRAIN_GAIN: u64 = GAIN_UNIT * 1000 / 2885;
/// Windows of bandwidth times delay that the congestion window has while the flow probes for bandwidth.
const WINDOW_GAIN: u64 = 2 * GAIN_UNIT;
/// The gains of pacing by which a flow probes for bandwidth, a phase each.
const CYCLE: [u64; 8] = [
    GAIN_UNIT * 5 / 4,
    GAIN_UNIT * 3 / 4,
    GAIN_UNIT,
    GAIN_UNIT,
    GAIN_UNIT,
    GAIN_UNIT,
    GAIN_UNIT,
    GAIN_UNIT,
];
/// The cycle begins in one of so many phases, any but that of 3/4.
const FIRST_PHASES: u64 = 7;
/// Round trips that the bandwidth is the largest of.
const BW_ROUNDS: u32 = 10;
/// The least round trip is found anew after so long, in so long with so few segments in flight.
const MIN_RTT_WINDOW: Ticks = Ticks::from_millis(10_000);
const PROBE_RTT: Ticks = Ticks::from_millis(200);
const LEAST_WINDOW: u32 = 4;
/// Start-up ends after so many round trips in which the bandwidth grew by less than this.
const FULL_ROUNDS: u32 = 3;
const FULL_GROWTH: u64 = GAIN_UNIT * 5 / 4;
/// Round trips for which one of the two maxima of what is acknowledged at once collects.
const AGGREGATION_ROUNDS: u32 = 5;
/// `TCP_INIT_CWND`: before so many are delivered, the window grows in any case.
const FIRST_WINDOW: u64 = 10;

/// Segments of the shortest send at `rate` bytes/s: one below 1.2 Mbit/s. Source: `bbr_min_tso_segs`.
const fn shortest_send(rate: u64) -> u32 {
    if rate < 1_200_000 >> 3 { 1 } else { 2 }
}

/// What the flow does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Doubles its rate each round trip.
    StartUp,
    /// Drains the queue that start-up built.
    Drain,
    /// Probes for bandwidth: phase by phase through [`CYCLE`].
    ProbeBw,
    /// Drains the queue for the least round trip.
    ProbeRtt,
}

/// Bottleneck bandwidth and round-trip propagation time: version 1.
///
/// Deviation: our hosts send one segment at a time, as Linux does by a device without offloads; how much Linux would
/// send at once counts in the window only, as it does there.
#[derive(Clone, Debug)]
pub struct Bbr(Box<State>);

/// What may be set on BBR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BbrParams {
    /// Of the random numbers of one connection: the phases in which its cycles begin.
    pub seed: u64,
}

/// Times are in microseconds or, where the kernel has them in ticks, in ticks.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, as the kernel's bits are"
)]
struct State {
    mode: Mode,
    mss: u64,
    /// Bytes in a second.
    pacing_rate: u64,
    pacing_gain: u64,
    window_gain: u64,
    bw: WindowedMax,
    long_term: LongTerm,
    aggregation: Aggregation,
    min_rtt_us: u64,
    min_rtt_at: Ticks,
    /// Round trips so far; the current one ends when what is sent from now on is delivered.
    rounds: u32,
    round_end: u64,
    round_start: bool,
    /// The place in the cycle, and since when.
    phase: usize,
    phase_us: u64,
    /// The pipe is full: the bandwidth no longer grows.
    full: bool,
    full_bw: u64,
    full_rounds: u32,
    /// The flow sends again after silence, and nothing is delivered yet.
    restarts: bool,
    /// When the flow may leave [`Mode::ProbeRtt`], and whether a round trip has passed in it.
    probe_rtt_done: Option<Ticks>,
    probe_rtt_round: bool,
    /// At the last acknowledgement.
    recovery: CaState,
    /// In recovery's first round trip as much is sent as is delivered.
    conserves: bool,
    /// The window to return to.
    prior_window: u32,
    random: Stream,
    /// What is sent now says nothing about the path's rate.
    app_limited: bool,
}

impl Listed for Bbr {
    const NAME: &'static str = "bbr";
    const NEEDS: Needs = Needs {
        samples: true,
        steers: true,
        pacing: true,
        ..Needs::NONE
    };
    /// Source: `bbr_sndbuf_expand`.
    const BUFFERED_WINDOWS: u32 = 3;
    type Params = BbrParams;

    fn new(params: &BbrParams, _: Variant) -> Self {
        Self(Box::new(State {
            mode: Mode::StartUp,
            mss: 0,
            pacing_rate: 0,
            pacing_gain: HIGH_GAIN,
            window_gain: HIGH_GAIN,
            bw: WindowedMax::default(),
            long_term: LongTerm::default(),
            aggregation: Aggregation::default(),
            min_rtt_us: 0,
            min_rtt_at: Ticks::default(),
            rounds: 0,
            round_end: 0,
            round_start: false,
            phase: 0,
            phase_us: 0,
            full: false,
            full_bw: 0,
            full_rounds: 0,
            restarts: false,
            probe_rtt_done: None,
            probe_rtt_round: false,
            recovery: CaState::Open,
            conserves: false,
            prior_window: 0,
            random: Stream::new(params.seed),
            app_limited: false,
        }))
    }
}

impl CongestionControl for Bbr {
    /// Source: `bbr_init`, `bbr_init_pacing_rate_from_rtt`.
    fn begin(&mut self, start: &Start) {
        let s = &mut *self.0;
        s.mss = u64::from(start.mss);
        s.min_rtt_us = start.rtt.as_micros();
        s.min_rtt_at = ticks::of(start.now);
        s.aggregation.restart(micros(start.now));
        let bw = (u64::from(start.window.cwnd) << BW_SCALE) / s.min_rtt_us.max(1);
        s.pacing_rate = bytes_a_second(s.mss, bw, HIGH_GAIN);
    }

    fn grow(&mut self, _: &Ack, _: &mut Window) {}

    /// Saves the window. Source: `bbr_ssthresh`.
    fn reduce(&mut self, window: &Window) -> u32 {
        self.0.save_window(window);
        window.cwnd
    }

    /// Source: `bbr_undo_cwnd`.
    fn on_undone(&mut self) {
        self.0.full_bw = 0;
        self.0.full_rounds = 0;
        self.0.long_term.reset();
    }

    /// Source: `bbr_set_state`.
    fn on_loss(&mut self, sample: &RateSample) {
        let s = &mut *self.0;
        s.recovery = CaState::Loss;
        s.full_bw = 0;
        s.round_start = true;
        s.sample_long_term(sample);
    }

    /// Source: `bbr_cwnd_event`.
    fn on_sends_again(&mut self, restart: &Restart, window: &mut Window) {
        if !restart.app_limited {
            return;
        }
        let s = &mut *self.0;
        s.restarts = true;
        s.aggregation.restart(micros(restart.now));
        match s.mode {
            Mode::ProbeBw => s.pace(s.bandwidth(), GAIN_UNIT),
            Mode::ProbeRtt => s.end_probe_rtt(restart.now, micros(restart.delivered_at), window),
            Mode::StartUp | Mode::Drain => {}
        }
    }

    /// Source: `bbr_main`, `bbr_update_model`.
    fn on_sample(&mut self, ack: &Ack, sample: &RateSample, window: &mut Window) {
        let s = &mut *self.0;
        s.update_bandwidth(sample);
        s.update_aggregation(sample, window);
        s.update_phase(sample, ack.now);
        s.check_full(sample);
        s.check_drained(sample, ack.now, window);
        s.update_min_rtt(ack, sample, window);
        s.set_gains();
        let bw = s.bandwidth();
        s.pace(bw, s.pacing_gain);
        s.set_window(sample, bw, window);
    }

    fn pacing_rate(&self) -> Option<u64> {
        (self.0.pacing_rate > 0).then_some(self.0.pacing_rate)
    }

    fn longest_train(&self, usual: u32, rate: u64, _mss: u16) -> u32 {
        usual.max(shortest_send(rate))
    }

    fn is_app_limited(&self) -> bool {
        self.0.app_limited
    }
}

impl State {
    // ---------------------------------------------------------------- rates

    fn bandwidth(&self) -> u64 {
        self.long_term.rate().unwrap_or_else(|| self.bw.get())
    }

    /// Before the pipe is full, the rate only grows. Source: `bbr_set_pacing_rate`.
    fn pace(&mut self, bw: u64, gain: u64) {
        let rate = bytes_a_second(self.mss, bw, gain);
        if self.full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Source: `bbr_update_gains`.
    fn set_gains(&mut self) {
        (self.pacing_gain, self.window_gain) = match self.mode {
            Mode::StartUp => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.long_term.rate().is_some() => (GAIN_UNIT, WINDOW_GAIN),
            Mode::ProbeBw => (CYCLE[self.phase], WINDOW_GAIN),
            Mode::ProbeRtt => (GAIN_UNIT, GAIN_UNIT),
        };
    }

    /// Source: `bbr_update_bw`.
    fn update_bandwidth(&mut self, sample: &RateSample) {
        self.round_start = false;
        let Some(us) = interval(sample) else { return };
        if sample.prior_delivered >= self.round_end {
            self.round_end = sample.delivered_in_all;
            self.rounds = self.rounds.wrapping_add(1);
            self.round_start = true;
            self.conserves = false;
        }
        self.sample_long_term(sample);
        let bw = (sample.delivered << BW_SCALE) / us;
        if !sample.app_limited || bw >= self.bw.get() {
            self.bw.sample(BW_ROUNDS, self.rounds, bw);
        }
    }

    fn sample_long_term(&mut self, sample: &RateSample) {
        let event = Event {
            totals: Totals {
                at_us: micros(sample.sender.delivered_at),
                delivered: sample.delivered_in_all,
                lost: sample.sender.lost_in_all,
            },
            lossy: sample.losses > 0,
            app_limited: sample.app_limited,
            round_start: self.round_start,
            probes: self.mode == Mode::ProbeBw,
        };
        let mss = self.mss;
        match self.long_term.sample(&event, |bw| bytes_a_second(mss, bw, GAIN_UNIT)) {
            Answer::Nothing => {}
            Answer::Use => self.pacing_gain = GAIN_UNIT,
            Answer::Probe => self.begin_probe_bw(event.totals.at_us),
        }
    }

    fn update_aggregation(&mut self, sample: &RateSample, window: &Window) {
        if sample.newly_delivered > 0 && interval(sample).is_some() {
            let (bw, at_us) = (self.bandwidth(), micros(sample.sender.delivered_at));
            self.aggregation.sample(
                sample.newly_delivered,
                window_of(self.round_start),
                bw,
                window.cwnd,
                at_us,
            );
        }
    }

    // ---------------------------------------------------------------- segments in flight

    /// Segments of one send. Source: `bbr_tso_segs_goal`, `bbr_min_tso_segs`.
    fn send_quantum(&self, pacing_shift: u32) -> u32 {
        let bytes = (self.pacing_rate >> pacing_shift).min(model::SEND_MAX);
        (bytes / self.mss).clamp(u64::from(shortest_send(self.pacing_rate)), 127) as u32
    }

    /// Bandwidth times delay, times a gain, rounded up. Source: `bbr_bdp`.
    fn bdp(&self, bw: u64, gain: u64) -> u32 {
        model::bdp(bw, self.min_rtt_us, gain)
    }

    /// Room for three sends, an even number, and two more to probe with. Source: `bbr_quantization_budget`.
    fn with_budget(&self, window: u32, sample: &RateSample) -> u32 {
        let window = (window + 3 * self.send_quantum(sample.sender.pacing_shift)).next_multiple_of(2);
        if self.mode == Mode::ProbeBw && self.phase == 0 {
            window + 2
        } else {
            window
        }
    }

    /// Source: `bbr_inflight`.
    fn inflight(&self, gain: u64, sample: &RateSample) -> u32 {
        self.with_budget(self.bdp(self.bw.get(), gain), sample)
    }

    /// In flight when the next segment may depart, if `in_flight` are now. Source: `bbr_packets_in_net_at_edt`.
    fn in_net_at_departure(&self, in_flight: u32, sample: &RateSample, now: Time) -> u32 {
        let in_flight = if self.pacing_gain > GAIN_UNIT {
            in_flight + self.send_quantum(sample.sender.pacing_shift)
        } else {
            in_flight
        };
        model::in_net_at_departure(in_flight, self.bandwidth(), sample, now)
    }

    // ---------------------------------------------------------------- the cycle of gains

    /// Source: `bbr_reset_probe_bw_mode`.
    fn begin_probe_bw(&mut self, delivered_us: u64) {
        self.mode = Mode::ProbeBw;
        self.phase = CYCLE.len() - 1 - self.random.below(FIRST_PHASES) as usize;
        self.next_phase(delivered_us);
    }

    fn next_phase(&mut self, delivered_us: u64) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_us = delivered_us;
    }

    fn update_phase(&mut self, sample: &RateSample, now: Time) {
        if self.mode == Mode::ProbeBw && self.is_phase_over(sample, now) {
            self.next_phase(micros(sample.sender.delivered_at));
        }
    }

    /// Source: `bbr_is_next_cycle_phase`.
    fn is_phase_over(&self, sample: &RateSample, now: Time) -> bool {
        let lasted = micros(sample.sender.delivered_at).saturating_sub(self.phase_us) > self.min_rtt_us;
        if self.pacing_gain == GAIN_UNIT {
            return lasted;
        }
        let in_net = self.in_net_at_departure(sample.flight_before, sample, now);
        if self.pacing_gain > GAIN_UNIT {
            lasted && (sample.losses > 0 || in_net >= self.inflight(self.pacing_gain, sample))
        } else {
            lasted || in_net <= self.inflight(GAIN_UNIT, sample)
        }
    }

    // ---------------------------------------------------------------- start-up and drain

    /// Source: `bbr_check_full_bw_reached`.
    fn check_full(&mut self, sample: &RateSample) {
        if self.full || !self.round_start || sample.app_limited {
            return;
        }
        if self.bw.get() >= (self.full_bw * FULL_GROWTH) >> GAIN_SCALE {
            self.full_bw = self.bw.get();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    /// Source: `bbr_check_drain`.
    fn check_drained(&mut self, sample: &RateSample, now: Time, window: &mut Window) {
        if self.mode == Mode::StartUp && self.full {
            self.mode = Mode::Drain;
            window.ssthresh = Threshold::Segments(self.inflight(GAIN_UNIT, sample));
        }
        if self.mode == Mode::Drain
            && self.in_net_at_departure(sample.flight, sample, now) <= self.inflight(GAIN_UNIT, sample)
        {
            self.begin_probe_bw(micros(sample.sender.delivered_at));
        }
    }

    // ---------------------------------------------------------------- the least round trip

    /// Source: `bbr_update_min_rtt`.
    fn update_min_rtt(&mut self, ack: &Ack, sample: &RateSample, window: &mut Window) {
        let now = ticks::of(ack.now);
        let expired = now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(us) = ack.rtt.map(Duration::as_micros)
            && (us < self.min_rtt_us || expired && !sample.sender.ack_delayed)
        {
            self.min_rtt_us = us;
            self.min_rtt_at = now;
        }
        if expired && !self.restarts && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_window(window);
            self.probe_rtt_done = None;
        }
        // With a window of four segments the flow does not show the path's rate.
        self.app_limited = self.mode == Mode::ProbeRtt;
        if self.app_limited {
            self.stay_in_probe_rtt(ack.now, sample, window);
        }
        if sample.delivered > 0 {
            self.restarts = false;
        }
    }

    /// While [`Mode::ProbeRtt`] lasts: 200 ms with four segments in flight, and a round trip.
    fn stay_in_probe_rtt(&mut self, now: Time, sample: &RateSample, window: &mut Window) {
        match self.probe_rtt_done {
            None if sample.flight <= LEAST_WINDOW => {
                self.probe_rtt_done = Some(ticks::of(now) + PROBE_RTT);
                self.probe_rtt_round = false;
                self.round_end = sample.delivered_in_all;
            }
            None => {}
            Some(_) => {
                self.probe_rtt_round |= self.round_start;
                if self.probe_rtt_round {
                    self.end_probe_rtt(now, micros(sample.sender.delivered_at), window);
                }
            }
        }
    }

    /// Source: `bbr_check_probe_rtt_done`, `bbr_reset_mode`.
    fn end_probe_rtt(&mut self, now: Time, delivered_us: u64, window: &mut Window) {
        let now = ticks::of(now);
        if self.probe_rtt_done.is_none_or(|done| now <= done) {
            return;
        }
        self.min_rtt_at = now;
        window.cwnd = window.cwnd.max(self.prior_window);
        if self.full {
            self.begin_probe_bw(delivered_us);
        } else {
            self.mode = Mode::StartUp;
        }
    }

    // ---------------------------------------------------------------- the window

    /// Source: `bbr_save_cwnd`.
    fn save_window(&mut self, window: &Window) {
        self.prior_window = if self.recovery < CaState::Recovery && self.mode != Mode::ProbeRtt {
            window.cwnd
        } else {
            self.prior_window.max(window.cwnd)
        };
    }

    /// Recovery begins: as much is sent as is delivered, for a round trip. It ends: the window is what it was. Answers
    /// whether as much is sent as is delivered. Source: `bbr_set_cwnd_to_recover_or_restore`.
    fn recover_or_restore(&mut self, sample: &RateSample, cwnd: &mut u32) -> bool {
        let (before, state) = (self.recovery, sample.sender.state);
        let delivered = sample.flight + sample.newly_delivered;
        if sample.losses > 0 {
            *cwnd = cwnd.saturating_sub(sample.losses).max(1);
        }
        if state == CaState::Recovery && before != CaState::Recovery {
            self.conserves = true;
            self.round_end = sample.delivered_in_all;
            *cwnd = delivered;
        } else if before >= CaState::Recovery && state < CaState::Recovery {
            *cwnd = (*cwnd).max(self.prior_window);
            self.conserves = false;
        }
        self.recovery = state;
        if self.conserves {
            *cwnd = (*cwnd).max(delivered);
        }
        self.conserves
    }

    /// Source: `bbr_ack_aggregation_cwnd`.
    fn aggregated(&self) -> u32 {
        if !self.full {
            return 0;
        }
        self.aggregation.enlarges(self.bandwidth())
    }

    /// Source: `bbr_set_cwnd`.
    fn set_window(&mut self, sample: &RateSample, bw: u64, window: &mut Window) {
        let (acked, mut cwnd) = (sample.newly_delivered, window.cwnd);
        if acked > 0 && !self.recover_or_restore(sample, &mut cwnd) {
            let target = self.with_budget(self.bdp(bw, self.window_gain) + self.aggregated(), sample);
            // Linux counts the SYN among what is delivered.
            if self.full {
                cwnd = (cwnd + acked).min(target);
            } else if cwnd < target || sample.delivered_in_all + 1 < FIRST_WINDOW {
                cwnd += acked;
            }
            cwnd = cwnd.max(LEAST_WINDOW);
        }
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(LEAST_WINDOW);
        }
        window.cwnd = cwnd;
    }
}

/// The window of the maxima, where a round trip begins.
fn window_of(round_start: bool) -> Option<u32> {
    round_start.then_some(AGGREGATION_ROUNDS)
}
