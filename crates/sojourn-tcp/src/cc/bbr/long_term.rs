//! Whether a token bucket polices the flow, and at what rate.

use super::model::{BW_SCALE, GAIN_SCALE, GAIN_UNIT};

/// The least round trips of an interval, and how many times as many are too many.
const ROUNDS_MIN: u32 = 4;
const ROUNDS_MAX: u32 = 4 * ROUNDS_MIN;
/// An interval is lossy from 50/256 losses a delivery on, which the source calls 20 %.
const LOSS: u64 = 50;
/// Two intervals agree if their rates differ by an eighth at most.
const RATIO: u64 = GAIN_UNIT / 8;
/// Or by so many bytes in a second: 4 kbit/s.
const DIFFERENCE: u64 = 4000 / 8;
/// Round trips for which the rate found is used.
const USED_ROUNDS: u32 = 48;

/// What the connection has counted when an interval begins or ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    /// When something was delivered last, microseconds.
    pub(super) at_us: u64,
    /// Segments delivered.
    pub(super) delivered: u64,
    /// Segments ever judged lost.
    pub(super) lost: u64,
}

/// What an acknowledgement, or a time-out, says.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, as the kernel's bits are"
)]
pub(super) struct Event {
    pub(super) totals: Totals,
    /// It brought losses.
    pub(super) lossy: bool,
    pub(super) app_limited: bool,
    pub(super) round_start: bool,
    /// The flow probes for bandwidth by turns.
    pub(super) probes: bool,
}

/// What is to be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Nothing,
    /// A policer's rate was found: use that.
    Use,
    /// It was used long enough: probe again.
    Probe,
}

/// The sampler. Two intervals in a row with the same rate and many losses are a policer's.
///
/// Source: Linux `tcp_bbr.c` (`bbr_lt_bw_sampling`, `bbr_lt_bw_interval_done`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    /// The rate of the last interval, or the policer's.
    bw: Option<u64>,
    uses: bool,
    sampling: bool,
    rounds: u32,
    begin: Totals,
}

impl LongTerm {
    /// The policer's rate while it is used.
    pub(super) fn rate(&self) -> Option<u64> {
        self.bw.filter(|_| self.uses)
    }

    /// Forgets everything.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    fn begin_interval(&mut self, totals: Totals) {
        self.begin = totals;
        self.rounds = 0;
    }

    /// Takes an acknowledgement or a time-out. `bytes` says how many bytes a second a rate is, at a gain of one.
    pub(super) fn sample(&mut self, event: &Event, bytes: impl Fn(u64) -> u64) -> Answer {
        if self.uses {
            if event.probes && event.round_start {
                self.rounds += 1;
                if self.rounds >= USED_ROUNDS {
                    self.reset();
                    return Answer::Probe;
                }
            }
            return Answer::Nothing;
        }
        if !self.sampling {
            // Until the first loss the policer may have had tokens left.
            if !event.lossy {
                return Answer::Nothing;
            }
            self.begin_interval(event.totals);
            self.sampling = true;
        }
        if event.app_limited {
            self.reset();
            return Answer::Nothing;
        }
        self.rounds += u32::from(event.round_start);
        if self.rounds < ROUNDS_MIN {
            return Answer::Nothing;
        }
        if self.rounds > ROUNDS_MAX {
            self.reset();
            return Answer::Nothing;
        }
        // An interval ends with a loss: then the tokens are used up.
        if !event.lossy {
            return Answer::Nothing;
        }
        let lost = event.totals.lost - self.begin.lost;
        let delivered = event.totals.delivered - self.begin.delivered;
        if delivered == 0 || lost << GAIN_SCALE < LOSS * delivered {
            return Answer::Nothing;
        }
        let ms = (event.totals.at_us / 1000).saturating_sub(self.begin.at_us / 1000);
        if ms == 0 {
            return Answer::Nothing;
        }
        if ms >= u64::from(u32::MAX) / 1000 {
            self.reset();
            return Answer::Nothing;
        }
        self.end_interval((delivered << BW_SCALE) / (ms * 1000), event.totals, bytes)
    }

    fn end_interval(&mut self, bw: u64, totals: Totals, bytes: impl Fn(u64) -> u64) -> Answer {
        if let Some(before) = self.bw {
            let apart = bw.abs_diff(before);
            if apart * GAIN_UNIT <= RATIO * before || bytes(apart) <= DIFFERENCE {
                self.bw = Some(u64::midpoint(bw, before));
                self.uses = true;
                self.rounds = 0;
                return Answer::Use;
            }
        }
        self.bw = Some(bw);
        self.begin_interval(totals);
        Answer::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What round `n` says: 100 ms, 100 delivered and `lost` lost each.
    fn event(n: u64, lost: u64) -> Event {
        Event {
            totals: Totals {
                at_us: 100_000 * n,
                delivered: 100 * n,
                lost: lost * n,
            },
            lossy: lost > 0,
            app_limited: false,
            round_start: true,
            probes: true,
        }
    }

    fn bytes(bw: u64) -> u64 {
        (bw * 1448 * 990_000) >> BW_SCALE
    }

    /// Two intervals of four round trips with 25 lost of 100 delivered, at 1000 segments a second: (400 << 24) /
    /// 400,000 us = 16,777.
    #[test]
    fn two_lossy_intervals_of_one_rate_are_a_policer() {
        let mut sampler = LongTerm::default();
        let mut answers: Vec<Answer> = (1..=7).map(|n| sampler.sample(&event(n, 25), bytes)).collect();
        assert_eq!(sampler.rate(), None);
        // The first round begins the interval and counts, so the first ends after three round trips more.
        assert_eq!(sampler.bw, Some((300 << 24) / 300_000));
        answers.push(sampler.sample(&event(8, 25), bytes));
        assert_eq!(answers.iter().position(|&a| a == Answer::Use), Some(7));
        assert_eq!(sampler.rate(), Some(16_777));
        // It is used for 48 round trips.
        let end = (9..100).find(|&n| sampler.sample(&event(n, 0), bytes) == Answer::Probe);
        assert_eq!(end, Some(8 + 48));
        assert_eq!(sampler.rate(), None);
    }

    #[test]
    fn fewer_losses_or_an_idle_application_are_none() {
        // 19 of 100 are below 50/256 = 19.5 of 100; 20 are not.
        let mut sampler = LongTerm::default();
        assert!((1..40).all(|n| sampler.sample(&event(n, 19), bytes) == Answer::Nothing));
        let mut sampler = LongTerm::default();
        assert!((1..40).any(|n| sampler.sample(&event(n, 20), bytes) == Answer::Use));
        let mut sampler = LongTerm::default();
        let limited = |n| Event {
            app_limited: n % 3 == 0,
            ..event(n, 25)
        };
        assert!((1..40).all(|n| sampler.sample(&limited(n), bytes) == Answer::Nothing));
    }

    #[test]
    fn rates_that_differ_by_more_than_an_eighth_are_none() {
        let mut sampler = LongTerm::default();
        let mut at = event(1, 25);
        sampler.sample(&at, bytes);
        for ms in [400, 300, 400, 300, 400] {
            for _ in 0..4 {
                at.totals.at_us += ms * 250;
                at.totals.delivered += 100;
                at.totals.lost += 25;
                assert_eq!(sampler.sample(&at, bytes), Answer::Nothing);
            }
        }
        // Intervals end a round trip before the pace changes: the last is one round of 75 ms and three of 100.
        assert_eq!(sampler.bw, Some((400 << 24) / 375_000));
    }
}
