//! Headers of safetensors files: where each tensor's bytes are. The bytes themselves are not read.
//!
//! A file starts with the length of its header (8 bytes, little-endian), then comes the header, a JSON object from
//! tensor names to type, shape and offsets, then the tensors' bytes without gaps. A sharded model has an index beside
//! its files that says which tensor is in which.

mod error;
mod header;
mod index;

use std::collections::BTreeMap;
use std::path::Path;

use modelexport_graph::{DType, Span};

use crate::source::Sources;

pub use error::{Error, Reason};
pub use header::HEADER_LIMIT;
pub use index::{INDEX_LIMIT, INDEX_NAME};

/// The file that holds all tensors of a model that is not sharded.
pub const FILE_NAME: &str = "model.safetensors";

/// One tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub dtype: DType,
    pub shape: Vec<u64>,
    pub span: Span,
}

/// Tensors by name.
pub type Tensors = BTreeMap<String, Entry>;

/// Reads a `.safetensors` file, an index (`.json`), or a folder that has one of them under its usual name.
pub fn read(path: &Path, sources: &mut Sources) -> Result<Tensors, Error> {
    if path.is_dir() {
        let index = path.join(INDEX_NAME);
        return if index.exists() {
            index::read(&index, sources)
        } else {
            read_file(&path.join(FILE_NAME), sources)
        };
    }
    match path.extension().is_some_and(|extension| extension == "json") {
        true => index::read(path, sources),
        false => read_file(path, sources),
    }
}

/// Reads the header of one file.
pub fn read_file(path: &Path, sources: &mut Sources) -> Result<Tensors, Error> {
    let located = |reason: Reason| Error { path: path.into(), reason };
    let id = sources.add_file(path).map_err(|error| located(Reason::Source(error)))?;
    let source = sources.get(id).ok_or_else(|| located(Reason::Truncated { length: 0 }))?;
    header::read(source, id).map_err(located)
}

/// Reads the files that an index lists.
pub fn read_index(path: &Path, sources: &mut Sources) -> Result<Tensors, Error> {
    index::read(path, sources)
}

#[cfg(test)]
mod tests;
