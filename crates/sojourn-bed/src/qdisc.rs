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
    /// For a kernel: its classes, their disciplines and filters, in the order in which it is told of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<BelowPlan>,
}

/// What is added below a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AddedPlan {
    /// A discipline of a class.
    Qdisc,
    /// A class.
    Class,
    /// A filter.
    Filter,
}

/// A discipline below another, a class or a filter.
///
/// Disciplines are numbered from 0, which is the first of all. A handle is such a number and the number of a class, or
/// 0 for the discipline itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BelowPlan {
    /// What it is.
    pub adds: AddedPlan,
    /// To what it is added.
    pub parent: (u16, u16),
    /// Its own handle; of a filter, the class to which it sends packets.
    pub id: (u16, u16),
    /// The kind of discipline, class or filter.
    pub kind: String,
    /// Options by name, which ends in the unit.
    pub options: BTreeMap<String, OptionPlan>,
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
