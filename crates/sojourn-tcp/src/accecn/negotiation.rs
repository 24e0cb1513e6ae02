//! How two ends agree on ECN (RFC 9768 section 3.1): the three bits AE, CWR and ECE of SYN, SYN-ACK and third
//! acknowledgement, as the number ACE.

use super::EcnMode;
use crate::segment::Flags;
use sojourn_units::Ecn;

/// ACE of a SYN that asks for AccECN (RFC 9768 table 2).
pub(crate) const ASKS: u8 = 0b111;
/// ACE of a SYN that asks for classic ECN, CWR and ECE (RFC 3168 section 6.1.1).
const ASKS_CLASSIC: u8 = 0b011;
/// ACE of a SYN-ACK that agrees to classic ECN.
const AGREES_CLASSIC: u8 = 0b001;

/// What a SYN's receiver, which wants `wants`, and its sender have in common (RFC 9768 sections 3.1.2 and 3.1.3).
pub(crate) fn of_syn(wants: EcnMode, flags: Flags) -> EcnMode {
    match (wants, flags.ace()) {
        (EcnMode::Off, _) | (_, 0) => EcnMode::Off,
        // All but these two ask for AccECN, whatever the future makes of them.
        (EcnMode::Accurate, ace) if ace != ASKS_CLASSIC => EcnMode::Accurate,
        _ if flags.has(Flags::ECE | Flags::CWR) => EcnMode::Classic,
        _ => EcnMode::Off,
    }
}

/// What the answer to a SYN that asked for `wants` agrees to (RFC 9768 table 2). A server that sends back what it was
/// sent is broken, and has no ECN.
pub(crate) fn of_syn_ack(wants: EcnMode, flags: Flags) -> EcnMode {
    match (wants, flags.ace()) {
        (EcnMode::Off, _) | (EcnMode::Accurate, 0 | ASKS) => EcnMode::Off,
        (EcnMode::Accurate, AGREES_CLASSIC) => EcnMode::Classic,
        (EcnMode::Accurate, _) => EcnMode::Accurate,
        (EcnMode::Classic, _) if flags.has(Flags::ECE) && !flags.has(Flags::CWR) => EcnMode::Classic,
        (EcnMode::Classic, _) => EcnMode::Off,
    }
}

/// ACE of a SYN-ACK or third acknowledgement, which says with which codepoint the segment before it has come (RFC 9768
/// tables 2 and 3).
pub(crate) const fn reflection(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

/// The codepoint that such a number says; `None` if it says none.
pub(crate) const fn reflected(ace: u8) -> Option<Ecn> {
    Some(match ace {
        0b010 => Ecn::NotEct,
        0b011 => Ecn::Ect1,
        0b100 => Ecn::Ect0,
        0b110 => Ecn::Ce,
        _ => return None,
    })
}

/// Whether the network may change the field `sent` into `come` (RFC 9768 section 3.2.2.3). Source: Linux
/// `tcp_ect_transition_valid`.
pub(crate) fn is_valid(sent: Ecn, come: Ecn) -> bool {
    sent == come || sent.is_capable() && come.is_capable() && sent != Ecn::Ce
}

#[cfg(test)]
mod tests {
    use super::*;
    use EcnMode::{Accurate, Classic, Off};

    /// RFC 9768 table 2, by rows: what A and B are, ACE of the SYN, ACE of the SYN-ACK, and what A then does.
    #[test]
    fn the_table_of_the_negotiation() {
        for (syn, server, agreed) in [
            (0b111, Accurate, Accurate),
            (0b111, Classic, Classic),
            (0b111, Off, Off),
            (0b011, Accurate, Classic),
            (0b011, Classic, Classic),
            (0b000, Accurate, Off),
            // Nonce, and what is not defined yet.
            (0b101, Accurate, Accurate),
            (0b001, Accurate, Accurate),
            (0b001, Classic, Off),
        ] {
            assert_eq!(of_syn(server, Flags::of_ace(syn)), agreed, "{syn:03b} {server:?}");
        }
        for (syn_ack, agreed) in [
            (0b010, Accurate),
            (0b011, Accurate),
            (0b100, Accurate),
            (0b110, Accurate),
            (0b101, Accurate),
            (0b001, Classic),
            (0b000, Off),
            (0b111, Off),
        ] {
            assert_eq!(of_syn_ack(Accurate, Flags::of_ace(syn_ack)), agreed, "{syn_ack:03b}");
        }
        assert_eq!(of_syn_ack(Classic, Flags::of_ace(0b001)), Classic);
        assert_eq!(of_syn_ack(Classic, Flags::of_ace(0b011)), Off);
    }

    #[test]
    fn a_reflection_says_what_has_come() {
        for ecn in Ecn::ALL {
            assert_eq!(reflected(reflection(ecn)), Some(ecn));
        }
        for ace in [0b000, 0b001, 0b101, 0b111] {
            assert_eq!(reflected(ace), None);
        }
    }

    /// RFC 9768 section 3.2.2.3: from and to Not-ECT is invalid, and so is a CE that is taken away.
    #[test]
    fn a_mark_is_the_only_change_of_a_capable_packet() {
        for (sent, come, valid) in [
            (Ecn::NotEct, Ecn::NotEct, true),
            (Ecn::NotEct, Ecn::Ce, false),
            (Ecn::NotEct, Ecn::Ect0, false),
            (Ecn::Ect0, Ecn::Ce, true),
            (Ecn::Ect1, Ecn::Ce, true),
            (Ecn::Ect0, Ecn::NotEct, false),
            (Ecn::Ce, Ecn::Ect0, false),
            (Ecn::Ce, Ecn::Ce, true),
        ] {
            assert_eq!(is_valid(sent, come), valid, "{sent:?} {come:?}");
        }
    }
}
