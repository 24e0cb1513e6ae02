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
            if discipline.modelled().is_none() {
                return Err(ScenarioError::because(no_discipline(field, &discipline, backend)));
            }
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

/// The sentence for a discipline that a back end with our own disciplines cannot build.
#[must_use]
pub fn no_discipline(field: &str, discipline: &Discipline, backend: Backend) -> String {
    let word = discipline.word_of_kernel().map(|refusal| format!("{field}: {refusal}"));
    word.unwrap_or_else(|| not_modelled(field, discipline.kind(), backend))
}

/// The sentence for a kind that a back end with our own disciplines lacks.
fn not_modelled(field: &str, kind: &str, backend: Backend) -> String {
    let whose = match backend {
        Backend::Live => "live back end",
        Backend::Sim | Backend::Linux => "simulator",
    };
    format!("{field} is {kind}, but the {whose} has no such discipline: use the linux back end")
}
