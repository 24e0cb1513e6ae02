//! The two bits of the IP header that say what a packet's sender and path know of congestion.

use crate::words;
use std::fmt;

words! {
    /// The ECN field of an IP header; its numbers are those of the field. Source: RFC 3168 section 5; RFC 9331 section 4.
    #[derive(Default)]
    #[repr(u8)]
    pub enum Ecn {
        /// The transport takes no marks.
        #[default]
        NotEct = "not-ect",
        /// It takes marks, and asks for the service of L4S.
        Ect1 = "ect1",
        /// It takes marks.
        Ect0 = "ect0",
        /// It takes marks, and has one: congestion experienced.
        Ce = "ce",
    }
}

impl Ecn {
    /// The codepoint in the two lowest bits.
    #[must_use]
    #[inline]
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// The two bits.
    #[must_use]
    #[inline]
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// Whether the transport takes marks, instead of losses.
    #[must_use]
    #[inline]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

impl fmt::Display for Ecn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3168, Figure 1: ECT(1) is 01, ECT(0) is 10.
    #[test]
    fn the_numbers_are_those_of_the_field() {
        let bits = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].map(Ecn::bits);
        assert_eq!(bits, [0b00, 0b01, 0b10, 0b11]);
        for ecn in Ecn::ALL {
            assert_eq!(Ecn::from_bits(ecn.bits() | 0xfc), ecn);
            assert_eq!(Ecn::from_name(ecn.name()), Some(ecn));
        }
        assert_eq!(Ecn::from_name("ECT(0)"), None);
    }
}
