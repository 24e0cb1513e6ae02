//! The reader of what [`write`](super::write) writes, and of nothing else.
//!
//! A file may come from anyone. So no length, count or index is believed before it is held against what is there, and
//! the memory that is taken is a function of the number of rows that the caller expects. The pages say all that there
//! is to know; of the footer, which is for other readers, only the place is looked at.

use super::{MAGIC, MOST_ROWS, PLAIN, RLE, RLE_DICTIONARY, bit_width};

/// A column, all its rows.
#[derive(Debug)]
pub enum Rows {
    /// A row without a value is not a number.
    Numbers(Vec<f64>),
    /// Labels.
    Labels {
        /// The different ones.
        entries: Vec<String>,
        /// For each row the place of its own among them; of a row without one, their number.
        places: Vec<u32>,
    },
}

/// What a column should hold.
#[derive(Debug, Clone, Copy)]
pub enum Holds {
    /// Numbers.
    Numbers,
    /// Labels.
    Labels,
}

/// Why a file is refused: a clause that tells what is wrong with it.
pub type Damage = String;

/// The columns of a file, each of `rows` rows.
///
/// # Errors
/// If it is not a file of such columns.
pub fn read(file: &[u8], rows: usize, columns: &[(&str, Holds)]) -> Result<Vec<Rows>, Damage> {
    if rows > MOST_ROWS {
        return Err(format!(
            "it should have {rows} rows, but a series has at most {MOST_ROWS}"
        ));
    }
    let (body, footer) = file
        .strip_prefix(MAGIC)
        .and_then(|rest| rest.strip_suffix(MAGIC))
        .and_then(<[u8]>::split_last_chunk::<4>)
        .map(|(body, length)| (body, u32::from_le_bytes(*length) as usize))
        .ok_or("it is not a Parquet file")?;
    let pages = body
        .len()
        .checked_sub(footer)
        .ok_or("its footer is longer than the file")?;
    let mut input = Input(&body[..pages]);
    let mut found = Vec::new();
    for (name, holds) in columns {
        let column = column(&mut input, rows, *holds).map_err(|why| format!("its column {name} {why}"))?;
        found.push(column);
    }
    if input.0.is_empty() {
        Ok(found)
    } else {
        Err(format!("{} bytes follow its last column", input.0.len()))
    }
}

fn column(input: &mut Input<'_>, rows: usize, holds: Holds) -> Result<Rows, Damage> {
    let mut page = input.page()?;
    let mut dictionary = None;
    if let Page {
        kind: Kind::Dictionary,
        count,
        bytes,
    } = page
    {
        dictionary = Some(match holds {
            Holds::Numbers => Dictionary::Numbers(numbers(bytes, count)?),
            Holds::Labels => Dictionary::Labels(labels(bytes, count)?),
        });
        page = input.page()?;
    }
    let Kind::Data { dictionary: by_place } = page.kind else {
        return Err("has two dictionaries".to_owned());
    };
    if page.count != rows {
        return Err(format!("has {} rows, but must have {rows}", page.count));
    }
    let mut data = Input(page.bytes);
    let length = data.word()?;
    let present = levels(data.take(length)?, rows)?;
    let values: usize = present.iter().filter(|run| run.0).map(|run| run.1).sum();
    match (dictionary, by_place) {
        (None, false) if matches!(holds, Holds::Numbers) => {
            let plain = numbers(data.0, values)?;
            let mut plain = plain.into_iter();
            let filled = spread(&present, rows, f64::NAN, |count, out| {
                out.extend(plain.by_ref().take(count));
            })?;
            Ok(Rows::Numbers(filled))
        }
        (Some(Dictionary::Numbers(entries)), true) => {
            let width = data.width(entries.len())?;
            let packed = Packed::new(data.0, width, values)?;
            let mut place = 0;
            let mut wrong = false;
            let filled = spread(&present, rows, f64::NAN, |count, out| {
                out.extend((place..place + count).map(|at| {
                    let value = entries.get(packed.get(at) as usize);
                    wrong |= value.is_none();
                    value.copied().unwrap_or(f64::NAN)
                }));
                place += count;
            })?;
            if wrong {
                Err(OUTSIDE.to_owned())
            } else {
                Ok(Rows::Numbers(filled))
            }
        }
        (Some(Dictionary::Labels(entries)), true) => {
            let width = data.width(entries.len())?;
            let mut runs = Runs::new(data.0, width, entries.len(), values)?;
            let none = entries.len() as u32;
            let places = spread(&present, rows, none, |count, out| runs.take(count, out))?;
            Ok(Rows::Labels { entries, places })
        }
        _ => Err("has another encoding than Sojourn writes".to_owned()),
    }
}

const SHORT: &str = "ends before its time";
const OUTSIDE: &str = "names a value that its dictionary lacks";

enum Dictionary {
    Numbers(Vec<f64>),
    Labels(Vec<String>),
}

/// One page.
struct Page<'a> {
    kind: Kind,
    count: usize,
    bytes: &'a [u8],
}

enum Kind {
    Dictionary,
    Data { dictionary: bool },
}

/// What is left to read.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Damage> {
        let (piece, rest) = self.0.split_at_checked(length).ok_or(SHORT)?;
        self.0 = rest;
        Ok(piece)
    }

    fn byte(&mut self) -> Result<u8, Damage> {
        Ok(self.take(1)?[0])
    }

    /// A length of four bytes.
    fn word(&mut self) -> Result<usize, Damage> {
        let (word, rest) = self.0.split_first_chunk::<4>().ok_or(SHORT)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*word) as usize)
    }

    /// A number below 2^35, seven bits a byte.
    fn varint(&mut self) -> Result<usize, Damage> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return usize::try_from(value).map_err(|_| SHORT.to_owned());
            }
        }
        Err("holds a number that is too large".to_owned())
    }

    fn expect(&mut self, bytes: &[u8]) -> Result<(), Damage> {
        if self.take(bytes.len())? == bytes {
            Ok(())
        } else {
            Err("has a page whose header is damaged".to_owned())
        }
    }

    /// A field of a header that follows the one before it: a number that is not negative.
    fn field(&mut self) -> Result<usize, Damage> {
        self.expect(&[0x15])?;
        let value = self.varint()?;
        if value % 2 == 1 {
            return Err("has a page with a negative length".to_owned());
        }
        Ok(value / 2)
    }

    /// The next page: its header has the fields that the writer's has, in the same order.
    fn page(&mut self) -> Result<Page<'a>, Damage> {
        let (kind, size, packed) = (self.field()?, self.field()?, self.field()?);
        if size != packed {
            return Err("has a compressed page".to_owned());
        }
        let (kind, count) = match kind {
            2 => {
                self.expect(&[0x4c])?;
                let count = self.field()?;
                self.encoding(PLAIN)?;
                (Kind::Dictionary, count)
            }
            0 => {
                self.expect(&[0x2c])?;
                let count = self.field()?;
                let encoding = self.field()?;
                if encoding != PLAIN && encoding != RLE_DICTIONARY {
                    return Err("has another encoding than Sojourn writes".to_owned());
                }
                self.encoding(RLE)?;
                self.encoding(RLE)?;
                let dictionary = encoding == RLE_DICTIONARY;
                (Kind::Data { dictionary }, count)
            }
            _ => return Err("has a page of an unknown kind".to_owned()),
        };
        self.expect(&[0, 0])?;
        let bytes = self.take(size)?;
        Ok(Page { kind, count, bytes })
    }

    fn encoding(&mut self, wanted: usize) -> Result<(), Damage> {
        if self.field()? == wanted {
            Ok(())
        } else {
            Err("has another encoding than Sojourn writes".to_owned())
        }
    }

    /// The width of the places in a dictionary, which its size decides.
    fn width(&mut self, entries: usize) -> Result<usize, Damage> {
        let width = usize::from(self.byte()?);
        if width == bit_width(entries) {
            Ok(width)
        } else {
            Err("has places of another width than its dictionary needs".to_owned())
        }
    }
}

fn numbers(bytes: &[u8], count: usize) -> Result<Vec<f64>, Damage> {
    let (words, rest) = bytes.as_chunks::<8>();
    if words.len() != count || !rest.is_empty() {
        return Err(format!(
            "has {} bytes of numbers, but must have {count} numbers",
            bytes.len()
        ));
    }
    let values: Vec<f64> = words.iter().map(|word| f64::from_le_bytes(*word)).collect();
    if values.iter().all(|value| value.is_finite()) {
        Ok(values)
    } else {
        Err("holds a value that is no finite number".to_owned())
    }
}

fn labels(bytes: &[u8], count: usize) -> Result<Vec<String>, Damage> {
    let mut input = Input(bytes);
    let mut found = Vec::new();
    while !input.0.is_empty() {
        let length = input.word()?;
        let text = std::str::from_utf8(input.take(length)?).map_err(|_| "holds a label that is not UTF-8")?;
        found.push(text.to_owned());
    }
    if found.len() == count {
        Ok(found)
    } else {
        Err(format!("has {} labels, but must have {count}", found.len()))
    }
}

/// Which rows have a value, as runs.
fn levels(bytes: &[u8], rows: usize) -> Result<Vec<(bool, usize)>, Damage> {
    let mut runs = Vec::new();
    let mut left = rows;
    let mut input = Input(bytes);
    while !input.0.is_empty() {
        let (level, count) = run(&mut input, 1, left)?;
        left -= count;
        runs.push((level == 1, count));
    }
    if left > 0 || runs.iter().any(|run| run.1 == 0) {
        return Err("does not say which of its rows have a value".to_owned());
    }
    Ok(runs)
}

/// A run of one number below `2^width`, at most `most` long.
fn run(input: &mut Input<'_>, width: usize, most: usize) -> Result<(u32, usize), Damage> {
    let head = input.varint()?;
    if head % 2 == 1 || head / 2 > most {
        return Err("has a run of values that is too long, or packed".to_owned());
    }
    let mut value = 0u32;
    for (place, &byte) in input.take(width.div_ceil(8))?.iter().enumerate() {
        value |= u32::from(byte) << (8 * place);
    }
    if u64::from(value) >> width != 0 {
        return Err(OUTSIDE.to_owned());
    }
    Ok((value, head / 2))
}

/// Fills the rows that have a value with what `next` appends, and the others with `none`.
fn spread<T: Copy>(
    present: &[(bool, usize)],
    rows: usize,
    none: T,
    mut next: impl FnMut(usize, &mut Vec<T>),
) -> Result<Vec<T>, Damage> {
    let mut filled = Vec::new();
    filled
        .try_reserve_exact(rows)
        .map_err(|_| format!("has {rows} rows, for which there is no memory"))?;
    for &(there, count) in present {
        if there {
            next(count, &mut filled);
        } else {
            filled.resize(filled.len() + count, none);
        }
    }
    Ok(filled)
}

/// Places of `width` bits, the lowest bit first.
struct Packed<'a> {
    bytes: &'a [u8],
    width: usize,
}

impl<'a> Packed<'a> {
    fn new(bytes: &'a [u8], width: usize, count: usize) -> Result<Self, Damage> {
        let groups = count.div_ceil(8);
        let mut input = Input(bytes);
        if groups > 0 && input.varint()? != 2 * groups + 1 {
            return Err("has not as many places as values".to_owned());
        }
        if input.0.len() != groups * width {
            return Err("has not as many places as values".to_owned());
        }
        Ok(Self { bytes: input.0, width })
    }

    fn get(&self, at: usize) -> u32 {
        let bit = at * self.width;
        // At most 27 bits of a place and 7 before them.
        let mut word = [0; 8];
        let from = bit / 8;
        let upto = (from + 8).min(self.bytes.len());
        word[..upto - from].copy_from_slice(&self.bytes[from..upto]);
        ((u64::from_le_bytes(word) >> (bit % 8)) & ((1 << self.width) - 1)) as u32
    }
}

/// Places as runs, checked before the first is taken.
struct Runs<'a> {
    input: Input<'a>,
    width: usize,
    held: (u32, usize),
}

impl<'a> Runs<'a> {
    fn new(bytes: &'a [u8], width: usize, entries: usize, count: usize) -> Result<Self, Damage> {
        let mut input = Input(bytes);
        let mut left = count;
        while !input.0.is_empty() {
            let (place, rows) = run(&mut input, width, left)?;
            if place as usize >= entries {
                return Err(OUTSIDE.to_owned());
            }
            left -= rows;
        }
        if left > 0 {
            return Err("has not as many places as values".to_owned());
        }
        let held = (0, 0);
        Ok(Self {
            input: Input(bytes),
            width,
            held,
        })
    }

    fn take(&mut self, mut count: usize, out: &mut Vec<u32>) {
        while count > 0 {
            if self.held.1 == 0 {
                // They were checked, so there is one.
                let Ok(run) = run(&mut self.input, self.width, MOST_ROWS) else {
                    return;
                };
                self.held = run;
                continue;
            }
            let now = count.min(self.held.1);
            out.resize(out.len() + now, self.held.0);
            self.held.1 -= now;
            count -= now;
        }
    }
}
