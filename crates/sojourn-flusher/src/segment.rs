//! What the flusher is told about a packet on the wire.

use std::net::SocketAddr;

/// The flags of a TCP header that the flusher reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one field a bit of the TCP header")]
pub struct Flags {
    /// Synchronise: counts one in sequence space.
    pub syn: bool,
    /// Finish: counts one in sequence space.
    pub fin: bool,
    /// Reset: the connection is gone.
    pub rst: bool,
    /// The acknowledgement number is valid.
    pub ack: bool,
    /// Push.
    pub psh: bool,
}

/// An address of the link layer.
pub type Station = [u8; 8];

/// One captured TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Who sent it.
    pub src: SocketAddr,
    /// To whom.
    pub dst: SocketAddr,
    /// Its sequence number.
    pub seq: u32,
    /// Its acknowledgement number; of no meaning without `flags.ack`.
    pub ack: u32,
    /// The flags.
    pub flags: Flags,
    /// Bytes of TCP payload, by the length in the IP header, not by what was captured.
    pub payload: u32,
    /// Length of the IP packet, bytes.
    pub wire: u32,
    /// The window field as it stands in the header, before scaling.
    pub window: u16,
    /// TSval and TSecr of the timestamps option. Source: RFC 7323 section 3.
    pub timestamps: Option<(u32, u32)>,
    /// Whether it carries SACK blocks. Source: RFC 2018.
    pub sack: bool,
    /// Which station of the link sent the frame, where the link layer says that.
    pub station: Option<Station>,
}

impl Segment {
    /// The flow that this segment's data belongs to: from its source to its destination.
    #[must_use]
    pub const fn key(&self) -> FlowKey {
        FlowKey {
            src: self.src,
            dst: self.dst,
        }
    }

    /// How far it moves the sequence: payload, and one each for SYN and FIN. Source: seed 003, Listing 4.3; RFC 9293
    /// section 3.4.
    ///
    /// Deviation: the listing gives a SYN or FIN the size one whatever it carries; payload beside a FIN is common,
    /// and its acknowledgement covers both.
    #[must_use]
    pub const fn length(&self) -> u32 {
        self.payload
            .saturating_add(self.flags.syn as u32)
            .saturating_add(self.flags.fin as u32)
    }
}

/// A direction of a connection: who sends the data, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// Sender of the data.
    pub src: SocketAddr,
    /// Receiver of the data.
    pub dst: SocketAddr,
}

impl FlowKey {
    /// The other direction: where this one's acknowledgements are looked up. Source: seed 003 section 4.2.2,
    /// "inverted key".
    #[must_use]
    pub const fn inverted(self) -> Self {
        Self {
            src: self.dst,
            dst: self.src,
        }
    }
}
