//! The queue flusher.

mod event;
mod flusher;
mod params;
mod segment;

pub use event::{
    Estimate, Event, Eviction, FlowState, FlowView, FlushId, FlushPlan, FlusherStats, Reason, Verdict, Withheld,
};
pub use flusher::Flusher;
pub use params::{
    BaseKind, Clamp, Counted, Factor, FirstFlush, FlushRtt, FlusherParams, Forced, Growth, LastFlush, Method, Miss,
    ParamError, Restart, Retransmissions, Samples, SizeRtt, Span, Test,
};
pub use segment::{Flags, FlowKey, Segment};
