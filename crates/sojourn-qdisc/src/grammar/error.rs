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
    /// The first word is a kind of Linux that no model here has.
    #[error("{kind} is a discipline of Linux that is not modelled here; kinds are {}", kinds.join(", "))]
    KindNotModelled {
        /// The kind.
        kind: &'static str,
        /// The kinds that there are.
        kinds: Vec<&'static str>,
    },
    /// A word of a kind that is modelled without it.
    #[error("{field} needs a kernel's {needs}: use the linux back end")]
    WordOfKernel {
        /// Kind and parameter.
        field: &'static str,
        /// What it needs.
        needs: &'static str,
    },
    /// What `tc` takes and no model here has.
    #[error("{kind} is not modelled here with {what}{}{instead}", if instead.is_empty() { "" } else { ": " })]
    NotModelled {
        /// The kind.
        kind: &'static str,
        /// What was asked for.
        what: &'static str,
        /// What does it instead; empty for nothing.
        instead: &'static str,
    },
    /// A kind from outside refuses its words.
    #[error("{kind} {why}")]
    Own {
        /// The kind.
        kind: &'static str,
        /// Why, as it says itself.
        why: String,
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
    /// A parameter that was already given, and that `tc` does not take again.
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
    /// Statements behind a discipline that has no classes.
    #[error("{kind} has no classes, but a statement follows it")]
    NoClasses {
        /// The kind.
        kind: &'static str,
    },
    /// A statement that is none.
    #[error("{word:?} begins a statement, but it must begin with class, qdisc or filter")]
    UnknownStatement {
        /// Its first word.
        word: String,
    },
    /// A word in the place of another.
    #[error("{word:?} stands where {expected} must stand")]
    Expected {
        /// The word.
        word: String,
        /// What must stand there.
        expected: String,
    },
    /// What is wrong with a statement about classes.
    #[error("statement {number}, {text:?}: {error}")]
    Statement {
        /// Its number, from 1 on.
        number: usize,
        /// The statement.
        text: String,
        /// What is wrong.
        error: Box<SpecError>,
    },
    /// A value that breaks its rule.
    #[error(transparent)]
    Param(#[from] ParamError),
}
