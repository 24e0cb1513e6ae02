//! What an endpoint has to do with congestion notification: its handshake, and AccECN in each segment.

use super::{ConnectionState, Endpoint, State};
use crate::accecn::{self, AccEcn, EcnMode, Opening, OptionUse};
use crate::segment::{Flags, Segment};
use sojourn_units::Time;

impl Endpoint {
    /// Which ECN both ends have agreed on.
    #[must_use]
    pub fn ecn(&self) -> EcnMode {
        self.agreed_ecn
    }
    /// What AccECN knows, if both ends have agreed on it.
    #[must_use]
    pub fn accecn(&self) -> Option<&AccEcn> {
        self.accecn.as_deref()
    }
    /// From now on the AccECN option is used so.
    pub fn set_accecn_option(&mut self, option: OptionUse) {
        self.accecn_params.option = option;
        if let Some(accecn) = &mut self.accecn {
            accecn.set_option(option);
        }
    }

    /// The peer's SYN or SYN-ACK tells which ECN both ends have.
    pub(super) fn agree(&mut self, agreed: EcnMode, begin: fn(Opening, &Segment) -> AccEcn, segment: &Segment) {
        // Source: L4STeam's `TCP_CONG_NO_FALLBACK_RFC3168`.
        let agreed = if self.scalable && agreed == EcnMode::Classic {
            EcnMode::Off
        } else {
            agreed
        };
        self.agreed_ecn = agreed;
        self.accecn = (agreed == EcnMode::Accurate).then(|| Box::new(begin(self.opening(), segment)));
    }

    /// What AccECN begins from.
    fn opening(&self) -> Opening {
        Opening {
            params: self.accecn_params,
            timestamps: self.timestamps,
            sent: self.ecn_of_handshake().ecn(),
            ect: if self.scalable { Flags::ECT1 } else { Flags::ECT0 },
        }
    }

    /// The codepoint of its SYN or SYN-ACK. Source of ECT(1): Linux 7.3 `tcp_ecn_send_syn`, `tcp_ecn_send_synack`.
    pub(super) fn ecn_of_handshake(&self) -> Flags {
        let answers = self.state == State::SynReceived;
        if self.scalable && !(answers && self.agreed_ecn == EcnMode::Off) {
            Flags::ECT1
        } else if self.receiver.is_accurate() {
            Flags::ECT0
        } else {
            Flags::NONE
        }
    }

    /// How a SYN, or a SYN-ACK without AccECN, speaks of ECN (RFC 3168 section 6.1.1). A SYN that is sent again does
    /// not: what dropped the first may have done so for that (section 6.1.1.1; Linux `tcp_ecn_clear_syn`). One that
    /// asks for AccECN asks twice (RFC 9768 section 3.1.4.1). Linux before 4.1 insists.
    pub(super) fn ecn_of_syn(&self) -> Flags {
        if self.state == State::SynReceived {
            return match self.agreed_ecn {
                EcnMode::Off => Flags::NONE,
                _ => Flags::ECE,
            };
        }
        let insists = !self.accecn_params.fallback || !self.rules.ecn_fallback;
        match self.wants_ecn {
            EcnMode::Classic if insists || self.syn_retransmissions == 0 => Flags::ECE | Flags::CWR,
            EcnMode::Accurate if insists || self.syn_retransmissions <= 1 => Flags::of_ace(accecn::ASKS),
            _ => Flags::NONE,
        }
    }

    /// Writes what AccECN says, if both ends have it.
    #[inline]
    pub(super) fn tell_marks(&mut self, segment: &mut Segment, now: Time) {
        if self.accecn.is_some() {
            self.write_accecn(segment, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn write_accecn(&mut self, segment: &mut Segment, now: Time) {
        let in_time_wait = self.state() == ConnectionState::TimeWait;
        let srtt = self.sender.srtt().unwrap_or_default();
        if let Some(accecn) = &mut self.accecn {
            accecn.write(segment, in_time_wait, srtt, now);
        }
    }

    /// A segment has come, whose timestamp may be newer than those before.
    ///
    /// L4STeam's Linux 5.15 takes each ECN-capable segment for fifteen marks that no acknowledgement has told of
    /// (`tcp_ecn_received_counters` has `max` where later kernels have `min`). So it acknowledges at once a segment whose
    /// timestamp is newer (`__tcp_accecn_process`).
    #[cold]
    #[inline(never)]
    pub(super) fn count_marks(&mut self, segment: &Segment, newer: bool) {
        if let Some(accecn) = &mut self.accecn {
            accecn.newer = newer;
            let changed = accecn.on_arrival(segment, self.receiver.knows(segment));
            let untold = self.rules.acknowledges_ect && newer && segment.flags.ecn().is_capable();
            if (changed || untold) && segment.span() > 0 {
                self.receiver.acknowledge_now();
            }
        }
    }

    /// Segments with data are shorter by the option that they are to have.
    #[cold]
    #[inline(never)]
    pub(super) fn leave_room(&mut self, now: Time) {
        let srtt = self.sender.srtt().unwrap_or_default();
        if let Some(accecn) = &self.accecn {
            self.sender.set_room(accecn.room(srtt, now));
        }
    }
}
