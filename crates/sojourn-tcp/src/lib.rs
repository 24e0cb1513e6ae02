#![doc = include_str!("../README.md")]
//! # Main types
//!
//! - [`Endpoint`]: one end of a connection, made from [`TcpParams`].
//! - [`Segment`]: what two endpoints tell each other; [`Segment::wire_size`] is its size in bytes.
//! - [`Sender`] and [`Receiver`]: the halves of an endpoint, for looking at: windows, counters, bytes.
//! - [`cc::Algorithm`]: the congestion controls, one module each.
//! - [`EcnMode`] and [`AccEcn`]: feedback of congestion, and what one end knows of it.
//! - [`Variant`]: the Linux whose loss recovery and acknowledgements these are.
//! - [`Device`]: for a host whose own network device queues (TCP small queues).
//! - [`ReceiveMemory`]: a receive buffer that the application reads when it likes, and [`Held`], what it holds.
//! - [`Metrics`]: what a host remembers from one connection to the next.

pub use sojourn_units;

mod accecn;
pub mod cc;
mod endpoint;
mod fack;
mod handshake;
mod machine;
mod metrics;
mod pacing;
mod params;
mod rack;
mod rate;
mod receiver;
mod reset;
mod rtt;
mod rules;
mod sacks;
mod scoreboard;
mod segment;
mod send_buffer;
mod sender;
mod small_queue;
mod timestamp;
mod variant;
mod window;

pub use accecn::{AccEcn, AccEcnOption, AccEcnParams, EcnMode, FieldOrder, OptionSeen, OptionUse};
pub use endpoint::{ConnectionState, Endpoint};
pub use machine::{CaState, SenderStats};
pub use metrics::Metrics;
pub use params::{ReceiveBuffer, TcpParams};
pub use receiver::{Held, Receiver, ReceiverStats};
pub use segment::{Flags, SackBlock, Segment, WINDOW_UNIT};
pub use sender::{Outstanding, Sender};
pub use small_queue::Device;
pub use variant::{Heads, ParamError, Variant};
pub use window::ReceiveMemory;
