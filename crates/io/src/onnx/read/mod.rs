//! From the bytes of a file to the ONNX types.
//!
//! A field that was written although it holds its default value (an empty `doc_string`, a 0) goes to `unknown`, as do
//! fields that are not modelled: the types cannot tell it from a field that is not there, the file can.

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
    read_nodes(sources, id, &mut |_| ())
}

/// The same. `each` gets every node of the main graph, complete with its subgraphs, as soon as it is read, and may
/// take out of it what nobody needs later: the texts of tags are most of a file that has them.
pub fn read_nodes(sources: &Sources, id: SourceId, each: &mut dyn FnMut(&mut Node)) -> Result<Model, Error> {
    struct Each<'e>(&'e mut dyn FnMut(&mut Node));
    impl Parts for Each<'_> {
        fn node(&mut self, node: &mut Node) -> bool {
            (self.0)(node);
            true
        }
    }
    read_parts(sources, id, &mut Each(each))
}

/// What is done with the parts that a main graph has most of, as soon as each is read: who needs little of them need
/// not have all of them in memory.
pub trait Parts {
    /// A node, complete with its subgraphs. Whether the model keeps it.
    fn node(&mut self, _node: &mut Node) -> bool {
        true
    }

    /// The type of a value. Whether the model keeps it.
    fn value_info(&mut self, _info: &ValueInfo) -> bool {
        true
    }
}

/// Reads a model of which `parts` may keep some.
pub fn read_parts(sources: &Sources, id: SourceId, parts: &mut dyn Parts) -> Result<Model, Error> {
    let source = find(sources, id)?;
    let mut decoder = Decoder::new(Reader::new(source), id);
    let model = model::read(&mut decoder, parts).map_err(|error| or_what_it_is(source, error))?;
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
