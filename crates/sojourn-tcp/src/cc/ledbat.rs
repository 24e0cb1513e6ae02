//! LEDBAT++: a window for background traffic, which yields to others and keeps the queue at 60 ms.
//!
//! Sources: draft-irtf-iccrg-ledbat-plus-plus-01, whose sections are named as "draft section"; RFC 6817 for the history
//! of delays and the least window. Windows has this control. No Linux kernel has it.

mod delay;
#[cfg(test)]
mod tests;

use super::{Ack, CongestionControl, Kernels, Listed, Threshold, Window};
use crate::variant::Variant;
use delay::Delays;
use sojourn_units::{Duration, Time};

/// The queuing delay that it aims at (draft section 4.5).
const TARGET: Duration = Duration::from_millis(60);
/// The gain is at least a sixteenth of Reno's (draft section 4.2).
const LEAST_GAIN: u64 = 16;
/// The least window, which is that of a slowdown, too, segments (RFC 6817 section 2.5; draft section 4.4).
const LEAST: u32 = 2;
/// Round trips from the first slow start to the first slowdown, and of a slowdown at the least window (draft section
/// 4.4).
const ROUNDS: u32 = 2;
/// A slowdown begins after so many times as long as the one before it took (draft section 4.4).
const PAUSE: u64 = 9;
/// A segment, in the unit of the fractions that a window has gained or lost.
const SEGMENT: i64 = 1 << 32;

/// Round trips to wait for.
#[derive(Clone, Copy, Debug)]
struct Rounds {
    /// The current one ends when this is acknowledged.
    end: u64,
    left: u32,
}

impl Rounds {
    fn begin(ack: &Ack) -> Self {
        Self {
            end: ack.nxt,
            left: ROUNDS,
        }
    }

    /// Whether they are over with this acknowledgement.
    fn are_over(&mut self, ack: &Ack) -> bool {
        if ack.una >= self.end {
            self.left -= 1;
            self.end = ack.nxt;
        }
        self.left == 0
    }
}

/// What the connection is doing.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Its first slow start.
    Start,
    /// The first slow start is over, and the first slowdown has not begun.
    Settle(Rounds),
    /// A slowdown: the least window, so that queues drain and the base delay shows.
    Frozen { since: Time, rounds: Rounds },
    /// A slowdown: slow start to the window that was.
    Regrow { since: Time },
    /// The next slowdown begins then.
    Steady { until: Time },
}

/// A window that grows by a part of Reno's growth below 60 ms of queuing delay, and shrinks in proportion to what the
/// delay exceeds them by.
///
/// Below the target the window grows by the gain each round trip. Above, with the queuing delay d, the change is
/// max(gain - W (d / target - 1), -W / 2) each round trip (draft section 4.3, whose constant is 1). A loss and an ECN
/// echo halve the window. In a slowdown the window is two segments for two round trips, and then grows back by slow
/// start. The gain holds for slow start as well (draft section 4.1), and for that of a slowdown.
///
/// Deviation: round trips are counted by what is acknowledged, not by a clock. A loss in the frozen part of a slowdown
/// halves the window to which it will grow back; the draft does not say. The draft's formula would make a window below
/// the target grow by more than the gain; like RFC 6817 and the draft's own section 4.2, this grows by the gain.
#[derive(Clone, Copy, Debug)]
pub struct LedbatPlusPlus {
    delays: Delays,
    phase: Phase,
    /// Of a segment, gained or lost and not yet in the window.
    fraction: i64,
}

impl Listed for LedbatPlusPlus {
    const NAME: &'static str = "ledbat++";
    const KERNELS: Kernels = Kernels::None;
    /// Draft section 4.1; RFC 6817 section 2.5, `INIT_CWND`.
    const LARGEST_START: u32 = LEAST;
    type Params = ();

    fn new((): &(), _: Variant) -> Self {
        Self {
            delays: Delays::default(),
            phase: Phase::Start,
            fraction: 0,
        }
    }
}

impl LedbatPlusPlus {
    /// One over the gain: min(16, ceil(2 target / base)) (draft section 4.2).
    fn gain_divisor(&self) -> u64 {
        let base = self.delays.base().map_or(0, Duration::as_nanos);
        (2 * TARGET.as_nanos()).checked_div(base).map_or(LEAST_GAIN, |_| {
            (2 * TARGET.as_nanos()).div_ceil(base).clamp(1, LEAST_GAIN)
        })
    }

    /// Goes on to the next phase if it is time.
    fn advance(&mut self, ack: &Ack, queued: Duration, window: &mut Window) {
        match &mut self.phase {
            Phase::Start => {
                if window.in_slow_start() && queued > TARGET * 3 / 4 {
                    window.leave_slow_start();
                }
                if !window.in_slow_start() {
                    self.phase = Phase::Settle(Rounds::begin(ack));
                }
            }
            Phase::Settle(rounds) => {
                if rounds.are_over(ack) {
                    self.slow_down(ack, window);
                }
            }
            Phase::Frozen { since, rounds } => {
                if rounds.are_over(ack) {
                    self.phase = Phase::Regrow { since: *since };
                }
            }
            Phase::Regrow { since } => {
                if !window.in_slow_start() {
                    let until = ack.now + ack.now.since(*since).saturating_mul(PAUSE);
                    self.phase = Phase::Steady { until };
                }
            }
            Phase::Steady { until } => {
                if ack.now >= *until {
                    self.slow_down(ack, window);
                }
            }
        }
    }

    fn slow_down(&mut self, ack: &Ack, window: &mut Window) {
        window.leave_slow_start();
        self.phase = Phase::Frozen {
            since: ack.now,
            rounds: Rounds::begin(ack),
        };
    }

    /// Puts whole segments into the window.
    fn settle(&mut self, change: i64, window: &mut Window) {
        self.fraction += change;
        let whole = self.fraction / SEGMENT;
        self.fraction -= whole * SEGMENT;
        let cwnd = i64::from(window.cwnd) + whole;
        if cwnd < i64::from(LEAST) {
            self.fraction = 0;
        }
        window.cwnd = cwnd.clamp(i64::from(LEAST), i64::from(u32::MAX)) as u32;
    }

    /// What an acknowledgement of `acked` segments changes outside slow start.
    fn change(&self, acked: u32, queued: Duration, cwnd: u32) -> i64 {
        let acked = i64::from(acked);
        let gain = acked * SEGMENT / (self.gain_divisor() * u64::from(cwnd)).cast_signed();
        if queued <= TARGET {
            return gain;
        }
        // An excess beyond the target is worth half of the window in any case.
        let excess = queued.saturating_sub(TARGET).min(TARGET);
        let part = SEGMENT * excess.as_nanos().cast_signed() / TARGET.as_nanos().cast_signed();
        (gain - acked * part).max(-acked * SEGMENT / 2)
    }
}

impl CongestionControl for LedbatPlusPlus {
    fn on_rtt(&mut self, ack: &Ack, _: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.delays.sample(rtt, ack.now);
        }
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        let Some(queued) = self.delays.queuing() else {
            return;
        };
        self.advance(ack, queued, window);
        if let Phase::Frozen { .. } = self.phase {
            window.cwnd = LEAST;
            self.fraction = 0;
        } else if let Threshold::Segments(most) = window.ssthresh
            && window.cwnd >= most
        {
            let change = self.change(ack.acked, queued, window.cwnd);
            self.settle(change, window);
            if window.in_slow_start() {
                // A window that has shrunk does not grow back by slow start.
                window.leave_slow_start();
            }
        } else {
            let gained = i64::from(ack.acked) * SEGMENT / self.gain_divisor().cast_signed();
            self.settle(gained, window);
            if let Threshold::Segments(most) = window.ssthresh {
                window.cwnd = window.cwnd.min(most);
            }
        }
    }

    fn reduce(&mut self, window: &Window) -> u32 {
        let from = match (self.phase, window.ssthresh) {
            (Phase::Frozen { .. }, Threshold::Segments(before)) => before,
            _ => window.cwnd,
        };
        self.fraction = 0;
        (from / 2).max(LEAST)
    }
}
