//! The real world: the only crate with sockets and a clock.

pub mod agent;
pub mod bottleneck;
mod clients;
pub mod flush;
mod kin;
mod output;
mod sentence;
pub mod supervise;
mod timer;
