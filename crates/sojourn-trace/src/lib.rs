//! Captured bytes, and what TCP says in them.
//!
//! [`Reader`] reads pcap and pcapng from any byte stream, a record at a time and in bounded memory; [`segment`] turns
//! the bytes of one frame into a [`Segment`](sojourn_flusher::Segment), or says why it is none ([`Skip`]). Neither
//! asks for a library of the machine, a clock or a socket: a live capture calls [`segment`] with the bytes it got,
//! and decides as it would from the file.
//!
//! [`pairs::packet_pairs`] measures round-trip times from two captures, in which it finds the same packets by their
//! [`identity`].
//!
//! Nothing here panics on any input; what is malformed is counted by reason ([`Skipped`]).

mod identity;
mod link;
pub mod pairs;
mod read;
mod segment;
mod skip;
mod synthetic;
mod write;

pub use identity::{Conversation, Identity, Protocol, identity};
pub use link::LinkType;
pub use read::{Reader, Record, TraceError};
pub use segment::segment;
pub use skip::{Skip, Skipped};
pub use synthetic::{Synthetic, SyntheticFrame};
pub use write::Writer;
