//! The error table: which Rust error becomes which Python exception.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyInt;

pyo3::create_exception!(
    sojourn._native,
    ParamError,
    PyValueError,
    "A parameter that cannot be used; the text names the field, its value and the rule."
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
        Ok(n) if n > high => Err(ParamError::new_err(format!("{field} is {n}, but must be <= {high}"))),
        Err(_) if !value.is_instance_of::<PyInt>() && !value.hasattr("__index__")? => {
            Err(PyTypeError::new_err(format!(
                "{field} is {}, but must be a whole number",
                short(&value.repr()?.to_string())
            )))
        }
        // Too small, or beyond 64 bits on either side.
        _ => {
            let rule = if value.lt(0)? || value.extract::<u64>().is_ok() {
                ">="
            } else {
                "<="
            };
            let bound = if rule == ">=" { low } else { high };
            // Python writes no number of more than some thousand digits.
            let found = value.str().map_or_else(
                |_| "a number of thousands of digits".into(),
                |text| short(&text.to_string()),
            );
            Err(ParamError::new_err(format!(
                "{field} is {found}, but must be {rule} {bound}"
            )))
        }
    }
}

/// A value for a sentence: its beginning, if it is long.
fn short(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Characters of a value that a sentence shows.
const MOST_SHOWN: usize = 100;
