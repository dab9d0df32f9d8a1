//! `NodeProto`.

use modelexport_graph::onnx::Node;

use super::attribute;
use super::decoder::Decoder;
use crate::onnx::error::Error;
use crate::onnx::reader::{Message, Value};
use crate::onnx::schema::node;

pub(super) fn read(d: &mut Decoder<'_>, message: &mut Message) -> Result<Node, Error> {
    let start = message.position();
    let mut result = Node::default();
    let unknown = &mut result.unknown;
    while let Some(field) = d.next(message)? {
        match (field.number, field.value) {
            (node::INPUT, Value::Bytes(payload)) => result.inputs.push(d.plain_name(payload)?),
            (node::OUTPUT, Value::Bytes(payload)) => result.outputs.push(d.plain_name(payload)?),
            (node::NAME, Value::Bytes(payload)) => result.name = d.text(&field, payload, unknown)?.into(),
            (node::OP_TYPE, Value::Bytes(payload)) => result.op_type = d.name(&field, payload, unknown)?,
            (node::DOMAIN, Value::Bytes(payload)) => result.domain = d.name(&field, payload, unknown)?,
            (node::OVERLOAD, Value::Bytes(payload)) => result.overload = d.name(&field, payload, unknown)?,
            (node::ATTRIBUTE, Value::Bytes(payload)) => {
                d.item(&mut result.attributes, "attribute", payload, attribute::read)?;
            }
            (node::DOC_STRING, Value::Bytes(payload)) => {
                result.doc_string = d.text(&field, payload, unknown)?;
            }
            (node::METADATA_PROPS, Value::Bytes(payload)) => {
                d.entry(&field, payload, &mut result.metadata, unknown)?;
            }
            _ => d.keep(&field, unknown)?,
        }
    }
    if result.op_type.is_empty() {
        return Err(Error::MissingOperator { at: d.at(start) });
    }
    // A list that grows by pushing has room for four items at least, and most nodes have one or two.
    result.inputs.shrink_to_fit();
    result.outputs.shrink_to_fit();
    result.attributes.shrink_to_fit();
    Ok(result)
}
