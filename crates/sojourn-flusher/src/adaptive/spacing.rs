//! The rate of the bottleneck, from the spacing of acknowledgements.

use sojourn_units::{Rate, Time};
use std::collections::VecDeque;

/// Intervals remembered.
const INTERVALS: usize = 5;
/// An acknowledgement for more packets than this fills a hole, or was put together on its way.
const MOST: u32 = 4;
/// The largest spacings' rates of an interval that are left out, as acknowledgements that caught up with each other.
const SPARED: usize = 2;

/// How fast the bottleneck sends, also where others have a part of it: packets that stood there one behind the other arrive
/// spaced by the time that the link needs for one, and so do their acknowledgements. Of an interval the third largest rate
/// counts, of the last five intervals the median.
///
/// Source: the packet pairs of V. Jacobson, "Congestion avoidance and control" (1988), figure 1, and of S. Keshav, "A
/// control-theoretic approach to flow control" (1991).
#[derive(Debug, Default)]
pub(crate) struct Spacing {
    last: Option<Time>,
    /// The largest rates of the current interval, bit/s, largest first.
    top: [u64; SPARED + 1],
    closed: VecDeque<u64>,
}

impl Spacing {
    /// What comes next is not spaced by the bottleneck.
    pub(crate) const fn interrupt(&mut self) {
        self.last = None;
    }

    /// An acknowledgement of so many packets, with so many bytes on the wire.
    pub(crate) fn on_ack(&mut self, packets: u32, wire: u64, now: Time) {
        let last = self.last.replace(now);
        let Some(gap) = last.map(|last| now.since(last).as_nanos()).filter(|gap| *gap > 0) else {
            return;
        };
        if !(2..=MOST).contains(&packets) {
            return;
        }
        let bps = u64::try_from(u128::from(wire) * 8_000_000_000 / u128::from(gap)).unwrap_or(u64::MAX);
        let at = self.top.partition_point(|other| *other >= bps);
        if at < self.top.len() {
            self.top[at..].rotate_right(1);
            self.top[at] = bps;
        }
    }

    /// An interval is over.
    pub(crate) fn close(&mut self) {
        let [.., found] = std::mem::take(&mut self.top);
        if found == 0 {
            return;
        }
        if self.closed.len() == INTERVALS {
            self.closed.pop_front();
        }
        self.closed.push_back(found);
    }

    /// The rate; `None` as long as there is no interval with enough acknowledgements.
    pub(crate) fn capacity(&self) -> Option<Rate> {
        let mut rates: Vec<u64> = self.closed.iter().copied().collect();
        rates.sort_unstable();
        rates.get(rates.len() / 2).map(|bps| Rate::from_bps(*bps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of packets of 1500 bytes; between each and the next, others' packets as `others` says.
    fn after(others: impl Fn(u64) -> u64, spurious: &[u64]) -> Option<u64> {
        let mut spacing = Spacing::default();
        let mut now = Time::ZERO;
        for n in 0..100 {
            let gap = if spurious.contains(&n) {
                100
            } else {
                (2 + others(n)) * 2400
            };
            now = Time::from_nanos(now.as_nanos() + gap * 1000);
            spacing.on_ack(2, 3000, now);
            if n % 20 == 19 {
                spacing.close();
            }
        }
        spacing.capacity().map(Rate::as_bps)
    }

    /// 3000 bytes in 4.8 ms are 5 Mbit/s. In 9.6 ms they are half of that, as long as it is not always so.
    #[test]
    fn the_rate_of_the_link_shows_where_others_have_half_of_it() {
        assert_eq!(after(|_| 0, &[]), Some(5_000_000));
        assert_eq!(after(|n| if n % 5 == 0 { 0 } else { 2 }, &[]), Some(5_000_000));
        assert_eq!(after(|_| 2, &[]), Some(2_500_000));
    }

    /// Two acknowledgements in each interval that caught up with the one before.
    #[test]
    fn two_acknowledgements_that_came_together_do_not_count() {
        let spurious: Vec<u64> = (0..5).flat_map(|i| [20 * i + 7, 20 * i + 13]).collect();
        assert_eq!(after(|_| 0, &spurious), Some(5_000_000));
    }

    #[test]
    fn an_acknowledgement_after_a_loss_or_for_a_whole_window_tells_nothing() {
        let mut spacing = Spacing::default();
        for n in 1..100 {
            spacing.on_ack(if n % 2 == 0 { 40 } else { 1 }, 60_000, Time::from_millis(n));
            spacing.interrupt();
        }
        spacing.close();
        assert_eq!(spacing.capacity(), None);
    }
}
