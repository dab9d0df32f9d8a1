//! `GraphProto`.

use modelexport_graph::onnx::{Graph, Node};

use super::decoder::Decoder;
use super::{node, tensor, value_info};
use crate::onnx::error::Error;
use crate::onnx::reader::{Message, Value};
use crate::onnx::schema::graph;

pub(super) fn read(d: &mut Decoder<'_>, message: &mut Message) -> Result<Graph, Error> {
    read_nodes(d, message, &mut |_| ())
}

/// `each` gets every node as soon as it is read.
pub(super) fn read_nodes(
    d: &mut Decoder<'_>,
    message: &mut Message,
    each: &mut dyn FnMut(&mut Node),
) -> Result<Graph, Error> {
    let mut result = Graph::default();
    let unknown = &mut result.unknown;
    while let Some(field) = d.next(message)? {
        match (field.number, field.value) {
            (graph::NODE, Value::Bytes(payload)) => {
                d.item(&mut result.nodes, "node", payload, node::read)?;
                result.nodes.last_mut().into_iter().for_each(&mut *each);
            }
            (graph::NAME, Value::Bytes(payload)) => result.name = d.text(&field, payload, unknown)?,
            (graph::INITIALIZER, Value::Bytes(payload)) => {
                d.item(&mut result.initializers, "initializer", payload, tensor::read)?;
            }
            (graph::SPARSE_INITIALIZER, Value::Bytes(payload)) => {
                d.item(&mut result.sparse_initializers, "sparse_initializer", payload, tensor::read_sparse)?;
            }
            (graph::DOC_STRING, Value::Bytes(payload)) => {
                result.doc_string = d.text(&field, payload, unknown)?;
            }
            (graph::INPUT, Value::Bytes(payload)) => {
                d.item(&mut result.inputs, "input", payload, value_info::read)?;
            }
            (graph::OUTPUT, Value::Bytes(payload)) => {
                d.item(&mut result.outputs, "output", payload, value_info::read)?;
            }
            (graph::VALUE_INFO, Value::Bytes(payload)) => {
                d.item(&mut result.value_infos, "value_info", payload, value_info::read)?;
            }
            (graph::METADATA_PROPS, Value::Bytes(payload)) => {
                d.entry(&field, payload, &mut result.metadata, unknown)?;
            }
            _ => d.keep(&field, unknown)?,
        }
    }
    Ok(result)
}
