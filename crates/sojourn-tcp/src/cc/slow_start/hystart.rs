//! HyStart: leaving slow start before it overflows the queue.

use super::{Ack, Window};
use crate::variant::Variant;
use sojourn_units::{Duration, Time};

/// Below this window slow start goes on regardless. Source: Linux `hystart_low_window`.
const LOW_WINDOW: u32 = 16;
/// RTT samples of a round that its minimum is taken over.
const MIN_SAMPLES: u32 = 8;
/// Two acknowledgements this close belong to one train.
const ACK_DELTA: Duration = Duration::from_millis(2);
/// Bounds of the RTT rise that ends slow start.
const DELAY_MIN: Duration = Duration::from_millis(4);
const DELAY_MAX: Duration = Duration::from_millis(16);

/// Ha and Rhee's hybrid slow start (2011), as Linux 6.1 has it: slow start ends when the acknowledgements of one
/// round form a train longer than half the base RTT, or when a round's smallest RTT exceeds the base by an eighth (4
/// to 16 ms).
///
/// Deviation: RFC 9438 section 4.10 recommends `HyStart++` (RFC 9406); Linux has not adopted it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cc) struct HyStart {
    round_start: Time,
    /// The byte whose acknowledgement ends the round.
    round_end: u64,
    last_ack: Time,
    current_rtt: Option<Duration>,
    samples: u32,
    found: bool,
    /// Linux 3.14: a sixteenth of the base RTT, no slack for aggregation, and only a round's first samples count.
    first: bool,
}

impl HyStart {
    /// As `variant` of Linux has it.
    pub(super) fn new(variant: Variant) -> Self {
        Self {
            first: variant.rules().first_hystart,
            ..Self::default()
        }
    }

    /// Starts over, as after a time-out.
    pub(super) fn restart(&mut self, now: Time, nxt: u64) {
        self.found = false;
        self.begin_round(now, nxt);
    }

    fn begin_round(&mut self, now: Time, nxt: u64) {
        self.round_start = now;
        self.last_ack = now;
        self.round_end = nxt;
        self.current_rtt = None;
        self.samples = 0;
    }

    /// An RTT sample in slow start. `base` is the smallest RTT seen.
    pub(super) fn on_rtt(&mut self, ack: &Ack, rtt: Duration, base: Duration, window: &mut Window) {
        if self.found {
            return;
        }
        if ack.una > self.round_end {
            self.begin_round(ack.now, ack.nxt);
        }
        if window.cwnd < LOW_WINDOW {
            return;
        }
        if ack.now.since(self.last_ack) <= ACK_DELTA {
            self.last_ack = ack.now;
            // Four full-sized offload bursts at the pacing rate, at most 1 ms: slack for aggregated acknowledgements.
            let rate = ack.pacing_rate.filter(|_| !self.first);
            let slack = rate
                .and_then(|rate| (4 * 65_536 * 1_000_000_000_u64).checked_div(rate))
                .map_or(Duration::ZERO, |ns| {
                    Duration::from_nanos(ns).min(Duration::from_millis(1))
                });
            if ack.now.since(self.round_start) > (base + slack) / 2 {
                self.found = true;
                window.leave_slow_start();
            }
        }
        if !self.first || self.samples < MIN_SAMPLES {
            self.current_rtt = Some(self.current_rtt.map_or(rtt, |r| r.min(rtt)));
        }
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
        } else if self
            .current_rtt
            .is_some_and(|r| r > base + (base / if self.first { 16 } else { 8 }).max(DELAY_MIN).min(DELAY_MAX))
        {
            self.found = true;
            window.leave_slow_start();
        }
    }
}
