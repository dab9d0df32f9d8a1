//! `GraphProto`.

use modelexport_graph::onnx::Graph;

use super::decoder::Decoder;
use super::{GraphVisitor, node, tensor, value_info};
use crate::onnx::error::Error;
use crate::onnx::reader::{Message, Step, Value};
use crate::onnx::schema::graph;

pub(super) struct KeepAll;

impl GraphVisitor for KeepAll {}

pub(super) fn read(d: &mut Decoder<'_>, message: &mut Message) -> Result<Graph, Error> {
    read_visiting(d, message, &mut KeepAll)
}

/// `visitor` gets nodes and types of values as soon as they are read.
pub(super) fn read_visiting(
    d: &mut Decoder<'_>,
    message: &mut Message,
    visitor: &mut dyn GraphVisitor,
) -> Result<Graph, Error> {
    let mut result = Graph::default();
    let unknown = &mut result.unknown;
    let (mut nodes, mut value_infos) = (0, 0);
    while let Some(field) = d.next(message)? {
        match (field.number, field.value) {
            (graph::NODE, Value::Bytes(payload)) => {
                let mut found = d.message(Step::Item("node", nodes), Message::new(payload), node::read)?;
                nodes += 1;
                if visitor.node(&mut found) {
                    result.nodes.push(found);
                }
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
                let step = Step::Item("value_info", value_infos);
                let found = d.message(step, Message::new(payload), value_info::read)?;
                value_infos += 1;
                if visitor.value_info(&found) {
                    result.value_infos.push(found);
                }
            }
            (graph::METADATA_PROPS, Value::Bytes(payload)) => {
                d.entry(&field, payload, &mut result.metadata, unknown)?;
            }
            _ => d.keep(&field, unknown)?,
        }
    }
    Ok(result)
}
