//! `ModelProto`, `OperatorSetIdProto` and `FunctionProto`.

use modelexport_graph::onnx::{Function, Model, OpsetImport};

use super::attribute;
use super::graph;
use super::sink::Sink;
use super::value_info;
use crate::onnx::schema::{function, model, opset_import};

pub(super) fn put(sink: &mut impl Sink, value: &Model) {
    sink.number_unless_zero(model::IR_VERSION, value.ir_version);
    sink.text(model::PRODUCER_NAME, &value.producer_name);
    sink.text(model::PRODUCER_VERSION, &value.producer_version);
    sink.text(model::DOMAIN, &value.domain);
    sink.number_unless_zero(model::MODEL_VERSION, value.model_version);
    sink.text(model::DOC_STRING, &value.doc_string);
    sink.message(model::GRAPH, |sink| graph::put(sink, &value.graph));
    for import in &value.opset_imports {
        sink.message(model::OPSET_IMPORT, |sink| put_opset_import(sink, import));
    }
    sink.entries(model::METADATA_PROPS, &value.metadata);
    for item in &value.functions {
        sink.message(model::FUNCTIONS, |sink| put_function(sink, item));
    }
    sink.unknown(&value.unknown);
}

fn put_opset_import(sink: &mut impl Sink, import: &OpsetImport) {
    sink.text(opset_import::DOMAIN, &import.domain);
    sink.number_unless_zero(opset_import::VERSION, import.version);
    sink.unknown(&import.unknown);
}

fn put_function(sink: &mut impl Sink, value: &Function) {
    sink.text(function::NAME, &value.name);
    for name in &value.inputs {
        sink.text_item(function::INPUT, name);
    }
    for name in &value.outputs {
        sink.text_item(function::OUTPUT, name);
    }
    for name in &value.attributes {
        sink.text_item(function::ATTRIBUTE, name);
    }
    for node in &value.nodes {
        sink.message(function::NODE, |sink| graph::put_node(sink, node));
    }
    sink.text(function::DOC_STRING, &value.doc_string);
    for import in &value.opset_imports {
        sink.message(function::OPSET_IMPORT, |sink| put_opset_import(sink, import));
    }
    sink.text(function::DOMAIN, &value.domain);
    for default in &value.attribute_defaults {
        sink.message(function::ATTRIBUTE_PROTO, |sink| attribute::put(sink, default));
    }
    for info in &value.value_infos {
        sink.message(function::VALUE_INFO, |sink| value_info::put(sink, info));
    }
    sink.text(function::OVERLOAD, &value.overload);
    sink.entries(function::METADATA_PROPS, &value.metadata);
    sink.unknown(&value.unknown);
}
