//! The share of marked segments, for paths that mark at a shallow threshold.

use super::Version;
use super::constants::{ALPHA_GAIN, ECN_FACTOR, ECN_THRESHOLD, FULL_MARKS};
use crate::cc::RateSample;
use crate::cc::bbr::model::{GAIN_SCALE, GAIN_UNIT};

/// What is known of marks. Shares are in 256ths.
///
/// Source: google/bbr `tcp_bbr.c` (`bbr_update_ecn_alpha`, `bbr_check_ecn_too_high_in_startup`, `bbr_ecn_cut`). The
/// draft leaves ECN to later work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    version: Version,
    /// The flow answers marks, because once it had cause to.
    pub(super) eligible: bool,
    /// The smoothed share; at first the whole, so that a flow answers at once if it starts into congestion.
    alpha: u64,
    /// Segments delivered since it was updated, and those of them that were marked.
    delivered: u64,
    delivered_ce: u64,
    /// Round trips of start-up in a row with too many marks.
    rounds: u32,
}

impl Marks {
    pub(super) const fn new(version: Version) -> Self {
        Self {
            version,
            eligible: false,
            alpha: GAIN_UNIT,
            delivered: 0,
            delivered_ce: 0,
            rounds: 0,
        }
    }

    /// An acknowledgement.
    #[inline]
    pub(super) fn count(&mut self, sample: &RateSample) {
        self.delivered += u64::from(sample.newly_delivered);
        self.delivered_ce += u64::from(sample.marked.packets);
    }

    /// A round trip begins, in which there is or is no `cause` to answer marks. Answers whether start-up has met too
    /// many marks for too long. Version 2 keeps the share of marks before it answers them, version 3 does not.
    pub(super) fn end_round(&mut self, cause: bool, in_startup: bool) -> bool {
        self.eligible |= cause;
        if !self.eligible && self.version.is_third() || self.delivered == 0 {
            return false;
        }
        let share = (self.delivered_ce << GAIN_SCALE) / self.delivered;
        let old = ((GAIN_UNIT - ALPHA_GAIN) * self.alpha) >> GAIN_SCALE;
        self.alpha = (old + ((ALPHA_GAIN * share) >> GAIN_SCALE)).min(GAIN_UNIT);
        (self.delivered, self.delivered_ce) = (0, 0);
        if !in_startup || !self.eligible {
            return false;
        }
        self.rounds = if share >= ECN_THRESHOLD { self.rounds + 1 } else { 0 };
        self.rounds >= FULL_MARKS
    }

    /// Whether too many of the segments of a sample were marked: more than half of them, or with version 2 half.
    #[inline]
    pub(super) fn too_many(&self, sample: &RateSample) -> bool {
        if sample.delivered_ce == 0 || sample.delivered == 0 || !self.eligible {
            return false;
        }
        let threshold = (sample.delivered * ECN_THRESHOLD) >> GAIN_SCALE;
        if self.version.is_third() {
            sample.delivered_ce > threshold
        } else {
            sample.delivered_ce >= threshold
        }
    }

    /// What is left of `inflight` after a round trip with marks.
    pub(super) fn cut(&self, inflight: u32) -> u32 {
        let left = GAIN_UNIT - ((self.alpha * ECN_FACTOR) >> GAIN_SCALE);
        ((u64::from(inflight) * left) >> GAIN_SCALE) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Marked;

    /// A round trip of 100 segments, `marked` of them.
    fn round(marks: &mut Marks, marked: u32, in_startup: bool) -> bool {
        marks.count(&RateSample {
            newly_delivered: 100,
            marked: Marked {
                packets: marked,
                bytes: 0,
            },
            ..RateSample::default()
        });
        marks.end_round(true, in_startup)
    }

    /// Worked by hand from `bbr_update_ecn_alpha`: (240 x 256) >> 8 = 240, (240 x 240) >> 8 = 225, then 225 x 240 >> 8
    /// = 210 and 16 x 128 >> 8 = 8. A share of 218/256 leaves 256 - (218 x 85 >> 8) = 256 - 72 = 184 of 256.
    #[test]
    fn the_share_has_a_weight_of_a_sixteenth_and_a_third_of_it_is_given_up() {
        let mut marks = Marks::new(Version::Three);
        assert_eq!(
            marks.cut(256),
            256 - 85,
            "at first the share is the whole: a third of it"
        );
        for (marked, alpha) in [(0, 240), (0, 225), (50, 218)] {
            round(&mut marks, marked, false);
            assert_eq!(marks.alpha, alpha);
        }
        assert_eq!(marks.cut(256), 184);
        // All marked: it comes near the whole, as 16 x 256 >> 8 = 16 is the most that it grows by.
        for _ in 0..100 {
            round(&mut marks, 100, false);
        }
        assert!((240..=256).contains(&marks.alpha), "{}", marks.alpha);
        // AccECN counts marked acknowledgements, too.
        round(&mut marks, 400, false);
        assert_eq!(marks.alpha, 256);
    }

    #[test]
    fn start_up_ends_after_two_round_trips_with_half_of_the_segments_marked() {
        let mut marks = Marks::new(Version::Three);
        let ends = [50, 49, 50, 50].map(|marked| round(&mut marks, marked, true));
        assert_eq!(ends, [false, false, false, true]);
    }

    fn sample(delivered_ce: u64) -> RateSample {
        RateSample {
            delivered: 100,
            delivered_ce,
            ..RateSample::default()
        }
    }

    /// `ce_ratio > ecn_thresh` in version 3, `>=` in version 2. Once there was cause to answer marks, they are
    /// answered.
    #[test]
    fn half_of_the_segments_marked_are_too_many_for_version_two_alone() {
        for (version, most) in [(Version::Three, 50), (Version::Two, 49), (Version::TwoL4s, 49)] {
            let mut marks = Marks::new(version);
            marks.end_round(false, false);
            assert!(!marks.eligible && !marks.too_many(&sample(100)));
            marks.end_round(true, false);
            marks.end_round(false, false);
            assert!(marks.eligible);
            assert!(
                !marks.too_many(&sample(most)) && marks.too_many(&sample(most + 1)),
                "{version:?}"
            );
        }
    }

    /// `bbr2_update_ecn_alpha` has the share of marks even if they are not answered: 256 x 240 >> 8 is 240, then 225.
    #[test]
    fn version_two_keeps_the_share_before_it_answers_marks() {
        for (version, alpha) in [(Version::Two, 225), (Version::Three, 256)] {
            let mut marks = Marks::new(version);
            for _ in 0..2 {
                marks.count(&RateSample {
                    newly_delivered: 100,
                    ..RateSample::default()
                });
                assert!(!marks.end_round(false, true));
            }
            assert_eq!(marks.alpha, alpha, "{version:?}");
        }
    }
}
