//! The receiving half: what has come, and when that is to be told (RFC 9768 sections 3.2.2.5 and 3.2.3.3).

use super::{Counters, ace};
use crate::segment::Flags;
use sojourn_units::{Ecn, Time};

/// With so many marks that no acknowledgement has told of, the next is due at once (RFC 9768 section 3.2.2.5.1, where
/// it is `n`). Source: Linux `TCP_ACCECN_ACE_MAX_DELTA`.
const MOST_UNTOLD: u8 = 6;
/// A counter of bytes that has come to a multiple of this is told (RFC 9768 section 3.2.3.3: 2^22).
const STEP: u32 = 22;

/// What has come so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Received {
    /// Packets with a mark: r.cep without its initial value.
    pub(super) packets: u32,
    /// Of these, not told yet.
    untold: u8,
    /// Payload bytes by codepoint, without initial values.
    pub(super) bytes: Counters,
    /// Fields that an option needs to tell of all that has changed since the last one.
    pub(super) fields: u8,
    /// Acknowledgements that are to have an option.
    pub(super) demand: u8,
    /// The codepoint of the packet before.
    pub(super) previous: Ecn,
    /// The next data is acknowledged at once.
    pub(super) hurries: bool,
    /// When an option was sent last.
    pub(super) reported: Time,
    /// The last acknowledgement had an option, and reported a duplicate that begins here.
    pub(super) reported_with_duplicate: Option<u64>,
}

impl Received {
    /// A mark on the SYN-ACK.
    pub(super) fn count_mark(&mut self) {
        self.packets = self.packets.wrapping_add(1);
        self.untold += 1;
    }

    /// A packet has come, pure acknowledgements too. Source: Linux `tcp_ecn_received_counters`.
    pub(super) fn count(&mut self, ecn: Ecn, payload: u16) {
        if ecn == Ecn::Ce {
            self.packets = self.packets.wrapping_add(1);
            self.untold = (self.untold + 1).min(15);
            // Deviation: Linux looks at this only with acknowledgements of data of its own.
            self.hurries |= self.untold >= MOST_UNTOLD;
        }
        if payload > 0
            && let Some(bytes) = self.bytes.get_mut(ecn)
        {
            let before = *bytes;
            *bytes = before.wrapping_add(u32::from(payload));
            if (*bytes ^ before) >> STEP != 0 {
                self.demand = self.demand.max(1);
            }
            // As Linux sends them: ECT(1), CE, ECT(0).
            let fields = match ecn {
                Ecn::NotEct => 0,
                Ecn::Ect1 => 1,
                Ecn::Ce => 2,
                Ecn::Ect0 => 3,
            };
            self.fields = self.fields.max(fields);
        }
        let changed = ecn != self.previous;
        if changed || ecn == Ecn::Ce {
            self.previous = ecn;
            self.hurries |= changed;
            // Two, so that the second shows what has come since.
            self.demand = 2;
        }
    }

    /// The ACE field of what is sent now.
    pub(super) fn tell(&mut self) -> Flags {
        self.untold = 0;
        Flags::of_ace(ace::field(self.packets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_at_once_and_twice() {
        let mut r = Received::default();
        r.count(Ecn::Ect0, 0);
        assert!(r.hurries, "the first packet is no longer Not-ECT");
        assert_eq!((r.demand, r.fields), (2, 0));
        (r.hurries, r.demand) = (false, 0);
        r.count(Ecn::Ect0, 1000);
        assert_eq!((r.hurries, r.demand, r.fields), (false, 0, 3));
        r.count(Ecn::Ce, 1000);
        assert_eq!((r.hurries, r.demand, r.fields), (true, 2, 3));
        assert_eq!((r.packets, r.bytes.of(Ecn::Ce), r.bytes.of(Ecn::Ect0)), (1, 1000, 1000));
        r.hurries = false;
        for _ in 0..4 {
            r.count(Ecn::Ce, 1000);
            assert!(!r.hurries);
        }
        r.count(Ecn::Ce, 1000);
        assert!(r.hurries, "six marks are untold");
        assert_eq!(r.tell().ace(), 3, "5 + 6 is 3 in three bits");
        assert_eq!(r.untold, 0);
    }

    /// RFC 9768 section 3.2.3.3: after each 2^22 bytes.
    #[test]
    fn a_counter_is_told_each_4_mebibytes() {
        let mut r = Received::default();
        r.count(Ecn::Ect1, 0);
        r.demand = 0;
        for _ in 0..4193 {
            r.count(Ecn::Ect1, 1000);
        }
        // 2^22 is 4194304.
        r.count(Ecn::Ect1, 1000);
        assert_eq!((r.bytes.of(Ecn::Ect1), r.demand), (4_194_000, 0));
        r.count(Ecn::Ect1, 304);
        assert_eq!(r.demand, 1);
    }
}
