//! What a trace of a live model needs: fingerprints of its weights, and the reader's checks.

use std::path::Path;

use modelexport_graph::dtype;
use modelexport_io::fingerprint::Fingerprinter;
use modelexport_io::trace;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The order-independent fingerprint of a tensor's memory as 16 hexadecimal digits; `None` for element types that
/// have none. The caller holds the tensor, so that its memory stays where it is.
#[pyfunction]
pub fn content_fingerprint(py: Python<'_>, address: usize, length: usize, dtype: &str) -> Option<String> {
    let known = dtype::ALL.into_iter().find(|known| known.name() == dtype);
    let mut fingerprinter = known.and_then(Fingerprinter::new)?;
    if length > 0 {
        // SAFETY: the package passes `data_ptr()` and the number of bytes of a dense tensor in the memory of this
        // process, and keeps the tensor until the call returns. Nothing writes to a weight meanwhile.
        #[allow(unsafe_code)]
        let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, length) };
        py.detach(|| fingerprinter.update(bytes));
    }
    fingerprinter.finish().map(|found| format!("{:016x}", found.sum))
}

/// Raises `ValueError` unless the bytes are a trace that fits together; `file` is for the message.
#[pyfunction]
pub fn check_trace(py: Python<'_>, data: &[u8], file: &str) -> PyResult<()> {
    py.detach(|| trace::parse(data, Path::new(file)))
        .map(|_| ())
        .map_err(|error| PyValueError::new_err(error.to_string()))
}
