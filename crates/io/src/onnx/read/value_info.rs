//! `ValueInfoProto`, `TypeProto` and `TensorShapeProto`.
//!
//! The types of tensors, sequences and maps have messages of their own that the ONNX types do not represent. Their unknown
//! fields are kept in the unknown fields of the type, wrapped in the same field: protobuf merges the two.

use modelexport_graph::onnx::{Dimension, DimensionValue, Type, TypeKind, Unknown, ValueInfo};

use super::decoder::{Decoder, int32, int64};
use crate::onnx::error::Error;
use crate::onnx::reader::{Extent, Message, Step, Value};
use crate::onnx::schema::{dimension, shape, type_proto, value_info};
use crate::onnx::wire::put_bytes_field;

pub(super) fn read(d: &mut Decoder<'_>, message: &mut Message) -> Result<ValueInfo, Error> {
    let mut result = ValueInfo::default();
    let mut value_type = None;
    let unknown = &mut result.unknown;
    while let Some(field) = d.next(message)? {
        match (field.number, field.value) {
            (value_info::NAME, Value::Bytes(payload)) => result.name = d.name(&field, payload, unknown)?,
            (value_info::TYPE, Value::Bytes(payload)) => Message::merge(&mut value_type, payload),
            (value_info::DOC_STRING, Value::Bytes(payload)) => {
                result.doc_string = d.text(&field, payload, unknown)?;
            }
            (value_info::METADATA_PROPS, Value::Bytes(payload)) => {
                d.entry(&field, payload, &mut result.metadata, unknown)?;
            }
            _ => d.keep(&field, unknown)?,
        }
    }
    if let Some(message) = value_type {
        result.value_type = Some(d.message(Step::Field("type"), message, read_type)?.into());
    }
    Ok(result)
}

pub(super) fn read_type(d: &mut Decoder<'_>, message: &mut Message) -> Result<Type, Error> {
    let mut result = Type::default();
    let mut chosen: Option<(u32, Option<Message>)> = None;
    while let Some(field) = d.next(message)? {
        match (field.number, field.value) {
            (type_proto::DENOTATION, Value::Bytes(payload)) => {
                result.denotation = d.text(&field, payload, &mut result.unknown)?;
            }
            (
                type_proto::TENSOR
                | type_proto::SEQUENCE
                | type_proto::MAP
                | type_proto::OPAQUE
                | type_proto::SPARSE_TENSOR
                | type_proto::OPTIONAL,
                Value::Bytes(payload),
            ) => choose(&mut chosen, field.number, payload),
            _ => d.keep(&field, &mut result.unknown)?,
        }
    }
    if let Some((number, Some(message))) = chosen {
        let mut unknown = Unknown::new();
        result.kind = read_kind(d, number, message, &mut unknown)?;
        if !unknown.is_empty() {
            put_bytes_field(&mut result.unknown, number, &unknown);
        }
    }
    Ok(result)
}

/// Of the fields of a `oneof`, the last one counts; one that is repeated is merged.
fn choose(chosen: &mut Option<(u32, Option<Message>)>, number: u32, payload: Extent) {
    match chosen {
        Some((last, slot)) if *last == number => Message::merge(slot, payload),
        _ => *chosen = Some((number, Some(Message::new(payload)))),
    }
}

fn read_kind(
    d: &mut Decoder<'_>,
    number: u32,
    message: Message,
    unknown: &mut Unknown,
) -> Result<TypeKind, Error> {
    let step = |name| Step::Field(name);
    match number {
        type_proto::TENSOR => d.message(step("tensor_type"), message, |d, message| {
            let (elem_type, shape) = read_tensor_type(d, message, unknown)?;
            Ok(TypeKind::Tensor { elem_type, shape })
        }),
        type_proto::SPARSE_TENSOR => d.message(step("sparse_tensor_type"), message, |d, message| {
            let (elem_type, shape) = read_tensor_type(d, message, unknown)?;
            Ok(TypeKind::SparseTensor { elem_type, shape })
        }),
        type_proto::SEQUENCE => d.message(step("sequence_type"), message, |d, message| {
            Ok(TypeKind::Sequence(read_element(d, message, unknown)?))
        }),
        type_proto::OPTIONAL => d.message(step("optional_type"), message, |d, message| {
            Ok(TypeKind::Optional(read_element(d, message, unknown)?))
        }),
        type_proto::MAP => d.message(step("map_type"), message, |d, message| read_map(d, message, unknown)),
        type_proto::OPAQUE => {
            d.message(step("opaque_type"), message, |d, message| read_opaque(d, message, unknown))
        }
        _ => Ok(TypeKind::Missing),
    }
}

type ElementAndShape = (i32, Option<Vec<Dimension>>);

fn read_tensor_type(
    d: &mut Decoder<'_>,
    message: &mut Message,
    unknown: &mut Unknown,
) -> Result<ElementAndShape, Error> {
    let mut elem_type = 0;
    let mut dims = None;
    while let Some(field) = d.next(message)? {
        match (field.number, field.value) {
            (type_proto::ELEM_TYPE, Value::Varint(value)) => {
                elem_type = int32(d.number(&field, value, unknown)?);
            }
            (type_proto::SHAPE, Value::Bytes(payload)) => Message::merge(&mut dims, payload),
            _ => d.keep(&field, unknown)?,
        }
    }
    let Some(message) = dims else { return Ok((elem_type, None)) };
    let mut shape_unknown = Unknown::new();
    let dims = d.message(Step::Field("shape"), message, |d, message| {
        let mut dims = Vec::new();
        while let Some(field) = d.next(message)? {
            match (field.number, field.value) {
                (shape::DIM, Value::Bytes(payload)) => d.item(&mut dims, "dim", payload, read_dimension)?,
                _ => d.keep(&field, &mut shape_unknown)?,
            }
        }
        Ok(dims)
    })?;
    if !shape_unknown.is_empty() {
        put_bytes_field(unknown, type_proto::SHAPE, &shape_unknown);
    }
    Ok((elem_type, Some(dims)))
}

fn read_dimension(d: &mut Decoder<'_>, message: &mut Message) -> Result<Dimension, Error> {
    let mut result = Dimension::default();
    while let Some(field) = d.next(message)? {
        match (field.number, field.value) {
            (dimension::DIM_VALUE, Value::Varint(value)) => {
                result.value = DimensionValue::Static(int64(value));
            }
            (dimension::DIM_PARAM, Value::Bytes(payload)) => {
                result.value = DimensionValue::Named(d.plain_text(payload)?);
            }
            (dimension::DENOTATION, Value::Bytes(payload)) => {
                result.denotation = d.text(&field, payload, &mut result.unknown)?;
            }
            _ => d.keep(&field, &mut result.unknown)?,
        }
    }
    Ok(result)
}

/// Of a sequence or an optional value.
fn read_element(
    d: &mut Decoder<'_>,
    message: &mut Message,
    unknown: &mut Unknown,
) -> Result<Option<Box<Type>>, Error> {
    let mut element = None;
    while let Some(field) = d.next(message)? {
        match (field.number, field.value) {
            (type_proto::INNER, Value::Bytes(payload)) => Message::merge(&mut element, payload),
            _ => d.keep(&field, unknown)?,
        }
    }
    inner_type(d, "elem_type", element)
}

fn read_map(d: &mut Decoder<'_>, message: &mut Message, unknown: &mut Unknown) -> Result<TypeKind, Error> {
    let mut key_type = 0;
    let mut value = None;
    while let Some(field) = d.next(message)? {
        match (field.number, field.value) {
            (type_proto::MAP_KEY, Value::Varint(number)) => {
                key_type = int32(d.number(&field, number, unknown)?);
            }
            (type_proto::MAP_VALUE, Value::Bytes(payload)) => Message::merge(&mut value, payload),
            _ => d.keep(&field, unknown)?,
        }
    }
    Ok(TypeKind::Map { key_type, value: inner_type(d, "value_type", value)? })
}

fn inner_type(
    d: &mut Decoder<'_>,
    name: &'static str,
    message: Option<Message>,
) -> Result<Option<Box<Type>>, Error> {
    message.map(|message| d.message(Step::Field(name), message, read_type).map(Box::new)).transpose()
}

fn read_opaque(d: &mut Decoder<'_>, message: &mut Message, unknown: &mut Unknown) -> Result<TypeKind, Error> {
    let (mut domain, mut name) = (String::new(), String::new());
    while let Some(field) = d.next(message)? {
        match (field.number, field.value) {
            (type_proto::OPAQUE_DOMAIN, Value::Bytes(payload)) => {
                domain = d.text(&field, payload, unknown)?
            }
            (type_proto::OPAQUE_NAME, Value::Bytes(payload)) => name = d.text(&field, payload, unknown)?,
            _ => d.keep(&field, unknown)?,
        }
    }
    Ok(TypeKind::Opaque { domain, name })
}
