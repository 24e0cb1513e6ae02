//! Queue disciplines as plain values that are told the time.
//!
//! A discipline owns the packets that it holds, takes the time as an argument of every call, and accounts for every
//! packet it drops. It opens no socket, reads no clock and owns its random numbers: the same calls give the same
//! answers in the simulator, in a test and in a daemon.

mod packet;
mod qdisc;

pub use packet::{Departure, DropReason, DropSink, Dropped, Packet};
pub use qdisc::{Admission, Backlog, Qdisc, QdiscStats};
