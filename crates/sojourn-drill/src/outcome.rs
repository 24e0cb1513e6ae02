//! What became of a script.

use crate::words::Missing;
use std::fmt;

/// A run of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What became of it.
    pub outcome: Outcome,
    /// What it printed, with the line; bounded.
    pub printed: Vec<(u32, String)>,
}

/// What became of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything happened as the script says.
    Passed,
    /// Something did not.
    Failed(Failure),
    /// The script needs something that our TCP does not have by design.
    NotApplicable {
        /// Line of the file, from 1.
        line: u32,
        /// The word, and why.
        missing: Missing,
    },
}

/// What did not happen as a script says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Line of the file, from 1.
    pub line: u32,
    /// What the script expects.
    pub expected: String,
    /// What came.
    pub got: String,
}

impl Outcome {
    /// `passed`, `failed` or `not applicable`.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::NotApplicable { .. } => "not applicable",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("passed"),
            Self::Failed(Failure { line, expected, got }) => {
                write!(f, "failed at line {line}: expected {expected}, but {got}")
            }
            Self::NotApplicable { line, missing } => {
                write!(
                    f,
                    "not applicable: line {line} needs {}, and {}",
                    missing.word, missing.why
                )
            }
        }
    }
}
