//! Runs packetdrill scripts against Sojourn's TCP, in virtual time and without a socket.
//!
//! packetdrill is the conformance suite of Linux's TCP (Cardwell et al., USENIX ATC 2013). A script says which segments
//! arrive and which calls an application makes, and which segments must leave and when. [`parse`] reads a script, and
//! [`run`] runs it against [`sojourn_tcp::Endpoint`]. The result is an [`Outcome`]: passed, failed with the line, or
//! not applicable with the word of the script that our TCP has nothing for.
//!
//! What lies between a script and our TCP is small. Sockets have the calls that scripts use (`calls.rs`). Segments that
//! follow each other count as one where the script expects one, because our TCP does no segmentation offload
//! (`matching.rs`). The commands of a script become parameters of our TCP where it has them (`settings.rs`).
//!
//! ```
//! let text = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
//! +0...0.01 connect(3, ..., ...) = 0
//! +0 > S 0:0(0) <...>
//! +.01 < S. 0:0(0) ack 1 win 65535 <mss 1460>
//! +0 > . 1:1(0) ack 1";
//! let script = sojourn_drill::parse(text).expect("it is a script");
//! assert_eq!(sojourn_drill::run(&script).outcome, sojourn_drill::Outcome::Passed);
//! ```

mod calls;
mod connection;
mod expr;
mod host;
mod info;
mod matching;
mod memory;
mod options;
mod ours;
mod outcome;
mod parse;
mod run;
mod scope;
mod script;
mod settings;
mod show;
mod target;
mod value;
mod wire;
mod words;
mod write;

pub use expr::{Act, Assigned, Expr, Statement};
pub use matching::compare_packets;
pub use outcome::{Failure, Outcome, Run};
pub use parse::{ParseError, parse};
pub use run::{run, run_on};
pub use script::{Action, Call, Event, Packet, Script, ScriptOption, TcpOption, Value, When};
pub use settings::{commands_of, words_of};
/// The order of the fields of the option of AccECN.
pub use sojourn_tcp::FieldOrder;
pub use target::{Answer, Taken, Target, Trouble};
pub use value::Scalar;
pub use wire::Clocks;
pub use words::Missing;
