//! Damaged, slow and failing streams.

use super::*;

/// A stream that gives one byte at a time.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let n = self.0.len().min(1).min(into.len());
        into[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

fn block(kind: u32, body: &[u32]) -> Vec<u8> {
    let length = 12 + 4 * body.len() as u32;
    let words = [kind, length].into_iter().chain(body.iter().copied()).chain([length]);
    words.flat_map(u32::to_le_bytes).collect()
}

/// A section, an interface, and a packet that claims more bytes than its block has; then what else is there.
fn overdrawn(claimed: u32, then: usize) -> Vec<u8> {
    let section = block(0x0A0D_0D0A, &[0x1A2B_3C4D, 1, u32::MAX, u32::MAX]);
    let interface = block(1, &[1, 65_535]);
    let packet = block(6, &[0, 0, 0, claimed, claimed, 7, 7]);
    [section, interface, packet, vec![0; then]].concat()
}

#[test]
fn a_packet_that_claims_more_than_its_block_has_takes_no_memory() {
    for claimed in [9, 1000, 1 << 20, 0xC7C7_C7C7, u32::MAX] {
        for then in [0, 5, 5000] {
            let file = overdrawn(claimed, then);
            let mut seen = Vec::new();
            for source in [Box::new(&file[..]) as Box<dyn Read + Send>, Box::new(Slow(&file))] {
                let mut reader = Reader::new(source).expect("it begins with a section");
                let error = reader.next().expect_err("it is damaged");
                assert_eq!(reader.capacity, BUFFER, "{claimed} {then}");
                seen.push(error);
            }
            let what = CONTRADICTS;
            assert_eq!(
                seen,
                vec![TraceError::Damaged { records: 0, what }; 2],
                "{claimed} {then}"
            );
        }
    }
}

/// Of the block that tells which process was captured, whose length the parser does not look at.
#[test]
fn a_block_is_no_shorter_than_its_own_lengths() {
    for length in [0, 4, 8, 11, 12] {
        let mut file = overdrawn(0, 0)[..48].to_vec();
        file.extend([0x8000_0001_u32, length, 7].into_iter().flat_map(u32::to_le_bytes));
        let mut reader = Reader::new(&file[..]).expect("it begins with a section");
        let error = reader.next().expect_err("it is no block");
        assert_eq!(
            error,
            TraceError::Damaged {
                records: 0,
                what: CONTRADICTS
            },
            "{length}"
        );
    }
}

/// A stream that is interrupted by a signal before each byte.
struct Interrupted<'a>(Slow<'a>, bool);

impl Read for Interrupted<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            Err(std::io::ErrorKind::Interrupted.into())
        } else {
            self.0.read(into)
        }
    }
}

#[test]
fn a_signal_is_no_end_of_the_stream() {
    let mut file = overdrawn(0, 0)[..48].to_vec();
    file.extend(block(6, &[0, 0, 7, 4, 4, 0x0403_0201]));
    let mut reader = Reader::new(Interrupted(Slow(&file), false)).expect("it begins with a section");
    let record = reader.next().expect("it is whole").expect("there is one");
    assert_eq!((record.at_ns, record.bytes), (7000, &[1, 2, 3, 4][..]));
    assert_eq!(reader.next().map(|r| r.is_none()), Ok(true));
}

/// A stream that fails.
struct Broken<'a>(&'a [u8]);

impl Read for Broken<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match Slow(self.0).read(into)? {
            0 => Err(std::io::ErrorKind::BrokenPipe.into()),
            n => {
                self.0 = &self.0[n..];
                Ok(n)
            }
        }
    }
}

#[test]
fn a_stream_that_fails_is_told_from_one_that_ends() {
    let file = overdrawn(0, 0);
    let read = |source: Broken<'_>| Reader::new(source).and_then(|mut reader| reader.next().map(|_| ()));
    assert_eq!(read(Broken(&file[..10])), Err(TraceError::Io { records: 0 }));
    assert_eq!(read(Broken(&file[..60])), Err(TraceError::Io { records: 0 }));
}

/// A block is waited for as long as it needs, and no longer than 16 MB.
#[test]
fn the_buffer_is_as_large_as_the_largest_block() {
    for (length, expected) in [(1 << 18, true), ((1 << 24) - 64, true), (1 << 24, false)] {
        let mut file = overdrawn(0, 0)[..48].to_vec();
        let words = vec![0u32; length / 4 - 3 - 5];
        let body = [&[0, 0, 0, 4 * words.len() as u32, 4 * words.len() as u32][..], &words].concat();
        file.extend(block(6, &body));
        let mut reader = Reader::new(&file[..]).expect("it begins with a section");
        let found = reader.next().map(|r| r.map(|r| r.bytes.len()));
        if expected {
            assert_eq!(found, Ok(Some(4 * words.len())));
            assert!(reader.capacity <= 2 * length.max(BUFFER), "{}", reader.capacity);
        } else {
            let what = "a record is longer than 16 MB";
            assert_eq!(found, Err(TraceError::Damaged { records: 0, what }));
        }
    }
}
