//! `GraphProto` and `NodeProto`.

use modelexport_graph::onnx::{Graph, Node};

use super::attribute;
use super::sink::Sink;
use super::tensor;
use super::value_info;
use crate::onnx::schema::{graph, node};

pub(super) fn put(sink: &mut impl Sink, value: &Graph) {
    sink.nodes(&value.nodes);
    sink.text(graph::NAME, &value.name);
    for item in &value.initializers {
        sink.message(graph::INITIALIZER, |sink| tensor::put(sink, item));
    }
    sink.text(graph::DOC_STRING, &value.doc_string);
    for info in &value.inputs {
        sink.message(graph::INPUT, |sink| value_info::put(sink, info));
    }
    for info in &value.outputs {
        sink.message(graph::OUTPUT, |sink| value_info::put(sink, info));
    }
    for info in &value.value_infos {
        sink.message(graph::VALUE_INFO, |sink| value_info::put(sink, info));
    }
    for item in &value.sparse_initializers {
        sink.message(graph::SPARSE_INITIALIZER, |sink| tensor::put_sparse(sink, item));
    }
    sink.entries(graph::METADATA_PROPS, &value.metadata);
    sink.unknown(&value.unknown);
}

pub(super) fn put_node(sink: &mut impl Sink, value: &Node) {
    for name in &value.inputs {
        sink.text_item(node::INPUT, name);
    }
    for name in &value.outputs {
        sink.text_item(node::OUTPUT, name);
    }
    sink.text(node::NAME, &value.name);
    sink.text(node::OP_TYPE, &value.op_type);
    for item in &value.attributes {
        sink.message(node::ATTRIBUTE, |sink| attribute::put(sink, item));
    }
    sink.node_doc_string(value);
    sink.text(node::DOMAIN, &value.domain);
    sink.text(node::OVERLOAD, &value.overload);
    sink.entries(node::METADATA_PROPS, &value.metadata);
    sink.node_entries(value);
    sink.unknown(&value.unknown);
}
