//! Congestion controls by name: those that are modelled, and those that only a kernel has.

use crate::{Backend, ScenarioError};
use sojourn_tcp::cc::Algorithm;

/// Names of those that only a kernel has.
const KERNEL_ONLY: [&str; 2] = ["bbr", "dctcp"];

/// What controls a flow's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionControl {
    /// It can be simulated.
    Modelled(Algorithm),
    /// It cannot; the name is the kernel's.
    KernelOnly(&'static str),
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

    /// Reads a name; `place` is that of the flow or web client, for the sentence of the error.
    ///
    /// # Errors
    /// [`ScenarioError`] for a name that nobody has, or that this back end has not.
    pub(crate) fn parse(place: &str, name: &str, backend: Backend) -> Result<Self, ScenarioError> {
        let kernel_only = KERNEL_ONLY.into_iter().find(|only| *only == name);
        match (kernel_only, backend) {
            (Some(only), Backend::Linux | Backend::Live) => Ok(Self::KernelOnly(only)),
            (Some(only), Backend::Sim) => Err(ScenarioError(not_modelled(place, only))),
            (None, _) => name
                .parse()
                .map(Self::Modelled)
                .map_err(|error| ScenarioError(format!("{place}.{error}"))),
        }
    }
}

/// The sentence for one that the simulator lacks.
#[must_use]
pub fn not_modelled(place: &str, name: &str) -> String {
    format!("{place}.congestion_control is {name:?}, but the simulator has no such model: use the linux back end")
}
