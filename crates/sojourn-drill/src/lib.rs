//! Runs packetdrill scripts against Sojourn's TCP.
mod expr;
mod parse;
mod script;
pub use expr::*;
pub use parse::*;
pub use script::*;
