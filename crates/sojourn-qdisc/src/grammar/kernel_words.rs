//! Tables of words for kinds of which a kernel has more words than the simulator: read and written, whether modelled or
//! not.
//!
//! Each such kind has one table in its module. A word fills an option, or stands for other words; what is not given is
//! left to the kernel.

use super::error::SpecError;
use super::given::Given;
use super::measures::signed;
use crate::ParamError;
use crate::descriptor::Descriptor;
use crate::netlink::{OptionValue, Options};
use std::fmt;

/// What follows a word, or what it says by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Takes {
    /// A whole number in this range.
    Count(i64, i64),
    /// A whole number in this range; `0x` for hexadecimal.
    Mask(i64, i64),
    /// A time, in whole microseconds, in this range of them.
    Micros(i64, i64),
    /// A size, in this range of bytes.
    Bytes(i64, i64),
    /// A rate of whole bytes a second, in this range of bit/s.
    Rate(i64, i64),
    /// Nothing: the option is this number.
    Is(i64),
    /// Nothing: the option is on, or off.
    Switch(bool),
    /// Nothing: the option is the word.
    Choice,
    /// Nothing: it says the same as these words.
    Means(&'static [&'static str]),
    /// Nothing: the number is so much more.
    More(i64),
}

impl Takes {
    /// The unit of the value that follows; `None` if none does.
    pub(crate) const fn unit(&self) -> Option<&'static str> {
        match self {
            Self::Count(..) | Self::Mask(..) => Some("number"),
            Self::Micros(..) => Some("time"),
            Self::Bytes(..) => Some("bytes"),
            Self::Rate(..) => Some("rate"),
            _ => None,
        }
    }
}

/// A word of a kernel's discipline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelWord {
    pub(crate) name: &'static str,
    /// The option that it fills. Words of one option exclude each other.
    pub(crate) option: &'static str,
    pub(crate) takes: Takes,
}

/// The largest word of 32 bits.
pub(crate) const MOST: i64 = u32::MAX as i64;

/// A table of words: each row is `OPTION: NAME TAKES, ...;`. Words that say what others say have no option of their
/// own.
macro_rules! kernel_words {
    ($($option:literal: $($name:literal $takes:ident $(($($of:expr),+))?),+;)+) => {
        &[$($($crate::grammar::kernel_words::KernelWord {
            name: $name,
            option: $option,
            takes: $crate::grammar::kernel_words::Takes::$takes $(($($of),+))?,
        }),+),+]
    };
}
pub(crate) use kernel_words;

/// The table of a kind.
#[derive(Debug)]
pub(crate) struct KernelTable {
    pub(crate) about: Descriptor,
    /// Its words; the options are written in the order in which they first occur.
    pub(crate) words: &'static [KernelWord],
    /// What a kernel is told besides the options that were given.
    pub(crate) besides: fn(&Options) -> Option<(&'static str, i64)>,
}

impl PartialEq for KernelTable {
    /// There is one table a kind.
    fn eq(&self, other: &Self) -> bool {
        self.about.kind == other.about.kind
    }
}

impl KernelTable {
    fn place(&self, option: &str) -> usize {
        let found = self.words.iter().position(|word| word.option == option);
        found.unwrap_or(self.words.len())
    }

    fn word(&self, name: &str) -> Option<&'static KernelWord> {
        self.words.iter().find(|word| word.name == name)
    }
}

/// An option that was given.
#[derive(Clone, Debug, PartialEq)]
struct Item {
    /// Where it stands in the canonical text.
    place: usize,
    option: &'static str,
    text: String,
    value: OptionValue,
}

/// A discipline as a kernel has it, with the options that were given.
///
/// [`fmt::Display`] gives the canonical text: the given words in a fixed order, words that stand for others resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelOnly {
    table: &'static KernelTable,
    /// By place.
    items: Vec<Item>,
}

impl KernelOnly {
    /// Reads the words after the kind.
    ///
    /// # Errors
    /// [`SpecError`]: one sentence that names the word, or the parameter, its value and the rule.
    pub(crate) fn parse(table: &'static KernelTable, words: &[&str]) -> Result<Self, SpecError> {
        let mut spec = Self {
            table,
            items: Vec::new(),
        };
        let mut rest = words.iter();
        while let Some(&name) = rest.next() {
            let Some(word) = table.word(name) else {
                return Err(SpecError::UnknownWord {
                    word: name.to_owned(),
                    kind: table.about.kind,
                    allowed: table.words.iter().map(|w| w.name).collect::<Vec<_>>().join(", "),
                });
            };
            if let Takes::Means(others) = word.takes {
                let mut others = others.iter();
                while let Some(&other) = others.next() {
                    if let Some(word) = table.word(other) {
                        spec.add(table, word, &mut others)?;
                    }
                }
            } else {
                spec.add(table, word, &mut rest)?;
            }
        }
        spec.items.sort_by_key(|item| item.place);
        Ok(spec)
    }

    /// Fills the option of `word`; its value is the next of `rest`.
    fn add<'a>(
        &mut self,
        table: &KernelTable,
        word: &'static KernelWord,
        rest: &mut impl Iterator<Item = &'a &'a str>,
    ) -> Result<(), SpecError> {
        let there = self.items.iter_mut().find(|item| item.option == word.option);
        if let (Takes::More(more), Some(item)) = (word.takes, &there)
            && let OptionValue::Number(n) = item.value
        {
            let (name, sum) = (word.option, n + more);
            let sum = within(table.about.kind, name, sum, &sum.to_string(), -64, 256)?;
            if let Some(item) = there {
                (item.text, item.value) = (format!("{name} {sum}"), OptionValue::Number(sum));
            }
            return Ok(());
        }
        if there.is_some() {
            return Err(SpecError::Twice {
                field: format!("{}.{}", table.about.kind, word.name),
            });
        }
        let unit = word.takes.unit();
        let given = match unit {
            Some(unit) => rest.next().ok_or_else(|| SpecError::NoValue {
                field: format!("{}.{}", table.about.kind, word.name),
                unit,
            })?,
            None => "",
        };
        let (text, value) = read(&Given::new(table.about.kind, word.name, given), word)?;
        self.items.push(Item {
            place: table.place(word.option),
            option: word.option,
            text,
            value,
        });
        Ok(())
    }

    /// What is to be known of its kind besides its parameters.
    #[must_use]
    pub const fn about(&self) -> &'static Descriptor {
        &self.table.about
    }

    /// The options that were given, by name, and what follows from them.
    pub(crate) fn options(&self) -> Options {
        let given = self
            .items
            .iter()
            .map(|item| (item.option.to_owned(), item.value.clone()));
        let mut all: Options = given.collect();
        if let Some((name, value)) = (self.table.besides)(&all) {
            all.insert(name.to_owned(), OptionValue::Number(value));
        }
        all
    }
}

impl fmt::Display for KernelOnly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.table.about.kind)?;
        self.items.iter().try_for_each(|item| write!(f, " {}", item.text))
    }
}

/// `n`, if it is in the range.
fn within(kind: &str, field: &str, n: i64, shown: &str, low: i64, high: i64) -> Result<i64, ParamError> {
    let rule = match (n < low, n > high) {
        (true, _) if low == 1 => "> 0".to_owned(),
        (true, _) => format!(">= {low}"),
        (_, true) => format!("<= {high}"),
        _ => return Ok(n),
    };
    Err(ParamError::new(kind, field, shown, rule))
}

/// The canonical words and the value of an option.
fn read(given: &Given<'_>, word: &KernelWord) -> Result<(String, OptionValue), ParamError> {
    let name = word.name;
    let in_range = |n: i64, low, high| within(given.kind(), name, n, given.value(), low, high);
    let number = |shown: String, n: i64| (format!("{name} {shown}"), OptionValue::Number(n));
    Ok(match word.takes {
        Takes::Count(low, high) => {
            let n = given.signed()?;
            number(n.to_string(), in_range(n, low, high)?)
        }
        Takes::Mask(low, high) => {
            let hexadecimal = given
                .value()
                .strip_prefix("0x")
                .map(|digits| i64::from_str_radix(digits, 16));
            let n = match hexadecimal {
                Some(n) => n.map_err(|_| given.error("a whole number, such as 0xff"))?,
                None => given.signed()?,
            };
            number(n.to_string(), in_range(n, low, high)?)
        }
        Takes::Micros(low, high) => {
            let time = given.duration()?;
            let ns = time.as_nanos();
            if ns % 1000 != 0 {
                return Err(given.error("a whole number of microseconds"));
            }
            number(time.to_string(), in_range(signed(ns / 1000), low, high)?)
        }
        Takes::Bytes(low, high) => {
            let size = given.bytes()?.get();
            number(size.to_string(), in_range(signed(size), low, high)?)
        }
        Takes::Rate(low, high) => {
            let rate = given.rate()?;
            if rate.as_bps() % 8 != 0 {
                return Err(given.error("a whole number of bytes a second"));
            }
            number(rate.to_string(), in_range(signed(rate.as_bps()), low, high)?)
        }
        Takes::Is(n) => (name.to_owned(), OptionValue::Number(n)),
        Takes::Switch(on) => (name.to_owned(), OptionValue::Flag(on)),
        Takes::Choice | Takes::Means(_) => (name.to_owned(), OptionValue::Text(name.to_owned())),
        Takes::More(n) => number_of(word.option, n),
    })
}

/// `More` of nothing is a first number: the option's own word.
fn number_of(option: &'static str, n: i64) -> (String, OptionValue) {
    (format!("{option} {n}"), OptionValue::Number(n))
}
