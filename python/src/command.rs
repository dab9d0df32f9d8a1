//! The command line, run inside the interpreter.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the `modelexport` command; the first argument is its name. Returns the exit status.
#[pyfunction]
pub fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| modelexport_cli::run(arguments))
}
