//! How the options of a discipline lie in a netlink message.
//!
//! Source: `linux/pkt_sched.h` of the kernel's user interface (numbers and types); numbers are in the machine's order
//! of bytes.

use crate::ParamError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What an option of a kernel's discipline is set to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// A count, or a value in the unit that the option's name ends with.
    Number(i64),
    /// On or off.
    Flag(bool),
    /// One of `tc`'s words, several numbers, or bytes in hexadecimal.
    Text(String),
}

/// Options by name.
pub(crate) type Options = BTreeMap<String, OptionValue>;

/// An option, with its name.
pub(crate) type Named = (String, OptionValue);

/// What is added below a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Added {
    /// A discipline of a class.
    Qdisc,
    /// A class.
    Class,
    /// A filter.
    Filter,
}

/// A discipline below the first, a class or a filter: what a kernel is told of it.
///
/// Disciplines are numbered from 0, which is the first of all. A handle is such a number and the number of a class, or
/// 0 for the discipline itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelBelow {
    /// What it is.
    pub adds: Added,
    /// To what it is added.
    pub parent: (u16, u16),
    /// Its own handle; of a filter, the class to which it sends packets.
    pub id: (u16, u16),
    /// The kind of discipline, class or filter.
    pub kind: String,
    /// Options by name, as in [`KernelOptions`](crate::KernelOptions). A filter has its `priority` and a code point `dscp`; without that it
    /// takes every packet.
    pub options: Options,
}

/// The layout of the options of one kind.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layout {
    /// There are none. A `limit` is the transmit queue length of the device.
    None,
    /// A structure of words of 32 bits, of these options and then zeros, so many bytes in all.
    Words(&'static [&'static str], usize),
    /// An attribute for each option that is there. Their types are their places, from 1 on.
    Attributes(&'static [Row]),
    /// Neither.
    Own(fn(&Options) -> Vec<u8>),
    /// Neither, but attributes.
    OwnAttributes(fn(&Options) -> Vec<u8>),
}

/// A value in a message: its name, and how it is stored. One without a name is not used.
pub type Row = (&'static str, Form);

/// Rows of a layout: each line is `FORM => NAMES;`.
macro_rules! rows {
    ($($form:expr => $($name:literal)+;)+) => {
        &[$($(($name, $form)),+),+]
    };
}
pub(crate) use rows;

/// How a value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A byte.
    U8,
    /// A word of 32 bits.
    U32,
    /// A signed word of 32 bits.
    S32,
    /// A word of 64 bits.
    U64,
    /// A probability as a word of 64 bits, of which all set is 1.
    Probability,
    /// A probability as a word of 32 bits, of which all set is 1.
    Probability32,
    /// A rate of bit/s as bytes a second, in 32 bits.
    Rate32,
    /// The same in 64.
    Rate64,
    /// A power of two as its logarithm, in 32 bits.
    Log,
    /// A word as its place in this list, in 32 bits.
    Choice(&'static [&'static str]),
    /// So many words of 32 bits.
    Words(usize),
    /// The band of each of 16 priorities, a byte each, behind so many bands in 32 bits (`struct tc_prio_qopt`).
    Priomap(u32),
}

/// The options of a discipline, ready for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetlinkOptions {
    /// What `TCA_OPTIONS` holds; `None` where the kind takes no options.
    pub payload: Option<Vec<u8>>,
    /// Whether that is attributes, and is to be flagged so.
    pub nested: bool,
    /// The transmit queue length that the device needs, if that matters.
    pub queue_length: Option<i64>,
}

impl Layout {
    /// The options of `kind`, whose layout this is, as a kernel takes them.
    pub(crate) fn encode(self, kind: &str, options: &Options) -> Result<NetlinkOptions, ParamError> {
        let payload = match self {
            Layout::None => None,
            Layout::Words(names, size) => {
                let mut bytes: Vec<u8> = names.iter().flat_map(|name| word(options, name)).collect();
                bytes.resize(size, 0);
                Some(bytes)
            }
            Layout::Attributes(table) => {
                let mut bytes = Vec::new();
                for (name, value) in options {
                    let place = table.iter().position(|row| row.0 == name);
                    let placed = place.and_then(|place| Some((place as u16 + 1, table[place].1.bytes(value)?)));
                    let (place, value) = placed.ok_or_else(|| {
                        ParamError::new(kind, name, format!("{value:?}"), "an option that a kernel takes")
                    })?;
                    push(&mut bytes, place, &value);
                }
                Some(bytes)
            }
            Layout::Own(encode) | Layout::OwnAttributes(encode) => Some(encode(options)),
        };
        Ok(NetlinkOptions {
            nested: matches!(self, Layout::Attributes(_) | Layout::OwnAttributes(_)),
            queue_length: payload.is_none().then(|| number(options, "limit")),
            payload,
        })
    }
}

impl Form {
    /// How many bytes it takes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U32 | Self::S32 | Self::Probability32 | Self::Rate32 | Self::Log | Self::Choice(_) => 4,
            Self::U64 | Self::Probability | Self::Rate64 => 8,
            Self::Words(many) => 4 * many,
            Self::Priomap(_) => 20,
        }
    }

    fn bytes(self, value: &OptionValue) -> Option<Vec<u8>> {
        let n = match (self, value) {
            (Self::Words(_) | Self::Priomap(_), OptionValue::Text(text)) => return self.list(text),
            (Self::Choice(words), OptionValue::Text(text)) => {
                words.iter().position(|word| word == text)?.try_into().ok()?
            }
            (_, OptionValue::Text(_)) => return None,
            (_, OptionValue::Flag(on)) => i64::from(*on),
            (_, OptionValue::Number(n)) => *n,
        };
        let stored = match self {
            Self::Rate32 | Self::Rate64 => n / 8,
            Self::Log => n.checked_ilog2()?.into(),
            _ => n,
        };
        let bytes = stored.to_le_bytes().get(..self.size())?.to_vec();
        Some(if cfg!(target_endian = "big") {
            bytes.into_iter().rev().collect()
        } else {
            bytes
        })
    }

    /// The numbers of a list, if they are as many as it takes.
    fn list(self, text: &str) -> Option<Vec<u8>> {
        let numbers: Vec<u32> = text.split(' ').map(|n| n.parse().ok()).collect::<Option<_>>()?;
        let words = |numbers: &[u32]| numbers.iter().flat_map(|n| n.to_ne_bytes()).collect::<Vec<u8>>();
        let bytes = match self {
            Self::Priomap(bands) => {
                let map: Option<Vec<u8>> = numbers.iter().map(|&band| band.try_into().ok()).collect();
                [words(&[bands]), map?].concat()
            }
            _ => words(&numbers),
        };
        (bytes.len() == self.size()).then_some(bytes)
    }
}

/// An option as a number; 0 if it is not there.
pub(crate) fn number(options: &Options, name: &str) -> i64 {
    match options.get(name) {
        Some(OptionValue::Number(n)) => *n,
        Some(OptionValue::Flag(on)) => i64::from(*on),
        _ => 0,
    }
}

/// The numbers of an option that has several.
pub(crate) fn numbers(options: &Options, name: &str) -> impl Iterator<Item = u32> {
    let text = match options.get(name) {
        Some(OptionValue::Text(text)) => text.as_str(),
        _ => "",
    };
    text.split_whitespace().filter_map(|word| word.parse().ok())
}

/// An option as a word of 32 bits, which holds each that is not larger than it.
pub(crate) fn word(options: &Options, name: &str) -> [u8; 4] {
    (number(options, name).min(i64::from(u32::MAX)) as u32).to_ne_bytes()
}

/// `NLA_F_NESTED`: an attribute of attributes.
pub(crate) const NESTED: u16 = 0x8000;

/// Adds an attribute, padded to whole words.
pub(crate) fn push(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    bytes.extend((value.len() as u16 + 4).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests;
