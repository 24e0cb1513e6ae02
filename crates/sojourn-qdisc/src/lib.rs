#![doc = include_str!("../README.md")]
//! # Main types
//!
//! - [`Qdisc`]: the contract of a discipline, and [`Packet`]: what it must know of a packet.
//! - [`QdiscSpec`]: a discipline with all its parameters, read from `tc`'s words; [`QdiscSpec::build`] makes the
//!   discipline, as [`AnyQdisc`].
//! - [`Codel`], [`FqCodel`], [`Cake`], [`Pie`], [`FqPie`], [`DualPi2`], [`Fq`], [`Red`], [`Sfq`], [`Fifo`], [`PfifoFast`], [`Netem`]: the
//!   disciplines themselves, each made from a struct of parameters such as [`FqCodelParams`].
//! - [`Tbf`]: a token bucket that shapes any discipline to a rate; [`Traced`]: a link that follows a trace.
//! - [`Departure`], [`Dropped`], [`DropReason`], [`DropSink`]: what comes out.
//! - [`QdiscStats`], [`Backlog`]: the counters of `tc -s qdisc`, and what is queued.
//! - [`kinds()`], [`presets()`], [`descriptors()`]: the catalogue of what there is; [`register`] adds a discipline from
//!   outside to it.

pub use sojourn_units;

mod ack;
mod cake;
mod classful;
mod codel;
mod descriptor;
mod discipline;
mod drr;
mod dualpi2;
mod ets;
mod fifo;
mod footprint;
mod fq;
mod fq_codel;
mod fq_pie;
mod grammar;
mod htb;
mod kinds;
mod ledger;
mod netem;
mod netlink;
mod own;
mod packet;
mod param;
mod pie;
mod presets;
mod prio;
mod qdisc;
mod red;
mod requests;
mod selector;
mod sfq;
mod slab;
mod spec;
mod tbf;
#[cfg(test)]
mod testing;
mod trace;

pub use ack::AckFacts;
pub use cake::{Cake, CakeAckFilter, CakeFlowMode, CakeLinkLayer, CakeParams, CakeTins};
pub use classful::names::{CODE_POINT_RULE, named_code_point};
pub use codel::{Codel, CodelParams, CodelState, CodelStats, CodelVariant, codel_dequeue};
pub use descriptor::{Counters, Descriptor, DropCounters};
pub use discipline::{Discipline, kernel_options};
pub use dualpi2::{DualPi2, DualPi2Params, StepThreshold};
pub use fifo::{Fifo, FifoLimit, MTU, PfifoFast, PfifoFastParams, PfifoFastVariant, TX_QUEUE_LEN};
pub use footprint::Footprint;
pub use fq::{Fq, FqParams, FqVariant};
pub use fq_codel::{FqCodel, FqCodelParams, FqCodelVariant, SfqCodel};
pub use fq_pie::{FqPie, FqPieParams};
pub use grammar::catalogue::{KindInfo, ParameterInfo};
pub use grammar::error::SpecError;
pub use grammar::kernel_words::KernelOnly;
pub use kinds::{AnyQdisc, Drr, Ets, Htb, Prio, descriptor, descriptors, kinds};
pub use netem::{Netem, NetemParams};
pub use netlink::{Added, Form, KernelBelow, NetlinkOptions, OptionValue, Row};
pub use own::{BoxedClone, Own, OwnDrops, OwnQdisc, OwnSpec, PacketFacts, ReadOwn, register};
pub use packet::{Departure, DropReason, DropSink, Dropped, Packet, Queued, band_of_dscp, priority_of_dscp};
pub use param::ParamError;
pub use pie::{Pie, PieParams, PieVariant};
pub use presets::{PresetInfo, presets};
pub use qdisc::{Admission, Backlog, ClassStats, Qdisc, QdiscStats};
pub use red::{Red, RedParams, RedVariant};
pub use requests::{KernelMessage, KernelOptions};
pub use selector::Selector;
pub use sfq::{SFQ_MAX_DEPTH, Sfq, SfqParams, SfqVariant};
pub use slab::{List, Slab, memory_of};
pub use spec::QdiscSpec;
pub use tbf::{Next, Outlet, Tbf, TbfParams};
pub use trace::{DeliveryTrace, Traced};
