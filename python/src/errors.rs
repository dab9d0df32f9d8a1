//! Errors as Python people expect them. The classes that are not built in are defined in `modelexport/errors.py`.

use std::any::Any;

use modelexport_cli::CapturedError;
use modelexport_io::ErrorKind;
use modelexport_lower::report::{Unsupported, UnsupportedOperator};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// An error of the library, with `hint` as a note.
pub fn of_library(error: &modelexport::Error) -> PyErr {
    let raised = match error {
        modelexport::Error::Export { error: modelexport_lower::Error::Unsupported(missing), .. } => {
            return unsupported(missing);
        }
        modelexport::Error::Export { .. } => own("ExportError", error.to_string()),
        _ => of_kind(error.to_string(), error.os_code(), error.kind() == ErrorKind::Io),
    };
    with_hint(raised, error.hint())
}

/// An error that the command line would print; `status` is the exit status.
pub fn of_command(status: u8, error: CapturedError) -> PyErr {
    let raised = match status {
        1 => own("ModelExportError", error.message),
        _ => of_kind(error.message, error.os_code, status == 3),
    };
    with_hint(raised, error.hint.as_deref())
}

/// Evidence that does not fit; `output` is what the command printed.
pub fn of_mismatch(error: CapturedError, output: &[u8]) -> PyErr {
    let raised = Python::attach(|py| {
        let raise = || -> PyResult<PyErr> {
            let class = py.import("modelexport.errors")?.getattr("EvidenceMismatch")?;
            let output = PyBytes::new(py, output);
            Ok(PyErr::from_value(class.call_method1("of_native", (error.message, output))?))
        };
        raise().unwrap_or_else(|error| error)
    });
    with_hint(raised, error.hint.as_deref())
}

/// A fault of modelexport itself.
pub fn of_panic(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    own("InternalError", format!("a fault of modelexport, please report it: {text}"))
}

/// With a number of the operating system, Python itself picks the class: `FileNotFoundError`, `FileExistsError`, …
fn of_kind(message: String, os_code: Option<i32>, is_io: bool) -> PyErr {
    match os_code {
        Some(code) => PyOSError::new_err((code, message)),
        None if is_io => PyOSError::new_err(message),
        None => PyValueError::new_err(message),
    }
}

fn unsupported(missing: &Unsupported) -> PyErr {
    Python::attach(|py| {
        let raise = || -> PyResult<PyErr> {
            let operators = PyList::empty(py);
            for operator in &missing.operators {
                let UnsupportedOperator { target, count, modules, source, from_opset, decomposition } =
                    operator;
                let fields = PyDict::new(py);
                fields.set_item("target", target)?;
                fields.set_item("count", count)?;
                fields.set_item("modules", modules)?;
                fields.set_item("source", source)?;
                fields.set_item("from_opset", from_opset)?;
                fields.set_item("decomposition", decomposition.to_string())?;
                operators.append(fields)?;
            }
            let class = py.import("modelexport.errors")?.getattr("UnsupportedOperators")?;
            let error = class.call_method1("of_native", (missing.to_string(), missing.opset, operators))?;
            Ok(PyErr::from_value(error))
        };
        raise().unwrap_or_else(|error| error)
    })
}

/// An exception of a class of `modelexport.errors`.
fn own(class: &str, message: String) -> PyErr {
    Python::attach(|py| {
        let raise = || -> PyResult<PyErr> {
            let class = py.import("modelexport.errors")?.getattr(class)?;
            Ok(PyErr::from_value(class.call1((message,))?))
        };
        raise().unwrap_or_else(|error| error)
    })
}

fn with_hint(error: PyErr, hint: Option<&str>) -> PyErr {
    if let Some(hint) = hint {
        Python::attach(|py| {
            // A note is a comfort: without it the error still stands.
            let _ = error.value(py).call_method1("add_note", (hint,));
        });
    }
    error
}
