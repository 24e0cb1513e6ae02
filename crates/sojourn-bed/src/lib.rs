//! What passes between a scenario and a bed of real network stacks, as plain data.
//!
//! A bed is five hosts in a row, `client - r1 - delay - r2 - server`, with the bottleneck of each direction at the
//! egress of `r1` (up) and `r2` (down). With a cell there are several clients, its stations, and `r1` is the access
//! point. A [`LoadPlan`] says what traffic a bed carries, with everything drawn and decided; a [`Measured`] says what
//! was seen. Neither holds a rule of how packets behave.
//!
//! All times are whole nanoseconds from the beginning of the measured window, which is when the flows start; probes
//! begin before it, at negative times.

mod load;
mod measured;
pub mod ports;
mod qdisc;
mod watched;
mod wifi;

pub use load::{
    AccessPlan, BottleneckPlan, Common, DownloadPlan, FlowPlan, FlusherPlan, LoadPlan, Planned, ProbePlan, WebPlan,
};
pub use measured::{
    DownloadMeasured, EcnMeasured, Fetch, FileMeasured, FlowMeasured, FlushMeasured, FlusherFlowMeasured,
    FlusherMeasured, Kernel, LatenessMeasured, Measured, Passed, ProbeMeasured, ProgramFlow, ProgramMeasured,
    QdiscMeasured, QdiscSample, Sample, UdpMeasured, WebMeasured, WritesMeasured,
};
pub use qdisc::QdiscPlan;
pub use watched::{Conversation, Watched, WatchedError};
pub use wifi::{
    AqlPlan, CategoryPlan, RadioSample, RadioTotals, WifiLinkPlan, WifiMeasured, WifiPlan, WifiQueuePlan,
    WifiStationPlan,
};

/// Most flows of programs that are told apart at the bottleneck.
pub const MOST_PROGRAM_FLOWS: usize = 10_000;

/// Format name of [`LoadPlan`].
pub const LOAD_FORMAT: &str = "sojourn-load/2";
/// Format name of [`Measured`].
pub const MEASURED_FORMAT: &str = "sojourn-measured/1";
