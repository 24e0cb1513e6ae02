#![doc = include_str!("../README.md")]
//! # Main types
//!
//! - [`Scenario`], [`run()`] and [`Record`]: a run from its description to everything that was measured. [`Run`] is
//!   the same in steps.
//! - [`topology::dumbbell()`] and [`topology::Topology`]: networks in which links and routes have names;
//!   [`network::Network`] has numbers only.
//! - [`simulator::Simulator`]: a simulation under way, to which one adds flows, probes, agents and other traffic.
//! - [`simulator::EgressStats`]: what was measured at a queue.
//! - [`agent::Agent`]: a transport of one's own; [`source::Source`]: traffic of one's own, as voice and web clients are.
//! - [`tap`]: packet captures of a run.
//! - [`view`]: what a run looks like at a moment, for those who draw it.

pub use {sojourn_qdisc, sojourn_scenario, sojourn_tcp, sojourn_units, sojourn_wifi};

pub mod agent;
pub mod bed;
mod calendar;
mod draws;
mod ends;
mod error;
mod fabric;
pub mod flusher;
mod grants;
mod histogram;
mod identity;
mod link;
mod meter;
pub mod network;
mod paces;
mod packet;
mod places;
pub mod probe;
pub mod record;
mod run;
mod series;
pub mod simulator;
pub mod source;
mod spared;
pub mod stack;
mod standing;
pub mod tap;
pub mod topology;
pub mod traffic;
pub mod view;
mod watch;
mod wire;

pub use agent::{Agent, AgentSpec, Datagram, Report};
pub use identity::Identity;
pub use record::{Record, record_schema};
pub use run::{Progress, Run, run, run_with};
pub use simulator::{FlowSpec, Simulator};
pub use sojourn_scenario::{Backend, Cost, LIMITS, Limits, Part, Scenario, ScenarioError};
pub use source::Source;
pub use stack::{Opening, Stack, Stacks};
