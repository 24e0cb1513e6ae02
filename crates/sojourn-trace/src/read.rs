//! Reads capture files as streams.

use crate::{LinkType, Skip, Skipped};
use pcap_parser::traits::{PcapNGPacketBlock as _, PcapReaderIterator};
use pcap_parser::{Block, PcapBlockOwned, PcapError, create_reader};
use std::fmt;
use std::io::{self, Read};
use thiserror::Error;

/// What is read ahead.
const BUFFER: usize = 1 << 18;
/// A record or block of so many bytes is taken for damage.
const LARGEST_BLOCK: usize = 1 << 24;
/// Type and both lengths of a block.
const LEAST_BLOCK: usize = 12;
const CONTRADICTS: &str = "a block contradicts its own length or type";
const NANOSECONDS: u128 = 1_000_000_000;
/// Interfaces of one section; the format allows 2^32, which nobody has.
const INTERFACES: usize = 1 << 16;

/// Why a capture cannot be read (further).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TraceError {
    /// Neither pcap nor pcapng, or nothing at all.
    #[error("the capture begins with no header of pcap or pcapng")]
    NoCapture,
    /// The operating system says no.
    #[error("the capture cannot be read after {records} records")]
    Io {
        /// Records read before.
        records: u64,
    },
    /// The file ends inside a record.
    #[error("the capture ends in the middle of a record, after {records} whole ones")]
    EndsEarly {
        /// Records read before.
        records: u64,
    },
    /// A record or block contradicts the format.
    #[error("the capture is damaged after {records} records: {what}")]
    Damaged {
        /// Records read before.
        records: u64,
        /// What is wrong.
        what: &'static str,
    },
}

/// One captured frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// When it was captured, nanoseconds since 1970 (whatever resolution the file has).
    pub at_ns: u64,
    /// How its bytes begin.
    pub link: LinkType,
    /// Bytes that it had on the wire.
    pub wire: u32,
    /// Bytes that were kept.
    pub bytes: &'a [u8],
}

#[derive(Clone, Copy)]
struct Interface {
    link: LinkType,
    /// Units of a time stamp in a second; `None` for more than 64 bits hold.
    resolution: Option<u64>,
    /// Seconds to add.
    offset: i64,
}

/// A frame without the borrow: what to give once the block is known to be one.
struct Found {
    at_ns: u64,
    link: LinkType,
    wire: u32,
    /// Where its bytes are in the reader's buffer.
    from: usize,
    length: usize,
    /// Length of the whole block.
    block: usize,
}

enum Step {
    Frame(Found),
    Other(usize),
    More,
    Grow,
    End,
    Fail(TraceError),
}

/// A capture file, pcap (micro- or nanoseconds, either byte order) or pcapng (all its sections and interfaces), from
/// any stream of bytes.
///
/// Memory does not depend on the length of the file: 256 kB, or as much as the longest block needs.
pub struct Reader<'r> {
    inner: Box<dyn PcapReaderIterator + Send + 'r>,
    interfaces: Vec<Interface>,
    /// pcap: whether the fraction of a second is in nanoseconds.
    nanoseconds: bool,
    /// The byte order of the file, or of the section.
    big_endian: bool,
    /// pcap, not pcapng.
    legacy: bool,
    capacity: usize,
    /// Bytes of the block given last, to be passed over before the next.
    pending: usize,
    records: u64,
    skipped: Skipped,
}

impl fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("records", &self.records)
            .finish_non_exhaustive()
    }
}

impl<'r> Reader<'r> {
    /// Begins to read; the header is read here.
    ///
    /// # Errors
    /// [`TraceError::NoCapture`] if the stream begins with no header of these formats.
    pub fn new(source: impl Read + Send + 'r) -> Result<Self, TraceError> {
        let (legacy, stream) = with_head(source).map_err(|_| TraceError::Io { records: 0 })?;
        let inner = create_reader(BUFFER, stream).map_err(|_| TraceError::NoCapture)?;
        Ok(Self {
            inner,
            interfaces: Vec::new(),
            nanoseconds: false,
            big_endian: false,
            legacy,
            capacity: BUFFER,
            pending: 0,
            records: 0,
            skipped: Skipped::default(),
        })
    }

    /// Frames given so far.
    #[must_use]
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// Frames passed over so far because the file does not say enough of them, by reason; and custom blocks, which may
    /// hold some.
    #[must_use]
    pub const fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// The next frame, or `None` at the end of the file.
    ///
    /// # Errors
    /// [`TraceError`] if the file is damaged or ends too early; what was given before is sound.
    #[expect(
        clippy::should_implement_trait,
        reason = "the record borrows the buffer, so this is no iterator"
    )]
    pub fn next(&mut self) -> Result<Option<Record<'_>>, TraceError> {
        loop {
            if self.pending > 0 {
                self.inner.consume(self.pending);
                self.pending = 0;
            }
            match self.step() {
                Step::Frame(found) => {
                    self.records += 1;
                    self.pending = found.block;
                    let bytes = &self.inner.data()[found.from..found.from + found.length];
                    return Ok(Some(Record {
                        at_ns: found.at_ns,
                        link: found.link,
                        wire: found.wire.max(found.length as u32),
                        bytes,
                    }));
                }
                Step::Other(length) => self.pending = length,
                Step::More | Step::Grow | Step::Fail(TraceError::EndsEarly { .. }) if self.has_come() => {
                    return Err(self.damaged(CONTRADICTS));
                }
                Step::More => {
                    if self.inner.refill().is_err() {
                        return Err(TraceError::Io { records: self.records });
                    }
                }
                Step::Grow => {
                    // Its length decides, not how much of it has come: a pipe gives what the file does.
                    let announced = self.announced();
                    if announced >= LARGEST_BLOCK {
                        return Err(self.damaged("a record is longer than 16 MB"));
                    }
                    // As large as the block needs, however much its contents claim.
                    while self.capacity <= announced {
                        self.capacity *= 2;
                    }
                    self.inner.grow(self.capacity);
                    if self.inner.refill().is_err() {
                        return Err(TraceError::Io { records: self.records });
                    }
                }
                Step::End => return Ok(None),
                Step::Fail(error) => return Err(error),
            }
        }
    }

    /// The length that the block at hand says it has, with its header; too little of it has come for the whole.
    fn announced(&self) -> usize {
        let word = |at: usize, big: bool| word(self.inner.data(), at, big).unwrap_or(0);
        if self.legacy {
            return (word(8, self.big_endian) as usize).saturating_add(LEGACY_HEADER);
        }
        // A section begins with its byte order.
        let big = if self.begins_section() {
            word(8, true) == BYTE_ORDER
        } else {
            self.big_endian
        };
        word(4, big) as usize
    }

    fn begins_section(&self) -> bool {
        self.inner.data().starts_with(&SECTION.to_le_bytes())
    }

    /// Whether all of the block at hand has come, by the length that it says it has.
    fn has_come(&self) -> bool {
        let least = if self.legacy { LEGACY_HEADER } else { LEAST_BLOCK };
        self.inner.data().len() >= self.announced().max(least)
    }

    fn damaged(&self, what: &'static str) -> TraceError {
        TraceError::Damaged {
            records: self.records,
            what,
        }
    }

    fn step(&mut self) -> Step {
        let records = self.records;
        let damaged = |what| Step::Fail(TraceError::Damaged { records, what });
        // The parser subtracts this from a block's length, of one kind of block without having looked at it.
        if !self.legacy && self.inner.data().len() >= 8 && !self.begins_section() && self.announced() < LEAST_BLOCK {
            return damaged(CONTRADICTS);
        }
        let (length, block) = match self.inner.next() {
            Ok(found) => found,
            Err(PcapError::Eof) => return Step::End,
            Err(PcapError::Incomplete(_)) => return Step::More,
            Err(PcapError::BufferTooSmall) => return Step::Grow,
            Err(PcapError::UnexpectedEof) => return Step::Fail(TraceError::EndsEarly { records }),
            Err(PcapError::ReadError) => return Step::Fail(TraceError::Io { records }),
            Err(_) => return damaged(CONTRADICTS),
        };
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                self.nanoseconds = header.is_nanosecond_precision();
                self.big_endian = header.is_bigendian();
                // The upper half may say how long the frame check sequence is.
                let link = LinkType::from_number(header.network.0 as u32 & 0xFFFF);
                self.interfaces = vec![Interface {
                    link,
                    resolution: None,
                    offset: 0,
                }];
                Step::Other(length)
            }
            PcapBlockOwned::Legacy(record) => {
                let Some(&Interface { link, .. }) = self.interfaces.first() else {
                    return damaged("a record stands before the header");
                };
                let unit = if self.nanoseconds { 1 } else { 1_000 };
                Step::Frame(Found {
                    // Below 2^32 seconds and 2^32 microseconds: no overflow, even if the fraction is no fraction.
                    at_ns: u64::from(record.ts_sec) * 1_000_000_000 + u64::from(record.ts_usec) * unit,
                    link,
                    wire: record.origlen,
                    from: length - record.data.len(),
                    length: record.data.len(),
                    block: length,
                })
            }
            PcapBlockOwned::NG(Block::SectionHeader(section)) => {
                self.interfaces.clear();
                self.big_endian = section.big_endian();
                Step::Other(length)
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                if self.interfaces.len() == INTERFACES {
                    return damaged("a section has more than 65,536 interfaces");
                }
                self.interfaces.push(Interface {
                    link: LinkType::from_number(interface.linktype.0 as u32),
                    resolution: resolution(interface.if_tsresol),
                    // The library reads it as little-endian in either kind of section.
                    offset: if self.big_endian {
                        interface.if_tsoffset.swap_bytes()
                    } else {
                        interface.if_tsoffset
                    },
                });
                Step::Other(length)
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                let packet = (packet.if_id, ticks, packet.packet_data().len(), packet.origlen);
                packet_step(packet, length, &self.interfaces, &mut self.skipped)
            }
            PcapBlockOwned::NG(Block::Unknown(block)) if is_old_packet(block.block_type, self.big_endian) => {
                match old_packet(block.data, self.big_endian) {
                    Some(packet) => packet_step(packet, length, &self.interfaces, &mut self.skipped),
                    None => damaged(CONTRADICTS),
                }
            }
            PcapBlockOwned::NG(Block::SimplePacket(_)) => {
                self.skipped.count(Skip::NoTime);
                Step::Other(length)
            }
            PcapBlockOwned::NG(Block::Custom(_)) => {
                self.skipped.count(Skip::CustomBlock);
                Step::Other(length)
            }
            PcapBlockOwned::NG(_) => Step::Other(length),
        }
    }
}

/// Two halves of the time, two lengths.
const LEGACY_HEADER: usize = 16;
/// The block type of a section header, the same in either byte order, and the mark of the order in it.
const SECTION: u32 = 0x0A0D_0D0A;
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
/// Block type, length, interface, two halves of the time, two lengths; of both kinds of packet blocks with a time.
const PACKET_HEADER: usize = 28;
/// The obsolete packet block (draft-ietf-opsawg-pcapng appendix A), which the library does not know.
const OLD_PACKET: u32 = 2;

/// Whether an unknown block, whose type was read as little-endian, is an obsolete packet block.
const fn is_old_packet(kind: u32, big_endian: bool) -> bool {
    kind == if big_endian {
        OLD_PACKET.swap_bytes()
    } else {
        OLD_PACKET
    }
}

/// The 32 bits at a place of a capture, in its byte order; `None` if they are not there.
fn word(bytes: &[u8], at: usize, big_endian: bool) -> Option<u32> {
    let word = *bytes.get(at..)?.first_chunk()?;
    Some(if big_endian {
        u32::from_be_bytes(word)
    } else {
        u32::from_le_bytes(word)
    })
}

/// The packet of an obsolete packet block; `None` if it has no room for what it says it has. Its interface takes 16
/// bits, and the other 16 count drops.
fn old_packet(body: &[u8], big_endian: bool) -> Option<Packet> {
    let word = |at: usize| word(body, at, big_endian);
    let id = if big_endian { word(0)? >> 16 } else { word(0)? & 0xFFFF };
    let kept = word(12)? as usize;
    let held = body.len().checked_sub(PACKET_HEADER - 8)?;
    (kept <= held).then_some((id, u64::from(word(4)?) << 32 | u64::from(word(8)?), kept, word(16)?))
}

/// What a packet block says of its frame: interface, time stamp, bytes kept and bytes on the wire.
type Packet = (u32, u64, usize, u32);

/// The step of a packet in a block of so many bytes, which gives a frame or counts why there is none.
fn packet_step(packet: Packet, block: usize, interfaces: &[Interface], skipped: &mut Skipped) -> Step {
    let (id, ticks, length, wire) = packet;
    let reason = match interfaces.get(id as usize) {
        None => Skip::NoInterface,
        Some(&interface) => match nanoseconds(ticks, interface) {
            None => Skip::TimeRange,
            Some(at_ns) => {
                return Step::Frame(Found {
                    at_ns,
                    link: interface.link,
                    wire,
                    from: PACKET_HEADER,
                    length,
                    block,
                });
            }
        },
    };
    skipped.count(reason);
    Step::Other(block)
}

/// Units in a second of the option `if_tsresol`: a negative power of ten, or of two if the highest bit is set; `None`
/// for more than 64 bits hold.
///
/// Deviation: the library's own function refuses all powers of two.
fn resolution(option: u8) -> Option<u64> {
    let power = u32::from(option & 0x7F);
    if option & 0x80 == 0 {
        10_u64.checked_pow(power)
    } else {
        1_u64.checked_shl(power)
    }
}

/// `ticks` of an interface in nanoseconds since 1970; `None` where 64 bits do not hold them.
fn nanoseconds(ticks: u64, interface: Interface) -> Option<u64> {
    let since = (u128::from(ticks) * NANOSECONDS / u128::from(interface.resolution?)).cast_signed();
    let offset = i128::from(interface.offset) * NANOSECONDS.cast_signed();
    u64::try_from(since + offset).ok()
}

/// `stream` with its first bytes all there at the first `read`: the format library wants the first header at once, and
/// a pipe may give less. Answers, too, whether they are those of pcap, and not of pcapng.
fn with_head<R: Read>(mut stream: R) -> io::Result<(bool, impl Read)> {
    let mut head = Vec::new();
    let upto = |n: u64, head: &mut Vec<u8>, stream: &mut R| {
        let missing = n.saturating_sub(head.len() as u64);
        stream.by_ref().take(missing).read_to_end(head).map(|_| ())
    };
    // The header of pcap, or more than the shortest section header of pcapng has before its options.
    upto(24, &mut head, &mut stream)?;
    let legacy = !head.starts_with(&SECTION.to_le_bytes());
    if !legacy && head.len() == 24 {
        let little = head[8..12] == BYTE_ORDER.to_le_bytes();
        let length = word(&head, 4, !little).unwrap_or(0);
        upto(u64::from(length).min(BUFFER as u64 / 2), &mut head, &mut stream)?;
    }
    Ok((legacy, io::Cursor::new(head).chain(Uninterrupted(stream))))
}

/// A stream that reads on after a signal, because the format library does not.
struct Uninterrupted<R>(R);

impl<R: Read> Read for Uninterrupted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(into) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}

#[cfg(test)]
mod tests;
