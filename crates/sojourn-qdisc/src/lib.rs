//! Queue disciplines as plain values that are told the time.
//!
//! A discipline owns the packets that it holds, takes the time as an argument of every call, and accounts for every
//! packet it drops. It opens no socket, reads no clock and owns its random numbers: the same calls give the same
//! answers in the simulator, in a test and in a daemon.
//!
//! [`QdiscSpec::parse`] reads what one would type after `tc qdisc add dev X root`, [`QdiscSpec::build`] makes the
//! discipline, and [`Tbf`] shapes it to a rate.

mod cake;
mod codel;
mod descriptor;
mod discipline;
mod drr;
mod fifo;
mod footprint;
mod fq;
mod fq_codel;
mod fq_pie;
mod grammar;
mod kinds;
mod ledger;
mod netem;
mod netlink;
mod packet;
mod param;
mod pie;
mod presets;
mod qdisc;
mod red;
mod sfq;
mod slab;
mod spec;
mod tbf;
#[cfg(test)]
mod testing;

pub use codel::{Codel, CodelParams, CodelState, CodelStats, CodelVariant, codel_dequeue};
pub use descriptor::{Counters, Descriptor, DropCounters};
pub use discipline::{Discipline, KernelOptions, kernel_options};
pub use fifo::{Fifo, FifoLimit, MTU, PfifoFast, PfifoFastParams, PfifoFastVariant, TX_QUEUE_LEN};
pub use footprint::Footprint;
pub use fq_codel::{FqCodel, FqCodelParams, FqCodelVariant, SfqCodel};
pub use fq_pie::{FqPie, FqPieParams};
pub use grammar::catalogue::{KindInfo, ParameterInfo};
pub use grammar::error::SpecError;
pub use grammar::kernel_words::KernelOnly;
pub use kinds::{AnyQdisc, descriptor, descriptors, kinds};
pub use netem::{Netem, NetemParams};
pub use netlink::{Form, NetlinkOptions, OptionValue, Row};
pub use packet::{Departure, DropReason, DropSink, Dropped, Packet, Queued};
pub use param::ParamError;
pub use pie::{Pie, PieParams, PieVariant};
pub use presets::{PresetInfo, presets};
pub use qdisc::{Admission, Backlog, Qdisc, QdiscStats};
pub use red::{Red, RedParams, RedVariant};
pub use sfq::{SFQ_MAX_DEPTH, Sfq, SfqParams};
pub use slab::{List, Slab, memory_of};
pub use spec::QdiscSpec;
pub use tbf::{Next, Tbf, TbfParams};
