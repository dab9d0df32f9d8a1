//! `ValueInfoProto`, `TypeProto` and `TensorShapeProto`.

use modelexport_graph::onnx::{Dimension, DimensionValue, Type, TypeKind, ValueInfo};

use super::sink::Sink;
use crate::onnx::schema::{dimension, shape, type_proto, value_info};

pub(super) fn put(sink: &mut impl Sink, value: &ValueInfo) {
    sink.text(value_info::NAME, &value.name);
    if let Some(value_type) = &value.value_type {
        sink.message(value_info::TYPE, |sink| put_type(sink, value_type));
    }
    sink.text(value_info::DOC_STRING, &value.doc_string);
    sink.entries(value_info::METADATA_PROPS, &value.metadata);
    sink.unknown(&value.unknown);
}

pub(super) fn put_type(sink: &mut impl Sink, value: &Type) {
    let field = kind_field(&value.kind);
    let put_kind_if = |sink: &mut _, condition: bool| {
        if condition && let Some(number) = field {
            Sink::message(sink, number, |sink| put_kind(sink, &value.kind));
        }
    };
    put_kind_if(sink, field < Some(type_proto::DENOTATION));
    sink.text(type_proto::DENOTATION, &value.denotation);
    put_kind_if(sink, field > Some(type_proto::DENOTATION));
    sink.unknown(&value.unknown);
}

fn kind_field(kind: &TypeKind) -> Option<u32> {
    Some(match kind {
        TypeKind::Tensor { .. } => type_proto::TENSOR,
        TypeKind::SparseTensor { .. } => type_proto::SPARSE_TENSOR,
        TypeKind::Sequence(_) => type_proto::SEQUENCE,
        TypeKind::Optional(_) => type_proto::OPTIONAL,
        TypeKind::Map { .. } => type_proto::MAP,
        TypeKind::Opaque { .. } => type_proto::OPAQUE,
        TypeKind::Missing => return None,
    })
}

fn put_kind(sink: &mut impl Sink, kind: &TypeKind) {
    match kind {
        TypeKind::Tensor { elem_type, shape } | TypeKind::SparseTensor { elem_type, shape } => {
            sink.number_unless_zero(type_proto::ELEM_TYPE, i64::from(*elem_type));
            if let Some(dims) = shape {
                sink.message(type_proto::SHAPE, |sink| {
                    for dim in dims {
                        sink.message(shape::DIM, |sink| put_dimension(sink, dim));
                    }
                });
            }
        }
        TypeKind::Sequence(element) | TypeKind::Optional(element) => {
            if let Some(element) = element {
                sink.message(type_proto::INNER, |sink| put_type(sink, element));
            }
        }
        TypeKind::Map { key_type, value } => {
            sink.number_unless_zero(type_proto::MAP_KEY, i64::from(*key_type));
            if let Some(value) = value {
                sink.message(type_proto::MAP_VALUE, |sink| put_type(sink, value));
            }
        }
        TypeKind::Opaque { domain, name } => {
            sink.text(type_proto::OPAQUE_DOMAIN, domain);
            sink.text(type_proto::OPAQUE_NAME, name);
        }
        TypeKind::Missing => {}
    }
}

fn put_dimension(sink: &mut impl Sink, dim: &Dimension) {
    match &dim.value {
        DimensionValue::Unknown => {}
        DimensionValue::Static(value) => sink.number(dimension::DIM_VALUE, *value),
        DimensionValue::Named(name) => sink.text_item(dimension::DIM_PARAM, name),
    }
    sink.text(dimension::DENOTATION, &dim.denotation);
    sink.unknown(&dim.unknown);
}
