//! Units of the laboratory: [`Time`], [`Duration`], [`Bytes`] and [`Rate`], the spellings `tc` uses for them,
//! the codepoints of [`Ecn`], and the seeded random [`Stream`].
//!
//! Every quantity is an integer (nanoseconds, bytes, bits per second), so that the same scenario and seed give the
//! same bytes on any machine. Nothing here can ask what time it is: time is always an argument.

mod ecn;
mod parse;
mod quantity;
mod stream;
mod text;
mod words;

pub use ecn::{Ecn, UnknownEcn};
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
