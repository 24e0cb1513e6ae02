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
pub(in crate::cc) struct HyStartPlusPlus {
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
    use super::*;
    use crate::cc::Threshold;
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
                    marked: crate::cc::Marked::default(),
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

    /// A connection whose acknowledgements come one by one, and which sends what its window admits after each.
    struct Sender {
        plus: HyStartPlusPlus,
        window: Window,
        una: u64,
        nxt: u64,
    }

    impl Sender {
        /// Acknowledgements up to segment `last`, each with a round trip of so many milliseconds.
        fn acks_to(&mut self, last: u64, rtt_ms: u64) -> (u32, bool) {
            while self.una < last {
                self.una += 1;
                let ack = Ack {
                    now: Time::ZERO,
                    acked: 1,
                    una: self.una,
                    nxt: self.nxt,
                    rtt: Some(Duration::from_millis(rtt_ms)),
                    mss: 1448,
                    ece: false,
                    marked: crate::cc::Marked::default(),
                    pacing_rate: None,
                };
                self.plus.on_ack(&ack, &mut self.window);
                if self.window.in_slow_start() {
                    self.window.cwnd += self.plus.growth(1);
                }
                self.nxt = self.nxt.max(self.una + u64::from(self.window.cwnd));
            }
            (self.window.cwnd, self.plus.conservative.is_some())
        }
    }

    /// The pseudo-code of RFC 9406 section 4.2, worked by hand for a whole slow start from ten segments on. A round ends
    /// when the acknowledgement of `windowEnd` comes, which is SND.NXT when the round began.
    ///
    /// | round | segments | windowEnd | round trip | what happens |
    /// |---|---|---|---|---|
    /// | A | 1 to 9 | 10 | 48 ms | one more for each: 19 |
    /// | B | 10 to 27 | 28 | 48 ms | 37 |
    /// | C | 28 to 63 | 64 | 54 ms | 54 >= 48 + 48/8: conservative with the 8th sample, at 44; 29/4 more: 51 |
    /// | D | 64 to 113 | 114 | 50 ms | 50 < 54: slow start with the 8th sample, after 36/4 in all: 53; then 43 more: 96 |
    /// | E | 114 to 208 | 209 | 57 ms | 57 >= 50 + 6.25: conservative with the 8th sample, at 103; 88/4 more: 125 |
    /// | F | 209 to 332 | 333 | 57 ms | 212/4 in all: 156 |
    /// | G | 333 to 487 | 488 | 57 ms | 367/4: 194 |
    /// | H | 488 to 680 | 681 | 57 ms | 560/4: 243 |
    /// | I | 681 to 922 | 923 | 57 ms | 802/4: 303, and the five rounds from E on are over: ssthresh is 303 |
    #[test]
    fn a_whole_slow_start_goes_as_the_pseudo_code_has_it() {
        let mut sender = Sender {
            plus: HyStartPlusPlus::default(),
            window: Window {
                cwnd: 10,
                ssthresh: Threshold::Unbounded,
                credit: 0,
            },
            una: 0,
            nxt: 10,
        };
        for (last, rtt_ms, expected) in [
            (9, 48, (19, false)),
            (27, 48, (37, false)),
            (34, 54, (44, false)),
            (35, 54, (44, true)),
            (63, 54, (51, true)),
            (70, 50, (53, true)),
            (71, 50, (54, false)),
            (113, 50, (96, false)),
            (120, 57, (103, false)),
            (121, 57, (103, true)),
            (208, 57, (125, true)),
            (332, 57, (156, true)),
            (487, 57, (194, true)),
            (680, 57, (243, true)),
            (922, 57, (303, true)),
        ] {
            assert_eq!(sender.acks_to(last, rtt_ms), expected, "after segment {last}");
            assert_eq!(sender.window.ssthresh, Threshold::Unbounded, "after segment {last}");
        }
        sender.acks_to(923, 57);
        assert_eq!(sender.window.ssthresh, Threshold::Segments(303));
    }

    #[test]
    fn an_acknowledgement_of_many_segments_adds_eight() {
        assert_eq!(HyStartPlusPlus::default().growth(20), 8);
    }
}
