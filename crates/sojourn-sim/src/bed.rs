//! Between a scenario and a bed of real network stacks: what traffic the bed carries, and the record of what was
//! seen.

mod air;
mod bottleneck;
mod cell;
mod error;
mod flusher;
mod frames;
mod plan;
mod record;
mod routes;

pub use error::MeasuredError;
pub use plan::load_plan;
pub use record::measured_record;
