//! The agent of a bed: it builds the bed in network namespaces, carries the traffic of a plan, and writes what it
//! saw.
//!
//! One thread and one event loop serve all hosts of the bed: a socket stays in the namespace it was opened in. So the
//! order of everything is that of the kernel's events, and a virtual-time kernel gives the same bytes each time.

pub(crate) mod actor;
mod bins;
mod build;
mod bulk;
mod calls;
mod carry_out;
mod check;
mod controls;
mod counters;
mod download;
mod ends;
mod flood;
mod flush;
pub mod guest;
pub mod host;
pub mod icmp;
mod introduce;
pub mod job;
mod live;
mod mark;
pub(crate) mod netlink;
pub mod offer;
pub mod one_way;
mod packets;
mod pitfalls;
mod probe;
mod programs;
mod qdisc;
mod radio;
mod reactor;
mod receive;
mod route;
mod run;
pub mod step;
pub mod tap;
mod tcp_info;
pub mod udp_rr;
mod web;
mod xstats;

#[cfg(test)]
mod fake;

pub use actor::{Actor, AgentError, Host, World};
pub use carry_out::carry_out;
pub use reactor::Reactor;
pub use web::Web;
