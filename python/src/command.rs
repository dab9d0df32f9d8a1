//! The command line, run inside the interpreter.

use std::ffi::OsString;

use modelexport_cli::Captured;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::{errors, gate};

/// Runs the `modelexport` command; the first argument is its name. Returns the exit status.
#[pyfunction]
pub fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| modelexport_cli::run(arguments))
}

/// Exit status of a command whose answer is no.
const FINDING: u8 = 1;

/// Runs the `modelexport` command and prints nothing. Returns the exit status, the output and the warnings; what the
/// command would call an error is raised.
#[pyfunction]
pub fn run_tool<'py>(
    py: Python<'py>,
    arguments: Vec<OsString>,
) -> PyResult<(u8, Bound<'py, PyBytes>, Vec<String>)> {
    let tags = arguments.get(1).is_some_and(|command| command == "tag");
    let Captured { status, output, warnings, error } =
        gate::run(py, &gate::Stop::default(), || modelexport_cli::run_captured(arguments))?;
    match error {
        // The only thing that tagging refuses.
        Some(error) if tags && status == FINDING => Err(errors::of_mismatch(error, &output)),
        Some(error) => Err(errors::of_command(status, error)),
        None => Ok((status, PyBytes::new(py, &output), warnings)),
    }
}

/// Panics in the native part, to show what becomes of it.
#[cfg(feature = "panic-for-tests")]
#[pyfunction]
pub fn panic_for_tests(py: Python<'_>, message: String) -> PyResult<()> {
    gate::run(py, &gate::Stop::default(), || std::panic::resume_unwind(Box::new(message)))
}
