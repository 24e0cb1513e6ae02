#![doc = include_str!("../README.md")]
//! # Main types
//!
//! - [`Time`], [`Duration`], [`Bytes`] and [`Rate`]: the quantities. Arithmetic between them keeps the units apart.
//! - [`parse_duration`], [`parse_rate`], [`parse_bytes`]: `tc`'s spellings; [`UnitError`] if a text is none.
//! - [`Ecn`]: the four codepoints of the ECN field.
//! - [`ticks`]: the kernel's coarse clock, and when its timers go off.
//! - [`Stream`]: the random numbers of one component of one run.
//! - [`words!`] and [`text!`]: types that stand in files as words or as text.

mod ecn;
mod parse;
mod quantity;
mod stream;
pub mod tc;
mod text;
pub mod ticks;
mod words;

pub use ecn::Ecn;
pub use parse::{UnitError, format_duration, format_rate, parse_bytes, parse_duration, parse_rate};
pub use quantity::{Bytes, Duration, Rate, Time};
pub use stream::Stream;

/// What the code of [`words!`] and [`text!`] names.
#[doc(hidden)]
pub mod macros {
    pub use crate::text::{choose, read};
    pub use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    pub use serde;
}
