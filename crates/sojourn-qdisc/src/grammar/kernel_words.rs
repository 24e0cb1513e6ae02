//! Tables of words for kinds of which a kernel has more words than the simulator: read and written, whether modelled or
//! not.
//!
//! Each such kind has one table in its module. A word fills an option, or stands for other words; what is not given is
//! left to the kernel.

use super::catalogue::ParameterInfo;
use super::error::SpecError;
use super::measures::{Speed, Unit, Value, signed};
use super::raw_value::{FLAG, RawValue};
use crate::ParamError;
use crate::descriptor::Descriptor;
use crate::netlink::{OptionValue, Options};
use std::fmt;

/// What follows a word, or what it says by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Takes {
    /// A whole number in this range, as decimal.
    Count(i64, i64),
    /// A whole number of 32 bits; `0x` for hexadecimal.
    Mask,
    /// A time, in whole microseconds, in this range of them.
    Micros(i64, i64),
    /// A size, in this range of bytes.
    Bytes(i64, i64),
    /// A rate, cut to whole bytes a second.
    Rate,
    /// Nothing: the option is this number.
    Is(i64),
    /// Nothing: the option is on, or off.
    Switch(bool),
    /// Nothing: the option is the word.
    Choice,
    /// Nothing: it says the same as these words. A `+` before one adds its number.
    Means(&'static [&'static str]),
}

impl Takes {
    /// The unit of the value that follows; `None` if none does.
    pub(crate) const fn unit(&self) -> Option<&'static str> {
        match self {
            Self::Count(..) | Self::Mask => Some("number"),
            Self::Micros(..) => Some("time"),
            Self::Bytes(..) => Some("bytes"),
            Self::Rate => Some("rate"),
            _ => None,
        }
    }
}

/// A word of a kernel's discipline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelWord {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
}

/// An option of a kernel's discipline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelOption {
    /// Empty for words that say what others say.
    pub(crate) name: &'static str,
    /// What holds if it is not given; empty if nothing does.
    pub(crate) default: &'static str,
    /// One line.
    pub(crate) help: &'static str,
    /// The words that fill it, of which the last counts.
    pub(crate) words: &'static [KernelWord],
}

impl KernelOption {
    /// The option for lists: its word if that has a value, or else all words that exclude each other.
    fn info(&self) -> ParameterInfo {
        let valued = |word: &KernelWord| Some((word.name.to_owned(), word.takes.unit()?));
        let (name, unit) = self.words.iter().find_map(valued).unwrap_or_else(|| {
            let names: Vec<&str> = self.words.iter().map(|word| word.name).collect();
            (names.join(" | "), FLAG)
        });
        ParameterInfo {
            name,
            default: Some(self.default.to_owned()).filter(|default| !default.is_empty()),
            unit,
            help: self.help.to_owned(),
        }
    }
}

/// The largest word of 32 bits.
pub(crate) const MOST: i64 = u32::MAX as i64;

/// A table of options: each row is `OPTION (DEFAULT, HELP): NAME TAKES, ...;`. Words that say what others say have no
/// option of their own: `"": NAME TAKES, ...;`.
macro_rules! kernel_options {
    ($($option:literal $(($default:literal, $help:literal))?:
        $($name:literal $takes:ident $(($($of:expr),+))?),+;)+
    ) => {
        &[$($crate::grammar::kernel_words::KernelOption {
            name: $option,
            default: concat!($($default)?),
            help: concat!($($help)?),
            words: &[$($crate::grammar::kernel_words::KernelWord {
                name: $name,
                takes: $crate::grammar::kernel_words::Takes::$takes $(($($of),+))?,
            }),+],
        }),+]
    };
}
pub(crate) use kernel_options;

/// The table of a kind.
#[derive(Debug)]
pub(crate) struct KernelTable {
    pub(crate) about: Descriptor,
    /// In the order in which they are written.
    pub(crate) options: &'static [KernelOption],
    /// Words that take options back which stand before them.
    pub(crate) takes_back: &'static [(&'static str, &'static [&'static str])],
    /// Words of which one may stand, and once.
    pub(crate) once: &'static [&'static str],
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
    /// A word, and the place of the option that it fills.
    fn word(&self, name: &str) -> Option<(usize, &'static KernelWord)> {
        let mut places = self.options.iter().enumerate();
        places.find_map(|(place, option)| {
            let word = option.words.iter().find(|word| word.name == name)?;
            Some((place, word))
        })
    }

    /// Its options, for lists.
    pub(crate) fn parameters(&self) -> Vec<ParameterInfo> {
        let named = self.options.iter().filter(|option| !option.name.is_empty());
        named.map(KernelOption::info).collect()
    }
}

/// An option that was given.
#[derive(Clone, Debug, PartialEq)]
struct Item {
    /// Its place in the table.
    place: usize,
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
        let mut once = false;
        while let Some(&name) = rest.next() {
            let Some((place, word)) = table.word(name) else {
                let words = table.options.iter().flat_map(|option| option.words);
                return Err(SpecError::UnknownWord {
                    word: name.to_owned(),
                    kind: table.about.kind,
                    allowed: words.map(|word| word.name).collect::<Vec<_>>().join(", "),
                });
            };
            if table.once.contains(&name) && std::mem::replace(&mut once, true) {
                return Err(SpecError::Twice {
                    field: format!("{}.{name}", table.about.kind),
                });
            }
            if let Takes::Means(others) = word.takes {
                let mut others = others.iter();
                while let Some(&other) = others.next() {
                    if let Some((place, word)) = table.word(other.trim_start_matches('+')) {
                        spec.add(place, word, other.starts_with('+'), &mut others)?;
                    }
                }
            } else {
                spec.add(place, word, false, &mut rest)?;
            }
        }
        spec.items.sort_by_key(|item| item.place);
        Ok(spec)
    }

    /// Fills the option at `place` by `word`; its value is the next of `rest`, or so much more.
    fn add<'a>(
        &mut self,
        place: usize,
        word: &'static KernelWord,
        more: bool,
        rest: &mut impl Iterator<Item = &'a &'a str>,
    ) -> Result<(), SpecError> {
        let table = self.table;
        let unit = word.takes.unit();
        let given = match unit {
            Some(unit) => rest.next().ok_or_else(|| SpecError::NoValue {
                field: format!("{}.{}", table.about.kind, word.name),
                unit,
            })?,
            None => "",
        };
        let (mut text, mut value) = read(&RawValue::new(table.about.kind, word.name, given), word)?;
        let there = self.items.iter().find(|item| item.place == place);
        if let (true, Some(there), OptionValue::Number(n)) = (more, there, &value)
            && let OptionValue::Number(before) = there.value
        {
            (text, value) = (format!("{} {}", word.name, before + n), OptionValue::Number(before + n));
        }
        let back = table.takes_back.iter().find(|(name, _)| *name == word.name);
        let back = |item: &Item| back.is_some_and(|(_, options)| options.contains(&table.options[item.place].name));
        self.items.retain(|item| item.place != place && !back(item));
        self.items.push(Item { place, text, value });
        Ok(())
    }

    /// What is to be known of its kind besides its parameters.
    #[must_use]
    pub const fn about(&self) -> &'static Descriptor {
        &self.table.about
    }

    /// The options that were given, by name, and what follows from them.
    pub(crate) fn options(&self) -> Options {
        let name = |item: &Item| self.table.options[item.place].name.to_owned();
        let given = self.items.iter().map(|item| (name(item), item.value.clone()));
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
fn read(raw: &RawValue<'_>, word: &KernelWord) -> Result<(String, OptionValue), ParamError> {
    let name = word.name;
    let in_range = |n: i64, low, high| within(raw.kind(), name, n, raw.value(), low, high);
    let number = |shown: String, n: i64| (format!("{name} {shown}"), OptionValue::Number(n));
    Ok(match word.takes {
        Takes::Count(low, high) => {
            let n = raw.signed(10)?;
            number(n.to_string(), in_range(n, low, high)?)
        }
        Takes::Mask => {
            let n = raw.count(0)?;
            number(n.to_string(), n.into())
        }
        Takes::Micros(low, high) => {
            let time = raw.duration()?;
            let us = in_range(signed(time.as_nanos() / 1000), low, high)?;
            number(Value::Time(time).to_string(), us)
        }
        Takes::Bytes(low, high) => {
            let size = raw.bytes()?.get();
            number(size.to_string(), in_range(signed(size), low, high)?)
        }
        Takes::Rate if Speed::is_zero(raw.value()) => ("unlimited".to_owned(), OptionValue::Number(0)),
        Takes::Rate => {
            let rate = raw.rate()?;
            number(Value::Rate(rate).to_string(), signed(rate.as_bps()))
        }
        Takes::Is(n) => (name.to_owned(), OptionValue::Number(n)),
        Takes::Switch(on) => (name.to_owned(), OptionValue::Flag(on)),
        Takes::Choice | Takes::Means(_) => (name.to_owned(), OptionValue::Text(name.to_owned())),
    })
}
