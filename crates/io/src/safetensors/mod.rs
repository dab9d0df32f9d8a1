//! Headers of safetensors files: the position of each tensor's bytes. The bytes themselves are not read.
//!
//! A file starts with the length of its header (8 bytes, little-endian). The header follows: a JSON object that maps tensor
//! names to type, shape and offsets. Then come the bytes of the tensors without gaps. A sharded model has an index beside its
//! files that maps each tensor to its file.

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

/// What the names of these files end in.
const EXTENSION: &str = "safetensors";

/// One tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub dtype: DType,
    pub shape: Vec<u64>,
    pub span: Span,
}

/// Tensors by name.
pub type Tensors = BTreeMap<String, Entry>;

/// Reads a `.safetensors` file, an index (`.json`), or a folder: its index, its `model.safetensors`, or else all
/// `.safetensors` files that are in it.
pub fn read(path: &Path, sources: &mut Sources) -> Result<Tensors, Error> {
    if path.is_dir() {
        return read_folder(path, sources);
    }
    match path.extension().is_some_and(|extension| extension == "json") {
        true => index::read(path, sources),
        false => read_file(path, sources),
    }
}

fn read_folder(folder: &Path, sources: &mut Sources) -> Result<Tensors, Error> {
    let index = folder.join(INDEX_NAME);
    if index.exists() {
        return index::read(&index, sources);
    }
    let file = folder.join(FILE_NAME);
    if file.exists() {
        return read_file(&file, sources);
    }
    let located = |reason: Reason| Error { path: folder.into(), reason };
    let entries = std::fs::read_dir(folder).map_err(|error| located(Reason::Read(error)))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == EXTENSION)).collect();
    if files.is_empty() {
        return Err(located(Reason::NoFiles));
    }
    files.sort();
    let mut tensors = Tensors::new();
    for file in files {
        for (name, entry) in read_file(&file, sources)? {
            if tensors.insert(name.clone(), entry).is_some() {
                return Err(located(Reason::Duplicate { name }));
            }
        }
    }
    Ok(tensors)
}

/// Reads the header of one file.
fn read_file(path: &Path, sources: &mut Sources) -> Result<Tensors, Error> {
    let located = |reason: Reason| Error { path: path.into(), reason };
    let id = sources.add_file(path).map_err(|error| located(Reason::Source(error)))?;
    let source = sources.get(id).ok_or_else(|| located(Reason::Truncated { length: 0 }))?;
    header::read(source, id).map_err(located)
}

#[cfg(test)]
mod tests;
