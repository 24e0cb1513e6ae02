//! The error table: which Rust error becomes which Python exception.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

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
