//! The file format.
//!
//! Source: draft-ietf-opsawg-pcapng: section header (4.1), interface description (4.2), enhanced packet (4.3) and
//! name resolution (4.5) blocks; options (3.5). Little-endian, nanosecond timestamps (`if_tsresol` 9).

use crate::encode::encode;
use sojourn_sim::tap::hosts::{End, address};
use sojourn_sim::tap::{Capture, Conversation, Frame, Point, Protocol};
use sojourn_units::Duration;
use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Write};

/// Least number of bytes of each frame that can be asked for: it holds the longest headers (94 bytes).
pub const LEAST_SNAPLEN: u32 = 96;
/// And the largest: more than any frame has.
pub const MOST_SNAPLEN: u32 = 262_144;

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const NAMES: u32 = 4;
const PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
const LINKTYPE_ETHERNET: u16 = 1;

/// Writes the frames of a run as one pcapng section, with an interface for each point.
pub struct PcapNg<W: Write> {
    out: W,
    snaplen: u32,
    /// Nanoseconds from 1970 to the beginning of the run.
    epoch: Duration,
    /// Addresses that have got names.
    named: BTreeSet<[u8; 4]>,
    block: Vec<u8>,
    frame: Vec<u8>,
}

impl<W: Write> fmt::Debug for PcapNg<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PcapNg")
            .field("snaplen", &self.snaplen)
            .field("epoch", &self.epoch)
            .finish_non_exhaustive()
    }
}

impl<W: Write> PcapNg<W> {
    /// Begins the file: the section, and an interface for each of `points`, named as they are. The first `snaplen`
    /// bytes of each frame are kept ([`LEAST_SNAPLEN`] to [`MOST_SNAPLEN`]); the run begins `epoch` after 1970.
    ///
    /// # Errors
    /// If it cannot be written.
    ///
    /// # Panics
    /// If `snaplen` is out of its range.
    pub fn new(out: W, points: &[Point], snaplen: u32, epoch: Duration) -> io::Result<Self> {
        assert!(
            (LEAST_SNAPLEN..=MOST_SNAPLEN).contains(&snaplen),
            "snaplen is out of its range"
        );
        let mut file = Self {
            out,
            snaplen,
            epoch,
            named: BTreeSet::new(),
            block: Vec::new(),
            frame: Vec::new(),
        };
        file.begin(SECTION);
        file.put(&BYTE_ORDER.to_le_bytes());
        file.put(&1u16.to_le_bytes());
        file.put(&0u16.to_le_bytes());
        // The section's length is not known in advance.
        file.put(&u64::MAX.to_le_bytes());
        file.option(4, concat!("Sojourn ", env!("CARGO_PKG_VERSION")).as_bytes());
        file.option(0, &[]);
        file.end()?;
        for point in points {
            file.begin(INTERFACE);
            file.put(&LINKTYPE_ETHERNET.to_le_bytes());
            file.put(&0u16.to_le_bytes());
            file.put(&snaplen.to_le_bytes());
            file.option(2, point.name().as_bytes());
            file.option(9, &[9]);
            file.option(0, &[]);
            file.end()?;
        }
        Ok(file)
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.put(&kind.to_le_bytes());
        // The total length, known at the end.
        self.put(&[0; 4]);
    }

    fn put(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.put(&code.to_le_bytes());
        self.put(&(value.len() as u16).to_le_bytes());
        self.put(value);
        self.pad();
    }

    fn end(&mut self) -> io::Result<()> {
        let length = (self.block.len() as u32 + 4).to_le_bytes();
        self.block[4..8].copy_from_slice(&length);
        self.put(&length);
        self.out.write_all(&self.block)
    }

    /// Names the addresses of a conversation that have no names yet.
    fn names(&mut self, c: &Conversation) -> io::Result<()> {
        let ends: &[_] = if c.protocol == Protocol::Dns {
            &[(End::Resolver, "resolver")]
        } else {
            &[(End::Client, "client"), (End::Server, "server")]
        };
        let all = ends.iter().map(|&(end, word)| (address(c.host(end), end), end, word));
        let new: Vec<_> = all.filter(|(ip, ..)| self.named.insert(*ip)).collect();
        if new.is_empty() {
            return Ok(());
        }
        self.begin(NAMES);
        for (ip, end, word) in new {
            let name = match c.hosts {
                None => format!("{}.{word}\0", c.name),
                Some(_) => format!("{word}{}\0", c.host(end) + 1),
            };
            let mut value = ip.to_vec();
            value.extend_from_slice(name.as_bytes());
            self.option(1, &value);
        }
        self.option(0, &[]);
        self.end()
    }
}

impl<W: Write + Send> Capture for PcapNg<W> {
    fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let c = frame.conversation;
        self.names(c)?;
        let mut bytes = std::mem::take(&mut self.frame);
        encode(frame, &mut bytes);
        let kept = self.snaplen.min(u32::from(frame.size));
        bytes.resize(kept as usize, 0);
        let at = self.epoch.as_nanos() + frame.at.as_nanos();
        self.begin(PACKET);
        self.put(&(frame.place as u32).to_le_bytes());
        self.put(&((at >> 32) as u32).to_le_bytes());
        self.put(&(at as u32).to_le_bytes());
        self.put(&kept.to_le_bytes());
        self.put(&u32::from(frame.size).to_le_bytes());
        self.put(&bytes);
        self.pad();
        // epb_flags: 1 for inbound, 2 for outbound.
        let direction = if frame.outgoing { 2u32 } else { 1 };
        self.option(2, &direction.to_le_bytes());
        self.option(0, &[]);
        self.frame = bytes;
        self.end()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests;
