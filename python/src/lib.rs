//! `modelexport._native`: the library and the command line, for the Python package.

mod command;
mod errors;
mod export;
mod gate;
mod tensor_memory;
mod trace;

use pyo3::prelude::*;

/// The native part of modelexport. Its functions are wrapped by the package; call those.
#[pymodule]
mod _native {
    use modelexport::strategies::Strategy;
    use modelexport_io::pt2::versions;
    use pyo3::prelude::*;
    use pyo3::types::PyDict;

    #[pymodule_export]
    use super::command::{run_command, run_tool};
    #[pymodule_export]
    use super::export::{export_archive, export_program, missing_operators};
    #[pymodule_export]
    use super::trace::{check_trace, content_fingerprint};

    #[cfg(feature = "panic-for-tests")]
    #[pymodule_export]
    use super::command::panic_for_tests;

    #[allow(non_upper_case_globals)]
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// The ONNX opset that is produced unless another one is chosen.
    #[pymodule_export]
    const DEFAULT_OPSET: i64 = modelexport_lower::DEFAULT_OPSET;

    /// The version of the format of traces.
    #[pymodule_export]
    const TRACE_VERSION: &str = modelexport_io::trace::SCHEMA_VERSION;

    #[pymodule_init]
    fn add_tables(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let evidence = PyDict::new(module.py());
        for strategy in Strategy::ALL {
            if let Some(kind) = strategy.live_evidence() {
                evidence.set_item(strategy.name(), kind.name())?;
            }
        }
        module.add("LIVE_EVIDENCE", evidence)?;
        module.add("PROGRAM_SCHEMA", (versions::SCHEMA_MAJOR, versions::SCHEMA_MINORS[1]))
    }
}
