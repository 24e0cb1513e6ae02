//! The windowed maximum of the delivery rate.

/// A sample, and the round trip that it is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sample {
    round: u32,
    value: u64,
}

/// The largest of the samples of the last rounds, kept as the best three of staggered ages.
///
/// Source: Linux `lib/win_minmax.c` (`minmax_running_max`); the method is Kathleen Nichols' windowed filter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowedMax([Sample; 3]);

impl WindowedMax {
    /// The largest in the window, as of the last sample.
    pub(super) fn get(&self) -> u64 {
        self.0[0].value
    }

    /// Takes a sample of `round`. Those of more than `window` rounds before are forgotten.
    pub(super) fn sample(&mut self, window: u32, round: u32, value: u64) {
        let new = Sample { round, value };
        let [best, second, third] = &mut self.0;
        if value >= best.value || round.wrapping_sub(third.round) > window {
            *self = Self([new; 3]);
            return;
        }
        if value >= second.value {
            (*second, *third) = (new, new);
        } else if value >= third.value {
            *third = new;
        }
        self.age(window, new);
    }

    /// The best are replaced once they are too old, and the others before they would be as old as the best.
    fn age(&mut self, window: u32, new: Sample) {
        let [best, second, third] = &mut self.0;
        let old = round_trips(*best, new);
        if old > window {
            (*best, *second, *third) = (*second, *third, new);
            if round_trips(*best, new) > window {
                (*best, *second, *third) = (*second, *third, new);
            }
        } else if second.round == best.round && old > window / 4 {
            (*second, *third) = (new, new);
        } else if third.round == second.round && old > window / 2 {
            *third = new;
        }
    }
}

/// From one sample to a later one.
fn round_trips(from: Sample, to: Sample) -> u32 {
    to.round.wrapping_sub(from.round)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked by hand from `lib/win_minmax.c` with a window of 10: the second choice is of round 3, the first after a
    /// quarter of the window (10 / 4 = 2), the third of round 6, the first after half of it.
    #[test]
    fn a_maximum_lasts_for_its_window_and_the_next_best_follows() {
        let mut max = WindowedMax::default();
        let mut seen = Vec::new();
        for (round, value) in [
            (0, 90),
            (1, 50),
            (2, 40),
            (3, 60),
            (6, 30),
            (8, 20),
            (10, 10),
            (11, 15),
            (14, 12),
        ] {
            max.sample(10, round, value);
            seen.push(max.get());
        }
        assert_eq!(seen, [90, 90, 90, 90, 90, 90, 90, 60, 30]);
    }

    #[test]
    fn a_larger_sample_replaces_all_and_silence_forgets_all() {
        let mut max = WindowedMax::default();
        max.sample(10, 0, 5);
        max.sample(10, 1, 7);
        assert_eq!(max.get(), 7);
        max.sample(10, 12, 3);
        assert_eq!(max.get(), 3);
    }

    /// Against the definition: never less than the largest of the last rounds in the window's last quarter, never
    /// more than the largest of the whole window.
    #[test]
    fn it_is_never_above_the_true_maximum_of_its_window() {
        let mut max = WindowedMax::default();
        let mut state = 1_u64;
        let mut all: Vec<u64> = Vec::new();
        for round in 0..2_000_u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let value = state >> 54;
            all.push(value);
            max.sample(10, round, value);
            let first = all.len().saturating_sub(11);
            let true_max = *all[first..].iter().max().expect("one sample at least");
            assert!(max.get() <= true_max && max.get() >= value, "round {round}");
        }
    }
}
