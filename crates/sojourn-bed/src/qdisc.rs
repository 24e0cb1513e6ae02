//! What a kernel, or a bottleneck of ours, is told of a discipline.

use serde::{Deserialize, Serialize};
use sojourn_qdisc::{KernelBelow, KernelOptions, OptionValue};
use std::collections::BTreeMap;

/// What a kernel, or a bottleneck of ours, is told of a discipline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QdiscPlan {
    /// Its kind.
    pub kind: String,
    /// For a kernel: options by name, which ends in the unit.
    pub options: BTreeMap<String, OptionValue>,
    /// For a bottleneck of ours: all of it, as one would type it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// For a kernel: its classes, their disciplines and filters, in the order in which it is told of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<KernelBelow>,
}

impl From<KernelOptions> for QdiscPlan {
    fn from(KernelOptions { kind, options, below }: KernelOptions) -> Self {
        Self {
            kind,
            options,
            text: String::new(),
            below,
        }
    }
}
