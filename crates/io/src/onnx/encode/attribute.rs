//! `AttributeProto`.

use modelexport_graph::onnx::{Attribute, AttributeValue, TypeKind};

use super::graph;
use super::sink::Sink;
use super::tensor;
use super::value_info;
use crate::onnx::attribute_kind::Kind;
use crate::onnx::schema::attribute;

pub(super) fn put(sink: &mut impl Sink, value: &Attribute) {
    let kind = kind(&value.value);
    // An attribute that stands for one of its function has a type but no value.
    let stands_for_another = !value.ref_attr_name.is_empty() && is_default(&value.value);
    let value_field = kind.field().filter(|_| !stands_for_another);
    let put_value_between = |sink: &mut _, after: u32, before: u32| {
        if value_field.is_some_and(|field| field > after && field < before) {
            put_value(sink, &value.value);
        }
    };
    sink.text(attribute::NAME, &value.name);
    put_value_between(sink, attribute::NAME, attribute::DOC_STRING);
    sink.text(attribute::DOC_STRING, &value.doc_string);
    put_value_between(sink, attribute::DOC_STRING, attribute::TYPE);
    if kind != Kind::Undefined {
        sink.number(attribute::TYPE, kind as i64);
    }
    sink.text(attribute::REF_ATTR_NAME, &value.ref_attr_name);
    put_value_between(sink, attribute::REF_ATTR_NAME, u32::MAX);
    sink.unknown(&value.unknown);
}

fn put_value(sink: &mut impl Sink, value: &AttributeValue) {
    match value {
        AttributeValue::Undefined => {}
        AttributeValue::Float(value) => sink.float(attribute::F, *value),
        AttributeValue::Int(value) => sink.number(attribute::I, *value),
        AttributeValue::String(bytes) => sink.bytes_field(attribute::S, bytes),
        AttributeValue::Tensor(value) => sink.message(attribute::T, |sink| tensor::put(sink, value)),
        AttributeValue::Graph(value) => sink.message(attribute::G, |sink| graph::put(sink, value)),
        AttributeValue::SparseTensor(value) => {
            sink.message(attribute::SPARSE_TENSOR, |sink| tensor::put_sparse(sink, value));
        }
        AttributeValue::Type(value) => sink.message(attribute::TP, |sink| value_info::put_type(sink, value)),
        AttributeValue::Floats(list) => list.iter().for_each(|&item| sink.float(attribute::FLOATS, item)),
        AttributeValue::Ints(list) => list.iter().for_each(|&item| sink.number_item(attribute::INTS, item)),
        AttributeValue::Strings(list) => {
            list.iter().for_each(|item| sink.bytes_field(attribute::STRINGS, item));
        }
        AttributeValue::Tensors(list) => {
            list.iter().for_each(|item| sink.message(attribute::TENSORS, |sink| tensor::put(sink, item)));
        }
        AttributeValue::Graphs(list) => {
            list.iter().for_each(|item| sink.message(attribute::GRAPHS, |sink| graph::put(sink, item)));
        }
        AttributeValue::SparseTensors(list) => list.iter().for_each(|item| {
            sink.message(attribute::SPARSE_TENSORS, |sink| tensor::put_sparse(sink, item));
        }),
        AttributeValue::Types(list) => list.iter().for_each(|item| {
            sink.message(attribute::TYPE_PROTOS, |sink| value_info::put_type(sink, item));
        }),
    }
}

fn kind(value: &AttributeValue) -> Kind {
    match value {
        AttributeValue::Undefined => Kind::Undefined,
        AttributeValue::Float(_) => Kind::Float,
        AttributeValue::Int(_) => Kind::Int,
        AttributeValue::String(_) => Kind::String,
        AttributeValue::Tensor(_) => Kind::Tensor,
        AttributeValue::Graph(_) => Kind::Graph,
        AttributeValue::SparseTensor(_) => Kind::SparseTensor,
        AttributeValue::Type(_) => Kind::Type,
        AttributeValue::Floats(_) => Kind::Floats,
        AttributeValue::Ints(_) => Kind::Ints,
        AttributeValue::Strings(_) => Kind::Strings,
        AttributeValue::Tensors(_) => Kind::Tensors,
        AttributeValue::Graphs(_) => Kind::Graphs,
        AttributeValue::SparseTensors(_) => Kind::SparseTensors,
        AttributeValue::Types(_) => Kind::Types,
    }
}

/// What an attribute without a value is read as.
fn is_default(value: &AttributeValue) -> bool {
    match value {
        AttributeValue::Undefined => true,
        AttributeValue::Float(value) => *value == 0.0,
        AttributeValue::Int(value) => *value == 0,
        AttributeValue::String(bytes) => bytes.is_empty(),
        AttributeValue::Tensor(tensor) => {
            tensor.data_type == 0 && tensor.dims.is_empty() && tensor.unknown.is_empty()
        }
        AttributeValue::Graph(graph) => {
            graph.nodes.is_empty() && graph.outputs.is_empty() && graph.unknown.is_empty()
        }
        AttributeValue::SparseTensor(tensor) => {
            tensor.values.is_none() && tensor.indices.is_none() && tensor.unknown.is_empty()
        }
        AttributeValue::Type(value) => value.kind == TypeKind::Missing && value.unknown.is_empty(),
        AttributeValue::Floats(_)
        | AttributeValue::Ints(_)
        | AttributeValue::Strings(_)
        | AttributeValue::Tensors(_)
        | AttributeValue::Graphs(_)
        | AttributeValue::SparseTensors(_)
        | AttributeValue::Types(_) => false,
    }
}
