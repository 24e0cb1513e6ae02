//! A measurement that cannot be true.

use std::fmt;
use thiserror::Error;

/// A measurement that no bed can have made of the scenario: one sentence that names the field and its value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct MeasuredError(String);

/// The sentence of a field, its value and the rule.
pub(super) fn fail<T>(
    field: impl fmt::Display,
    value: impl fmt::Display,
    rule: impl fmt::Display,
) -> Result<T, MeasuredError> {
    Err(MeasuredError(format!("{field} is {value}, but must be {rule}")))
}
