//! What a scenario may ask of each back end.

use crate::ScenarioError;
use sojourn_qdisc::Discipline;
use sojourn_units::words;

words! {
    /// What runs a scenario.
    #[derive(Default)]
    pub enum Backend {
        /// The simulator.
        #[default]
        Sim = "sim",
        /// A Linux kernel, its TCP and its disciplines.
        Linux = "linux",
        /// This machine's TCP, and disciplines of ours on its packets.
        Live = "live",
    }
}

impl Backend {
    /// Whether hosts have a kernel's TCP.
    #[must_use]
    pub const fn has_real_hosts(self) -> bool {
        matches!(self, Self::Linux | Self::Live)
    }
}

impl std::str::FromStr for Backend {
    type Err = ScenarioError;
    fn from_str(s: &str) -> Result<Self, ScenarioError> {
        Self::from_name(s).ok_or_else(|| {
            ScenarioError::because(format!("backend is {s:?}, but must be \"sim\", \"linux\" or \"live\""))
        })
    }
}

/// The discipline as this back end runs it.
///
/// # Errors
/// [`ScenarioError`] for one that it does not have, or cannot be told.
pub(crate) fn discipline(field: &str, discipline: Discipline, backend: Backend) -> Result<Discipline, ScenarioError> {
    match backend {
        Backend::Sim | Backend::Live => {
            let built = discipline.buildable();
            built.map_err(|refusal| ScenarioError::because(format!("{field}: {refusal}")))?;
            Ok(discipline)
        }
        Backend::Linux => {
            let discipline = discipline.for_kernel();
            let options = discipline.kernel_options();
            options.map_err(|e| ScenarioError::because(format!("{field}: {e}")))?;
            Ok(discipline)
        }
    }
}
