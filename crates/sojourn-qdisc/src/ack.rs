//! What an ACK filter reads of a TCP segment, and how it is read from a header.
//!
//! Source: Linux `sch_cake.c`: `cake_get_tcpopt`, `cake_tcph_get_tstamp`, `cake_tcph_may_drop`.

/// Bytes of a TCP header without options. Source: RFC 9293 section 3.1.
const SHORTEST: usize = 20;
/// Kinds of options. Source: RFC 9293 section 3.2; RFC 2018 section 3; RFC 7323 section 3.2; RFC 2385 section 3.0.
const END: u8 = 0;
const PADDING: u8 = 1;
const SACK: u8 = 5;
const TIME_STAMPS: u8 = 8;
const MD5: u8 = 19;
/// Bytes of a range that is acknowledged selectively.
const RANGE: usize = 8;

/// What an ACK filter reads of a TCP segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckFacts {
    /// The twelve flags of the header, FIN the lowest. Source: RFC 9293 section 3.1.
    pub flags: u16,
    /// The acknowledgement number.
    pub ack: u32,
    /// Whether it carries payload.
    pub payload: bool,
    /// Its time stamp and the one that it echoes. Source: RFC 7323 section 3.
    pub timestamps: Option<(u32, u32)>,
    /// The first and the last number, plus one, of each range that it acknowledges selectively (RFC 2018). The first
    /// `sack_count` are valid.
    pub sack: [(u32, u32); 4],
    /// Number of valid ranges, 0 to 4.
    pub sack_count: u8,
    /// Whether it has options besides time stamps, selective acknowledgements, MD5 signatures and padding, or one of the
    /// first two of a length that is not its own.
    pub other_options: bool,
}

impl AckFacts {
    /// The flag SYN.
    pub const SYN: u16 = 0x002;
    /// The flag ACK.
    pub const ACK: u16 = 0x010;
    /// The flags of ECN: ECE and CWR. Source: RFC 3168 section 6.1.
    pub const ECN: u16 = 0x0c0;

    /// The ranges that it acknowledges selectively.
    #[must_use]
    pub fn sack(&self) -> &[(u32, u32)] {
        &self.sack[..usize::from(self.sack_count.min(4))]
    }

    /// Reads a segment, or as much of it as is there, from its TCP header on. What is behind the header is payload.
    ///
    /// `None` if the header is not all there, or tells a length that no header has.
    ///
    /// As in the kernel, options end at the first one whose length is not possible. Of several options of one kind the
    /// first counts.
    ///
    /// ```
    /// use sojourn_qdisc::AckFacts;
    ///
    /// let mut header = [0; 32];
    /// header[11] = 99; // the acknowledgement number
    /// header[12] = 8 << 4; // the length of the header in words
    /// header[13] = AckFacts::ACK as u8;
    /// header[20..24].copy_from_slice(&[1, 1, 5, 10]); // padding, and a range
    /// header[27] = 110;
    /// header[31] = 120;
    /// let facts = AckFacts::read(&header).unwrap();
    /// assert_eq!((facts.ack, facts.flags, facts.payload), (99, AckFacts::ACK, false));
    /// assert_eq!(facts.sack(), [(110, 120)]);
    /// assert_eq!(AckFacts::read(&header[..31]), None);
    /// ```
    #[must_use]
    pub fn read(segment: &[u8]) -> Option<Self> {
        let length = usize::from(*segment.get(12)? >> 4) * 4;
        let header = segment.get(..length).filter(|header| header.len() >= SHORTEST)?;
        let mut facts = Self {
            flags: u16::from_be_bytes([header[12] & 0xf, header[13]]),
            ack: u32_at(header, 8)?,
            payload: segment.len() > length,
            ..Self::default()
        };
        let (mut stamped, mut ranges_told) = (false, false);
        for (kind, value) in Options(&header[SHORTEST..]) {
            match kind {
                MD5 => {}
                TIME_STAMPS => {
                    let times = u32_at(value, 0).zip(u32_at(value, 4)).filter(|_| value.len() == 8);
                    facts.other_options |= times.is_none();
                    if !std::mem::replace(&mut stamped, true) {
                        facts.timestamps = times;
                    }
                }
                SACK => {
                    facts.other_options |= value.len() % RANGE != 0;
                    if !std::mem::replace(&mut ranges_told, true) {
                        facts.take_ranges(value);
                    }
                }
                _ => facts.other_options = true,
            }
        }
        Some(facts)
    }

    /// Takes the ranges of an option. A header has no room for more than four.
    fn take_ranges(&mut self, value: &[u8]) {
        let told = value
            .chunks_exact(RANGE)
            .filter_map(|range| u32_at(range, 0).zip(u32_at(range, 4)));
        for (place, range) in self.sack.iter_mut().zip(told) {
            *place = range;
            self.sack_count += 1;
        }
    }
}

/// The options of a header, padding left out: the kind of each, and its value.
struct Options<'a>(&'a [u8]);

impl<'a> Iterator for Options<'a> {
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(rest) = self.0.strip_prefix(&[PADDING]) {
            self.0 = rest;
        }
        let (&kind, &length) = (self.0.first().filter(|&&kind| kind != END)?, self.0.get(1)?);
        let value = self.0.get(2..usize::from(length))?;
        self.0 = &self.0[usize::from(length)..];
        Some((kind, value))
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pure acknowledgement with these options, padded to whole words by the end of the list.
    fn facts(options: &[u8]) -> AckFacts {
        let mut header = vec![0; SHORTEST];
        header.extend_from_slice(options);
        header.resize(header.len().next_multiple_of(4), END);
        header[12] = (header.len() * 4) as u8;
        header[13] = AckFacts::ACK as u8;
        AckFacts::read(&header).unwrap()
    }

    fn option(kind: u8, words: &[u32]) -> Vec<u8> {
        let value: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        [&[kind, value.len() as u8 + 2][..], &value].concat()
    }

    #[test]
    fn all_options_of_an_acknowledgement_are_read() {
        let all = [
            vec![PADDING, PADDING],
            option(TIME_STAMPS, &[7, 8]),
            option(SACK, &[20, 30, 40, 50]),
        ]
        .concat();
        let read = facts(&all);
        assert_eq!(
            (read.timestamps, read.sack(), read.other_options),
            (Some((7, 8)), &[(20, 30), (40, 50)][..], false)
        );
        let four = facts(&option(SACK, &[1, 2, 3, 4, 5, 6, 7, 8]));
        assert_eq!(four.sack(), [(1, 2), (3, 4), (5, 6), (7, 8)]);
        assert!(!facts(&option(MD5, &[0; 4])).other_options);
        // The largest segment and others belong to a SYN.
        for kind in [2, 3, 4, 34, 254] {
            assert!(facts(&option(kind, &[0])).other_options, "{kind}");
        }
    }

    #[test]
    fn options_of_a_length_that_is_not_theirs_keep_a_segment() {
        let stamps = facts(&[TIME_STAMPS, 9, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!((stamps.timestamps, stamps.other_options), (None, true));
        // Twelve bytes are one range and a half. The kernel reads the whole one of the newest packet.
        let ranges = facts(&option(SACK, &[1, 2, 3]));
        assert_eq!((ranges.sack(), ranges.other_options), (&[(1, 2)][..], true));
        // No range at all has a possible length.
        let none = facts(&[SACK, 2]);
        assert_eq!((none.sack_count, none.other_options), (0, false));
    }

    #[test]
    fn the_first_of_several_options_of_a_kind_counts() {
        let twice = [option(TIME_STAMPS, &[7, 8]), option(TIME_STAMPS, &[9, 10])].concat();
        assert_eq!(facts(&twice).timestamps, Some((7, 8)));
        let twice = [option(SACK, &[1, 2]), option(SACK, &[3, 4, 5, 6])].concat();
        assert_eq!(facts(&twice).sack(), [(1, 2)]);
        let wrong_first = [vec![TIME_STAMPS, 4, 0, 0], option(TIME_STAMPS, &[9, 10])].concat();
        assert_eq!(facts(&wrong_first).timestamps, None);
    }

    #[test]
    fn options_end_at_a_length_that_is_not_possible() {
        for bad in [[254, 0, 5, 2], [254, 1, 5, 2], [254, 200, 5, 2], [END, 254, 2, 254]] {
            let read = facts(&[&bad[..], &option(TIME_STAMPS, &[7, 8])].concat());
            assert_eq!((read.timestamps, read.other_options), (None, false), "{bad:?}");
        }
        assert!(!facts(&[PADDING, PADDING, PADDING, 254]).other_options);
    }

    #[test]
    fn a_header_that_is_not_all_there_is_none() {
        let mut header = [0; 24];
        for (words, expected) in [(4, false), (5, true), (6, true), (7, false)] {
            header[12] = words << 4;
            assert_eq!(AckFacts::read(&header).is_some(), expected, "{words}");
        }
        header[12] = 5 << 4;
        assert!(AckFacts::read(&header).unwrap().payload);
        assert!(!AckFacts::read(&header[..20]).unwrap().payload);
        assert_eq!(AckFacts::read(&[]), None);
    }
}
