//! Evidence from a file of any kind.

use std::io::Read;
use std::path::Path;

use modelexport_io::{onnx, pt2, sidecar, source, trace};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Evidence, from_onnx, from_program, from_sidecar, from_trace};
use crate::Error;

/// Reads evidence: a trace, a `.pt2`, a sidecar, or an ONNX file with the sidecar beside it if there is one. What a
/// file is is told by how it begins.
pub fn load(path: &Path) -> Result<Evidence, Error> {
    match start(path)?.as_slice() {
        [b'P', b'K', 3, 4, ..] => Ok(from_program::from_program(pt2::read(path)?)),
        start if start.trim_ascii_start().first() == Some(&b'{') => load_json(path),
        _ => load_onnx(path),
    }
}

fn start(path: &Path) -> Result<Vec<u8>, Error> {
    read(path, 64)
}

fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    source::open_regular(path)?
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::Read { path: path.to_owned(), source: error })?;
    Ok(bytes)
}

/// The key that a trace has and a sidecar lacks.
#[derive(Deserialize)]
struct TraceOnly {
    #[serde(rename = "ops")]
    _ops: IgnoredAny,
}

fn load_json(path: &Path) -> Result<Evidence, Error> {
    let bytes = read(path, trace::MAX_BYTES.max(sidecar::MAX_BYTES) + 1)?;
    match serde_json::from_slice::<TraceOnly>(&bytes) {
        Ok(_) => Ok(from_trace::from_trace(trace::parse(&bytes, path)?)),
        Err(_) => Ok(from_sidecar::from_sidecar(sidecar::parse(&bytes, path)?)),
    }
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
