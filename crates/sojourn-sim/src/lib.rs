//! The simulated world: a deterministic packet-level network that carries packets and the time to the algorithms of
//! `sojourn-qdisc` and `sojourn-tcp`.
//!
//! ```
//! use sojourn_sim::{Scenario, run};
//!
//! let scenario = Scenario::from_json(
//!     r#"{"duration": "5s", "up": "10mbit", "down": "10mbit", "rtt": "50ms", "qdisc_up": "pfifo limit 127",
//!         "flows": [{"name": "bulk", "direction": "up"}], "probes": [{"name": "ping", "kind": "icmp"}]}"#,
//! )?;
//! let record = run(scenario)?;
//! assert!(record.summary.goodput_up_mbit > 8.0);
//! assert!(record.summary.induced_latency_ms > 20.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bed;
mod calendar;
mod draws;
mod ends;
pub mod flusher;
mod histogram;
mod link;
mod meter;
pub mod network;
mod packet;
mod places;
pub mod probe;
pub mod record;
mod run;
mod series;
pub mod simulator;
mod spared;
pub mod tap;
pub mod topology;
pub mod traffic;
mod watch;
mod wire;

pub use record::{Record, record_schema};
pub use run::{Progress, Run, run};
pub use sojourn_scenario::{Backend, Cost, LIMITS, Limits, Part, Scenario, ScenarioError};
