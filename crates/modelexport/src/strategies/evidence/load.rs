//! Evidence from a file of any kind.

use std::io::Read;
use std::path::Path;

use modelexport_io::{onnx, pt2, sidecar, source};

use super::{Evidence, from_onnx, from_program, from_sidecar};
use crate::Error;

/// Reads evidence: a trace, a `.pt2`, a sidecar, or an ONNX file with the sidecar beside it if there is one. What a
/// file is is told by how it begins.
pub fn load(path: &Path) -> Result<Evidence, Error> {
    match start(path)?.as_slice() {
        [b'P', b'K', 3, 4, ..] => Ok(from_program::from_program(pt2::read(path)?)),
        start if start.trim_ascii_start().first() == Some(&b'{') => {
            Ok(from_sidecar::from_sidecar(sidecar::read(path)?))
        }
        _ => load_onnx(path),
    }
}

fn start(path: &Path) -> Result<Vec<u8>, Error> {
    let mut start = Vec::new();
    source::open_regular(path)?
        .take(64)
        .read_to_end(&mut start)
        .map_err(|error| Error::Read { path: path.to_owned(), source: error })?;
    Ok(start)
}

fn load_onnx(path: &Path) -> Result<Evidence, Error> {
    let file = onnx::read(path)?;
    let beside = sidecar::path_beside(path);
    let sidecar = match sidecar::read(&beside) {
        Ok(sidecar) => Some(sidecar),
        Err(error) if error.is_not_found() => None,
        Err(error) => return Err(error.into()),
    };
    from_onnx::from_onnx(file, sidecar)
        .ok_or_else(|| Error::NoHierarchy { path: path.to_owned(), sidecar: beside })
}
