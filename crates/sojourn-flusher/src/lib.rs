//! The queue flusher.

mod adaptive;
mod clock;
mod detector;
mod event;
mod flow;
mod flow_table;
mod flusher;
mod lru;
mod outstanding;
mod params;
mod plan;
mod rtt;
mod segment;
mod throughput;

pub use event::{
    Estimate, Event, Eviction, FlowState, FlowView, FlushId, FlushPlan, FlusherStats, Reason, Verdict, Withheld,
};
pub use flusher::Flusher;
pub use params::{
    Acknowledged, BaseKind, Clamp, Counted, Factor, FirstFlush, FlushRtt, FlusherParams, Forced, Growth, LastFlush,
    Method, Miss, ParamError, Restart, Retransmissions, Samples, SizeRtt, Span, Test,
};
pub use segment::{Flags, FlowKey, Segment};

#[cfg(test)]
mod tests;
