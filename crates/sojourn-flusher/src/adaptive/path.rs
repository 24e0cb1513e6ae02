//! What the method `adaptive` has learned about the way to one receiver.

use crate::plan::packets_in;
use crate::{FlusherParams, Verdict};
use sojourn_units::{Duration, Rate, Time};

/// Loss events whose peaks are remembered.
const EVENTS: usize = 4;
/// A boost of one, in eighths.
const ONE: u32 = 8;
/// After so many bursts that helped, smaller ones are tried that once were too small.
const RETRY: u32 = 32;
/// Least and most boost: half the free space, and eight times it.
const BOOST: (u32, u32) = (4, 64);

/// The way to one receiver: what its buffer holds, how large a burst must be, and whether bursts help at all.
///
/// How large a burst must be is searched for in two places. The free space comes from measurement: at a loss the largest RTT
/// is that of a full buffer, and the present RTT tells how much of it is taken. Where that is not enough, because others
/// use the buffer whom the flusher does not see, or because it drains while the burst comes in, a factor, the boost, grows by
/// half with each burst that nobody noticed and shrinks by an eighth with each that helped; but for a while not to where it was
/// too small before.
#[derive(Debug)]
pub(crate) struct Path {
    /// Flows that take it; it is forgotten with the last.
    pub(crate) flows: u32,
    /// Segments of theirs that were sent again.
    pub(crate) retransmissions: u64,
    /// Queueing delay at the last loss events, of a full buffer or less if the loss had another cause; and that after
    /// bursts which nobody noticed: the buffer holds as much.
    peaks: [Option<Duration>; EVENTS],
    next_peak: usize,
    /// Whether there was a loss event among them yet.
    measured: bool,
    boost: u32,
    /// The boost of a burst that was too small, and how many helped since.
    too_small: u32,
    helped: u32,
    failures: u32,
    forced_failures: u32,
    cool_until: Time,
}

/// The burst to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Burst {
    pub(crate) packets: u32,
    /// The queueing delay at which the buffer is believed to be full.
    pub(crate) full: Duration,
}

/// What is known when a burst is sized.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) rate: Rate,
    pub(crate) base: Duration,
    /// The least RTT of the last window.
    pub(crate) least: Duration,
    pub(crate) max_rtt: Duration,
}

impl Path {
    pub(crate) const fn new() -> Self {
        Self {
            flows: 0,
            retransmissions: 0,
            peaks: [None; EVENTS],
            next_peak: 0,
            measured: false,
            boost: ONE,
            too_small: 0,
            helped: 0,
            failures: 0,
            forced_failures: 0,
            cool_until: Time::ZERO,
        }
    }

    pub(crate) const fn cooling(&self, now: Time) -> bool {
        self.cool_until.as_nanos() > now.as_nanos()
    }

    pub(crate) const fn stopped(&self, params: &FlusherParams) -> bool {
        self.failures >= params.max_failures
    }

    /// A flow lost something while its queueing delay had been up to `queue`.
    pub(crate) fn on_loss(&mut self, queue: Duration) {
        if !self.measured {
            // From here on the free space is measured; what was guessed before has done its work.
            self.measured = true;
            self.boost = ONE;
            self.too_small = 0;
        }
        self.remember(queue);
    }

    fn remember(&mut self, queue: Duration) {
        self.peaks[self.next_peak] = Some(queue);
        self.next_peak = (self.next_peak + 1) % EVENTS;
    }

    /// The queueing delay of a full buffer. The largest of the last events, so that a loss by noise does not hide what an
    /// overflow showed, and that a buffer grown smaller is believed after four.
    pub(crate) fn full(&self) -> Option<Duration> {
        self.peaks.iter().flatten().copied().max()
    }

    /// The burst that overflows a buffer, whose queueing delay is `full` when it is full, by `margin` packets. Before anything
    /// is known of the buffer its free space is taken for one base RTT: the thesis's first flush, which takes twice the
    /// base RTT, less what the pipe itself holds.
    pub(crate) fn burst(&self, full: Option<Duration>, now: &Now, params: &FlusherParams) -> Burst {
        let queue = now.least.saturating_sub(now.base);
        let full = full.unwrap_or_else(|| queue + now.base);
        let free = full.saturating_sub(queue);
        let wanted = Duration::from_nanos(free.as_nanos() / u64::from(ONE)).saturating_mul(u64::from(self.boost));
        let room = packets_in(
            now.rate,
            now.max_rtt.saturating_mul(2),
            params.packet,
            params.max_packets,
        );
        let packets = packets_in(now.rate, wanted, params.packet, u32::MAX).saturating_add(1 + params.margin);
        Burst {
            packets: packets.min(room),
            full,
        }
    }

    /// Whether a forced flush is due `since` the last flush or the flow's beginning. Its interval doubles, up to sixteenfold,
    /// with each that showed nothing.
    pub(crate) fn overdue(&self, since: Duration, params: &FlusherParams) -> bool {
        params
            .forced_after
            .is_some_and(|after| since > after.saturating_mul(1 << self.forced_failures.min(4)))
    }

    /// Learns from a flush.
    pub(crate) fn judged(&mut self, flush: &Judged, now: Time, params: &FlusherParams) {
        if flush.forced {
            let failed = flush.verdict != Verdict::Helped;
            self.forced_failures = if failed {
                self.forced_failures.saturating_add(1)
            } else {
                0
            };
            return;
        }
        let pause = match flush.verdict {
            Verdict::Unknown => return,
            Verdict::Helped => {
                self.failures = 0;
                self.helped += 1;
                if self.helped >= RETRY {
                    self.too_small = 0;
                    self.helped = 0;
                }
                if flush.heavy || self.boost > ONE.max(self.too_small + 1) {
                    self.boost = (self.boost - 1).max(BOOST.0);
                }
                return;
            }
            Verdict::TooSmall => {
                self.too_small = self.too_small.max(self.boost);
                self.helped = 0;
                self.boost = (self.boost + self.boost / 2).min(BOOST.1);
                if self.full().is_none_or(|full| flush.reached > full) {
                    self.remember(flush.reached);
                }
                flush.round
            }
            Verdict::Useless => flush.round.max(Duration::from_secs(1)),
        };
        self.failures = self.failures.saturating_add(1);
        let doubled = pause.saturating_mul(1 << (self.failures - 1).min(20));
        let pause = if self.stopped(params) {
            params.max_cool_down
        } else {
            doubled.min(params.max_cool_down)
        };
        self.cool_until = now + pause;
    }
}

/// A flush that has been judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    pub(crate) forced: bool,
    /// The largest queueing delay that was seen after it.
    pub(crate) reached: Duration,
    /// The RTT of a full buffer: the shortest time after which to try again.
    pub(crate) round: Duration,
    /// Whether it made the flow lose more than half a window.
    pub(crate) heavy: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: FlusherParams = FlusherParams {
        margin: 0,
        ..FlusherParams::ADAPTIVE
    };

    fn judge(path: &mut Path, verdict: Verdict, heavy: bool) {
        let round = Duration::from_millis(290);
        let judged = Judged {
            verdict,
            forced: false,
            reached: Duration::ZERO,
            round,
            heavy,
        };
        path.judged(&judged, Time::from_secs(1), &PARAMS);
    }

    /// 240 ms are a full buffer, 48 are taken: 80 packets at 5 Mbit/s, and one for rounding.
    fn burst(path: &Path) -> u32 {
        let now = Now {
            rate: Rate::from_mbit(5),
            base: Duration::from_millis(50),
            least: Duration::from_millis(98),
            max_rtt: Duration::from_millis(2000),
        };
        path.burst(path.full(), &now, &PARAMS).packets
    }

    /// 80 packets are too small, and 120 help; 110, 100 and 90 (eleven, ten and nine eighths) help too. Eight eighths failed,
    /// so nine remain until 32 bursts have helped; then the smaller one is tried once more.
    #[test]
    fn the_search_stays_above_what_was_too_small() {
        let mut path = Path::new();
        path.on_loss(Duration::from_millis(240));
        assert_eq!(burst(&path), 81);
        judge(&mut path, Verdict::TooSmall, false);
        let mut sizes = Vec::new();
        for _ in 0..33 {
            sizes.push(burst(&path));
            judge(&mut path, Verdict::Helped, false);
        }
        assert_eq!(sizes[..5], [121, 111, 101, 91, 91]);
        assert!(sizes[5..32].iter().all(|n| *n == 91), "{sizes:?}");
        assert_eq!(sizes[32], 81);
    }

    #[test]
    fn a_burst_that_costs_half_a_window_is_made_smaller_than_the_free_space() {
        let mut path = Path::new();
        path.on_loss(Duration::from_millis(240));
        for _ in 0..10 {
            judge(&mut path, Verdict::Helped, true);
        }
        assert_eq!(burst(&path), 41);
    }

    #[test]
    fn a_loss_by_noise_does_not_hide_a_full_buffer_and_four_in_a_row_do() {
        let mut path = Path::new();
        for (queue, full) in [(240, 240), (20, 240), (20, 240), (20, 240), (20, 20)] {
            path.on_loss(Duration::from_millis(queue));
            assert_eq!(path.full(), Some(Duration::from_millis(full)));
        }
    }
}
