//! Decodes the bytes of a file as ONNX types.
//!
//! A field that is written with its default value (an empty `doc_string`, a 0) goes to `unknown`, as do fields that are not
//! modelled. The types cannot distinguish it from a missing field, but the file can.

mod attribute;
mod decoder;
mod function;
mod graph;
mod looks_like;
mod model;
mod node;
mod recursion;
mod tensor;
mod value_info;

use std::path::Path;
use std::sync::Arc;

use modelexport_graph::SourceId;
use modelexport_graph::onnx::{Model, Node, ValueInfo};

use self::decoder::Decoder;
use self::graph::KeepAll;
use super::error::Error;
use super::reader::Reader;
use crate::source::{Source, Sources};

/// A model, and the sources that its stored tensors lie in.
#[derive(Debug)]
pub struct OnnxFile {
    pub model: Model,
    pub sources: Sources,
}

/// Reads the model at `path`. Tensor data above [`MAX_INLINE_DATA`](super::limits::MAX_INLINE_DATA) stays in the
/// file: its tensors say where.
pub fn read(path: &Path) -> Result<OnnxFile, Error> {
    let mut sources = Sources::new();
    let id = sources.add_file(path)?;
    let model = read_source(&sources, id)?;
    Ok(OnnxFile { model, sources })
}

/// Reads a model from memory; `name` stands for it in messages.
pub fn read_bytes(name: &str, bytes: Vec<u8>) -> Result<OnnxFile, Error> {
    let mut sources = Sources::new();
    let id = sources.add_memory(name, Arc::new(bytes));
    let model = read_source(&sources, id)?;
    Ok(OnnxFile { model, sources })
}

/// Reads the model that one of `sources` holds.
pub fn read_source(sources: &Sources, id: SourceId) -> Result<Model, Error> {
    read_visiting(sources, id, &mut KeepAll)
}

/// Gets the nodes and value types of the main graph as soon as each is read. A visitor that needs little of them saves
/// the memory of the rest.
pub trait GraphVisitor {
    /// Visits a node, complete with its subgraphs. Returns whether the model keeps it.
    fn node(&mut self, _node: &mut Node) -> bool {
        true
    }

    /// Visits the type of a value. Returns whether the model keeps it.
    fn value_info(&mut self, _info: &ValueInfo) -> bool {
        true
    }
}

/// Reads a model and keeps what `visitor` says.
pub fn read_visiting(
    sources: &Sources,
    id: SourceId,
    visitor: &mut dyn GraphVisitor,
) -> Result<Model, Error> {
    let source = find(sources, id)?;
    let mut decoder = Decoder::new(Reader::new(source), id);
    let model = model::read(&mut decoder, visitor).map_err(|error| or_what_it_is(source, error))?;
    recursion::check(&model, &source.to_string())?;
    Ok(model)
}

/// The source `id`, which must be of this table.
pub(super) fn find(sources: &Sources, id: SourceId) -> Result<&Source, Error> {
    sources.get(id).ok_or(Error::UnknownSource { id: id.0 })
}

/// A file that is no protobuf fails somewhere in the middle; what it is instead says more.
pub(super) fn or_what_it_is(source: &Source, error: Error) -> Error {
    match looks_like::other_format(&Reader::new(source).head(looks_like::HEAD)) {
        Some(looks_like) if !matches!(error, Error::Read { .. }) => {
            Error::NotOnnx { file: source.to_string(), looks_like }
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests;
