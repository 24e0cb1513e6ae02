//! What each part of a scenario is checked against.

use crate::{Backend, WifiScenario};
use sojourn_units::Duration;

/// What the checks of one part need to know of the rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) backend: Backend,
    /// The measured window.
    pub(crate) duration: Duration,
    pub(crate) wifi: Option<&'a WifiScenario>,
}
