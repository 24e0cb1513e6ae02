//! TCP as Linux does it, as plain values that are told the time.
//!
//! Read first: RFC 9293, 5681, 6298, 6582, 6675, 2018, 2883, 8985 (RACK-TLP), 6937 (PRR), 5682 (F-RTO), 9438 (CUBIC).
//!
//! An [`Endpoint`] is one end of a connection: a [`Sender`] with its congestion control, and a [`Receiver`] with its
//! acknowledgement policy. It carries no bytes, only their numbers; it opens no socket and reads no clock. Whoever
//! drives it hands it segments and the time, takes the segments it wants to send, and wakes it when it asks.
//!
//! ```
//! use sojourn_tcp::{Endpoint, TcpParams};
//! use sojourn_units::Time;
//!
//! let params = TcpParams::default();
//! let (mut client, mut server) = (Endpoint::client(&params).unwrap(), Endpoint::server(&params).unwrap());
//! client.write(100_000);
//! client.connect(Time::ZERO);
//! let mut now = Time::ZERO;
//! while client.sender().bytes_acked() < 100_000 {
//!     now = now + sojourn_units::Duration::from_millis(5);
//!     client.on_timeout(now);
//!     server.on_timeout(now);
//!     while let Some(segment) = client.poll_transmit(now) {
//!         server.on_segment(&segment, now);
//!     }
//!     while let Some(segment) = server.poll_transmit(now) {
//!         client.on_segment(&segment, now);
//!     }
//! }
//! assert_eq!(server.receiver().bytes_in_order(), 100_000);
//! ```

pub mod cc;
mod endpoint;
mod fack;
mod machine;
mod metrics;
mod pacing;
mod params;
mod rack;
mod rate;
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod send_buffer;
mod sender;
mod small_queue;
mod ticks;
mod variant;
mod window;

pub use endpoint::{ConnectionState, Endpoint};
pub use machine::{CaState, SenderStats};
pub use metrics::Metrics;
pub use params::{ReceiveBuffer, TcpParams};
pub use receiver::{Receiver, ReceiverStats};
pub use segment::{Flags, SackBlock, Segment, WINDOW_UNIT};
pub use sender::Sender;
pub use small_queue::Device;
pub use variant::{Heads, ParamError, Variant};
