//! The smoothed RTT and the base RTT. Source: seed 003 sections 4.3.1 and 4.3.2.

use crate::BaseKind;
use sojourn_units::{Duration, Time};

/// The smoothed RTT after `sample`, which weighs `weight` eighths. Source: seed 003, Eq. 4.1 (weight 1) and Listing
/// 4.5 (weight 7).
///
/// Deviation: in whole nanoseconds, rounded down.
pub(crate) fn smooth(old: Option<Duration>, sample: Duration, weight: u32) -> Duration {
    Duration::from_nanos(smoothed(old.map(Duration::as_nanos), sample.as_nanos(), weight))
}

/// The moving average `old` after the value `new`, which weighs `weight` eighths; the first value is the average.
/// Source: seed 003, Eq. 4.1.
pub(crate) fn smoothed(old: Option<u64>, new: u64, weight: u32) -> u64 {
    let Some(old) = old else { return new };
    let sum = u128::from(old) * u128::from(8 - weight) + u128::from(new) * u128::from(weight);
    u64::try_from(sum / 8).unwrap_or(u64::MAX)
}

/// How many parts a sliding window has: with 10 minutes, LEDBAT's minutes. So it looks back over nine tenths of its
/// length at least. Source: RFC 6817 section 2.4.2, BASE_HISTORY.
const PARTS: usize = 10;

/// The least RTT, as far back as counts.
#[derive(Debug)]
pub(crate) struct BaseRtt {
    kind: BaseKind,
    window: Duration,
    value: Option<Duration>,
    /// When it was last set (renewed), or the part that was written last (sliding).
    last: Time,
    /// The least sample of each part of the window, and which part that was.
    parts: [Option<(u64, Duration)>; PARTS],
}

impl BaseRtt {
    pub(crate) const fn new(kind: BaseKind, window: Duration) -> Self {
        Self {
            kind,
            window,
            value: None,
            last: Time::ZERO,
            parts: [None; PARTS],
        }
    }

    pub(crate) const fn get(&self) -> Option<Duration> {
        self.value
    }

    /// Takes a sample; whether the base RTT changed by it. Source: seed 003, Listing 4.6, lines 24 to 32.
    ///
    /// Deviation: the listing's renewal takes whatever sample comes, also one of a full queue; the sliding minimum
    /// does not. Both run on samples: no sample, no renewal.
    pub(crate) fn update(&mut self, sample: Duration, now: Time) -> bool {
        let old = self.value;
        match self.kind {
            BaseKind::Renewed => {
                let expired = now.since(self.last) > self.window;
                if expired || self.value.is_none_or(|base| sample < base) {
                    self.value = Some(sample);
                    self.last = now;
                }
            }
            BaseKind::SlidingMinimum => {
                let part = now.as_nanos() / (self.window.as_nanos() / PARTS as u64).max(1);
                let here = &mut self.parts[(part % PARTS as u64) as usize];
                match here {
                    Some((which, least)) if *which == part => *least = (*least).min(sample),
                    _ => *here = Some((part, sample)),
                }
                let recent = self
                    .parts
                    .iter()
                    .flatten()
                    .filter(|(which, _)| part - which < PARTS as u64);
                self.value = recent.map(|(_, least)| *least).min();
            }
        }
        self.value != old
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// Contradiction flu-x-01. After 100 ms comes 180 ms: Eq. 4.1 gives 7/8 x 100 + 1/8 x 180 = 110, Listing 4.5
    /// gives 1/8 x 100 + 7/8 x 180 = 170.
    #[test]
    fn the_new_sample_weighs_one_eighth_by_the_equation_and_seven_by_the_listing() {
        assert_eq!(smooth(Some(ms(100)), ms(180), 1), ms(110));
        assert_eq!(smooth(Some(ms(100)), ms(180), 7), ms(170));
        assert_eq!(smooth(None, ms(180), 1), ms(180));
    }

    /// Contradiction flu-x-15. A base of 50 ms, then 90 ms for ever: both readings keep 50 for nine minutes at least;
    /// then one takes the next sample as it comes (a spike of 250), the other the least of the window (90).
    #[test]
    fn after_ten_minutes_one_reading_takes_any_sample_and_the_other_the_least_of_the_window() {
        let run = |kind| {
            let mut base = BaseRtt::new(kind, Duration::from_secs(600));
            base.update(ms(50), Time::from_secs(1));
            for second in 2..=599 {
                base.update(ms(90), Time::from_secs(second));
                assert_eq!(base.get(), Some(ms(50)), "second {second}");
            }
            base.update(ms(250), Time::from_secs(602));
            base.get()
        };
        assert_eq!(run(BaseKind::Renewed), Some(ms(250)));
        assert_eq!(run(BaseKind::SlidingMinimum), Some(ms(90)));
    }

    #[test]
    fn a_lower_sample_becomes_the_base_at_once() {
        for kind in [BaseKind::Renewed, BaseKind::SlidingMinimum] {
            let mut base = BaseRtt::new(kind, Duration::from_secs(600));
            assert!(base.update(ms(50), Time::from_secs(1)));
            assert!(base.update(ms(40), Time::from_secs(2)));
            assert!(!base.update(ms(60), Time::from_secs(3)));
            assert_eq!(base.get(), Some(ms(40)));
        }
    }

    #[test]
    fn a_silence_longer_than_the_window_forgets_everything_before_it() {
        let mut base = BaseRtt::new(BaseKind::SlidingMinimum, Duration::from_secs(600));
        base.update(ms(10), Time::from_secs(1));
        base.update(ms(80), Time::from_secs(5000));
        assert_eq!(base.get(), Some(ms(80)));
    }
}
