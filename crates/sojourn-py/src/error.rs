//! The error table: which Rust error becomes which Python exception.

use pyo3::create_exception;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyInt;

create_exception!(
    sojourn._native,
    ParamError,
    PyValueError,
    "A parameter that cannot be used: one sentence that names field, value and rule."
);

/// Any of our errors, whose text is already the sentence for the user.
pub(crate) fn param(error: impl std::fmt::Display) -> PyErr {
    ParamError::new_err(error.to_string())
}

/// A whole number in `low..=high`.
///
/// # Errors
/// `ParamError` for a number out of the range, `TypeError` for what is no whole number.
pub(crate) fn whole(value: &Bound<'_, PyAny>, field: &str, low: u64, high: u64) -> PyResult<u64> {
    match value.extract::<u64>() {
        Ok(n) if (low..=high).contains(&n) => Ok(n),
        Ok(n) if n > high => Err(param(format!("{field} is {n}, but must be <= {high}"))),
        Ok(n) => Err(param(format!("{field} is {n}, but must be >= {low}"))),
        Err(_) if !value.is_instance_of::<PyInt>() && !value.hasattr("__index__")? => Err(PyTypeError::new_err(
            format!("{field} is {}, but must be a whole number", value.repr()?),
        )),
        // Beyond 64 bits on either side.
        Err(_) if value.lt(0)? => Err(param(format!("{field} is {}, but must be >= {low}", value.str()?))),
        Err(_) => Err(param(format!("{field} is {}, but must be <= {high}", value.str()?))),
    }
}
