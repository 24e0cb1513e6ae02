//! The error for a parameter that cannot be used.

use sojourn_units::Duration;
use thiserror::Error;

/// A parameter whose value breaks its rule.
///
/// ```
/// use sojourn_qdisc::{CodelParams, Codel};
/// use sojourn_units::Duration;
/// # #[derive(Debug)] struct P;
/// # impl sojourn_qdisc::Packet for P {
/// #     sojourn_qdisc::packet_without!(ecn, dscp, hosts, ack, socket);
/// #     fn size(&self) -> sojourn_units::Bytes { sojourn_units::Bytes::new(1) }
/// #     fn flow_hash(&self) -> u32 { 0 }
/// # }
/// let params = CodelParams { target: Duration::ZERO, ..CodelParams::default() };
/// let error = Codel::<P>::new(params, 1000).unwrap_err();
/// assert_eq!(error.to_string(), "codel.target is 0ns, but must be > 0");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} is {value}, but must be {rule}")]
pub struct ParamError {
    /// Kind and parameter, such as `codel.target`.
    pub field: String,
    /// The value as given.
    pub value: String,
    /// What the value must be.
    pub rule: String,
}

impl ParamError {
    /// The error for `field` of `kind`.
    pub(crate) fn new(kind: &str, field: &str, value: impl Into<String>, rule: impl Into<String>) -> Self {
        Self {
            field: format!("{kind}.{field}"),
            value: value.into(),
            rule: rule.into(),
        }
    }
}

/// The longest time a parameter may be: what `tc` can hand to the kernel, 32 bits of microseconds.
pub(crate) const LONGEST: Duration = Duration::from_micros(u32::MAX as u64);

/// Checks a time that must be above zero and fit `tc`'s 32 bits of microseconds.
pub(crate) fn positive_time(kind: &str, field: &str, value: Duration) -> Result<(), ParamError> {
    if value.is_zero() {
        return Err(ParamError::new(kind, field, "0ns", "> 0"));
    }
    if value > LONGEST {
        return Err(ParamError::new(
            kind,
            field,
            value.to_string(),
            "at most 4294.967295s (32 bits of microseconds)",
        ));
    }
    Ok(())
}

/// Checks a count or size that must lie in `low..=high`.
pub(crate) fn in_range(kind: &str, field: &str, value: u64, low: u64, high: u64) -> Result<(), ParamError> {
    if value < low {
        let rule = if low == 1 {
            "> 0".to_owned()
        } else {
            format!(">= {low}")
        };
        return Err(ParamError::new(kind, field, value.to_string(), rule));
    }
    if value > high {
        return Err(ParamError::new(kind, field, value.to_string(), format!("<= {high}")));
    }
    Ok(())
}
