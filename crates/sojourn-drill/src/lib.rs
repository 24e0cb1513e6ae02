//! Runs packetdrill scripts against Sojourn's TCP, in virtual time and without a socket.
//!
//! packetdrill is the conformance suite of Linux's TCP (Cardwell et al., USENIX ATC 2013). A script says which segments
//! arrive and which calls an application makes, and which segments must leave and when. [`parse`] reads a script, and
//! [`run`] runs it against [`sojourn_tcp::Endpoint`]. The result is an [`Outcome`]: passed, failed with the line, or not
//! applicable with the word of the script that our TCP has nothing for.

mod calls;
mod connection;
mod expr;
mod host;
mod info;
mod matching;
mod outcome;
mod parse;
mod run;
mod scope;
mod script;
mod settings;
mod show;
mod wire;
mod words;

pub use expr::{Expr, Scalar, Statement};
pub use outcome::{Failure, Outcome};
pub use parse::{ParseError, parse};
pub use run::run;
pub use script::{Action, Call, Event, Packet, Script, ScriptOption, TcpOption, Value, When};
pub use words::Missing;
