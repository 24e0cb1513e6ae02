//! What each part of a scenario is checked against.

use crate::topology::TopologyScenario;
use crate::{Backend, ScenarioError, WifiScenario, fail};
use sojourn_units::Duration;

/// What the checks of one part need to know of the rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) backend: Backend,
    /// The measured window.
    pub(crate) duration: Duration,
    pub(crate) wifi: Option<&'a WifiScenario>,
    pub(crate) topology: Option<&'a TopologyScenario>,
}

impl Context<'_> {
    /// Refuses nodes without a topology; those of one were checked when their round-trip time was reckoned.
    pub(crate) fn check_ends(&self, place: &str, ends: Option<&[String; 2]>) -> Result<(), ScenarioError> {
        match (self.topology, ends) {
            (None, Some(_)) => fail(&format!("{place}.ends"), "given", "absent without topology"),
            _ => Ok(()),
        }
    }
}
