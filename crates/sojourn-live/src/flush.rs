//! The queue flusher as a daemon: `sojournd flush`.
//!
//! [`pipeline::Pipeline`] turns captured frames into decisions; [`gate::Gate`], shared with the simulator, stands
//! between these and the wire. Both are pure. Around them: `read` feeds a file, `live` (with the feature `capture`) a
//! network interface, and `send`, by an ordinary UDP socket, what the gate let through.

pub mod cli;
pub mod clock;
pub mod config;
pub mod line;
#[cfg(feature = "capture")]
mod live;
pub mod log;
pub mod metrics;
pub mod pipeline;
pub mod privileges;
pub mod read;
#[cfg(feature = "capture")]
mod sandbox;
pub mod send;
#[cfg(feature = "capture")]
mod source;
mod summary;
#[cfg(feature = "capture")]
mod watch;

pub use sojourn_flusher::gate;
pub use summary::Summary;
