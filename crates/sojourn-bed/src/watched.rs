//! One frame seen at a bottleneck: when it came to the queue, and when it left it.
//!
//! The agent writes one record of 24 bytes, little-endian, for each frame at each of four places; a frame that came
//! and never left was dropped.

use std::fmt;

/// Whose frame it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conversation {
    /// A TCP flow of the plan.
    Flow(u16),
    /// A probe.
    Probe(u16),
    /// A connection of a web client.
    Web(u16),
    /// A look-up of a web client.
    Dns(u16),
    /// A connection of a download.
    Download(u16),
    /// A flow of programs.
    Program(u16),
    /// A datagram of a flush.
    Flush,
    /// None of the plan's.
    Other,
}

/// A frame at one side of a bottleneck queue.
#[expect(
    clippy::struct_excessive_bools,
    reason = "five facts of a frame that are independent of each other"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    /// When, from the beginning of the measured window.
    pub at_ns: i64,
    /// The same for one packet at both sides, and different for any two that are in a queue together: a hash of
    /// addresses, ports, IP identification, TCP sequence and acknowledgement numbers.
    pub key: u64,
    /// Bytes on the wire, the Ethernet header among them.
    pub length: u16,
    /// Whose it is.
    pub conversation: Conversation,
    /// Whether it goes from server to client.
    pub down: bool,
    /// Whether it left the queue; else it came to it.
    pub left: bool,
    /// Whether a TCP segment has payload.
    pub data: bool,
    /// Whether a TCP segment has SYN set.
    pub syn: bool,
    /// Whether it is marked with congestion experienced.
    pub marked: bool,
}

/// A record that no agent writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchedError;

impl fmt::Display for WatchedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record of a watched frame is damaged")
    }
}

impl std::error::Error for WatchedError {}

impl Watched {
    /// Bytes of a record.
    pub const SIZE: usize = 24;

    /// The record.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let (kind, index) = match self.conversation {
            Conversation::Flow(i) => (0, i),
            Conversation::Probe(i) => (1, i),
            Conversation::Web(i) => (2, i),
            Conversation::Dns(i) => (3, i),
            Conversation::Other => (4, 0),
            Conversation::Download(i) => (5, i),
            Conversation::Flush => (6, 0),
            Conversation::Program(i) => (7, i),
        };
        let flags = u8::from(self.down)
            | u8::from(self.left) << 1
            | u8::from(self.data) << 2
            | u8::from(self.syn) << 3
            | u8::from(self.marked) << 4;
        let mut bytes = [0; Self::SIZE];
        bytes[..8].copy_from_slice(&self.at_ns.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.key.to_le_bytes());
        bytes[16..18].copy_from_slice(&self.length.to_le_bytes());
        bytes[18..20].copy_from_slice(&index.to_le_bytes());
        bytes[20] = kind;
        bytes[21] = flags;
        bytes
    }

    /// Reads a record.
    ///
    /// # Errors
    /// [`WatchedError`] if it is none.
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Result<Self, WatchedError> {
        let [
            t0,
            t1,
            t2,
            t3,
            t4,
            t5,
            t6,
            t7,
            k0,
            k1,
            k2,
            k3,
            k4,
            k5,
            k6,
            k7,
            l0,
            l1,
            i0,
            i1,
            kind,
            flags,
            0,
            0,
        ] = *bytes
        else {
            return Err(WatchedError);
        };
        let index = u16::from_le_bytes([i0, i1]);
        let conversation = match (kind, index) {
            (0, i) => Conversation::Flow(i),
            (1, i) => Conversation::Probe(i),
            (2, i) => Conversation::Web(i),
            (3, i) => Conversation::Dns(i),
            (4, 0) => Conversation::Other,
            (5, i) => Conversation::Download(i),
            (6, 0) => Conversation::Flush,
            (7, i) => Conversation::Program(i),
            _ => return Err(WatchedError),
        };
        if flags >= 1 << 5 {
            return Err(WatchedError);
        }
        Ok(Self {
            at_ns: i64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7]),
            key: u64::from_le_bytes([k0, k1, k2, k3, k4, k5, k6, k7]),
            length: u16::from_le_bytes([l0, l1]),
            conversation,
            down: flags & 1 != 0,
            left: flags & 2 != 0,
            data: flags & 4 != 0,
            syn: flags & 8 != 0,
            marked: flags & 16 != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Watched = Watched {
        at_ns: -5,
        key: 0x0123_4567_89ab_cdef,
        length: 1514,
        conversation: Conversation::Web(7),
        down: true,
        left: false,
        data: true,
        syn: false,
        marked: true,
    };

    #[test]
    fn a_record_comes_back_as_it_was_written() {
        assert_eq!(Watched::from_bytes(&FRAME.to_bytes()), Ok(FRAME));
        for conversation in [
            Conversation::Other,
            Conversation::Download(999),
            Conversation::Program(9),
            Conversation::Flush,
        ] {
            let other = Watched { conversation, ..FRAME };
            assert_eq!(Watched::from_bytes(&other.to_bytes()), Ok(other));
        }
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for (place, value) in [(20, 8), (21, 32), (22, 1), (23, 9)] {
            let mut bytes = FRAME.to_bytes();
            bytes[place] = value;
            assert_eq!(Watched::from_bytes(&bytes), Err(WatchedError));
        }
    }
}
