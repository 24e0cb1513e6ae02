//! The AccECN option (RFC 9768 section 3.2.3): its fields, its size, and how many of them fit beside other options.

use sojourn_units::Ecn;

/// Bytes of a field.
const FIELD: u16 = 3;
/// Bytes of kind and length.
const BASE: u16 = 2;
/// Fields of a whole option.
pub(super) const FIELDS: usize = 3;
/// Bytes of a SACK block.
const SACK_BLOCK: u16 = 8;
/// Counters on the wire have 24 bits (RFC 9768 section 3.2.3).
const MASK: u32 = 0xff_ffff;

/// The option is there.
const PRESENT: u8 = 8;
/// Its first field is that of ECT(1).
const ORDER_1: u8 = 4;
/// How many fields it has.
const COUNT: u8 = 3;

/// Which codepoint the first field counts (RFC 9768 section 3.2.3, table 5). The second field counts CE in both orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldOrder {
    /// Order 0, option kind 172: ECT(0), CE, ECT(1).
    Ect0First,
    /// Order 1, option kind 174: ECT(1), CE, ECT(0). Linux sends this one.
    Ect1First,
}

impl FieldOrder {
    /// The codepoints that the fields count.
    #[must_use]
    pub const fn codepoints(self) -> [Ecn; FIELDS] {
        match self {
            Self::Ect0First => [Ecn::Ect0, Ecn::Ce, Ecn::Ect1],
            Self::Ect1First => [Ecn::Ect1, Ecn::Ce, Ecn::Ect0],
        }
    }

    /// The kind of the option (RFC 9768 section 7).
    #[must_use]
    pub const fn kind(self) -> u8 {
        match self {
            Self::Ect0First => 172,
            Self::Ect1First => 174,
        }
    }
}

/// The AccECN option of a segment, or none (the default). In 10 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccEcnOption {
    shape: u8,
    fields: [[u8; FIELD as usize]; FIELDS],
}

impl AccEcnOption {
    /// No option.
    pub const NONE: Self = Self {
        shape: 0,
        fields: [[0; FIELD as usize]; FIELDS],
    };

    /// An option with these fields: three at most, and the low 24 bits of each.
    #[must_use]
    pub fn new(order: FieldOrder, fields: &[u32]) -> Self {
        let mut option = Self {
            shape: PRESENT | fields.len().min(FIELDS) as u8,
            ..Self::NONE
        };
        if order == FieldOrder::Ect1First {
            option.shape |= ORDER_1;
        }
        for (to, value) in option.fields.iter_mut().zip(fields) {
            to.copy_from_slice(&value.to_be_bytes()[1..]);
        }
        option
    }

    /// Whether the segment has one.
    #[inline]
    #[must_use]
    pub const fn is_present(self) -> bool {
        self.shape != 0
    }

    /// The order of its fields.
    #[must_use]
    pub const fn order(self) -> FieldOrder {
        if self.shape & ORDER_1 == 0 {
            FieldOrder::Ect0First
        } else {
            FieldOrder::Ect1First
        }
    }

    /// Its fields: the codepoint that each counts, and the counter as it is on the wire (24 bits).
    pub fn fields(&self) -> impl Iterator<Item = (Ecn, u32)> + use<> {
        let values = self
            .fields
            .map(|[high, middle, low]| u32::from_be_bytes([0, high, middle, low]));
        let count = usize::from(self.shape & COUNT);
        self.order().codepoints().into_iter().zip(values).take(count)
    }

    /// Its own bytes, kind and length included: 0 without an option.
    #[must_use]
    pub const fn len(self) -> u16 {
        if self.is_present() {
            BASE + FIELD * (self.shape & COUNT) as u16
        } else {
            0
        }
    }

    /// Whether it has no bytes.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        !self.is_present()
    }

    /// Bytes that it adds to the options of a segment. Before SACK blocks it takes the place of the two bytes of
    /// padding that they would have.
    #[inline]
    #[must_use]
    pub const fn occupied(self, before_sack: bool) -> u16 {
        if !self.is_present() {
            return 0;
        }
        if before_sack {
            (self.len() + 1) / 4 * 4
        } else {
            self.len().next_multiple_of(4)
        }
    }

    /// Bytes of padding (NOPs) behind it: before the SACK option, which is to end at a multiple of four bytes, or at
    /// the end.
    #[must_use]
    pub const fn padding(self, before_sack: bool) -> u16 {
        let saved = if before_sack { 2 } else { 0 };
        self.occupied(before_sack) + saved - self.len()
    }
}

/// How many fields fit into `space` bytes beside so many SACK blocks, whose own bytes are not part of `space`. At least
/// `required` fields are wanted, and a third or later block may go for them. Answers the fields and the blocks; `None`
/// if the option is left out.
///
/// Source: Linux `tcp_options_fit_accecn`.
pub(super) fn fit(required: u8, blocks: u8, space: u16) -> Option<(usize, u8)> {
    let mut blocks = blocks;
    let mut space = space;
    loop {
        for fields in (usize::from(required)..=FIELDS).rev() {
            let option = AccEcnOption::new(FieldOrder::Ect1First, &[0; FIELDS][..fields]);
            if option.occupied(blocks > 0) <= space {
                return Some((fields, blocks));
            }
        }
        if blocks <= 2 || required == 0 {
            return None;
        }
        blocks -= 1;
        space += SACK_BLOCK;
    }
}

/// The 24 bits of a counter.
pub(super) const fn truncated(counter: u32) -> u32 {
    counter & MASK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named_by_their_order() {
        let option = AccEcnOption::new(FieldOrder::Ect0First, &[1, 2, 0x0100_0003]);
        let fields: Vec<_> = option.fields().collect();
        assert_eq!(fields, [(Ecn::Ect0, 1), (Ecn::Ce, 2), (Ecn::Ect1, 3)]);
        let option = AccEcnOption::new(FieldOrder::Ect1First, &[7, 8]);
        let fields: Vec<_> = option.fields().collect();
        assert_eq!(fields, [(Ecn::Ect1, 7), (Ecn::Ce, 8)]);
        assert_eq!(AccEcnOption::NONE.fields().count(), 0);
        assert!(AccEcnOption::new(FieldOrder::Ect0First, &[]).is_present());
        assert_eq!(size_of::<AccEcnOption>(), 10);
    }

    /// By hand: 2 + 3 per field, to a multiple of four; before SACK blocks the bytes up to the SACK option, which
    /// begins two bytes before a multiple of four, less the two of padding that it has anyway.
    #[test]
    fn sizes_are_those_of_the_wire() {
        for (fields, len, alone, before_sack, padding) in
            [(0, 2, 4, 0, 0), (1, 5, 8, 4, 1), (2, 8, 8, 8, 2), (3, 11, 12, 12, 3)]
        {
            let option = AccEcnOption::new(FieldOrder::Ect1First, &[0; 3][..fields]);
            assert_eq!(option.len(), len);
            assert_eq!(
                (option.occupied(false), option.occupied(true)),
                (alone, before_sack),
                "{fields}"
            );
            assert_eq!(option.padding(true), padding, "{fields}");
            assert_eq!(option.padding(false), alone - len, "{fields}");
        }
    }

    /// 40 bytes of options, 12 of them timestamps, and 4 + 8 per block: one block leaves 16, two leave 8, three
    /// nothing.
    #[test]
    fn blocks_give_way_to_fields_that_are_needed() {
        assert_eq!(fit(0, 0, 28), Some((3, 0)));
        assert_eq!(fit(3, 1, 16), Some((3, 1)));
        assert_eq!(fit(2, 2, 8), Some((2, 2)));
        assert_eq!(fit(3, 2, 8), None, "two blocks stay");
        assert_eq!(fit(0, 3, 0), Some((0, 3)), "the padding is room for no field");
        assert_eq!(fit(1, 3, 0), Some((2, 2)), "the third block goes");
        assert_eq!(fit(3, 3, 0), None, "it would not help");
    }
}
