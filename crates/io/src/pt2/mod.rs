//! The `.pt2` archive that `torch.export.save` writes, from torch 2.9 on: a zip file with the program as JSON, the
//! weights as raw bytes, and nothing that must be unpickled.
//!
//! ```text
//! <root>/models/<model>.json                            the program
//! <root>/data/weights/<model>_weights_config.json       parameters and buffers: shape, strides, zip entry
//! <root>/data/weights/weight_0, weight_1, …             their storages
//! <root>/data/constants/<model>_constants_config.json   constants and buffers that are not saved
//! <root>/data/constants/tensor_0, …
//! <root>/byteorder, archive_version                     checked
//! <root>/data/sample_inputs/<model>.pt                  a pickle: never opened
//! ```
//!
//! `archive` finds the bytes, `schema` and `argument` mirror the JSON, and `program` turns it into the types that the
//! rest of modelexport works on.

mod archive;
mod args;
mod argument;
mod branches;
mod codes;
mod error;
mod graph;
mod json;
mod layout;
mod module_path;
mod module_stack;
mod names;
mod node_name;
mod parts;
mod program;
mod schema;
mod sym_function;
mod sym_text;
#[cfg(test)]
mod tests;
mod values;
pub mod versions;
mod weights;

use std::path::{Path, PathBuf};

use modelexport_graph::aten::{Program, WeightKind};
use modelexport_graph::{SourceId, Span};
use rawzip::ReaderAt;

use crate::source::{Source, Sources};

pub use error::{Error, NodePlace, Problem, ProgramLocation};
pub use parts::{Parts, read_parts};
pub use sym_text::parse as symbolic_expression;

/// A captured program and the file that its weights are in.
#[derive(Debug)]
pub struct Archive {
    pub program: Program,
    pub sources: Sources,
}

/// Reads an archive. Weights stay where they are; the program holds their addresses.
pub fn read(path: &Path) -> Result<Archive, Error> {
    let mut sources = Sources::new();
    let id = sources
        .add_file(path)
        .map_err(|error| Error { path: path.into(), problem: Box::new(Problem::Open(error)) })?;
    Ok(Archive { program: read_source(&sources, id)?, sources })
}

/// Reads an archive that is a source already, in a file or in memory.
pub fn read_source(sources: &Sources, id: SourceId) -> Result<Program, Error> {
    match sources.get(id) {
        Some(source) => read_program(SourceReader(source), source.len(), id)
            .map(branches::placed)
            .map_err(|problem| Error { path: source.to_string().into(), problem: Box::new(problem) }),
        None => Err(Error { path: PathBuf::new(), problem: Box::new(Problem::NotZip) }),
    }
}

/// The nodes of subgraphs whose module call the archive does not tell have none.
fn read_program<R: ReaderAt + Sync>(reader: R, length: u64, source: SourceId) -> Result<Program, Problem> {
    let archive = archive::Archive::open(reader, length)?;
    let layout = layout::find(&archive)?;
    let mut shared = values::Interner::default();
    let mut weights = weights::Weights::default();
    let folders = [
        (&layout.weights, &layout.weights_config, WeightKind::Buffer),
        (&layout.constants, &layout.constants_config, WeightKind::Constant),
    ];
    let find = |entry: &str| {
        let found = archive.find(entry)?;
        Ok(found.map(|entry| Span { source, offset: entry.offset, length: entry.length }))
    };
    for (path, config, kind) in folders {
        let bytes = archive.read_json(config)?;
        let folder = weights::Folder { path, config, bytes: &bytes, kind };
        weights.read_folder(&folder, &find, &mut shared)?;
    }
    let entry = &layout.program;
    archive.parse_json(entry, |text| program::read(entry, text, weights, shared))
}

/// A source as `rawzip` wants to read it.
struct SourceReader<'a>(&'a Source);

impl ReaderAt for SourceReader<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let left = self.0.len().saturating_sub(offset);
        let count = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        match buffer.get_mut(..count) {
            Some(wanted) => self.0.read_at(offset, wanted).map(|()| count),
            None => Ok(0),
        }
    }
}
