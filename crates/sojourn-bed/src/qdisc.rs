//! What a kernel, or a bottleneck of ours, is told of a discipline.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a kernel, or a bottleneck of ours, is told of a discipline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QdiscPlan {
    /// Its kind.
    pub kind: String,
    /// For a kernel: options by name, which ends in the unit.
    pub options: BTreeMap<String, OptionPlan>,
    /// For a bottleneck of ours: all of it, as one would type it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OptionPlan {
    /// On or off.
    Flag(bool),
    /// A number.
    Number(i64),
    /// A word, or bytes in hexadecimal.
    Text(String),
}
