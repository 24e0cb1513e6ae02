//! What a job says, and the bed that its steps build.

pub(crate) mod build;
pub(crate) mod introduce;
pub mod job;
pub mod offer;
pub(crate) mod programs;
pub mod step;
