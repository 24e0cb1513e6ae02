//! How much is acknowledged at once beyond what the rate explains, as by a radio that builds aggregates.

use super::model::BW_SCALE;

/// The window is enlarged by what may be acknowledged at once, of at most 100 ms.
const MAX_US: u64 = 100_000;
/// An epoch in which so many segments were acknowledged ends.
const EPOCH_MAX: u32 = 1 << 20;

/// The excess of acknowledged segments over the rate, the largest of the last one or two windows of round trips.
///
/// Source: Linux `tcp_bbr.c` (`bbr_update_ack_aggregation`, `bbr_extra_acked`), of BBR version 1 and 3.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cc) struct Aggregation {
    /// When the current epoch began, microseconds.
    epoch_us: u64,
    /// Segments acknowledged in it.
    acked: u32,
    /// Two maxima, of which one collects and the other is of the window before.
    extra: [u32; 2],
    collects: usize,
    rounds: u32,
}

impl Aggregation {
    /// A new epoch begins, as at a restart after silence.
    pub(in crate::cc) fn restart(&mut self, now_us: u64) {
        self.epoch_us = now_us;
        self.acked = 0;
    }

    /// The largest excess, segments.
    fn get(&self) -> u32 {
        self.extra[0].max(self.extra[1])
    }

    /// By how much the window is larger, because acknowledgements come together, while the path delivers `bw`. Source:
    /// `bbr_ack_aggregation_cwnd`.
    pub(in crate::cc) fn enlarges(&self, bw: u64) -> u32 {
        let most = bw.saturating_mul(MAX_US) >> BW_SCALE;
        self.get().min(u32::try_from(most).unwrap_or(u32::MAX))
    }

    /// An acknowledgement of `acked` segments at `now_us`, while the path is believed to deliver `bw`. With it a round
    /// trip begins; one of the two maxima collects for as many as `window` says.
    #[inline]
    pub(in crate::cc) fn sample(&mut self, acked: u32, window: Option<u32>, bw: u64, cwnd: u32, now_us: u64) {
        if let Some(window) = window {
            self.rounds += 1;
            if self.rounds >= window {
                self.rounds = 0;
                self.collects ^= 1;
                self.extra[self.collects] = 0;
            }
        }
        let expected = bw.saturating_mul(now_us.saturating_sub(self.epoch_us)) >> BW_SCALE;
        let mut expected = u32::try_from(expected).unwrap_or(u32::MAX);
        // The acknowledgements have not kept up with the rate, or the epoch is long: another begins.
        if self.acked <= expected || self.acked + acked >= EPOCH_MAX {
            self.restart(now_us);
            expected = 0;
        }
        self.acked = (self.acked + acked).min(EPOCH_MAX - 1);
        let extra = (self.acked - expected).min(cwnd);
        let best = &mut self.extra[self.collects];
        *best = (*best).max(extra);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One segment in 1000 us, as the kernel keeps it: 16,777 units, which are 0.99998 segments in 1000 us.
    const BW: u64 = (1 << BW_SCALE) / 1000;

    /// Worked by hand: eight at once at 10 ms begin an epoch, for 10 were expected since 0. Two more at 12 ms: 1.99
    /// were expected, of which the kernel counts 1, so 10 - 1. At 30 ms 19 were expected and 10 had come.
    #[test]
    fn the_excess_is_what_came_beyond_the_rate_since_the_epoch_began() {
        let mut aggregation = Aggregation::default();
        aggregation.sample(8, None, BW, 100, 10_000);
        assert_eq!(aggregation.get(), 8);
        aggregation.sample(2, None, BW, 100, 12_000);
        assert_eq!(aggregation.get(), 9);
        aggregation.sample(1, None, BW, 100, 30_000);
        assert_eq!(
            (aggregation.get(), aggregation.acked, aggregation.epoch_us),
            (9, 1, 30_000)
        );
    }

    #[test]
    fn a_maximum_lasts_for_five_to_ten_round_trips() {
        let mut aggregation = Aggregation::default();
        aggregation.sample(8, None, BW, 5, 10_000);
        assert_eq!(aggregation.get(), 5, "never more than the window");
        for round in 1..=9 {
            aggregation.sample(1, Some(5), BW, 100, 10_000 + 100_000 * round);
            assert_eq!(aggregation.get(), 5, "{round}");
        }
        aggregation.sample(1, Some(5), BW, 100, 2_000_000);
        assert_eq!(aggregation.get(), 1);
    }
}
