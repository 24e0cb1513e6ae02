//! What a word's value measures: how it is read into a field, written, and told to a kernel.

use super::numbers::Numbers;
use super::raw_value::{FLAG, NUMBERS, RawValue};
use crate::ParamError;
use crate::netlink::{Named, OptionValue};
use crate::param::LONGEST;
use crate::selector::Selector;
use sojourn_units::{Bytes, Duration, Rate, format_duration, format_rate, tc};
use std::fmt;

/// The value of a word. It is written so that it is read as the same: a fraction can come out as less than it says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Count(u32),
    Seconds(u32),
    Bytes(Bytes),
    Memory(Bytes),
    Time(Duration),
    Nanos(Duration),
    Rate(Rate),
    Real(f64),
    Flag(bool),
    /// A number that is read and written in hexadecimal.
    Hex(u32),
    /// What bits of a byte must be.
    Masked(Selector),
    /// Packets, where another unit could be meant.
    Packets(u32),
    Percent(u32),
    /// One of a few words.
    Word(&'static str),
    Numbers(Numbers),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MIB: u64 = 1 << 20;
        match self {
            Self::Count(n) | Self::Seconds(n) => n.fmt(f),
            Self::Memory(size) if size.get().is_multiple_of(MIB) => write!(f, "{}Mb", size.get() / MIB),
            Self::Bytes(size) | Self::Memory(size) => size.get().fmt(f),
            Self::Time(time) => {
                let us = time.as_nanos() / 1000;
                let short = format_duration(*time);
                if time.as_nanos() % 1000 != 0 || tc::micros(&short) == Some(us) {
                    return f.write_str(&short);
                }
                let ms = format!("{}ms", us as f64 / 1e3);
                if tc::micros(&ms) == Some(us) {
                    f.write_str(&ms)
                } else {
                    write!(f, "{us}us")
                }
            }
            Self::Nanos(time) => {
                let short = format_duration(*time);
                if tc::nanos(&short) == Some(time.as_nanos()) {
                    return f.write_str(&short);
                }
                write!(f, "{}ns", time.as_nanos())
            }
            Self::Rate(rate) => {
                let bytes = rate.as_bps() / 8;
                let short = format_rate(*rate);
                let kbit = format!("{}kbit", rate.as_bps() as f64 / 1e3);
                match [short.as_str(), &kbit]
                    .into_iter()
                    .find(|text| tc::rate(text) == Some(bytes))
                {
                    Some(text) => f.write_str(text),
                    None => write!(f, "{}bit", rate.as_bps()),
                }
            }
            Self::Real(x) => x.fmt(f),
            Self::Flag(on) => on.fmt(f),
            Self::Hex(n) => write!(f, "{n:x}"),
            Self::Masked(selector) => selector.fmt(f),
            Self::Packets(n) => write!(f, "{n}p"),
            Self::Percent(n) => write!(f, "{n}%"),
            Self::Word(word) => word.fmt(f),
            Self::Numbers(numbers) => numbers.fmt(f),
        }
    }
}

impl Value {
    /// What a kernel is told of `field`; nothing of a number that is not whole, and of a pair.
    pub(crate) fn for_kernel(self, kind: &str, field: &str) -> Result<Option<Named>, ParamError> {
        let (unit, value) = match self {
            Self::Count(n) | Self::Hex(n) | Self::Percent(n) => ("", i64::from(n)),
            Self::Packets(n) => ("_packets", i64::from(n)),
            Self::Seconds(n) => ("_s", i64::from(n)),
            Self::Bytes(size) | Self::Memory(size) => ("_bytes", signed(size.get())),
            Self::Time(time) => ("_us", micros(kind, field, time)?),
            Self::Nanos(time) => ("_ns", signed(time.as_nanos())),
            Self::Rate(rate) => ("_bps", signed(rate.as_bps())),
            Self::Real(_) | Self::Masked(_) => return Ok(None),
            Self::Flag(on) => return Ok(Some((field.to_owned(), OptionValue::Flag(on)))),
            Self::Word(word) => return Ok(Some((field.to_owned(), OptionValue::Text(word.to_owned())))),
            Self::Numbers(numbers) => return Ok(Some((field.to_owned(), OptionValue::Text(numbers.to_string())))),
        };
        Ok(Some((format!("{field}{unit}"), OptionValue::Number(value))))
    }
}

/// `n` with a sign. Times, sizes and rates are read up to less than 2^63 only.
pub(crate) fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A time in the kernel's whole microseconds.
fn micros(kind: &str, field: &str, time: Duration) -> Result<i64, ParamError> {
    let ns = time.as_nanos();
    if !ns.is_multiple_of(1000) || time > LONGEST {
        let rule = "a whole number of microseconds, 32 bits of them, as the kernel takes it";
        return Err(ParamError::new(kind, field, time.to_string(), rule));
    }
    Ok(signed(ns / 1000))
}

/// The unit of a measure, as lists and errors name it.
pub(crate) trait Unit {
    const UNIT: &'static str;

    /// Whether `tc` reads this value as 0.
    fn is_zero(_: &str) -> bool {
        false
    }
}

/// How a measure lies in a field of type `F`.
pub(crate) trait Measure<F>: Unit {
    fn read(raw: &RawValue<'_>) -> Result<F, ParamError>;
    fn value(field: &F) -> Option<Value>;
}

/// A field that need not be set.
impl<F, M: Measure<F>> Measure<Option<F>> for M {
    fn read(raw: &RawValue<'_>) -> Result<Option<F>, ParamError> {
        M::read(raw).map(Some)
    }
    fn value(field: &Option<F>) -> Option<Value> {
        field.as_ref().and_then(M::value)
    }
}

macro_rules! measures {
    ($($(#[$doc:meta])* $name:ident, $unit:expr, $field:ty, $read:expr, $value:expr $(, 0 by $zero:expr)?;)+) => {$(
        $(#[$doc])*
        pub(crate) enum $name {}
        impl Unit for $name {
            const UNIT: &'static str = $unit;
            $(fn is_zero(text: &str) -> bool {
                let zero: fn(&str) -> bool = $zero;
                zero(text)
            })?
        }
        impl Measure<$field> for $name {
            fn read(raw: &RawValue<'_>) -> Result<$field, ParamError> {
                let read: fn(&RawValue<'_>) -> Result<$field, ParamError> = $read;
                read(raw)
            }
            fn value(field: &$field) -> Option<Value> {
                Some($value(*field))
            }
        }
    )+};
}

measures! {
    /// A count of packets.
    Packets, "packets", u32, |g| g.count(0), Value::Count, 0 by |text| tc::count(text, 0) == Some(0);
    /// A count of packets that is read as decimal.
    PlainPackets, "packets", u32, |g| g.count(10), Value::Count, 0 by |text| tc::count(text, 10) == Some(0);
    /// A count of packets that is read as a size.
    SizedPackets, "packets", u32, |g| g.sized_packets(), Value::Count;
    /// Any other count.
    Number, "number", u32, |g| g.count(0), Value::Count, 0 by |text| tc::count(text, 0) == Some(0);
    /// A count that is read as decimal.
    Plain, "number", u32, |g| g.count(10), Value::Count, 0 by |text| tc::count(text, 10) == Some(0);
    /// The same, of 16 bits.
    Short, "number", u32, |g| {
        let number = g.count(10)?;
        u16::try_from(number).map(u32::from).map_err(|_| g.error(format!("<= {}", u16::MAX)))
    }, Value::Count, 0 by |text| tc::count(text, 10) == Some(0);
    /// A count of bytes, without a unit.
    Octets, "bytes", u32, |g| g.count(0), |n| Value::Bytes(Bytes::new(u64::from(n))),
        0 by |text| tc::count(text, 0) == Some(0);
    /// A count of bytes that is read as decimal.
    PlainOctets, "bytes", Bytes, |g| g.count(10).map(|n| Bytes::new(n.into())), Value::Bytes,
        0 by |text| tc::count(text, 10) == Some(0);
    /// A count of seconds.
    Seconds, "seconds", u32, |g| g.count(0), Value::Seconds;
    /// A number that need not be whole.
    Real, "number", f64, |g| g.number(), Value::Real;
    /// A time that a kernel takes in microseconds.
    Time, "time", Duration, |g| g.duration(), Value::Time, 0 by |text| tc::micros(text) == Some(0);
    /// A time that a kernel takes in nanoseconds.
    Nanos, "time", Duration, |g| g.nanos(), Value::Nanos;
    /// A size.
    Size, "bytes", Bytes, |g| g.bytes(), Value::Bytes, 0 by |text| tc::size(text) == Some(0);
    /// A size, with the size of a cell if need be.
    CellSize, "bytes", Bytes, |g| g.size_and_cell(), Value::Bytes,
        0 by |text| tc::size(text.split('/').next().unwrap_or_default()) == Some(0);
    /// A size of memory, written in MiB if it is a whole number of them.
    Memory, "bytes", Bytes, |g| g.bytes(), Value::Memory, 0 by |text| tc::size(text) == Some(0);
    /// A rate.
    Speed, "rate", Rate, |g| g.rate(), Value::Rate, 0 by |text| tc::rate(text) == Some(0);
    /// The minor number of a class, as `tc` writes it.
    Hex, "hexadecimal number", u32, |g| g.hexadecimal(), Value::Hex;
    /// What bits of a byte must be.
    Masked, "value/mask", Selector, |g| g.selector(), Value::Masked;
    /// Several numbers.
    Several, NUMBERS, Numbers, |g| g.numbers(), Value::Numbers;
    /// A flag: on, or with its second name off.
    Flag, FLAG, bool, |given| Ok(given.is_canonical()), Value::Flag;
    /// A flag that each of its names sets.
    Set, FLAG, bool, |_| Ok(true), Value::Flag;
}

/// A size of at most `MOST` bytes.
pub(crate) enum SizeTo<const MOST: u32> {}

impl<const MOST: u32> Unit for SizeTo<MOST> {
    const UNIT: &'static str = "bytes";

    fn is_zero(text: &str) -> bool {
        tc::size(text) == Some(0)
    }
}

impl<const MOST: u32> Measure<u32> for SizeTo<MOST> {
    fn read(raw: &RawValue<'_>) -> Result<u32, ParamError> {
        u32::try_from(raw.bytes()?.get()).map_err(|_| raw.error(format!("<= {MOST}")))
    }
    fn value(field: &u32) -> Option<Value> {
        Some(Value::Bytes(Bytes::new(u64::from(*field))))
    }
}
