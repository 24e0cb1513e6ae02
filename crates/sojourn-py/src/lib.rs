//! `sojourn._native`: conversions between Python and the Rust crates, and the error table. No algorithm lives here.

mod error;
mod run;

use pyo3::prelude::*;

/// The names of the congestion control algorithms.
#[pyfunction]
fn congestion_controls() -> Vec<&'static str> {
    sojourn_tcp::cc::Algorithm::ALL
        .map(sojourn_tcp::cc::Algorithm::name)
        .to_vec()
}

/// The compiled core of Sojourn.
#[pymodule]
fn _native(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("ParamError", m.py().get_type::<error::ParamError>())?;
    m.add_function(wrap_pyfunction!(congestion_controls, m)?)?;
    m.add_function(wrap_pyfunction!(run::normalize, m)?)?;
    m.add_function(wrap_pyfunction!(run::run, m)?)?;
    Ok(())
}
