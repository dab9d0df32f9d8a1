//! `FunctionProto`.

use modelexport_graph::onnx::Function;

use super::decoder::Decoder;
use super::{attribute, model, node, value_info};
use crate::onnx::error::Error;
use crate::onnx::reader::{Message, Value};
use crate::onnx::schema::function;

pub(super) fn read(d: &mut Decoder<'_>, message: &mut Message) -> Result<Function, Error> {
    let mut result = Function::default();
    let unknown = &mut result.unknown;
    while let Some(field) = d.next(message)? {
        match (field.number, field.value) {
            (function::NAME, Value::Bytes(payload)) => result.name = d.name(&field, payload, unknown)?,
            (function::DOMAIN, Value::Bytes(payload)) => result.domain = d.name(&field, payload, unknown)?,
            (function::OVERLOAD, Value::Bytes(payload)) => {
                result.overload = d.name(&field, payload, unknown)?;
            }
            (function::INPUT, Value::Bytes(payload)) => result.inputs.push(d.plain_name(payload)?),
            (function::OUTPUT, Value::Bytes(payload)) => result.outputs.push(d.plain_name(payload)?),
            (function::ATTRIBUTE, Value::Bytes(payload)) => result.attributes.push(d.plain_text(payload)?),
            (function::ATTRIBUTE_PROTO, Value::Bytes(payload)) => {
                d.item(&mut result.attribute_defaults, "attribute_proto", payload, attribute::read)?;
            }
            (function::NODE, Value::Bytes(payload)) => {
                d.item(&mut result.nodes, "node", payload, node::read)?;
            }
            (function::OPSET_IMPORT, Value::Bytes(payload)) => {
                d.item(&mut result.opset_imports, "opset_import", payload, model::read_opset_import)?;
            }
            (function::VALUE_INFO, Value::Bytes(payload)) => {
                d.item(&mut result.value_infos, "value_info", payload, value_info::read)?;
            }
            (function::DOC_STRING, Value::Bytes(payload)) => {
                result.doc_string = d.text(&field, payload, unknown)?;
            }
            (function::METADATA_PROPS, Value::Bytes(payload)) => {
                d.entry(&field, payload, &mut result.metadata, unknown)?;
            }
            _ => d.keep(&field, unknown)?,
        }
    }
    Ok(result)
}
