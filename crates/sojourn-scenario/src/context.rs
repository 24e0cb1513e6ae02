//! What each part of a scenario is checked against.

use crate::topology::TopologyScenario;
use crate::{Backend, ScenarioError, WifiScenario, fail};
use sojourn_tcp::cc::Algorithm;
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

    /// Refuses a congestion control that only the simulator has.
    pub(crate) fn check_control(&self, place: &str, control: Algorithm) -> Result<(), ScenarioError> {
        if self.backend.has_real_hosts() && !control.in_linux() {
            let name = control.name();
            return Err(ScenarioError::because(format!(
                "{place}.congestion_control is {name:?}, but Linux has no such control: use the simulator"
            )));
        }
        Ok(())
    }
}
