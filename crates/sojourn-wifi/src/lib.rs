//! An 802.11 cell as a plain value that is told the time: physical layer, EDCA, aggregation and Block Acks, and the
//! queues above them as Linux had them before and after 2016.
//!
//! Source: IEEE 802.11-2020 clauses 10, 17, 19 and 21; seed 002; seed 000 section 7.

mod aggregate;
mod airtime;
mod ampdu;
mod aql;
#[cfg(test)]
mod bianchi;
mod category;
mod cell;
mod contention;
mod defer;
mod demote;
mod dense;
mod driver_fifo;
mod duration;
mod edca;
mod error;
mod fade;
mod frame;
mod latency;
mod longest;
mod mac80211;
mod policy;
mod policy_spec;
mod queue_spec;
mod queues;
mod rate_control;
mod rates;
mod receiver;
mod retry;
mod retry_age;
mod round;
mod round_robin;
mod scheme;
mod spec;
#[cfg(test)]
mod test_packet;
mod transmitter;
mod variant;
mod vo_in_aggregate;

pub use airtime::{AirtimeScheduler, Driver};
pub use ampdu::{AMPDU_MAX, AmpduLength, BLOCK_ACK_WINDOW, mpdu};
pub use aql::AqlSpec;
pub use category::{AccessCategory, NodeId, PeerTid, Tid};
pub use cell::{Cell, CellSink, CellStats, FrameTimes, LinkStats, StationStats};
pub use dense::DenseSpec;
pub use duration::{ACK, BLOCK_ACK, Band, PPDU_MAX, Response};
pub use edca::{EdcaParams, EdcaSpec, EdcaTable};
pub use error::WifiError;
pub use fade::FadeSpec;
pub use frame::{Aggregate, Frame, FrameSink, WifiPacket};
pub use latency::{LatencySpec, LatencyStats};
pub use mac80211::Mac80211Scheduler;
pub use policy::CreditScheduler;
pub use policy_spec::{GroupSpec, Policies, QosOrder, SchedulerKind};
pub use queue_spec::{DEFAULT_WEIGHT, NodeSpec, PeerSpec};
pub use queues::{TidStats, WifiQueues, WifiQueuesParams};
pub use rate_control::RateControl;
pub use rates::{Format, Guard, PhyRate, RateError, Width};
pub use round_robin::RoundRobin;
pub use scheme::Scheme;
pub use spec::{CellSpec, StationSpec};
pub use transmitter::{Completion, PeerStats, Transmitter};
pub use variant::Variant;
