//! Messages built by hand, field by field, for tests.

use std::sync::Arc;

use modelexport_graph::SourceId;

use super::schema::{attribute, function, graph, model, node, opset_import};
use super::wire::{WireType, put_bytes_field, put_padded_varint, put_varint, tag};
use crate::source::Sources;

/// A length-delimited field.
pub(super) fn field(number: u32, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_bytes_field(&mut bytes, number, payload.as_ref());
    bytes
}

/// The same with tag and length in more bytes than needed.
pub(super) fn padded(number: u32, payload: impl AsRef<[u8]>, tag_width: u64, length_width: u64) -> Vec<u8> {
    let payload = payload.as_ref();
    let mut bytes = Vec::new();
    put_padded_varint(&mut bytes, tag(number, WireType::Length), tag_width);
    put_padded_varint(&mut bytes, payload.len() as u64, length_width);
    bytes.extend_from_slice(payload);
    bytes
}

pub(super) fn number(number: u32, value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_varint(&mut bytes, tag(number, WireType::Varint));
    put_varint(&mut bytes, value);
    bytes
}

/// A model with this content of its main graph.
pub(super) fn model_of(graph: impl AsRef<[u8]>) -> Vec<u8> {
    let import = [field(opset_import::DOMAIN, ""), number(opset_import::VERSION, 20)].concat();
    let parts =
        [number(model::IR_VERSION, 10), field(model::GRAPH, graph), field(model::OPSET_IMPORT, import)];
    parts.concat()
}

/// The fields of a node with an operator and more.
pub(super) fn node_of(op_type: &str, more: impl AsRef<[u8]>) -> Vec<u8> {
    [&field(node::OP_TYPE, op_type), more.as_ref()].concat()
}

/// A graph with one node for each of `nodes`.
pub(super) fn graph_of(nodes: &[Vec<u8>]) -> Vec<u8> {
    nodes.iter().map(|content| field(graph::NODE, content)).collect::<Vec<_>>().concat()
}

/// The attribute field of a node that holds a graph.
pub(super) fn graph_attribute(content: impl AsRef<[u8]>) -> Vec<u8> {
    let parts = [field(attribute::NAME, "body"), field(attribute::G, content), number(attribute::TYPE, 5)];
    field(node::ATTRIBUTE, parts.concat())
}

/// A graph inside a node inside a graph, `depth` times.
pub(super) fn nested(depth: usize) -> Vec<u8> {
    (0..depth).fold(Vec::new(), |inner, _| graph_of(&[node_of("If", graph_attribute(inner))]))
}

/// The field of a model that holds a function of one node.
pub(super) fn function_of(name: &str, calls: &str) -> Vec<u8> {
    let call = node_of(calls, field(node::DOMAIN, "f"));
    let parts = [field(function::NAME, name), field(function::NODE, call), field(function::DOMAIN, "f")];
    field(model::FUNCTIONS, parts.concat())
}

/// A source in memory.
pub(super) fn source_of(bytes: &[u8]) -> (Sources, SourceId) {
    let mut sources = Sources::new();
    let id = sources.add_memory("test.onnx", Arc::new(bytes.to_vec()));
    (sources, id)
}
