//! The ACE field: three bits of a count of marked packets (RFC 9768 section 3.2.2).

/// The three bits.
pub(super) const MASK: u32 = 7;
/// What both ends begin to count from (RFC 9768 section 3.2.1), so that a field that was cleared is seen.
const INITIAL: u32 = 5;

/// The field for so many marked packets.
pub(super) const fn field(packets: u32) -> u8 {
    (packets.wrapping_add(INITIAL) & MASK) as u8
}

/// How far the field is ahead of `packets`: 0 to 7.
pub(super) const fn delta(ace: u8, packets: u32) -> u32 {
    (ace as u32).wrapping_sub(INITIAL).wrapping_sub(packets) & MASK
}

/// The most that the field can have gone while so many packets were acknowledged: `delta` and so many times eight.
/// Source: RFC 9768 appendix A.2.1.
pub(super) const fn safe_delta(delta: u32, acknowledged: u32) -> u32 {
    acknowledged - (acknowledged.wrapping_sub(delta) & MASK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_begins_at_five_and_wraps() {
        let fields: Vec<u8> = (0..9).map(field).collect();
        assert_eq!(fields, [5, 6, 7, 0, 1, 2, 3, 4, 5]);
        for packets in [0, 1, 7, 8, 100, u32::MAX] {
            for more in 0..8 {
                assert_eq!(delta(field(packets.wrapping_add(more)), packets), more);
            }
        }
    }

    /// RFC 9768 appendix A.2.1: with 9 packets and a delta of 0 the field may have wrapped once; with 9 and 2 it cannot
    /// have, because that were 10.
    #[test]
    fn the_largest_delta_is_not_more_than_was_acknowledged() {
        for (delta, acknowledged, safe) in [(0, 9, 8), (1, 9, 9), (2, 9, 2), (0, 16, 16), (7, 16, 15), (3, 8, 3)] {
            assert_eq!(safe_delta(delta, acknowledged), safe, "{delta} of {acknowledged}");
        }
    }
}
