//! What packets carry where zeros would mislead a reader: RTP headers of voice, and look-ups of names.

use sojourn_scenario::Codec;
use sojourn_units::Duration;

/// The fixed header of RFC 3550 section 5.1.
const RTP_HEADER: usize = 12;
/// The name that is looked up: 14 letters, from a domain for documentation (RFC 2606), as labels (RFC 1035 section
/// 3.1).
const NAME: &[u8; 16] = b"\x02w3\x07example\x03com\x00";
/// Seconds that an answer holds.
const TTL: u32 = 300;

/// The payload of voice packet `number`, of `length` bytes: an RTP header, then zeros.
///
/// Payload type 0 is G.711 (RFC 3551 table 4), 96 the first of those without a fixed meaning, here Opus. Timestamps
/// count the codec's clock from packet 0: 8 kHz (RFC 3551 section 4.5.14), 48 kHz (RFC 7587 section 4.1).
///
/// Deviation: sequence numbers and timestamps begin at 0, not anywhere (RFC 3550 section 5.1), so that they tell the
/// packet.
pub(crate) fn rtp(codec: Codec, frame: Duration, source: u32, number: u32, length: usize) -> Vec<u8> {
    let (kind, clock) = match codec {
        Codec::G711 => (0, 8_000u128),
        Codec::Opus => (96, 48_000),
    };
    let timestamp = u128::from(number) * u128::from(frame.as_nanos()) * clock / 1_000_000_000;
    let mut out = Vec::with_capacity(length.max(RTP_HEADER));
    // Version 2, no padding, no extension, no contributing sources; no marker.
    out.extend_from_slice(&[0x80, kind]);
    out.extend_from_slice(&(number as u16).to_be_bytes());
    out.extend_from_slice(&(timestamp as u32).to_be_bytes());
    out.extend_from_slice(&source.to_be_bytes());
    out.resize(length, 0);
    out
}

/// Query `number` for an address, or the answer to it (RFC 1035 section 4.1).
pub(crate) fn dns(number: u32, answer: Option<[u8; 4]>) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(&(number as u16).to_be_bytes());
    // Recursion is desired, and in an answer available.
    out.extend_from_slice(if answer.is_some() { &[0x81, 0x80] } else { &[0x01, 0x00] });
    out.extend_from_slice(&[0, 1, 0, u8::from(answer.is_some()), 0, 0, 0, 0]);
    out.extend_from_slice(NAME);
    // Type A, class IN.
    out.extend_from_slice(&[0, 1, 0, 1]);
    if let Some(address) = answer {
        // The name is that at offset 12 (section 4.1.4).
        out.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1]);
        out.extend_from_slice(&TTL.to_be_bytes());
        out.extend_from_slice(&[0, 4]);
        out.extend_from_slice(&address);
    }
    out
}
