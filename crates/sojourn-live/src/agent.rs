//! The agent of a bed: it builds the bed in network namespaces, carries the traffic of a plan, and writes what it
//! saw.
//!
//! One thread and one event loop serve all hosts of the bed: a socket stays in the namespace it was opened in. So the
//! order of everything is that of the kernel's events, and a virtual-time kernel gives the same bytes each time.

pub(crate) mod actor;
mod calls;
mod carry_out;
mod check;
pub mod guest;
pub mod host;
pub(crate) mod kernel;
mod live;
pub mod observers;
pub mod plan;
pub mod programs;
mod reactor;
mod run;
pub mod traffic;

#[cfg(test)]
mod fake;

pub use actor::{Actor, AgentError, Host, World};
pub use carry_out::carry_out;
pub use reactor::Reactor;
pub use traffic::web::Web;
