//! Congestion controls by name: those that are modelled, and those that only a kernel has.

use crate::{Backend, ScenarioError};
use sojourn_tcp::cc::Algorithm;
use sojourn_units::text;

/// Names of those that only a kernel has: none, since BBR and DCTCP are modelled.
const KERNEL_ONLY: [&str; 0] = [];

/// What controls a flow's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionControl {
    /// It can be simulated.
    Modelled(Algorithm),
    /// It cannot; the name is the kernel's.
    KernelOnly(&'static str),
}

text!(CongestionControl, CongestionControl::parse);

impl Default for CongestionControl {
    fn default() -> Self {
        Self::Modelled(Algorithm::default())
    }
}

impl std::fmt::Display for CongestionControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl CongestionControl {
    /// As `net.ipv4.tcp_congestion_control` has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Modelled(algorithm) => algorithm.name(),
            Self::KernelOnly(name) => name,
        }
    }

    /// The model, if there is one.
    #[must_use]
    pub const fn modelled(self) -> Option<Algorithm> {
        match self {
            Self::Modelled(algorithm) => Some(algorithm),
            Self::KernelOnly(_) => None,
        }
    }

    /// Reads a name. The error is what follows the field's in the sentence.
    fn parse(name: &str) -> Result<Self, String> {
        if let Some(only) = KERNEL_ONLY.into_iter().find(|only| *only == name) {
            return Ok(Self::KernelOnly(only));
        }
        let known = name.parse().map(Self::Modelled);
        known.map_err(|error: String| error.trim_start_matches("congestion_control ").to_owned())
    }

    /// Refuses one that this back end does not have; `place` is that of the flow or web client.
    pub(crate) fn check(self, place: &str, backend: Backend) -> Result<(), ScenarioError> {
        match (self, backend) {
            (Self::KernelOnly(name), Backend::Sim) => Err(ScenarioError::because(not_modelled(place, name))),
            _ => Ok(()),
        }
    }
}

/// The sentence for one that the simulator lacks.
#[must_use]
pub fn not_modelled(place: &str, name: &str) -> String {
    format!("{place}.congestion_control is {name:?}, but the simulator has no such model: use the linux back end")
}
