//! Writes pcap with nanoseconds.

use crate::LinkType;
use std::io::{self, Write};

/// Writes frames as a pcap file with nanosecond time stamps, little-endian.
///
/// Source: draft-ietf-opsawg-pcap, sections 4 and 5.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Begins the file; `snaplen` is the most bytes that a frame will have.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(mut out: W, link: LinkType, snaplen: u32) -> io::Result<Self> {
        let mut header = [0; 24];
        header[0..4].copy_from_slice(&0xA1B2_3C4D_u32.to_le_bytes());
        header[4..6].copy_from_slice(&2_u16.to_le_bytes());
        header[6..8].copy_from_slice(&4_u16.to_le_bytes());
        header[16..20].copy_from_slice(&snaplen.to_le_bytes());
        header[20..24].copy_from_slice(&link.number().to_le_bytes());
        out.write_all(&header)?;
        Ok(Self { out })
    }

    /// Adds a frame of `wire` bytes, of which `bytes` were captured at `at_ns` nanoseconds after 1970. The format's
    /// seconds end in 2106; a later time is written modulo 2^32 seconds.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&mut self, at_ns: u64, wire: u32, bytes: &[u8]) -> io::Result<()> {
        let kept = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        let mut header = [0; 16];
        header[0..4].copy_from_slice(&((at_ns / 1_000_000_000) as u32).to_le_bytes());
        header[4..8].copy_from_slice(&((at_ns % 1_000_000_000) as u32).to_le_bytes());
        header[8..12].copy_from_slice(&kept.to_le_bytes());
        header[12..16].copy_from_slice(&wire.to_le_bytes());
        self.out.write_all(&header)?;
        self.out.write_all(bytes)
    }

    /// Passes on what is buffered below.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// What it wrote into, as it is.
    #[must_use]
    pub fn into_inner(self) -> W {
        self.out
    }
}
