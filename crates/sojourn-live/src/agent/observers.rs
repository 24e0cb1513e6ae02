//! Actors that look: at disciplines, counters, radios and frames, and the flusher with its captures.

pub(crate) mod bins;
pub(crate) mod counters;
pub(crate) mod ends;
pub(crate) mod flush;
pub(crate) mod qdisc;
pub(crate) mod radio;
pub mod tap;
