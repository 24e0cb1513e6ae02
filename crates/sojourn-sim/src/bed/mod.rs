//! Between a scenario and a bed of real network stacks: what traffic the bed carries, and the record of what was seen.

mod plan;

pub use plan::load_plan;
