//! TCP Vegas: a control that keeps a few segments in the queue, and no more.

use super::{Ack, CaState, CongestionControl, Kernels, Listed, Needs, Restart, Threshold, Window};
use crate::variant::Variant;
use sojourn_units::Duration;

/// More than this in slow start, and slow start ends. Source: Linux `tcp_vegas/gamma`.
const GAMMA: u64 = 1;
/// With so few samples in a round trip their least may be that of a delayed acknowledgement. Source: Linux
/// `tcp_vegas_cong_avoid`.
const FEW: u32 = 2;

/// What may be set on Vegas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VegasParams {
    /// More segments of its own in the queue than this, and the window shrinks by one; at least 2. Source: Linux
    /// `tcp_vegas/beta`.
    pub beta: u32,
}

impl VegasParams {
    /// Fewer segments of its own in the queue than this, and the window grows by one. Source: Linux `tcp_vegas/alpha`.
    pub const ALPHA: u32 = 2;
    /// Linux's `beta`.
    pub const BETA: u32 = 4;
}

impl Default for VegasParams {
    fn default() -> Self {
        Self { beta: Self::BETA }
    }
}

/// Brakmo, O'Malley and Peterson's control (1994), as Linux has it: once a round trip the window is compared with what
/// would fill the path without a queue.
///
/// With `base` the smallest round trip of all and `least` that of the last one, a window of `cwnd` segments has
/// `cwnd (least - base) / base` in the queue. It is kept between 2 and `beta` segments. Losses halve the window.
/// While losses are suspected and not found it grows as Reno does. Source: Linux `tcp_vegas.c`.
#[derive(Clone, Debug)]
pub struct Vegas {
    beta: u64,
    base: Option<Duration>,
    least: Option<Duration>,
    samples: u32,
    /// The byte whose acknowledgement ends the round trip; `None` before the first one.
    round_end: Option<u64>,
    /// Nothing is lost or suspected to be.
    open: bool,
}

impl Listed for Vegas {
    const NAME: &'static str = "vegas";
    /// Linus Torvalds' tree has it as a module, which few builds have.
    const KERNELS: Kernels = Kernels::Some;
    const NEEDS: Needs = Needs {
        starts: true,
        ..Needs::NONE
    };
    type Params = VegasParams;

    fn new(params: &VegasParams, _: Variant) -> Self {
        Self {
            beta: params.beta.into(),
            base: None,
            least: None,
            samples: 0,
            round_end: None,
            open: true,
        }
    }
}

impl Vegas {
    fn begin_round(&mut self, nxt: u64) {
        self.round_end = Some(nxt);
        self.least = None;
        self.samples = 0;
    }

    /// A round trip is over in which the smallest was `least`.
    fn steer(&self, least: Duration, acked: u32, window: &mut Window) {
        let Some(base) = self.base else { return };
        let cwnd = u64::from(window.cwnd);
        let queued = cwnd * least.saturating_sub(base).as_nanos() / base.as_nanos().max(1);
        let lower = |window: &mut Window| window.ssthresh = window.ssthresh.min(Threshold::Segments(window.cwnd));
        if window.in_slow_start() {
            if queued > GAMMA {
                let fills = cwnd * base.as_nanos() / least.as_nanos().max(1);
                window.cwnd = window.cwnd.min(fills as u32 + 1);
                lower(window);
            } else {
                window.slow_start(acked);
            }
        } else if queued > self.beta {
            window.cwnd -= 1;
            lower(window);
        } else if queued < u64::from(VegasParams::ALPHA) {
            window.cwnd += 1;
        }
        window.cwnd = window.cwnd.max(2);
        // Three quarters of the window, if the threshold is lower. Source: Linux `tcp_current_ssthresh`.
        window.ssthresh = window
            .ssthresh
            .max(Threshold::Segments(window.cwnd / 2 + window.cwnd / 4));
    }
}

impl CongestionControl for Vegas {
    fn on_rtt(&mut self, ack: &Ack, _: &mut Window) {
        let Some(rtt) = ack.rtt else { return };
        let rtt = rtt.max(Duration::from_micros(1));
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        if !self.open {
            as_reno(ack.acked, window);
            return;
        }
        match self.round_end {
            None => self.begin_round(ack.nxt),
            Some(end) if ack.una > end => {
                match self.least {
                    Some(least) if self.samples > FEW => self.steer(least, ack.acked, window),
                    _ => as_reno(ack.acked, window),
                }
                self.begin_round(ack.nxt);
                return;
            }
            Some(_) => {}
        }
        if window.in_slow_start() {
            window.slow_start(ack.acked);
        }
    }

    fn reduce(&mut self, window: &Window) -> u32 {
        (window.cwnd / 2).max(2)
    }

    fn on_state(&mut self, state: CaState, nxt: u64) {
        self.open = state == CaState::Open;
        self.begin_round(nxt);
    }

    /// The path may be another one by now.
    fn on_sends_again(&mut self, restart: &Restart, _: &mut Window) {
        self.base = None;
        self.open = true;
        self.begin_round(restart.nxt);
    }
}

/// Grows as Reno does.
fn as_reno(acked: u32, window: &mut Window) {
    let left = if window.in_slow_start() {
        window.slow_start(acked)
    } else {
        acked
    };
    if left > 0 {
        let cwnd = window.cwnd;
        window.additive_increase(cwnd, left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Time;

    /// A path of 20 segments, 20 ms: each segment of the window beyond adds 1 ms. Answers the window after each of
    /// `rounds` round trips, each acknowledged segment by segment.
    fn windows(vegas: &mut Vegas, window: &mut Window, rounds: usize) -> Vec<u32> {
        let (mut una, mut nxt) = (1, 1 + u64::from(window.cwnd));
        let mut seen = Vec::new();
        for _ in 0..rounds {
            let (end, rtt) = (nxt, Duration::from_millis(u64::from(window.cwnd.max(20))));
            while una < end {
                una += 1;
                let ack = Ack {
                    now: Time::ZERO,
                    acked: 1,
                    una,
                    nxt,
                    rtt: Some(rtt),
                    mss: 1448,
                    ece: false,
                    marked: crate::cc::Marked::default(),
                    pacing_rate: None,
                };
                vegas.on_rtt(&ack, window);
                vegas.grow(&ack, window);
                nxt = nxt.max(una + u64::from(window.cwnd));
            }
            seen.push(window.cwnd);
        }
        seen
    }

    fn after_slow_start(cwnd: u32) -> Window {
        Window {
            cwnd,
            ssthresh: Threshold::Segments(1),
            credit: 0,
        }
    }

    /// Brakmo and Peterson 1995: the window stays where alpha to beta segments wait. On this path a window of `cwnd` has
    /// `cwnd (cwnd - 20) / 20` by the rule: 2 with 22 segments, 3 with 23, 4 with 24, and more than 8 with 27.
    #[test]
    fn it_keeps_between_alpha_and_beta_segments_in_the_queue() {
        for (from, beta, stays) in [(10, 4, 22..=24), (40, 4, 22..=24), (23, 4, 23..=23), (40, 8, 25..=26)] {
            let mut vegas = Vegas::new(&VegasParams { beta }, Variant::Linux61);
            vegas.base = Some(Duration::from_millis(20));
            let seen = windows(&mut vegas, &mut after_slow_start(from), 60);
            assert!(
                seen[50..].iter().all(|cwnd| stays.contains(cwnd)),
                "from {from}: {seen:?}"
            );
            assert!(seen[50..].windows(2).all(|pair| pair[0] == pair[1]), "{seen:?}");
            // By one segment a round trip.
            assert!(seen.windows(2).all(|pair| pair[0].abs_diff(pair[1]) <= 1), "{seen:?}");
        }
    }

    #[test]
    fn slow_start_ends_where_more_than_a_segment_waits() {
        let mut vegas = Vegas::new(&VegasParams::default(), Variant::Linux61);
        let mut window = Window {
            cwnd: 5,
            ssthresh: Threshold::Unbounded,
            credit: 0,
        };
        let seen = windows(&mut vegas, &mut window, 40);
        assert!(seen.iter().all(|cwnd| *cwnd <= 80), "{seen:?}");
        assert!(!window.in_slow_start());
        assert!((22..=24).contains(&window.cwnd), "{seen:?}");
    }

    #[test]
    fn a_loss_halves_the_window_and_few_samples_count_as_renos() {
        let mut vegas = Vegas::new(&VegasParams::default(), Variant::Linux61);
        assert_eq!(vegas.reduce(&after_slow_start(21)), 10);
        assert_eq!(vegas.reduce(&after_slow_start(3)), 2);
        let mut window = after_slow_start(2);
        as_reno(2, &mut window);
        assert_eq!(window.cwnd, 3);
    }
}
