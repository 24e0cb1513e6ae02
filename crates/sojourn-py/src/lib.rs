//! The Python module `sojourn._native`: conversions and the error table, no algorithm.

mod bed;
mod error;
mod pairs;
mod qdisc;
mod run;
mod stacks;

use pyo3::prelude::*;

/// Packet-level models of queue disciplines, compiled.
#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::bed::{kernel_qdisc, load_plan, netlink_below, netlink_options, record_measured, store_measured};
    #[pymodule_export]
    use crate::error::ParamError;
    #[pymodule_export]
    use crate::pairs::packet_pairs;
    #[pymodule_export]
    use crate::qdisc::{Departure, Drop, Qdisc, expand_qdisc, list_presets, list_qdiscs};
    #[pymodule_export]
    use crate::run::{
        capture_points, congestion_controls, estimate, limits, normalize, record_schema, run, run_captured, run_stored,
        scenario_schema,
    };
    #[pymodule_export]
    use crate::run::{read_heads, read_series};

    use super::{Bound, PyModule, PyModuleMethods as _, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__build__", crate::run::BUILD)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
