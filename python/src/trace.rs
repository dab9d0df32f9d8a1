//! What a trace of a live model needs: fingerprints of its weights, and the reader's checks.

use std::path::Path;

use modelexport_graph::dtype;
use modelexport_io::fingerprint::Fingerprinter;
use modelexport_io::trace;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A thread of its own is worth it from this many bytes on. A multiple of every element's size.
const PIECE: usize = 1 << 22;

/// The order-independent fingerprint of a tensor's memory as 16 hexadecimal digits; `None` for element types that
/// have none. The caller holds the tensor, so that its memory stays where it is.
#[pyfunction]
pub fn content_fingerprint(py: Python<'_>, address: usize, length: usize, dtype: &str) -> Option<String> {
    let known = dtype::ALL.into_iter().find(|known| known.name() == dtype)?;
    let mut fingerprinter = Fingerprinter::new(known)?;
    if length > 0 {
        // SAFETY: the package passes `data_ptr()` and the number of bytes of a dense tensor in the memory of this
        // process, and keeps the tensor until the call returns. Nothing writes to a weight meanwhile.
        #[allow(unsafe_code)]
        let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, length) };
        if length > PIECE {
            return py.detach(|| sum_in_threads(&fingerprinter, bytes)).map(in_digits);
        }
        fingerprinter.update(bytes);
    }
    fingerprinter.finish().map(|found| in_digits(found.sum))
}

fn in_digits(sum: u64) -> String {
    format!("{sum:016x}")
}

/// The sum over all pieces, which may be added up in any order. `empty` has seen nothing yet.
fn sum_in_threads(empty: &Fingerprinter, bytes: &[u8]) -> Option<u64> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let pieces = bytes.len().div_ceil(threads).next_multiple_of(PIECE);
    std::thread::scope(|scope| {
        let sums: Vec<_> = bytes
            .chunks(pieces)
            .map(|piece| {
                let mut own = empty.clone();
                scope.spawn(move || {
                    own.update(piece);
                    own.finish().map(|found| found.sum)
                })
            })
            .collect();
        sums.into_iter().try_fold(0u64, |total, sum| Some(total.wrapping_add(sum.join().ok()??)))
    })
}

/// Raises `ValueError` unless the bytes are a trace that fits together; `file` is for the message.
#[pyfunction]
pub fn check_trace(py: Python<'_>, data: &[u8], file: &str) -> PyResult<()> {
    py.detach(|| trace::parse(data, Path::new(file)))
        .map(|_| ())
        .map_err(|error| PyValueError::new_err(error.to_string()))
}
