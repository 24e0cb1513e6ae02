//! Accurate ECN (AccECN, RFC 9768): the receiver counts marks, and the sender learns how many there were.
//!
//! It is as Linux 7.3 has it (`include/net/tcp_ecn.h`, `tcp_input.c`, `tcp_output.c`, `tcp_minisocks.c`). There is
//! nothing of it in a connection that has not agreed on it.

mod ace;
mod connection;
mod delivered;
mod negotiation;
mod option;
mod params;
mod received;

pub(crate) use connection::Opening;
pub use connection::{AccEcn, OptionSeen};
pub(crate) use delivered::Covered;
pub(crate) use negotiation::{ASKS, of_syn, of_syn_ack};
pub use option::{AccEcnOption, FieldOrder};
pub use params::{AccEcnParams, EcnMode, OptionUse};

use sojourn_units::Ecn;

/// What a counter of bytes begins from, so that a field that was cleared is seen (RFC 9768 section 3.2.1).
const fn initial(ecn: Ecn) -> u32 {
    match ecn {
        Ecn::Ect0 | Ecn::Ect1 => 1,
        Ecn::Ce | Ecn::NotEct => 0,
    }
}

/// Bytes by codepoint. Those without one are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counters([u32; 3]);

impl Counters {
    fn of(&self, ecn: Ecn) -> u32 {
        usize::from(ecn.bits()).checked_sub(1).map_or(0, |i| self.0[i])
    }

    fn get_mut(&mut self, ecn: Ecn) -> Option<&mut u32> {
        self.0.get_mut(usize::from(ecn.bits()).checked_sub(1)?)
    }
}
