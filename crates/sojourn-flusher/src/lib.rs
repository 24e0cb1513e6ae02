//! The queue flusher: what it sees, when it flushes, and how much.
//!
//! Seed 003 fights standing queues in boxes that one does not control. A program anywhere on the path watches the
//! round-trip times of TCP flows; when a queue stands, it overflows the queue with a short burst, so that the senders
//! back off. Listing 4.1 is the whole of it, and here is where each line lives:
//!
//! | Listing 4.1 | here |
//! |---|---|
//! | `while next packet`, `hash`, `hash.inv` | [`Flusher::handle_segment`], [`Segment::key`], [`FlowKey::inverted`] |
//! | `insert_data_packet`, `packet_exist` | `flow_table::on_data` (Listing 4.3), `outstanding` |
//! | `check_ack`, `get_data_packet`, `calculate_rtt` | `flow_table::on_ack` (Listing 4.6), `rtt` (Listing 4.5), `throughput` (Listing 4.4) |
//! | `packet.rtt > X*basertt` | `detector::on_sample` (Listing 4.2, section 4.5.1) |
//! | `flood()` | `plan::next_flush` (Listing 4.7, section 4.5.2), [`Flusher::poll_flush`] |
//!
//! The core only proposes. It has no socket, no clock and no random numbers; segments and the time go in, plans come
//! out, and whoever runs it checks each plan (by [`gate::Gate`], if it has one), sends it or refuses it, and says so:
//!
//! ```
//! use sojourn_flusher::{FlowKey, Flags, Flusher, FlusherParams, Segment};
//! use sojourn_units::{Duration, Time};
//!
//! let flow = FlowKey { src: "192.0.2.1:5001".parse()?, dst: "198.51.100.1:80".parse()? };
//! let mut core = Flusher::new(FlusherParams::AS_DESCRIBED)?;
//! let mut acknowledged = std::collections::VecDeque::new();
//! // Packets of 1500 bytes at 5 Mbit/s; the RTT is 50 ms for 1.2 s, and then 100 ms.
//! for n in 0..700u32 {
//!     let now = Time::ZERO + Duration::from_micros(2400) * u64::from(n);
//!     while acknowledged.front().is_some_and(|(at, _)| *at <= now) {
//!         let (at, segment) = acknowledged.pop_front().unwrap();
//!         core.handle_segment(&segment, at);
//!     }
//!     let data = Segment {
//!         src: flow.src, dst: flow.dst, seq: n * 1448, ack: 0, flags: Flags { ack: true, ..Flags::default() },
//!         payload: 1448, wire: 1500, window: 0, timestamps: None, sack: false, station: None,
//!     };
//!     let ack = Segment { src: flow.dst, dst: flow.src, seq: 0, ack: (n + 1) * 1448, payload: 0, wire: 52, ..data };
//!     core.handle_segment(&data, now);
//!     acknowledged.push_back((now + Duration::from_millis(if n < 500 { 50 } else { 100 }), ack));
//!     if let Some(plan) = core.poll_flush() {
//!         // Twice the base RTT at 5 Mbit/s, in packets of 12 000 bits.
//!         assert_eq!((plan.packets, plan.flow), (41, flow));
//!         core.flush_refused(plan.id, now);
//!     }
//! }
//! // Refused flushes do not make the next one larger, nor keep it from being proposed.
//! assert_eq!((core.stats().plans, core.stats().refused), (4, 4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Presets
//!
//! [`FlusherParams::AS_WRITTEN`] is the thesis's listings, [`FlusherParams::AS_DESCRIBED`] its text; they contradict
//! each other, and each contradiction is a parameter with both readings. [`FlusherParams::ADAPTIVE`] is ours and the
//! default: see `adaptive.rs` for what it does, why, and what it costs.
//!
//! # What it cannot see
//!
//! - An RTT is from here to the receiver and back. The queue between the sender and here is not in it.
//! - A flow that began while a queue stood has a base RTT with the queue in it, until the queue is empty once.
//! - Acknowledgements can be forged. Forged ones make RTTs smaller, never larger than what was; what they cannot do
//!   is acknowledge what was never sent. A gate must bound what is spent.
//!
//! # Memory
//!
//! At most `max_flows` flows with `max_outstanding` segments of 40 bytes each, and 65 536 events if events are on.

mod adaptive;
mod clock;
mod detector;
mod event;
mod flow;
mod flow_table;
mod flusher;
pub mod gate;
mod lru;
mod outstanding;
mod params;
mod plan;
pub mod rhythm;
mod rtt;
mod segment;
mod throughput;

pub use event::{
    Estimate, Event, Eviction, FlowState, FlowView, FlushId, FlushPlan, FlusherStats, Reason, Verdict, Withheld,
};
pub use flusher::Flusher;
pub use params::{
    Acknowledged, BaseKind, Clamp, Counted, Factor, FirstFlush, FlushRtt, FlusherParams, Forced, Growth, LastFlush,
    Method, Miss, ParamError, Restart, Retransmissions, SampleOf, Samples, SizeRtt, Span, Test,
};
pub use segment::{Flags, FlowKey, Segment, Station};

#[cfg(test)]
mod tests;
