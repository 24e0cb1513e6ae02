//! The error for an option that cannot be used.

use std::fmt::Display;
use std::ops::RangeBounds;
use thiserror::Error;

/// An option of a cell whose value breaks its rule, in one sentence.
///
/// ```
/// use sojourn_wifi::NodeSpec;
/// let spec = NodeSpec { aggregate_frames: 65, ..NodeSpec::ACCESS_POINT };
/// let error = spec.validate("wifi").unwrap_err();
/// assert_eq!(error.to_string(), "wifi.aggregate_frames is 65, but must be 1 to 64 (the Block Ack window)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} is {value}, but must be {rule}")]
pub struct WifiError {
    /// Whose option, and which: `wifi.stations[1].weight`.
    pub field: String,
    /// The value as given.
    pub value: String,
    /// What the value must be.
    pub rule: String,
}

impl WifiError {
    /// The error for option `field` of `who`.
    #[must_use]
    pub fn new(who: &str, field: &str, value: impl Into<String>, rule: impl Into<String>) -> Self {
        Self {
            field: format!("{who}.{field}"),
            value: value.into(),
            rule: rule.into(),
        }
    }

    /// An error if `value` is not in `range`, of which `rule` speaks.
    pub(crate) fn unless_in<T: Copy + PartialOrd + Display>(
        range: impl RangeBounds<T>,
        who: &str,
        field: &str,
        value: T,
        rule: impl Into<String>,
    ) -> Result<(), Self> {
        if range.contains(&value) {
            return Ok(());
        }
        Err(Self::new(who, field, value.to_string(), rule))
    }
}
