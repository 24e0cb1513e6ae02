//! BBR version 2 and version 3: a model of the path that losses and marks bound.
//!
//! Sources of version 3: draft-ietf-ccwg-bbr-06; google/bbr branch v3 `net/ipv4/tcp_bbr.c`, which has the integers, the
//! order of steps and all that concerns ECN. Of version 2: google/bbr branch v2alpha `net/ipv4/tcp_bbr2.c`, and
//! L4STeam's Linux, which has it with ECT(1). Functions are cited by their names of version 3; those of version 2 begin
//! with `bbr2_`. No kernel of ours has them, so that no kernel has judged them (docs/lab/bbr.md, docs/lab/bbr.md).

mod bounds;
mod constants;
mod control;
mod cycle;
mod ecn;
mod probe_rtt;
mod startup;
#[cfg(test)]
mod tests;
mod version;

use super::bbr::aggregation::Aggregation;
use super::bbr::model::{BW_SCALE, GAIN_UNIT, bytes_a_second, interval, micros};
use super::{Ack, CaState, CongestionControl, Kernels, Listed, LostSegment, Needs, RateSample, Restart, Start, Window};
use crate::variant::Variant;
use bounds::{Latest, MaxBandwidth, ShortTerm, looser};
use constants::{AGGREGATION_ROUNDS, ECN_MAX_RTT_US};
use ecn::Marks;
use probe_rtt::MinRtt;
use sojourn_units::ticks::Ticks;
use sojourn_units::{Duration, Stream};
use startup::FullPipe;
use std::fmt::Debug;
use std::marker::PhantomData;
use version::Version;

/// What the flow does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Doubles its rate each round trip.
    StartUp,
    /// Drains the queue that start-up built.
    Drain,
    /// Probes for bandwidth now and then.
    ProbeBw(Phase),
    /// Drains the queue for the least round trip.
    ProbeRtt,
}

/// The phases of [`Mode::ProbeBw`], in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Drains what the last probe has queued.
    Down,
    /// Sends what the path delivers, and leaves room to others.
    Cruise,
    /// Fills the pipe for a round trip.
    Refill,
    /// Sends more than the path has delivered.
    Up,
}

/// What acknowledgements tell of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    /// Nothing.
    None,
    /// The pipe is being filled.
    Refilling,
    /// The probe has begun, and nothing of it is acknowledged.
    ProbeStarting,
    /// Of the probe.
    ProbeFeedback,
    /// The probe is over, but not all of it is acknowledged.
    ProbeStopping,
}

/// What is restored if an episode of losses was none.
#[derive(Clone, Copy, Debug, Default)]
struct Undo {
    /// The mode that the losses ended.
    mode: Option<Mode>,
    short_term: ShortTerm,
    inflight_longterm: Option<u32>,
}

impl Undo {
    const TO_STARTUP: Option<Mode> = Some(Mode::StartUp);
    const TO_PROBE: Option<Mode> = Some(Mode::ProbeBw(Phase::Up));
}

/// Bottleneck bandwidth and round-trip propagation time: version 2 or 3, as its [`Generation`] says.
///
/// Deviation: our hosts send one segment at a time; how much Linux would send at once counts in the window only, as it
/// does there. Protective load balancing is left out, for a simulated path has no other path beside it. Linux's short
/// cut for flows that the application limits is left out too, because it only saves work.
#[derive(Clone, Debug)]
pub struct LaterBbr<G>(Box<State>, PhantomData<G>);

/// BBR version 2, as google's Linux has it.
pub type Bbr2 = LaterBbr<Second>;
/// BBR version 2 for L4S: ECT(1), AccECN, and an answer to marks whatever the round trip.
pub type Bbr2L4s = LaterBbr<SecondL4s>;
/// BBR version 3.
pub type Bbr3 = LaterBbr<Third>;

/// What may be set on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaterBbrParams {
    /// Of the random numbers of one connection: how long it waits before each probe.
    pub seed: u64,
    /// Version 2 answers marks if the least round trip is no longer; zero is no bound. Source: `bbr_ecn_max_rtt_us`.
    pub ecn_max_rtt: Duration,
}

impl LaterBbrParams {
    /// The bound that google's Linux has.
    pub const ECN_MAX_RTT: Duration = Duration::from_micros(ECN_MAX_RTT_US);
}

impl Default for LaterBbrParams {
    fn default() -> Self {
        Self {
            seed: 0,
            ecn_max_rtt: Self::ECN_MAX_RTT,
        }
    }
}

/// In what the controls of this model differ for those who list them.
pub trait Generation: Clone + Debug {
    /// Which model.
    const VERSION: Version;
    /// As [`Listed::NAME`].
    const NAME: &'static str;
    /// As [`Listed::SCALABLE`].
    const SCALABLE: bool = false;
}

/// Of [`Bbr2`].
#[derive(Clone, Debug)]
pub struct Second;

impl Generation for Second {
    const VERSION: Version = Version::Two;
    const NAME: &'static str = "bbr2";
}

/// Of [`Bbr2L4s`].
#[derive(Clone, Debug)]
pub struct SecondL4s;

impl Generation for SecondL4s {
    const VERSION: Version = Version::TwoL4s;
    /// L4STeam's Linux has it as `bbr2`.
    const NAME: &'static str = "bbr2-l4s";
    const SCALABLE: bool = true;
}

/// Of [`Bbr3`].
#[derive(Clone, Debug)]
pub struct Third;

impl Generation for Third {
    const VERSION: Version = Version::Three;
    /// google's Linux has it as `bbr`.
    const NAME: &'static str = "bbr3";
}

/// Rates are in segments a microsecond times 2^24, volumes in segments. Times are in microseconds or, where the kernel
/// has them in ticks, in ticks. Bounds are `None` where the sources have infinity.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, as the kernel's bits are"
)]
struct State {
    version: Version,
    /// Of version 2; `None` if it answers marks whatever the round trip is, microseconds.
    ecn_max_rtt_us: Option<u64>,
    mode: Mode,
    mss: u64,
    initial_window: u32,
    /// Bytes in a second.
    pacing_rate: u64,
    pacing_gain: u64,
    window_gain: u64,
    /// How much the host's device holds, as [`super::SenderView::pacing_shift`] says.
    pacing_shift: u32,
    max_bw: MaxBandwidth,
    aggregation: Aggregation,
    min_rtt: MinRtt,
    /// Delivered so far. The current round trip ends when what is sent from `round_end` delivered on is acknowledged.
    delivered: u64,
    round_end: u64,
    round_start: bool,
    full: FullPipe,
    /// The flow sends again after silence, and nothing is delivered yet.
    restarts: bool,
    /// When the flow may leave [`Mode::ProbeRtt`], and whether a round trip has passed in it.
    probe_rtt_done: Option<Ticks>,
    probe_rtt_round: bool,
    /// At the last acknowledgement.
    recovery: CaState,
    /// The window to return to, and whether it is time to.
    prior_window: u32,
    restores: bool,
    undo: Undo,
    /// The round trip of losses is another one: it begins with the first of them.
    loss_round_end: u64,
    loss_round_start: bool,
    /// Acknowledgements that told of losses, in this round trip of start-up.
    loss_events: u32,
    loss_in_round: bool,
    ecn_in_round: bool,
    loss_in_cycle: bool,
    ecn_in_cycle: bool,
    latest: Latest,
    short_term: ShortTerm,
    /// The most that may be in flight without too many losses, as probes found.
    inflight_longterm: Option<u32>,
    marks: Marks,
    ack_phase: AckPhase,
    /// What is acknowledged was sent by a probe, and the probe was not found to be too much yet.
    is_probe_sample: bool,
    /// The last probe was too much; and the one after it was ended early for that.
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    /// Since the last probe.
    rounds_since_probe: u32,
    probe_wait_us: u64,
    /// Since when the phase lasts.
    phase_us: u64,
    /// The probe raises the long-term bound by one for so many acknowledged, fewer each round trip.
    up_acked_per_step: u32,
    up_acked: u32,
    up_rounds: u32,
    random: Stream,
    /// What is sent now says nothing about the path's rate.
    app_limited: bool,
}

impl<G: Generation> Listed for LaterBbr<G> {
    const NAME: &'static str = G::NAME;
    const KERNELS: Kernels = Kernels::None;
    const SCALABLE: bool = G::SCALABLE;
    /// Without AccECN there are no marks, and it goes on. Source: L4STeam's `bbr2_init`.
    const GIVES_WAY: bool = false;
    const NEEDS: Needs = Needs {
        samples: true,
        steers: true,
        losses: true,
        limits: true,
        pacing: true,
        shallow_ecn: !G::SCALABLE,
        ..Needs::NONE
    };
    /// Source: `bbr_sndbuf_expand`.
    const BUFFERED_WINDOWS: u32 = 3;
    type Params = LaterBbrParams;

    fn new(params: &LaterBbrParams, _: Variant) -> Self {
        let of = G::VERSION.numbers();
        let bound = params.ecn_max_rtt.as_micros();
        let state = State {
            version: G::VERSION,
            ecn_max_rtt_us: (bound > 0 && !G::SCALABLE).then_some(bound),
            mode: Mode::StartUp,
            mss: 0,
            initial_window: 0,
            pacing_rate: 0,
            pacing_gain: of.startup_gain,
            window_gain: of.startup_window_gain,
            pacing_shift: 10,
            max_bw: MaxBandwidth::default(),
            aggregation: Aggregation::default(),
            min_rtt: MinRtt::default(),
            delivered: 0,
            round_end: 0,
            round_start: false,
            full: FullPipe::default(),
            restarts: false,
            probe_rtt_done: None,
            probe_rtt_round: false,
            recovery: CaState::Open,
            prior_window: 0,
            restores: false,
            undo: Undo::default(),
            // The first flight has to be acknowledged.
            loss_round_end: 1,
            loss_round_start: false,
            loss_events: 0,
            loss_in_round: false,
            ecn_in_round: false,
            loss_in_cycle: false,
            ecn_in_cycle: false,
            latest: Latest::default(),
            short_term: ShortTerm::default(),
            inflight_longterm: None,
            marks: Marks::new(G::VERSION),
            ack_phase: AckPhase::None,
            is_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            rounds_since_probe: 0,
            probe_wait_us: 0,
            phase_us: 0,
            up_acked_per_step: u32::MAX,
            up_acked: 0,
            up_rounds: 0,
            random: Stream::new(params.seed),
            app_limited: false,
        };
        Self(Box::new(state), PhantomData)
    }
}

impl<G: Generation> CongestionControl for LaterBbr<G> {
    /// Source: `bbr_init`, `bbr_init_pacing_rate_from_rtt`.
    fn begin(&mut self, start: &Start) {
        let s = &mut *self.0;
        s.mss = u64::from(start.mss);
        s.initial_window = start.window.cwnd;
        s.min_rtt.begin(start.rtt, start.now);
        s.aggregation.restart(micros(start.now));
        let bw = (u64::from(start.window.cwnd) << BW_SCALE) / s.min_rtt.us.max(1);
        s.pacing_rate = bytes_a_second(s.mss, bw, s.pacing_gain).max(1);
    }

    fn grow(&mut self, _: &Ack, _: &mut Window) {}

    /// Saves the window, and with version 2 the bounds. Source: `bbr_ssthresh`.
    fn reduce(&mut self, window: &Window) -> u32 {
        self.0.save_window(window);
        if !self.0.version.is_third() {
            self.0.save_bounds();
        }
        window.cwnd
    }

    fn on_segment_lost(&mut self, lost: &LostSegment, window: &Window) {
        self.0.take_loss(lost, window);
    }

    /// Restores what the losses changed (draft section 5.5.11.2; google/bbr `bbr_undo_cwnd`, which does not return to
    /// the mode; neither does version 2).
    fn on_undone(&mut self) {
        let s = &mut *self.0;
        s.restores = true;
        s.full.reset(0);
        s.loss_in_round = false;
        s.short_term = ShortTerm {
            bw: looser(s.short_term.bw, s.undo.short_term.bw),
            inflight: looser(s.short_term.inflight, s.undo.short_term.inflight),
        };
        s.inflight_longterm = looser(s.inflight_longterm, s.undo.inflight_longterm);
        match s.undo.mode.take().filter(|_| s.version.is_third()) {
            Some(Mode::StartUp) if s.mode != Mode::StartUp => {
                s.full.reached = false;
                if s.mode != Mode::ProbeRtt {
                    s.mode = Mode::StartUp;
                }
            }
            Some(Mode::ProbeBw(_)) if !matches!(s.mode, Mode::ProbeBw(Phase::Up) | Mode::ProbeRtt) => {
                s.begin_refill(0);
            }
            _ => {}
        }
    }

    /// Source: `bbr_set_state`.
    fn on_loss(&mut self, _: &RateSample) {
        let s = &mut *self.0;
        s.recovery = CaState::Loss;
        s.full.reset(0);
        if !s.is_probing() && s.short_term.inflight.is_none() {
            // The window is that of before the time-out.
            s.short_term.inflight = Some(s.prior_window);
        }
    }

    /// Source: `bbr_cwnd_event`; draft section 5.4.1.
    fn on_sends_again(&mut self, restart: &Restart, window: &mut Window) {
        if !restart.app_limited {
            return;
        }
        let s = &mut *self.0;
        s.restarts = true;
        s.aggregation.restart(micros(restart.now));
        match s.mode {
            Mode::ProbeBw(_) => s.pace(s.bandwidth(), GAIN_UNIT),
            Mode::ProbeRtt => s.end_probe_rtt(restart.now, window),
            Mode::StartUp | Mode::Drain => {}
        }
    }

    /// Source: `bbr_main`, `bbr_update_model`; draft section 5.2.3.
    fn on_sample(&mut self, ack: &Ack, sample: &RateSample, window: &mut Window) {
        let s = &mut *self.0;
        s.delivered = sample.delivered_in_all;
        s.pacing_shift = sample.sender.pacing_shift;
        s.restore_window(sample.sender.state, window);
        let us = interval(sample);
        s.update_round(sample, us.is_some());
        s.marks.count(sample);
        if s.round_start {
            s.end_round(sample.sender.ecn_low);
        }
        s.ecn_in_round |= (s.marks.eligible || !s.version.is_third()) && sample.ece;
        // Rounded up, so that low rates can grow.
        let bw = us.map_or(0, |us| (sample.delivered << BW_SCALE).div_ceil(us));
        s.loss_round_start = false;
        if us.is_some() && sample.newly_delivered > 0 {
            s.update_latest(sample, bw);
            s.update_congestion(sample, bw, window);
            s.update_aggregation(sample, window);
        }
        s.check_startup_losses(sample);
        s.check_full(sample, bw);
        s.check_drained(sample, ack.now, window);
        s.update_phase(sample, bw, ack.now, window);
        s.update_min_rtt(ack, sample, window);
        s.set_gains();
        s.pace(s.bandwidth(), s.pacing_gain);
        s.set_window(sample, window);
        if s.version.is_third() {
            s.advance_latest(sample, bw);
        }
        s.recovery = sample.sender.state;
        s.loss_in_cycle |= sample.lost > 0;
        s.ecn_in_cycle |= sample.delivered_ce > 0;
    }

    fn pacing_rate(&self) -> Option<u64> {
        (self.0.pacing_rate > 0).then_some(self.0.pacing_rate)
    }

    fn longest_train(&self, _usual: u32, _rate: u64, _mss: u16) -> u32 {
        self.0.send_quantum()
    }

    fn is_app_limited(&self) -> bool {
        self.0.app_limited
    }
}

impl State {
    /// After a time-out, or losses that were none, the window is what it was. Source: `bbr_exit_loss_recovery`.
    fn restore_window(&mut self, state: CaState, window: &mut Window) {
        if self.restores || self.recovery == CaState::Loss && state != CaState::Loss {
            self.restores = false;
            window.cwnd = window.cwnd.max(self.prior_window);
        }
    }

    /// Source: `bbr_update_round_start`.
    fn update_round(&mut self, sample: &RateSample, valid: bool) {
        self.round_start = valid && sample.prior_delivered >= self.round_end;
        if self.round_start {
            self.round_end = sample.delivered_in_all;
        }
    }

    /// Once a round trip. Source: `bbr_main`.
    fn end_round(&mut self, ecn_low: bool) {
        self.rounds_since_probe = self.rounds_since_probe.saturating_add(1);
        let in_startup = !self.full.reached;
        let cause = self.has_cause(ecn_low);
        if self.marks.end_round(cause, in_startup) {
            self.queue_too_long_in_startup();
        }
    }

    /// Whether marks are to be answered. Version 3: the path marks at a shallow threshold, and its round trip is short.
    /// Version 2: it is as short as is set. Source: `bbr_update_ecn_alpha`, `bbr2_update_ecn_alpha`.
    fn has_cause(&self, ecn_low: bool) -> bool {
        let bound = if self.version.is_third() {
            ecn_low.then_some(ECN_MAX_RTT_US)
        } else {
            Some(self.ecn_max_rtt_us.unwrap_or(u64::MAX))
        };
        bound.is_some_and(|bound| self.min_rtt.us <= bound)
    }

    /// Source: `bbr_update_ack_aggregation`.
    fn update_aggregation(&mut self, sample: &RateSample, window: &Window) {
        let rounds = if self.full.reached { AGGREGATION_ROUNDS } else { 1 };
        let (bw, at_us) = (self.bandwidth(), micros(sample.sender.delivered_at));
        let rounds = self.round_start.then_some(rounds);
        self.aggregation
            .sample(sample.newly_delivered, rounds, bw, window.cwnd, at_us);
    }
}
