//! What each part of a scenario is checked against.

use crate::topology::TopologyScenario;
use crate::{Backend, ScenarioError, WifiScenario, fail};
use sojourn_tcp::EcnMode;
use sojourn_tcp::cc::{Algorithm, Kernels};
use sojourn_units::Duration;

/// What the checks of one part need to know of the rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) backend: Backend,
    /// `tcp.ecn`.
    pub(crate) ecn: EcnMode,
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

    /// Refuses a congestion control that the back end does not have.
    pub(crate) fn check_control(&self, place: &str, control: Algorithm) -> Result<(), ScenarioError> {
        let why = match (self.backend, control.kernels()) {
            (Backend::Sim, _) | (_, Kernels::All) | (Backend::Linux, Kernels::Some) => return Ok(()),
            (Backend::Live, Kernels::Some) => {
                "this machine's kernel is not known to have it: use the simulator, or the linux back end with a kernel \
                 that has it"
            }
            (_, Kernels::None) => "Linux has no such control: use the simulator",
        };
        let name = control.name();
        Err(ScenarioError::because(format!(
            "{place}.congestion_control is {name:?}, but {why}"
        )))
    }
}
