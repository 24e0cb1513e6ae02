//! Refusals: one sentence each, which names the field, its value and the rule.

use serde_json::Value;
use thiserror::Error;

/// A scenario that cannot be run: one sentence that names the field, its value and the rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScenarioError {
    /// A value that breaks a rule.
    #[error("{field} is {value}, but must be {rule}")]
    Value {
        /// Which field's.
        field: String,
        /// The value.
        value: String,
        /// What it must be.
        rule: String,
    },
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl ScenarioError {
    /// With a sentence of its own.
    #[must_use]
    pub const fn because(sentence: String) -> Self {
        Self::Other(sentence)
    }

    /// The same, with a quantity in the spelling of `written`, the scenario that was read.
    pub(crate) fn spelled_as_in(mut self, written: &Value) -> Self {
        let quantity = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        if let Self::Value { field, value, .. } = &mut self
            && quantity(value)
        {
            let pointer = format!("/{}", field.replace(['.', '['], "/").replace(']', ""));
            if let Some(Value::String(text)) = written.pointer(&pointer)
                && quantity(text)
            {
                value.clone_from(text);
            }
        }
        self
    }
}

/// The refusal of a field's value, with the rule that it breaks.
///
/// # Errors
/// Always.
pub fn fail<T>(field: &str, value: impl std::fmt::Display, rule: impl Into<String>) -> Result<T, ScenarioError> {
    Err(ScenarioError::Value {
        field: field.to_owned(),
        value: value.to_string(),
        rule: rule.into(),
    })
}

/// Refuses a quantity that is not between two others.
pub(crate) fn within<Q: Copy + PartialOrd + std::fmt::Display>(
    field: &str,
    value: Q,
    least: Q,
    most: Q,
) -> Result<(), ScenarioError> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        fail(field, value, format!("{least} to {most}"))
    }
}
