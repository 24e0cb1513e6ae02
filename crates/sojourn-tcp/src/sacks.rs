//! The ranges that SACK blocks report: those that grew last.

use crate::segment::{SackBlock, Segment};

/// Ranges that are remembered. Source: Linux `TCP_NUM_SACKS`.
const REMEMBERED: usize = 4;
/// So many of them fit into any acknowledgement, whatever other options it has. Source: Linux
/// `TCP_SACK_BLOCKS_EXPECTED`.
const EXPECTED: usize = 2;

/// The remembered ranges, the most recent first.
///
/// A range that was pushed out is forgotten, although the receiver holds its data: blocks report it again only when
/// it grows, and then from what is new. Source: Linux 6.1 `tcp_sack_new_ofo_skb`, `tcp_sack_maybe_coalesce`,
/// `tcp_sack_remove`; RFC 2018 section 4.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sacks {
    ranges: [(u64, u64); REMEMBERED],
    count: usize,
}

impl Sacks {
    fn known(&self) -> &[(u64, u64)] {
        &self.ranges[..self.count]
    }

    /// The first range that `start` to `end` overlaps or touches.
    fn touched(&self, start: u64, end: u64) -> Option<usize> {
        self.known().iter().position(|&(s, e)| start <= e && s <= end)
    }

    /// Whether an acknowledgement that is held back must leave before `start` to `end` is added, because it might not
    /// report all that it should any more.
    pub(crate) fn crowd(&self, start: u64, end: u64) -> bool {
        self.touched(start, end).unwrap_or(self.count) >= EXPECTED
    }

    /// Data from `start` to `end` came above a gap.
    pub(crate) fn add(&mut self, start: u64, end: u64) {
        if let Some(i) = self.touched(start, end) {
            let (s, e) = self.ranges[i];
            self.ranges[i] = (s.min(start), e.max(end));
            self.ranges[..=i].rotate_right(1);
            self.coalesce();
        } else {
            self.count = (self.count + 1).min(REMEMBERED);
            self.ranges[..self.count].rotate_right(1);
            self.ranges[0] = (start, end);
        }
    }

    /// The first range takes in those that it has reached.
    fn coalesce(&mut self) {
        let (mut start, mut end) = self.ranges[0];
        let mut kept = 1;
        for i in 1..self.count {
            let (s, e) = self.ranges[i];
            if s <= end && start <= e {
                (start, end) = (start.min(s), end.max(e));
            } else {
                self.ranges[kept] = (s, e);
                kept += 1;
            }
        }
        self.ranges[0] = (start, end);
        self.count = kept;
    }

    /// Everything before `next` has come.
    pub(crate) fn remove_before(&mut self, next: u64) {
        let mut kept = 0;
        for i in 0..self.count {
            if self.ranges[i].0 > next {
                self.ranges[kept] = self.ranges[i];
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// Writes what fits into `segment`, the duplicate first (RFC 2883 section 4). Offsets count from `next`.
    pub(crate) fn write(&self, segment: &mut Segment, dsack: Option<(u64, u64)>, next: u64) {
        let offset = |byte: u64| byte.wrapping_sub(next) as i32;
        let mut n = 0;
        for (block, &(start, end)) in segment.sack.iter_mut().zip(dsack.iter().chain(self.known())) {
            *block = SackBlock {
                start: offset(start),
                end: offset(end),
            };
            n += 1;
        }
        segment.sack_count = n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sacks(added: &[(u64, u64)]) -> Sacks {
        let mut sacks = Sacks::default();
        for &(start, end) in added {
            sacks.add(start, end);
        }
        sacks
    }

    /// Worked by hand from `tcp_sack_new_ofo_skb`: the fifth range pushes out the first.
    #[test]
    fn four_ranges_are_remembered_and_the_last_that_grew_is_first() {
        let mut sacks = sacks(&[(10, 11), (20, 21), (30, 31), (40, 41), (50, 51)]);
        assert_eq!(sacks.known(), [(50, 51), (40, 41), (30, 31), (20, 21)]);
        sacks.add(21, 22);
        assert_eq!(sacks.known(), [(20, 22), (50, 51), (40, 41), (30, 31)]);
        // What was forgotten is reported from what is new.
        sacks.add(11, 12);
        assert_eq!(sacks.known(), [(11, 12), (20, 22), (50, 51), (40, 41)]);
    }

    #[test]
    fn a_range_that_reaches_others_takes_them_in() {
        let mut sacks = sacks(&[(10, 11), (12, 13), (30, 31), (11, 12)]);
        assert_eq!(sacks.known(), [(10, 13), (30, 31)]);
        sacks.add(9, 32);
        assert_eq!(sacks.known(), [(9, 32)]);
        sacks.remove_before(9);
        assert_eq!(sacks.known(), []);
    }

    /// Worked by hand: two blocks fit beside a timestamp and a duplicate. A segment that grows one of the first two
    /// takes none of them away. One that grows the third, or is a third, might.
    #[test]
    fn a_third_range_crowds_out_what_was_to_be_reported() {
        assert!(!Sacks::default().crowd(10, 11));
        assert!(!sacks(&[(10, 11)]).crowd(20, 21));
        let two = sacks(&[(10, 11), (20, 21)]);
        assert!(!two.crowd(11, 12) && !two.crowd(21, 22));
        assert!(two.crowd(30, 31));
        let three = sacks(&[(10, 11), (20, 21), (30, 31)]);
        assert!(!three.crowd(31, 32) && !three.crowd(21, 22));
        assert!(three.crowd(11, 12));
    }
}
