//! Evidence from a file of any kind.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;
use std::path::Path;

use modelexport_io::source::Sources;
use modelexport_io::{pt2, sidecar, source, trace};
use serde::Deserializer;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};

use super::{Evidence, from_onnx, from_program, from_sidecar, from_trace};
use crate::Error;
use crate::hierarchy;
use crate::tensors::external_locations;

/// Reads evidence: a trace, a `.pt2`, a sidecar, or an ONNX file with the sidecar beside it if there is one. What a
/// file is is told by how it begins.
pub fn load(path: &Path) -> Result<Evidence, Error> {
    match start(path)?.as_slice() {
        [b'P', b'K', 3, 4, ..] => from_program::from_program(pt2::read(path)?, &|| Ok(pt2::read(path)?)),
        start if start.trim_ascii_start().first() == Some(&b'{') => load_json(path),
        _ => load_onnx(path),
    }
}

fn start(path: &Path) -> Result<Vec<u8>, Error> {
    read(path, 64)
}

fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let file = source::open_regular(path)?;
    let length = file.metadata().map_or(0, |about| about.len()).min(limit);
    let mut bytes = Vec::new();
    // One byte more shows that the file has ended. Without the room it grows as it is read.
    let _ = bytes.try_reserve_exact(usize::try_from(length).unwrap_or_default().saturating_add(1));
    file.take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::Read { path: path.to_owned(), source: error })?;
    Ok(bytes)
}

fn load_json(path: &Path) -> Result<Evidence, Error> {
    let bytes = read(path, trace::MAX_BYTES.max(sidecar::MAX_BYTES) + 1)?;
    if is_trace(&bytes) {
        let trace = trace::parse(&bytes, path)?;
        drop(bytes);
        return Ok(from_trace::from_trace(trace));
    }
    let sidecar = sidecar::parse(&bytes, path)?;
    drop(bytes);
    Ok(from_sidecar::from_sidecar(sidecar))
}

/// Keys that only a trace has.
const TRACE_KEYS: [&str; 3] = ["tensors", "calls", "ops"];

/// Whether JSON is a trace and not a sidecar: by the first key that tells, so that the rest is read only once.
fn is_trace(bytes: &[u8]) -> bool {
    let mut found = false;
    // Reading stops with an error where a key was found.
    let _ = serde_json::Deserializer::from_slice(bytes).deserialize_map(FirstKey { found: &mut found });
    found
}

struct FirstKey<'f> {
    found: &'f mut bool,
}

impl<'de> Visitor<'de> for FirstKey<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if TRACE_KEYS.contains(&&*key) {
                *self.found = true;
                return Err(A::Error::custom("found"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

fn load_onnx(path: &Path) -> Result<Evidence, Error> {
    let mut sources = Sources::new();
    let source = sources.add_file(path)?;
    let beside = sidecar::path_beside(path);
    let mut sidecar = match sidecar::read(&beside) {
        Ok(sidecar) => Some(sidecar),
        Err(error) if error.is_not_found() => None,
        Err(error) => return Err(error.into()),
    };
    let (placed, found) = hierarchy::read_onnx(&sources, source, sidecar.as_mut())?;
    let hierarchy::PlacedGraph { graph, calls, model } = placed;
    let evidence = from_onnx::from_placed(graph, calls, found, sidecar);
    let evidence = evidence.ok_or_else(|| Error::NoHierarchy { path: path.to_owned(), sidecar: beside })?;
    Ok(Evidence { data_locations: external_locations(&model), ..evidence })
}
