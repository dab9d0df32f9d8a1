//! `ModelProto` and `OperatorSetIdProto`.

use modelexport_graph::onnx::{Model, OpsetImport};

use super::decoder::{Decoder, int64};
use super::{GraphVisitor, function, graph};
use crate::onnx::error::Error;
use crate::onnx::reader::{Message, Step, Value};
use crate::onnx::schema::{model, opset_import};

/// The first version of the format in which a model must say which operators it uses.
const FIRST_IR_WITH_OPSETS: i64 = 3;

/// `visitor` gets the nodes and value types of the main graph.
pub(super) fn read(d: &mut Decoder<'_>, visitor: &mut dyn GraphVisitor) -> Result<Model, Error> {
    let mut message = d.whole();
    let mut result = Model::default();
    let mut main_graph = None;
    let unknown = &mut result.unknown;
    while let Some(field) = d.next(&mut message)? {
        match (field.number, field.value) {
            (model::IR_VERSION, Value::Varint(value)) => {
                result.ir_version = int64(d.number(&field, value, unknown)?);
            }
            (model::PRODUCER_NAME, Value::Bytes(payload)) => {
                result.producer_name = d.text(&field, payload, unknown)?;
            }
            (model::PRODUCER_VERSION, Value::Bytes(payload)) => {
                result.producer_version = d.text(&field, payload, unknown)?;
            }
            (model::DOMAIN, Value::Bytes(payload)) => result.domain = d.text(&field, payload, unknown)?,
            (model::MODEL_VERSION, Value::Varint(value)) => {
                result.model_version = int64(d.number(&field, value, unknown)?);
            }
            (model::DOC_STRING, Value::Bytes(payload)) => {
                result.doc_string = d.text(&field, payload, unknown)?;
            }
            (model::GRAPH, Value::Bytes(payload)) => Message::merge(&mut main_graph, payload),
            (model::OPSET_IMPORT, Value::Bytes(payload)) => {
                d.item(&mut result.opset_imports, "opset_import", payload, read_opset_import)?;
            }
            (model::METADATA_PROPS, Value::Bytes(payload)) => {
                d.entry(&field, payload, &mut result.metadata, unknown)?;
            }
            (model::FUNCTIONS, Value::Bytes(payload)) => {
                d.item(&mut result.functions, "functions", payload, function::read)?;
            }
            _ => d.keep(&field, unknown)?,
        }
    }
    let missing = |field| Error::Missing { file: d.file(), field };
    let Some(main_graph) = main_graph else { return Err(missing("graph")) };
    if result.opset_imports.is_empty() && result.ir_version >= FIRST_IR_WITH_OPSETS {
        return Err(missing("opset_import"));
    }
    result.graph =
        d.message(Step::Field("graph"), main_graph, |d, message| graph::read_visiting(d, message, visitor))?;
    Ok(result)
}

pub(super) fn read_opset_import(d: &mut Decoder<'_>, message: &mut Message) -> Result<OpsetImport, Error> {
    let mut result = OpsetImport::default();
    let unknown = &mut result.unknown;
    while let Some(field) = d.next(message)? {
        match (field.number, field.value) {
            (opset_import::DOMAIN, Value::Bytes(payload)) => {
                result.domain = d.text(&field, payload, unknown)?;
            }
            (opset_import::VERSION, Value::Varint(value)) => {
                result.version = int64(d.number(&field, value, unknown)?);
            }
            _ => d.keep(&field, unknown)?,
        }
    }
    Ok(result)
}
