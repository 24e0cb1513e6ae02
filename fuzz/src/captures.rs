//! Capture files.

use sojourn_trace::{LinkType, Reader, TraceError, Writer, identity, segment};
use std::io::{self, Read};

/// A stream that gives a few bytes at a time.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = into.len().min(self.1).min(self.0.len());
        let (now, later) = self.0.split_at(n);
        into[..n].copy_from_slice(now);
        self.0 = later;
        Ok(n)
    }
}

type Found = (u64, LinkType, u32, usize);

fn read(source: impl Read + Send, mut each: impl FnMut(Found, &[u8])) -> Result<u64, TraceError> {
    let mut reader = Reader::new(source)?;
    let mut records = 0;
    loop {
        match reader.next() {
            Ok(Some(r)) => {
                records += 1;
                each((r.at_ns, r.link, r.wire, r.bytes.len()), r.bytes);
            }
            Ok(None) => {
                assert_eq!(reader.records(), records);
                return Ok(reader.skipped().total());
            }
            Err(error) => return Err(error),
        }
    }
}

/// A file of pcap; its first byte says whether it is read again in pieces, and the header's magic number is put right.
pub fn pcap(data: &[u8]) {
    const MAGIC: [u32; 2] = [0xA1B2_C3D4, 0xA1B2_3C4D];
    let [mode, rest @ ..] = data else { return };
    let magic = MAGIC[usize::from(mode >> 1 & 1)];
    let magic = if mode & 4 == 0 {
        magic.to_le_bytes()
    } else {
        magic.to_be_bytes()
    };
    check(&[&magic, rest].concat(), mode & 1 == 1);
}

/// The same of pcapng; the first section's type and byte order are put right.
pub fn pcapng(data: &[u8]) {
    let [mode, rest @ ..] = data else { return };
    let mut file = vec![0x0A, 0x0D, 0x0D, 0x0A];
    file.extend(rest);
    if let Some(order) = file.get_mut(8..12) {
        let order_mark = 0x1A2B_3C4D_u32;
        order.copy_from_slice(&if mode & 4 == 0 {
            order_mark.to_le_bytes()
        } else {
            order_mark.to_be_bytes()
        });
    }
    check(&file, mode & 1 == 1);
}

fn check(file: &[u8], again: bool) {
    let mut found = Vec::new();
    let mut writer = Writer::new(Vec::new(), LinkType::Raw, 65_535).expect("memory");
    let mut kept = 0;
    let end = read(file, |record, bytes| {
        let (at_ns, link, wire, length) = record;
        assert!(wire as usize >= length);
        kept += length;
        let _ = (segment(link, bytes, wire), identity(link, bytes, wire));
        writer.write(at_ns, wire, bytes).expect("memory");
        found.push(record);
    });
    // A record of pcap takes 16 bytes beside its own, a block of pcapng 12 or more.
    assert!(
        kept + found.len() * 16 <= file.len(),
        "{} records of {kept} bytes",
        found.len()
    );
    if let Err(error) = &end {
        let records = match *error {
            TraceError::NoCapture => 0,
            TraceError::Io { records } | TraceError::EndsEarly { records } | TraceError::Damaged { records, .. } => {
                records
            }
        };
        assert_eq!(records as usize, found.len(), "{error}");
    }
    if again {
        let mut pieces = Vec::new();
        let the_same = read(Trickle(file, 7), |record, _| pieces.push(record));
        assert_eq!((pieces, the_same), (found.clone(), end), "in pieces it reads otherwise");
    }
    // What was written is what is read again.
    let mut at = 0;
    let written = writer.into_inner();
    let copied = read(&written[..], |record, _| {
        let (at_ns, _, wire, length) = found[at];
        let seconds = at_ns / 1_000_000_000 % (1 << 32);
        assert_eq!(
            record,
            (
                seconds * 1_000_000_000 + at_ns % 1_000_000_000,
                LinkType::Raw,
                wire,
                length
            )
        );
        at += 1;
    });
    assert_eq!((copied, at), (Ok(0), found.len()));
}
