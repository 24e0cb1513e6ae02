//! What is wrong with a text.

use crate::ParamError;
use thiserror::Error;

/// Text that names no discipline.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpecError {
    /// There is no word in it.
    #[error("a queue discipline is empty text, but must be a kind such as \"fq_codel\" or \"codel target 5ms\"")]
    Empty,
    /// The first word is neither a kind nor a preset.
    #[error("{kind:?} is no queue discipline; kinds are {}; presets are {}", kinds.join(", "), presets.join(", "))]
    UnknownKind {
        /// The word.
        kind: String,
        /// The kinds that there are.
        kinds: Vec<&'static str>,
        /// The presets that there are.
        presets: Vec<&'static str>,
    },
    /// A kind that is not modelled.
    #[error("{kind} is a discipline of the kernel that the simulator does not have: use the linux back end")]
    KernelOnly {
        /// The kind.
        kind: String,
    },
    /// A word of a kind that is modelled without it.
    #[error("{field} needs a kernel's {needs}: use the linux back end")]
    WordOfKernel {
        /// Kind and parameter.
        field: &'static str,
        /// What it needs.
        needs: &'static str,
    },
    /// A word that the kind does not have.
    #[error("{word:?} is no parameter of {kind}; its parameters are {allowed}")]
    UnknownWord {
        /// The word.
        word: String,
        /// The kind.
        kind: &'static str,
        /// What would be allowed.
        allowed: String,
    },
    /// A parameter at the end of the text, without its value.
    #[error("{field} has no value, but must have one ({unit})")]
    NoValue {
        /// Kind and parameter.
        field: String,
        /// What kind of value.
        unit: &'static str,
    },
    /// A parameter that was already given.
    #[error("{field} is given twice, but must be given once")]
    Twice {
        /// Kind and parameter.
        field: String,
    },
    /// A preset without the link rate that decides what it stands for.
    #[error("preset {preset:?} depends on the link's rate, but no rate is given")]
    NeedsRate {
        /// The preset.
        preset: String,
    },
    /// More words after a preset.
    #[error("{word:?} follows preset {preset:?}, but a preset must stand alone")]
    PresetWithWords {
        /// The first of the words.
        word: String,
        /// The preset.
        preset: String,
    },
    /// A value that breaks its rule.
    #[error(transparent)]
    Param(#[from] ParamError),
}
