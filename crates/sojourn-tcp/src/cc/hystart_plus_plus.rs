//! `HyStart++`: slow start that slows down where the delay rises, and goes on if that was only for a moment.

use super::{Ack, Window};
use sojourn_units::Duration;

/// Constants of RFC 9406 section 4.3.
const RTT_THRESH_MIN: Duration = Duration::from_millis(4);
const RTT_THRESH_MAX: Duration = Duration::from_millis(16);
const RTT_DIVISOR: u64 = 8;
const SAMPLES: u32 = 8;
const CSS_DIVISOR: u32 = 4;
const CSS_ROUNDS: u32 = 5;
/// The most segments that an acknowledgement enlarges the window by, of a sender that is not paced.
const LIMIT: u32 = 8;

/// Conservative slow start: what began it, and how many rounds it has lasted.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// The least round trip when it began (cssBaselineMinRtt).
    baseline: Duration,
    rounds: u32,
    /// Segments acknowledged towards the next of the window.
    credit: u32,
}

/// The first slow start of a connection.
///
/// Source: RFC 9406 section 4.2. It is for a connection's first slow start; later ones, after a time-out, are of the
/// usual kind, as the section recommends.
///
/// Deviation: windows are in whole segments, so that in conservative slow start four segments acknowledged are one more
/// in the window. The limit of eight segments an acknowledgement holds for paced senders, too.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HyStartPlusPlus {
    /// The round ends when this is acknowledged (windowEnd).
    round_end: u64,
    last_min: Option<Duration>,
    current_min: Option<Duration>,
    samples: u32,
    conservative: Option<Conservative>,
}

impl HyStartPlusPlus {
    /// An acknowledgement in slow start, and its round trip if it tells one. It may end slow start.
    pub(super) fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if ack.una >= self.round_end {
            self.begin_round(ack.nxt);
            if let Some(css) = &mut self.conservative {
                // A round in which it began counts.
                css.rounds += 1;
                if css.rounds >= CSS_ROUNDS {
                    window.leave_slow_start();
                    return;
                }
            }
        }
        let Some(rtt) = ack.rtt else { return };
        let current = self.current_min.map_or(rtt, |least| least.min(rtt));
        self.current_min = Some(current);
        self.samples += 1;
        if self.samples < SAMPLES {
            return;
        }
        match self.conservative {
            Some(css) if current < css.baseline => self.conservative = None,
            Some(_) => {}
            None => {
                let Some(last) = self.last_min else { return };
                let thresh = (last / RTT_DIVISOR).min(RTT_THRESH_MAX).max(RTT_THRESH_MIN);
                if current >= last + thresh {
                    self.conservative = Some(Conservative {
                        baseline: current,
                        rounds: 0,
                        credit: 0,
                    });
                }
            }
        }
    }

    fn begin_round(&mut self, nxt: u64) {
        self.round_end = nxt;
        self.last_min = self.current_min.take();
        self.samples = 0;
    }

    /// By how much the window grows for `acked` segments.
    pub(super) fn growth(&mut self, acked: u32) -> u32 {
        let acked = acked.min(LIMIT);
        let Some(css) = &mut self.conservative else {
            return acked;
        };
        css.credit += acked;
        let more = css.credit / CSS_DIVISOR;
        css.credit %= CSS_DIVISOR;
        more
    }
}

#[cfg(test)]
mod tests {
    use super::super::Threshold;
    use super::*;
    use sojourn_units::Time;

    struct Path {
        plus: HyStartPlusPlus,
        window: Window,
        /// Acknowledged so far, of windows of 20.
        una: u64,
    }

    impl Path {
        fn new() -> Self {
            Self {
                plus: HyStartPlusPlus::default(),
                window: Window {
                    cwnd: 20,
                    ssthresh: Threshold::Unbounded,
                    credit: 0,
                },
                una: 0,
            }
        }

        /// A round of 20 acknowledgements with these round trips in turn, ms; answers the segments that it adds.
        fn round(&mut self, rtts: &[u64]) -> u32 {
            let mut grown = 0;
            for i in 0..20 {
                let ack = Ack {
                    now: Time::ZERO,
                    acked: 1,
                    una: self.una,
                    nxt: self.una.next_multiple_of(20) + if i == 0 { 20 } else { 0 },
                    rtt: Some(Duration::from_millis(rtts[i % rtts.len()])),
                    mss: 1448,
                    ece: false,
                    pacing_rate: None,
                };
                self.plus.on_ack(&ack, &mut self.window);
                if self.window.in_slow_start() {
                    grown += self.plus.growth(1);
                }
                self.una += 1;
            }
            grown
        }
    }

    /// RFC 9406 section 4.2: the threshold is an eighth of 48 ms, 6 ms. The round that rises by 5 ms is slow start still;
    /// that with 6 ms is found after eight samples, and 13 of 20 acknowledgements count for a quarter.
    #[test]
    fn slow_start_slows_down_when_the_least_round_trip_rises_by_an_eighth() {
        let mut path = Path::new();
        assert_eq!(path.round(&[48]), 20);
        assert_eq!(path.round(&[53]), 20);
        let mut path = Path::new();
        path.round(&[48]);
        assert_eq!(path.round(&[54]), 7 + 13 / 4);
        assert!(path.window.in_slow_start());
    }

    /// 4 and 16 ms are the least and the largest threshold.
    #[test]
    fn the_threshold_has_bounds() {
        for (last, calm, risen) in [(8, 11, 12), (400, 415, 416)] {
            let mut path = Path::new();
            path.round(&[last]);
            assert_eq!(path.round(&[calm]), 20, "{last}");
            let mut path = Path::new();
            path.round(&[last]);
            assert!(path.round(&[risen]) < 20, "{last}");
        }
    }

    /// Slow start ends when five rounds have been conservative, that in which it began among them.
    #[test]
    fn slow_start_ends_after_five_conservative_rounds_and_goes_on_if_the_delay_was_a_moments() {
        let mut path = Path::new();
        path.round(&[48]);
        path.round(&[60]);
        for _ in 0..4 {
            assert_eq!(path.round(&[60]), 5);
            assert!(path.window.in_slow_start());
        }
        path.round(&[60]);
        assert_eq!(path.window.ssthresh, Threshold::Segments(20));
        let mut path = Path::new();
        path.round(&[48]);
        path.round(&[60]);
        // Below the baseline of 60: after the eighth sample the growth is whole again.
        assert_eq!(path.round(&[59]), (1 + 7) / 4 + 13);
    }

    #[test]
    fn an_acknowledgement_of_many_segments_adds_eight() {
        assert_eq!(HyStartPlusPlus::default().growth(20), 8);
    }
}
