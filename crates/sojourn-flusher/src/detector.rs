//! When to flush, after the thesis. Source: seed 003, Listing 4.2 and section 4.5.1.

use crate::{FlusherParams, Forced, LastFlush, Miss, Test};
use sojourn_units::{Duration, Rate, Time};
use std::collections::VecDeque;

/// The windows of one flow.
#[derive(Debug)]
pub(crate) struct Detector {
    window: VecDeque<(Duration, Option<Rate>)>,
    /// When its first sample came; kept for windows of time, which hold their extremes alone.
    begun: Time,
    /// Windows above the trigger.
    count: u32,
    above: bool,
    last_flush: Time,
}

/// What a sample led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The window was tested.
    pub(crate) tested: Option<Tested>,
    /// A flush is due.
    pub(crate) due: Option<Due>,
}

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tested {
    pub(crate) least: Duration,
    pub(crate) count: u32,
}

/// A flush that is due, with the extremes of the window that it is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    /// The least RTT, if it is above the trigger; else the flush is forced.
    pub(crate) above: Option<Duration>,
    pub(crate) max_rtt: Duration,
    pub(crate) max_throughput: Option<Rate>,
}

/// What the least RTT of a window must exceed. Source: section 4.5.1; contradiction flu-x-30.
pub(crate) fn trigger(base: Duration, params: &FlusherParams) -> Duration {
    params.threshold.of(base).max(params.floor)
}

impl Detector {
    pub(crate) const fn new(now: Time) -> Self {
        Self {
            window: VecDeque::new(),
            begun: now,
            count: 0,
            above: false,
            last_flush: now,
        }
    }

    /// Whether the window tested last stood above the trigger.
    pub(crate) const fn above(&self) -> bool {
        self.above
    }

    /// A flush is under way: the sample does not count. Source: section 4.5.1, "the counter is set to 0".
    pub(crate) fn on_sample_during_flush(&mut self, params: &FlusherParams) {
        if params.test == Test::FilledWindow {
            self.window.clear();
        }
    }

    /// Takes a sample: its RTT and the throughput at its time.
    pub(crate) fn on_sample(
        &mut self,
        rtt: Duration,
        throughput: Option<Rate>,
        base: Duration,
        now: Time,
        params: &FlusherParams,
    ) -> Finding {
        let full = self.take((rtt, throughput), now, params);
        let overdue = params
            .forced_after
            .is_some_and(|after| now.since(self.last_flush) > after);
        let mut finding = Finding::default();
        let mut due = overdue && params.forced == Forced::AtOnce;
        if params.test == Test::EveryAck || full {
            let least = self.window.iter().map(|(rtt, _)| *rtt).min().unwrap_or(rtt);
            self.above = full && least > trigger(base, params);
            if self.above || overdue && params.forced == Forced::Counted {
                self.count += 1;
            } else {
                self.count = match params.miss {
                    Miss::Reset => 0,
                    Miss::Decrement => self.count.saturating_sub(1),
                };
            }
            finding.tested = Some(Tested {
                least,
                count: self.count,
            });
            due |= self.count >= params.windows;
        }
        if due {
            let least = self.window.iter().map(|(rtt, _)| *rtt).min();
            finding.due = Some(Due {
                above: least.filter(|_| self.above && finding.tested.is_some() && self.count >= params.windows),
                max_rtt: self.window.iter().map(|(rtt, _)| *rtt).max().unwrap_or(rtt),
                max_throughput: self.window.iter().filter_map(|(_, rate)| *rate).max(),
            });
            self.count = 0;
        }
        if full && params.test == Test::FilledWindow {
            self.window.clear();
        }
        finding
    }

    /// Puts a sample into the window; tells whether that is full then.
    fn take(&mut self, sample: (Duration, Option<Rate>), now: Time, params: &FlusherParams) -> bool {
        if let Some(time) = params.window_time {
            if self.window.is_empty() {
                self.begun = now;
            }
            self.window.push_back(sample);
            // Bounded, however fast samples come.
            let rtts = self.window.iter().map(|(rtt, _)| *rtt);
            let (least, most) = (rtts.clone().min().unwrap_or(sample.0), rtts.max().unwrap_or(sample.0));
            let rate = self.window.iter().filter_map(|(_, rate)| *rate).max();
            self.window.clear();
            self.window.extend([(least, rate), (most, rate)]);
            return now.since(self.begun) >= time;
        }
        let size = params.window_samples as usize;
        if self.window.len() == size {
            self.window.pop_front();
        }
        self.window.push_back(sample);
        self.window.len() == size
    }

    /// A flush was proposed for this flow, or has left.
    pub(crate) fn flushed(&mut self, now: Time, params: &FlusherParams) {
        if params.last_flush == LastFlush::Recorded {
            self.last_flush = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Factor;

    const TEXT: FlusherParams = FlusherParams::AS_DESCRIBED;
    const BASE: Duration = Duration::from_millis(50);

    /// Feeds RTTs in milliseconds, one each `step`, and tells with which (counted from one) a flush was due, and why.
    fn due(rtts: &[u64], step: Duration, params: &FlusherParams) -> Vec<(usize, bool)> {
        let mut detector = Detector::new(Time::ZERO);
        let mut now = Time::ZERO;
        let mut found = Vec::new();
        for (n, rtt) in rtts.iter().enumerate() {
            now += step;
            let finding = detector.on_sample(Duration::from_millis(*rtt), None, BASE, now, params);
            if let Some(due) = finding.due {
                detector.flushed(now, params);
                found.push((n + 1, due.above.is_some()));
            }
        }
        found
    }

    const STEP: Duration = Duration::from_millis(2);

    /// Contradiction flu-x-05 and claim flu-31: 1.7 x 50 = 85 ms. By the text three windows of ten samples: the
    /// thirtieth. By the listing every sample tests the last ten: the tenth, eleventh and twelfth count.
    #[test]
    fn thirty_samples_above_the_threshold_are_needed_by_the_text_and_twelve_by_the_listing() {
        assert_eq!(due(&[100; 35], STEP, &TEXT), [(30, true)]);
        let listing = FlusherParams {
            test: Test::EveryAck,
            miss: Miss::Decrement,
            ..TEXT
        };
        assert_eq!(due(&[100; 14], STEP, &listing), [(12, true)]);
    }

    /// The second half of flu-x-05, with windows of one sample: above, above, below, above, above. Consecutive counts
    /// are 1 2 0 1 2; lowered by one they are 1 2 1 2 3.
    #[test]
    fn a_window_below_sets_the_count_to_zero_by_the_text_and_lowers_it_by_the_listing() {
        let rtts = [100, 100, 60, 100, 100];
        let text = FlusherParams {
            window_samples: 1,
            ..TEXT
        };
        assert_eq!(due(&rtts, STEP, &text), []);
        assert_eq!(
            due(
                &rtts,
                STEP,
                &FlusherParams {
                    miss: Miss::Decrement,
                    ..text
                }
            ),
            [(5, true)]
        );
    }

    /// Section 6.3: windows of 100 ms with a sample each 2 ms. A window begins with a sample and ends with the first
    /// that is 100 ms later, the 51st; three in a row are 153 samples. With a sample each 40 ms it ends with the
    /// fourth (120 ms): 12 samples.
    #[test]
    fn a_window_of_time_closes_by_the_clock() {
        let timed = FlusherParams {
            window_time: Some(Duration::from_millis(100)),
            ..TEXT
        };
        assert_eq!(due(&[100; 160], STEP, &timed), [(153, true)]);
        assert_eq!(due(&[100; 13], Duration::from_millis(40), &timed), [(12, true)]);
        // One below the threshold among the first 51 spoils that window.
        let mut rtts = [100; 210];
        rtts[20] = 85;
        assert_eq!(due(&rtts, STEP, &timed), [(204, true)]);
    }

    #[test]
    fn a_window_of_time_keeps_its_extremes_and_little_else() {
        let timed = FlusherParams {
            window_time: Some(Duration::from_millis(100)),
            windows: 1,
            ..TEXT
        };
        let mut detector = Detector::new(Time::ZERO);
        let mut found = None;
        for n in 0..=50_u64 {
            let rtt = Duration::from_millis(100 + n * 7 % 50);
            let now = Time::ZERO + Duration::from_millis(2 * n);
            found = detector
                .on_sample(rtt, Some(Rate::from_bps(1_000_000 + n % 7)), BASE, now, &timed)
                .due;
            assert!(detector.window.len() <= 2);
        }
        let due = found.unwrap();
        assert_eq!(
            (due.above, due.max_rtt),
            (Some(Duration::from_millis(100)), Duration::from_millis(149))
        );
        assert_eq!(due.max_throughput, Some(Rate::from_bps(1_000_006)));
    }

    /// One sample below the threshold spoils its window of ten, and with it the two before.
    #[test]
    fn the_least_rtt_of_a_window_decides() {
        let mut rtts = [100; 60];
        rtts[24] = 85;
        assert_eq!(due(&rtts, STEP, &TEXT), [(60, true)]);
    }

    /// Contradiction flu-x-07: a sample each second, none above the threshold. By the text a flush is due at 31 s
    /// (more than 30 since the beginning), at 62 s and 93 s. By the listing 31, 32 and 33 s count: 33 s; and with
    /// nothing that writes `lastFlood`, every third sample from then on.
    #[test]
    fn a_forced_flush_comes_every_thirty_seconds_by_the_text_and_every_third_sample_by_the_listing() {
        let step = Duration::from_secs(1);
        assert_eq!(due(&[55; 100], step, &TEXT), [(31, false), (62, false), (93, false)]);
        let listing = FlusherParams {
            forced: Forced::Counted,
            test: Test::EveryAck,
            ..TEXT
        };
        assert_eq!(due(&[55; 100], step, &listing), [(33, false), (66, false), (99, false)]);
        let never = FlusherParams {
            last_flush: LastFlush::Never,
            ..listing
        };
        assert_eq!(due(&[55; 40], step, &never), [(33, false), (36, false), (39, false)]);
    }

    /// Contradiction flu-x-08: without it a flusher whose buffers are small stays inactive, as section 6.3 says.
    #[test]
    fn without_forced_flushes_nothing_happens_below_the_threshold() {
        let params = FlusherParams {
            forced_after: None,
            ..TEXT
        };
        assert_eq!(due(&[55; 1000], Duration::from_secs(1), &params), []);
    }

    /// Contradiction flu-x-14: Listing 4.1 floods at the first RTT above the threshold.
    #[test]
    fn with_one_window_of_one_sample_the_first_rtt_above_the_threshold_is_enough() {
        let sketch = FlusherParams {
            window_samples: 1,
            windows: 1,
            ..TEXT
        };
        assert_eq!(due(&[84, 85, 86], STEP, &sketch), [(3, true)]);
    }

    /// Contradiction flu-x-30 and claims flu-16 and flu-68: at 10 ms the floor of 50 ms is above all three
    /// thresholds; at 50 and 100 ms it is below them.
    #[test]
    fn the_floor_decides_at_ten_milliseconds_and_the_threshold_from_fifty_on() {
        let at = |threshold, base| {
            let params = FlusherParams {
                threshold: Factor::from_thousandths(threshold),
                ..TEXT
            };
            trigger(Duration::from_millis(base), &params).as_millis()
        };
        assert_eq!([at(1500, 10), at(1700, 10), at(2000, 10)], [50, 50, 50]);
        assert_eq!([at(1500, 50), at(1700, 50), at(2000, 50)], [75, 85, 100]);
        assert_eq!([at(1500, 100), at(1700, 100), at(2000, 100)], [150, 170, 200]);
    }

    /// Section 4.5.1: samples during a flush do not count, and the window begins anew.
    #[test]
    fn a_flush_empties_the_window_that_is_being_filled() {
        let mut detector = Detector::new(Time::ZERO);
        let sample = |detector: &mut Detector, n: u64| {
            detector
                .on_sample(Duration::from_millis(100), None, BASE, Time::from_millis(n), &TEXT)
                .tested
                .is_some()
        };
        assert!((1..=9).all(|n| !sample(&mut detector, n)));
        detector.on_sample_during_flush(&TEXT);
        assert!((11..=19).all(|n| !sample(&mut detector, n)));
        assert!(sample(&mut detector, 20));
    }
}
