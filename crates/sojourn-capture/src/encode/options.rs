//! The TCP options of a segment, also those of AccECN (RFC 9768 section 3.2.3).

use super::WINDOW_SCALE;
use sojourn_tcp::{Flags, Segment};

const NOP: u8 = 1;

/// All options, in the order in which Linux writes them (`tcp_options_write`). `mss` is what a SYN tells, and `ack` the
/// acknowledgement number on the wire.
pub(super) fn options(s: &Segment, mss: u16, ack: u32) -> Vec<u8> {
    let syn = s.flags.has(Flags::SYN);
    let mut out = Vec::with_capacity(40);
    if syn {
        out.extend([2, 4]);
        out.extend(mss.to_be_bytes());
        // SACK permitted.
        out.extend([4, 2]);
    } else {
        out.extend([NOP; 2]);
    }
    out.extend([8, 10]);
    out.extend(s.ts_val.to_be_bytes());
    out.extend(s.ts_ecr.to_be_bytes());

    let blocks = if syn { 0 } else { usize::from(s.sack_count) };
    if s.accecn.is_present() {
        out.extend([s.accecn.order().kind(), s.accecn.len() as u8]);
    }
    for (_, value) in s.accecn.fields() {
        out.extend(&value.to_be_bytes()[1..]);
    }
    out.extend(std::iter::repeat_n(NOP, usize::from(s.accecn.padding(blocks > 0))));
    if syn {
        out.extend([NOP, 3, 3, WINDOW_SCALE]);
    } else if blocks > 0 {
        out.extend([5, (2 + 8 * blocks) as u8]);
        for block in &s.sack[..blocks] {
            for edge in [block.start, block.end] {
                out.extend(ack.wrapping_add_signed(edge).to_be_bytes());
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_tcp::{AccEcnOption, FieldOrder, SackBlock};

    /// By hand, from RFC 9768 section 3.2.3: kind 174, length 11, ECT(1), CE, ECT(0); a NOP, and the two NOPs of SACK.
    #[test]
    fn counters_stand_between_timestamps_and_blocks() {
        let s = Segment {
            ts_val: 0x0102_0304,
            ts_ecr: 5,
            accecn: AccEcnOption::new(FieldOrder::Ect1First, &[1, 0x01_0203, 1001]),
            sack: [SackBlock { start: 100, end: 200 }; 3],
            sack_count: 1,
            flags: Flags::ACK,
            ..Segment::default()
        };
        assert_eq!(
            options(&s, 1460, 1000),
            [
                1, 1, 8, 10, 1, 2, 3, 4, 0, 0, 0, 5, // timestamps
                174, 11, 0, 0, 1, 1, 2, 3, 0, 3, 233, 1, // AccECN
                1, 1, 5, 10, 0, 0, 4, 76, 0, 0, 4, 176, // SACK
            ]
        );
    }
}
