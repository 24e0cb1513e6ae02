//! The sending half: what an acknowledgement says of marks (RFC 9768 sections 3.2.2.5 and 3.2.3.1, appendix A).

use super::ace::MASK;
use super::option::{AccEcnOption, truncated};
use super::{Counters, ace, initial};
use crate::cc::Marked;
use sojourn_units::Ecn;

/// The mean of packets per acknowledgement: weight of a new one, and fraction bits. Source: Linux `PKTS_ACKED_WEIGHT`,
/// `PKTS_ACKED_PREC`.
const MEAN_WEIGHT: u32 = 6;
const MEAN_FRACTION: u32 = 6;
/// With more packets per acknowledgement than this, many packets in one are no sign that others were lost. Source:
/// Linux `ACK_COMP_THRESH`.
const COMPRESSED: u32 = 4;

/// What an acknowledgement newly covers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Covered {
    /// Segments newly delivered.
    pub(crate) packets: u32,
    /// Bytes newly delivered.
    pub(crate) bytes: u64,
    /// Something was acknowledged or SACKed, so that it is newer than all before.
    pub(crate) progress: bool,
    /// Losses do not make `packets` and `bytes` differ: SACK tells all, or nothing is lost.
    pub(crate) certain: bool,
    /// Bytes of a full segment.
    pub(crate) mss: u16,
    /// Bytes sent so far.
    pub(crate) sent: u64,
}

/// What the peer has said so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivered {
    /// Packets that came to the peer with a mark, as far as it has told: s.cep without its initial value.
    pub(super) packets: u32,
    /// Bytes that came with each codepoint, without initial values.
    pub(super) bytes: Counters,
    /// The codepoint that all bytes of late came with; without an option it goes on so.
    estimate: Option<Ecn>,
    /// Packets per acknowledgement, on average, with [`MEAN_FRACTION`] bits of fraction; 0 before the first.
    mean: u32,
}

impl Delivered {
    /// So many packets were acknowledged at once.
    pub(super) fn note_size(&mut self, packets: u32) {
        let new = packets << MEAN_FRACTION;
        let mean = if self.mean == 0 {
            new
        } else {
            ((self.mean << MEAN_WEIGHT) - self.mean + new) >> MEAN_WEIGHT
        };
        self.mean = mean.min(0xffff);
    }

    /// The counters of an option. Answers whether they can be relied on: only one has grown, and it is that of the
    /// packets before. Source: Linux `tcp_accecn_process_option`.
    pub(super) fn take_option(&mut self, option: AccEcnOption) -> bool {
        let expected = self.estimate;
        let mut reliable = expected.is_some();
        let (mut changed, mut ambiguous) = (false, false);
        for (ecn, value) in option.fields() {
            let delta = self.update(ecn, value);
            if delta < 0 {
                (reliable, ambiguous) = (false, true);
            }
            if delta != 0 && Some(ecn) != expected {
                if changed {
                    (reliable, ambiguous) = (false, true);
                } else {
                    self.estimate = Some(ecn);
                    changed = true;
                }
            }
        }
        if ambiguous {
            self.estimate = None;
        }
        reliable
    }

    /// A counter of 24 bits: the nearest value, which may be smaller (RFC 9768 section 3.2.3.1, appendix A.1).
    fn update(&mut self, ecn: Ecn, value: u32) -> i32 {
        let Some(counter) = self.bytes.get_mut(ecn) else {
            return 0;
        };
        let new = truncated(value.wrapping_sub(initial(ecn)));
        let delta = (truncated(new.wrapping_sub(*counter)) << 8).cast_signed() >> 8;
        *counter = counter.wrapping_add_signed(delta);
        delta
    }

    /// An acknowledgement without an option. Answers whether the counters can be relied on.
    pub(super) fn without_option(&mut self, bytes: u64) -> bool {
        let counter = self.estimate.and_then(|ecn| self.bytes.get_mut(ecn));
        match counter {
            Some(counter) => {
                *counter = counter.wrapping_add(bytes as u32);
                true
            }
            None => false,
        }
    }

    /// What ACE and the counters of an acknowledgement say was marked. `reliable` is what [`Delivered::take_option`] or
    /// [`Delivered::without_option`] has answered, and `ce_before` the counter of CE before that.
    ///
    /// Source: RFC 9768 section 3.2.2.5.2 and appendix A.2; Linux `__tcp_accecn_process`.
    pub(super) fn take_ace(&mut self, ace: u8, covered: &Covered, reliable: bool, ce_before: u32) -> Marked {
        let delta = ace::delta(ace, self.packets);
        let ce_bytes = self.bytes.of(Ecn::Ce).wrapping_sub(ce_before);
        let packets = if covered.packets <= MASK {
            delta
        } else {
            let safe = ace::safe_delta(delta, covered.packets);
            if reliable {
                by_bytes(delta, safe, ce_bytes, covered)
            } else if self.mean > COMPRESSED << MEAN_FRACTION {
                delta
            } else {
                safe
            }
        };
        self.packets = self.packets.wrapping_add(packets);
        let bytes = if ce_bytes > 0 && ce_bytes.cast_signed() > 0 {
            u64::from(ce_bytes)
        } else {
            u64::from(packets) * u64::from(covered.mss)
        };
        Marked { packets, bytes }
    }
}

/// ACE may have wrapped: the bytes with CE tell.
fn by_bytes(delta: u32, safe: u32, ce_bytes: u32, covered: &Covered) -> u32 {
    if ce_bytes == 0 {
        return delta;
    }
    if covered.packets >= 2 * (MASK + 1) && covered.certain {
        if covered.bytes <= u64::from(ce_bytes) {
            return safe;
        }
        let packets = (u64::from(ce_bytes) * u64::from(covered.packets)).div_ceil(covered.bytes) as u32;
        return safe.min(delta + (packets & !MASK));
    }
    let mss = u32::from(covered.mss);
    if ce_bytes > delta * mss {
        safe
    } else if ce_bytes < (safe * mss) >> 1 {
        // The factor of RFC 9768, appendix A.2.2.
        delta
    } else {
        safe
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accecn::FieldOrder;

    fn covered(packets: u32) -> Covered {
        Covered {
            packets,
            bytes: u64::from(packets) * 1000,
            progress: true,
            certain: true,
            mss: 1000,
            sent: 0,
        }
    }

    fn option(e1b: u32, ceb: u32, e0b: u32) -> AccEcnOption {
        AccEcnOption::new(FieldOrder::Ect1First, &[e1b, ceb, e0b])
    }

    /// Bytes grow from their initial values 1, 0, 1; a counter may fall by a little, and wraps at 2^24.
    #[test]
    fn byte_counters_are_of_24_bits() {
        let mut d = Delivered::default();
        assert!(!d.take_option(option(1, 0, 1001)), "what the bytes are was not known");
        assert_eq!(d.bytes.of(Ecn::Ect0), 1000);
        assert!(d.take_option(option(1, 0, 2001)), "all of them are ECT(0) again");
        // An option that was overtaken.
        assert!(!d.take_option(option(1, 0, 1501)));
        assert_eq!((d.bytes.of(Ecn::Ect0), d.estimate), (1500, None));
        // From 2^24 - 8000000 backwards is nearer than forwards; 8388607 is the largest step.
        d.bytes = Counters::default();
        assert_eq!(d.update(Ecn::Ect1, 0), -1);
        d.bytes = Counters::default();
        assert_eq!(d.update(Ecn::Ce, 8_388_607), 8_388_607);
        assert_eq!(d.update(Ecn::Ce, 16_000_000), 7_611_393);
        assert_eq!(d.update(Ecn::Ce, 0), 777_216, "2^24 - 16000000");
        assert_eq!(d.bytes.of(Ecn::Ce), 1 << 24);
    }

    #[test]
    fn two_counters_that_grow_at_once_are_ambiguous() {
        let mut d = Delivered::default();
        assert!(!d.take_option(option(1, 500, 1001)));
        assert_eq!(d.estimate, None);
        assert!(!d.without_option(1000));
        assert!(!d.take_option(option(1, 1500, 1001)));
        assert!(d.without_option(1000), "CE goes on");
        assert_eq!(d.bytes.of(Ecn::Ce), 2500);
    }

    /// RFC 9768 appendix A.2.1: 9 packets at once and an ACE that has not moved: 0 or 8. Without a sign that
    /// acknowledgements are large, 8.
    #[test]
    fn a_large_acknowledgement_is_taken_for_a_wrap() {
        let mut d = Delivered::default();
        d.note_size(1);
        d.note_size(9);
        // 64 x 64 - 64 + 576, shifted by 6.
        assert_eq!(d.mean, 72);
        assert_eq!(d.take_ace(5, &covered(9), false, 0).packets, 8);
        let mut d = Delivered::default();
        d.note_size(10);
        assert_eq!(
            d.take_ace(5, &covered(10), false, 0).packets,
            0,
            "acknowledgements are large"
        );
        assert_eq!(d.take_ace(6, &covered(7), false, 0).packets, 1);
        assert_eq!(
            d.take_ace(0, &covered(3), false, 0).packets,
            2,
            "5 + 3 is 0 in three bits"
        );
        assert_eq!(d.packets, 3);
    }

    /// 10 packets, ACE has gone by 1: 1 or 9 packets. 1000 bytes with CE are one packet, 9000 are nine.
    #[test]
    fn bytes_decide_between_a_wrap_and_none() {
        for (ce_bytes, packets) in [(0, 1), (1000, 1), (4000, 9), (4499, 9), (9000, 9)] {
            let mut d = Delivered::default();
            *d.bytes.get_mut(Ecn::Ce).expect("it is counted") = ce_bytes;
            let marked = d.take_ace(6, &covered(10), true, 0);
            assert_eq!(marked.packets, packets, "{ce_bytes}");
            if ce_bytes > 0 {
                assert_eq!(marked.bytes, u64::from(ce_bytes));
            }
        }
        // 20 packets, 2 or 10 or 18: a half of the bytes are ten packets, rounded down to eights beside the two.
        for (ce_bytes, packets) in [(2000, 2), (10_000, 10), (19_000, 18), (20_000, 18)] {
            let mut d = Delivered::default();
            *d.bytes.get_mut(Ecn::Ce).expect("it is counted") = ce_bytes;
            assert_eq!(d.take_ace(7, &covered(20), true, 0).packets, packets, "{ce_bytes}");
        }
    }
}
