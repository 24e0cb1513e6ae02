//! The agent of a bed: it builds the bed in network namespaces, carries the traffic of a plan, and writes what it saw.
//!
//! One thread and one event loop serve all hosts of the bed: a socket stays in the namespace it was opened in. So the
//! order of everything is that of the kernel's events, and a virtual-time kernel gives the same bytes each time.

mod actor;
pub mod icmp;
pub mod one_way;
mod probe;
mod receive;
pub mod tap;
pub mod udp_rr;

#[cfg(test)]
mod fake;

pub use actor::{Actor, AgentError, Host, World};
