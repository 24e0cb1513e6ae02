//! The words of a discipline: what one would type after `tc qdisc add dev X root`.
//!
//! Each kind has one table of words ([`words::Word`]) in its module; reading, writing and listing all come from it.

pub(crate) mod catalogue;
pub(crate) mod error;
pub(crate) mod kernel_words;
pub(crate) mod measures;
pub(crate) mod model;
pub(crate) mod numbers;
pub(crate) mod raw_value;
pub(crate) mod reading;
pub(crate) mod words;
