//! A small writer of Parquet: one row group, nullable numbers and labels, no compressor.
//!
//! Times and values repeat, so a dictionary with bit-packed indices makes a series about as small as a compressor
//! would, at a cost that is small against even a short run. Source: the Apache Parquet format, version 2, and
//! Thrift's compact protocol, which its headers are written in.

mod read;

pub use read::{Damage, Holds, Rows, read};

/// Physical types.
const DOUBLE: usize = 5;
const BYTE_ARRAY: usize = 6;
/// Encodings.
const PLAIN: usize = 0;
const RLE: usize = 3;
const RLE_DICTIONARY: usize = 8;
/// Every file begins and ends with this.
const MAGIC: &[u8] = b"PAR1";
/// A row group is not larger than a page header can tell; a record has far fewer rows.
const MOST_ROWS: usize = 1 << 26;

/// A column, all its rows.
#[derive(Debug)]
pub struct Column {
    name: &'static str,
    values: Values,
}

#[derive(Debug)]
enum Values {
    Numbers(Vec<Option<f64>>),
    /// Runs of equal labels.
    Labels(Vec<(Option<String>, usize)>),
}

impl Column {
    /// A column of numbers.
    #[must_use]
    pub fn numbers(name: &'static str, values: Vec<Option<f64>>) -> Self {
        let values = Values::Numbers(values);
        Self { name, values }
    }

    /// A column of labels, as runs of (label, rows).
    #[must_use]
    pub fn labels(name: &'static str, runs: Vec<(Option<String>, usize)>) -> Self {
        let values = Values::Labels(runs);
        Self { name, values }
    }
}

/// The file of these columns, each of `rows` rows.
///
/// # Panics
/// If a column has another number of rows, or there are more than 2^26.
#[must_use]
pub fn write(rows: usize, columns: &[Column]) -> Vec<u8> {
    assert!(rows <= MOST_ROWS, "a record has fewer rows");
    let mut file = MAGIC.to_vec();
    let chunks: Vec<Chunk> = columns.iter().map(|c| chunk(&mut file, rows, c)).collect();
    let start = file.len();
    footer(&mut file, rows, columns, &chunks);
    let length = (file.len() - start) as u32;
    file.extend_from_slice(&length.to_le_bytes());
    file.extend_from_slice(MAGIC);
    file
}

/// Where a column went.
#[derive(Debug)]
struct Chunk {
    dictionary: Option<usize>,
    data: usize,
    bytes: usize,
}

/// A column's distinct values in order of appearance, the index of each row's, and which rows have one.
struct Encoded {
    kind: Kind,
    entries: usize,
    present: Vec<(bool, usize)>,
}

enum Kind {
    Dictionary { plain: Vec<u8>, indices: Indices },
    Plain(Vec<u8>),
}

enum Indices {
    Each(Vec<u32>),
    Runs(Vec<(u32, usize)>),
}

fn chunk(file: &mut Vec<u8>, rows: usize, column: &Column) -> Chunk {
    let begin = file.len();
    let encoded = match &column.values {
        Values::Numbers(values) => numbers(values),
        Values::Labels(runs) => labels(runs),
    };
    assert_eq!(encoded.present.iter().map(|run| run.1).sum::<usize>(), rows);
    let mut page = Vec::new();
    let mut levels = Vec::new();
    for &(there, count) in &encoded.present {
        repeat(&mut levels, u32::from(there), count, 1);
    }
    page.extend_from_slice(&(levels.len() as u32).to_le_bytes());
    page.extend_from_slice(&levels);
    let mut dictionary = None;
    let encoding = match encoded.kind {
        Kind::Plain(bytes) => {
            page.extend_from_slice(&bytes);
            PLAIN
        }
        Kind::Dictionary { plain, indices } => {
            dictionary = Some(begin);
            header(file, 2, plain.len(), 7, &[encoded.entries, PLAIN]);
            file.extend_from_slice(&plain);
            let width = bit_width(encoded.entries);
            page.push(width as u8);
            match indices {
                Indices::Each(each) => pack(&mut page, &each, width),
                Indices::Runs(runs) => {
                    for (index, count) in runs {
                        repeat(&mut page, index, count, width);
                    }
                }
            }
            RLE_DICTIONARY
        }
    };
    let data = file.len();
    header(file, 0, page.len(), 5, &[rows, encoding, RLE, RLE]);
    file.extend_from_slice(&page);
    Chunk {
        dictionary,
        data,
        bytes: file.len() - begin,
    }
}

fn numbers(values: &[Option<f64>]) -> Encoded {
    let present = runs_of(values.iter().map(Option::is_some));
    let mut table = Table::new(values.len());
    let indices: Vec<u32> = values.iter().flatten().map(|v| table.index(v.to_bits())).collect();
    let entries = table.entries.len();
    let bits = 64 * entries + bit_width(entries) * indices.len();
    let kind = if bits < 64 * indices.len() {
        let plain = table.entries.iter().flat_map(|v| v.to_le_bytes()).collect();
        let indices = Indices::Each(indices);
        Kind::Dictionary { plain, indices }
    } else {
        Kind::Plain(values.iter().flatten().flat_map(|v| v.to_le_bytes()).collect())
    };
    Encoded { kind, entries, present }
}

fn labels(runs: &[(Option<String>, usize)]) -> Encoded {
    let mut entries: Vec<&str> = Vec::new();
    let mut indices: Vec<(u32, usize)> = Vec::new();
    for (label, count) in runs {
        let Some(label) = label.as_deref() else { continue };
        // A record has a few dozen labels.
        let index = entries.iter().position(|one| *one == label).unwrap_or(entries.len());
        if index == entries.len() {
            entries.push(label);
        }
        indices.push((index as u32, *count));
    }
    let mut plain = Vec::new();
    for label in &entries {
        plain.extend_from_slice(&(label.len() as u32).to_le_bytes());
        plain.extend_from_slice(label.as_bytes());
    }
    Encoded {
        entries: entries.len(),
        present: runs.iter().map(|(label, count)| (label.is_some(), *count)).collect(),
        kind: Kind::Dictionary {
            plain,
            indices: Indices::Runs(indices),
        },
    }
}

fn runs_of(flags: impl Iterator<Item = bool>) -> Vec<(bool, usize)> {
    let mut runs: Vec<(bool, usize)> = Vec::new();
    for flag in flags {
        match runs.last_mut() {
            Some((last, count)) if *last == flag => *count += 1,
            _ => runs.push((flag, 1)),
        }
    }
    runs
}

/// Bits of an index into so many entries; at least 1.
fn bit_width(entries: usize) -> usize {
    (usize::BITS - entries.saturating_sub(1).leading_zeros()).max(1) as usize
}

/// A run of one index.
fn repeat(out: &mut Vec<u8>, index: u32, count: usize, width: usize) {
    if count > 0 {
        varint(out, (count as u64) << 1);
        out.extend_from_slice(&index.to_le_bytes()[..width.div_ceil(8)]);
    }
}

/// Bit-packed indices, the lowest bit first, filled up with zeros to groups of eight.
fn pack(out: &mut Vec<u8>, indices: &[u32], width: usize) {
    let groups = indices.len().div_ceil(8);
    if groups == 0 {
        return;
    }
    varint(out, ((groups as u64) << 1) | 1);
    let end = out.len() + groups * width;
    let (mut bits, mut held) = (0u64, 0);
    for &index in indices {
        bits |= u64::from(index) << held;
        held += width;
        while held >= 8 {
            out.push(bits as u8);
            bits >>= 8;
            held -= 8;
        }
    }
    if held > 0 {
        out.push(bits as u8);
    }
    out.resize(end, 0);
}

/// Distinct values by open addressing. They are numbered in order of appearance, so no order depends on the hash.
struct Table {
    entries: Vec<u64>,
    slots: Vec<u32>,
    shift: u32,
}

impl Table {
    fn new(most: usize) -> Self {
        let bits = (2 * most.max(8)).next_power_of_two().trailing_zeros();
        Self {
            entries: Vec::new(),
            slots: vec![u32::MAX; 1 << bits],
            shift: 64 - bits,
        }
    }

    fn index(&mut self, value: u64) -> u32 {
        // Fibonacci hashing; the fold brings the exponent's bits down to those that a round number leaves zero.
        let mut slot = ((value ^ (value >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize;
        loop {
            match self.slots[slot] {
                u32::MAX => {
                    let index = self.entries.len() as u32;
                    self.slots[slot] = index;
                    self.entries.push(value);
                    return index;
                }
                index if self.entries[index as usize] == value => return index,
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }
}

/// A page header: type, size, and in field `detail` its own header of enums and counts.
fn header(out: &mut Vec<u8>, kind: usize, size: usize, detail: i16, fields: &[usize]) {
    let mut page = Struct::new(out);
    page.i32(1, kind);
    page.i32(2, size);
    page.i32(3, size);
    page.inner(detail, |inner| {
        for (number, &value) in (1..).zip(fields) {
            inner.i32(number, value);
        }
    });
    page.end();
}

fn footer(out: &mut Vec<u8>, rows: usize, columns: &[Column], chunks: &[Chunk]) {
    let mut file = Struct::new(out);
    file.i32(1, 1);
    file.list(2, 12, columns.len() + 1);
    {
        let mut root = Struct::new(file.out);
        root.text(4, "series");
        root.i32(5, columns.len());
        root.end();
    }
    for column in columns {
        let mut schema = Struct::new(file.out);
        schema.i32(1, kind_of(column));
        schema.i32(3, 1);
        schema.text(4, column.name);
        if let Values::Labels(_) = column.values {
            schema.i32(6, 0);
            schema.inner(10, |logical| logical.inner(1, |_| {}));
        }
        schema.end();
    }
    file.i64(3, rows);
    file.list(4, 12, 1);
    let total: usize = chunks.iter().map(|c| c.bytes).sum();
    let mut group = Struct::new(file.out);
    group.list(1, 12, columns.len());
    for (column, at) in columns.iter().zip(chunks) {
        let mut chunk = Struct::new(group.out);
        chunk.i64(2, 0);
        chunk.inner(3, |meta| {
            meta.i32(1, kind_of(column));
            meta.list(2, 5, 3);
            for encoding in [PLAIN, RLE, RLE_DICTIONARY] {
                varint(meta.out, zigzag(encoding));
            }
            meta.list(3, 8, 1);
            varint(meta.out, column.name.len() as u64);
            meta.out.extend_from_slice(column.name.as_bytes());
            meta.i32(4, 0);
            meta.i64(5, rows);
            meta.i64(6, at.bytes);
            meta.i64(7, at.bytes);
            meta.i64(9, at.data);
            if let Some(dictionary) = at.dictionary {
                meta.i64(11, dictionary);
            }
        });
        chunk.end();
    }
    group.i64(2, total);
    group.i64(3, rows);
    group.end();
    file.text(6, concat!("sojourn ", env!("CARGO_PKG_VERSION")));
    file.end();
}

fn kind_of(column: &Column) -> usize {
    match column.values {
        Values::Numbers(_) => DOUBLE,
        Values::Labels(_) => BYTE_ARRAY,
    }
}

/// A struct in Thrift's compact protocol; fields are written in rising order.
struct Struct<'a> {
    out: &'a mut Vec<u8>,
    last: i16,
}

impl<'a> Struct<'a> {
    fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, last: 0 }
    }

    fn field(&mut self, number: i16, kind: u8) {
        let step = number - self.last;
        assert!((1..16).contains(&step), "fields rise by less than 16");
        self.out.push(((step as u8) << 4) | kind);
        self.last = number;
    }

    fn i32(&mut self, number: i16, value: usize) {
        self.field(number, 5);
        varint(self.out, zigzag(value));
    }

    fn i64(&mut self, number: i16, value: usize) {
        self.field(number, 6);
        varint(self.out, zigzag(value));
    }

    fn text(&mut self, number: i16, text: &str) {
        self.field(number, 8);
        varint(self.out, text.len() as u64);
        self.out.extend_from_slice(text.as_bytes());
    }

    /// The head of a list; its elements follow.
    fn list(&mut self, number: i16, kind: u8, length: usize) {
        self.field(number, 9);
        if length < 15 {
            self.out.push(((length as u8) << 4) | kind);
        } else {
            self.out.push(0xf0 | kind);
            varint(self.out, length as u64);
        }
    }

    fn inner(&mut self, number: i16, fill: impl FnOnce(&mut Struct<'_>)) {
        self.field(number, 12);
        let mut inner = Struct::new(self.out);
        fill(&mut inner);
        inner.end();
    }

    fn end(self) {
        self.out.push(0);
    }
}

/// A signed number, which is never negative here.
fn zigzag(value: usize) -> u64 {
    (value as u64) << 1
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
