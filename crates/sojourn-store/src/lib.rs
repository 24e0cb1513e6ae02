//! What a store keeps of a run: the record without its series as JSON, and the series as a Parquet file.
//!
//! [`split`] takes a record apart, [`Parts::store`] writes its series, and [`load`] reads them, whoever wrote them.
//! [`read_heads`] makes a table of many stored runs.

mod columns;
pub mod cost;
mod heads;
mod pack;
pub mod parquet;

pub use columns::{Error, Parts, load, split};
pub use heads::{Heads, Known, Row, read_heads};
pub use pack::{Packed, pack};
