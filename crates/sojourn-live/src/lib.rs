//! The real world: the only crate with sockets and a clock.

pub mod agent;
pub mod bottleneck;
pub mod flush;
pub mod supervise;
