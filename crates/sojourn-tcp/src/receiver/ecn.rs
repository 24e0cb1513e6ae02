//! What the receiving half says of congestion that packets have experienced: one echo until the sender has reduced its
//! window (RFC 3168), or one for each mark (RFC 8257).

use super::{AckNeed, DELAY_MIN, QUICK_ACKS, Receiver};
use crate::accecn::EcnMode;
use crate::segment::{Flags, Segment};
use sojourn_units::Ecn;

impl Receiver {
    /// The handshake has told which ECN both ends have.
    pub(crate) fn set_ecn(&mut self, agreed: EcnMode) {
        self.ecn = agreed.is_on();
        self.ace = agreed == EcnMode::Accurate;
        // AccECN is accurate for every control.
        self.accurate &= !self.ace;
    }

    /// Whether everything that is sent is ECN-capable, as with DCTCP.
    pub(crate) fn is_accurate(&self) -> bool {
        self.accurate
    }

    /// The sender says that it has reduced its window, which may be so small by now that it waits for this
    /// acknowledgement. Source: Linux `tcp_ecn_accept_cwr`; Linux 3.14 does not hurry.
    #[cold]
    pub(super) fn on_reduced(&mut self) {
        if self.ace {
            // It is a bit of the ACE field.
            return;
        }
        self.echo_ce = false;
        if self.ecn && self.rules.compression > 0 {
            self.acknowledge_now();
        }
    }

    /// Data that is new has come. Source: Linux `__tcp_ecn_check_ce`, RFC 3168 section 6.1.3.
    #[inline]
    pub(super) fn on_codepoint(&mut self, segment: &Segment) {
        if !self.ecn {
            return;
        }
        match segment.flags.ecn() {
            // Likely a retransmission.
            Ecn::NotEct if self.ect_seen => self.hurry(),
            Ecn::NotEct => {}
            Ecn::Ce => {
                self.stats.marked += 1;
                self.ect_seen = true;
                if !self.echo_ce && !self.ace {
                    self.echo_ce = true;
                    self.hurry();
                }
            }
            Ecn::Ect0 | Ecn::Ect1 => self.ect_seen = true,
        }
    }

    /// The sender's window may be small: the next two acknowledgements go out at once, in Linux 3.14 sixteen. Source:
    /// Linux `tcp_enter_quickack_mode`.
    #[cold]
    fn hurry(&mut self) {
        let most = if self.rules.compression > 0 { 2 } else { QUICK_ACKS };
        self.quick = self.quick.max(self.quick_acks().min(most));
        self.delay = self.delay.map(|_| DELAY_MIN);
        self.answers = false;
    }

    /// The marks begin or end: what was received before is acknowledged as it was, and this at once.
    ///
    /// Source: RFC 8257 section 3.2; Linux `dctcp_ece_ack_update`, `tcp_ecn_accept_cwr`.
    #[cold]
    #[inline(never)]
    pub(super) fn note_mark(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::CWR) && segment.len > 0 {
            self.acknowledge_now();
        }
        let marked = match segment.flags.ecn() {
            Ecn::NotEct => return,
            ecn => ecn == Ecn::Ce,
        };
        if marked != self.echo_ce {
            if matches!(self.need, AckNeed::At(_)) {
                self.overdue = Some(Box::new(self.bare_ack()));
            }
            self.acknowledge_now();
        }
        self.echo_ce = marked;
    }

    /// What every acknowledgement says of congestion, and whether it is ECN-capable itself.
    #[inline]
    pub(super) fn ecn_flags(&self) -> Flags {
        let mut flags = Flags::NONE;
        if self.echo_ce {
            flags |= Flags::ECE;
        }
        if self.accurate {
            flags |= Flags::ECT0;
        }
        flags
    }
}
