//! `AttributeProto.AttributeType`: which field of an attribute holds its value.

use super::error::Error;
use super::reader::{Field, Message, Reader, Value};
use super::schema::attribute;

/// Which of its fields an attribute uses; the numbers are those of `AttributeProto.AttributeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Undefined = 0,
    Float = 1,
    Int = 2,
    String = 3,
    Tensor = 4,
    Graph = 5,
    Floats = 6,
    Ints = 7,
    Strings = 8,
    Tensors = 9,
    Graphs = 10,
    SparseTensor = 11,
    SparseTensors = 12,
    Type = 13,
    Types = 14,
}

/// Every kind that holds a value, with the field that holds it.
const KINDS: [(Kind, u32); 14] = [
    (Kind::Float, attribute::F),
    (Kind::Int, attribute::I),
    (Kind::String, attribute::S),
    (Kind::Tensor, attribute::T),
    (Kind::Graph, attribute::G),
    (Kind::Floats, attribute::FLOATS),
    (Kind::Ints, attribute::INTS),
    (Kind::Strings, attribute::STRINGS),
    (Kind::Tensors, attribute::TENSORS),
    (Kind::Graphs, attribute::GRAPHS),
    (Kind::SparseTensor, attribute::SPARSE_TENSOR),
    (Kind::SparseTensors, attribute::SPARSE_TENSORS),
    (Kind::Type, attribute::TP),
    (Kind::Types, attribute::TYPE_PROTOS),
];

impl Kind {
    pub(super) fn from_code(code: u64) -> Option<Kind> {
        KINDS.into_iter().map(|(kind, _)| kind).find(|&kind| kind as u64 == code)
    }

    /// The kind whose value such a field would hold.
    fn of_field(field: &Field) -> Option<Kind> {
        let kind = KINDS.into_iter().find(|&(_, number)| number == field.number).map(|(kind, _)| kind);
        kind.filter(|kind| match kind {
            Kind::Float => matches!(field.value, Value::Fixed32(_)),
            Kind::Int => matches!(field.value, Value::Varint(_)),
            Kind::Floats => matches!(field.value, Value::Fixed32(_) | Value::Bytes(_)),
            Kind::Ints => matches!(field.value, Value::Varint(_) | Value::Bytes(_)),
            _ => matches!(field.value, Value::Bytes(_)),
        })
    }

    /// The field that holds a value of this kind.
    pub(super) fn field(self) -> Option<u32> {
        KINDS.into_iter().find(|&(kind, _)| kind == self).map(|(_, field)| field)
    }
}

/// What an attribute says it is. Files of the first version of the format do not say; there the field that is set
/// decides.
pub(super) fn kind_of(reader: &mut Reader<'_>, mut message: Message) -> Result<Kind, Error> {
    let (mut declared, mut found) = (None, None);
    while let Some(field) = reader.next(&mut message)? {
        match (field.number, field.value) {
            (attribute::TYPE, Value::Varint(code)) => declared = Kind::from_code(code).or(declared),
            _ => found = found.or(Kind::of_field(&field)),
        }
    }
    Ok(declared.or(found).unwrap_or(Kind::Undefined))
}
