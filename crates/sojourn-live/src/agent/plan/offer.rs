//! Packets that a discipline is offered, as a job has them.

use serde::Deserialize;

/// A header of IPv4 without options.
const HEADER: usize = 20;

/// The packets of one instant.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// When, from the beginning of the sequence.
    pub at_ns: u64,
    /// Which, in order.
    pub packets: Vec<Crafted>,
}

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "(u32, usize, String)")]
pub struct Crafted {
    /// `SO_PRIORITY`: the queue or class that it is meant for, by its handle, or 0.
    pub priority: u32,
    bytes: Vec<u8>,
}

impl Crafted {
    /// The packet, from its IPv4 header on.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Priority, length of the IPv4 packet, and its beginning in hexadecimal digits; the rest is zeros.
impl TryFrom<(u32, usize, String)> for Crafted {
    type Error = String;

    fn try_from((priority, length, head): (u32, usize, String)) -> Result<Self, String> {
        let mut bytes = hexadecimal(&head).ok_or("a packet's beginning is not an even number of hexadecimal digits")?;
        if bytes.len() < HEADER || length < bytes.len() || length > usize::from(u16::MAX) {
            let head = bytes.len();
            return Err(format!(
                "a packet has length {length} and a beginning of {head} bytes, but must have at least 20, and no less \
                 length, and at most 65535"
            ));
        }
        bytes.resize(length, 0);
        Ok(Self { priority, bytes })
    }
}

/// Bytes from hexadecimal digits; `None` if they are not an even number of digits.
pub(crate) fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| char::from(b).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|two| Some((digit(two[0])? << 4 | digit(*two.get(1)?)?) as u8))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_its_beginning_and_zeros() {
        let head = format!("4500{}", "0a".repeat(18));
        let packet: Crafted = serde_json::from_str(&format!("[1048577, 23, {head:?}]")).expect("a packet");
        assert_eq!(packet.priority, 0x10_0001);
        assert_eq!(packet.bytes()[..3], [0x45, 0, 10]);
        assert_eq!(packet.bytes()[19..], [10, 0, 0, 0]);
        for (length, head) in [
            (19, "00".repeat(19)),
            (19, "00".repeat(20)),
            (70_000, "00".repeat(20)),
            (40, "0".repeat(41)),
        ] {
            serde_json::from_str::<Crafted>(&format!("[0, {length}, {head:?}]")).expect_err(&head);
        }
    }
}
