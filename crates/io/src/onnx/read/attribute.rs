//! `AttributeProto`.

use modelexport_graph::onnx::{Attribute, AttributeValue};

use super::decoder::{Decoder, int64};
use super::{graph, tensor, value_info};
use crate::onnx::error::Error;
use crate::onnx::reader::{Field, Message, Reader, Step, Value};
use crate::onnx::schema::attribute;

/// Which of its fields an attribute uses; the numbers are those of `AttributeProto.AttributeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::onnx) enum Kind {
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
    fn from_code(code: u64) -> Option<Kind> {
        KINDS.into_iter().map(|(kind, _)| kind).find(|&kind| kind as u64 == code)
    }

    fn of_field(number: u32) -> Option<Kind> {
        KINDS.into_iter().find(|&(_, field)| field == number).map(|(kind, _)| kind)
    }

    /// The field that holds a value of this kind.
    fn field(self) -> Option<u32> {
        KINDS.into_iter().find(|&(kind, _)| kind == self).map(|(_, field)| field)
    }
}

/// What an attribute says it is. Files of the first version of the format do not say; there the field that is set
/// decides.
pub(in crate::onnx) fn kind_of(reader: &mut Reader<'_>, mut message: Message) -> Result<Kind, Error> {
    let (mut said, mut found) = (None, None);
    while let Some(field) = reader.next(&mut message)? {
        match (field.number, field.value) {
            (attribute::TYPE, Value::Varint(code)) => said = Kind::from_code(code).or(said),
            (number, _) => found = found.or(Kind::of_field(number)),
        }
    }
    Ok(said.or(found).unwrap_or(Kind::Undefined))
}

pub(super) fn read(d: &mut Decoder<'_>, message: &mut Message) -> Result<Attribute, Error> {
    let kind = kind_of(d, message.clone())?;
    let mut result = Attribute::default();
    let unknown = &mut result.unknown;
    let mut payload_reader = ValueReader::new(kind);
    while let Some(field) = d.next(message)? {
        match (field.number, field.value) {
            (attribute::NAME, Value::Bytes(payload)) => result.name = d.name(&field, payload, unknown)?,
            (attribute::REF_ATTR_NAME, Value::Bytes(payload)) => {
                result.ref_attr_name = d.text(&field, payload, unknown)?;
            }
            (attribute::DOC_STRING, Value::Bytes(payload)) => {
                result.doc_string = d.text(&field, payload, unknown)?;
            }
            (attribute::TYPE, Value::Varint(code)) if Kind::from_code(code) == Some(kind) => {}
            (number, _) if kind.field() == Some(number) => {
                if !payload_reader.field(d, &field)? {
                    d.keep(&field, unknown)?;
                }
            }
            _ => d.keep(&field, unknown)?,
        }
    }
    result.value = payload_reader.finish(d)?;
    Ok(result)
}

/// Collects the value of an attribute whose kind is known.
struct ValueReader {
    value: AttributeValue,
    /// The value of a kind that is one message, read when all its parts are known.
    single: Option<Message>,
}

impl ValueReader {
    fn new(kind: Kind) -> Self {
        let value = match kind {
            Kind::Undefined => AttributeValue::Undefined,
            Kind::Float => AttributeValue::Float(0.0),
            Kind::Int => AttributeValue::Int(0),
            Kind::String => AttributeValue::String(Vec::new()),
            Kind::Tensor => AttributeValue::Tensor(Box::default()),
            Kind::Graph => AttributeValue::Graph(Box::default()),
            Kind::Floats => AttributeValue::Floats(Vec::new()),
            Kind::Ints => AttributeValue::Ints(Vec::new()),
            Kind::Strings => AttributeValue::Strings(Vec::new()),
            Kind::Tensors => AttributeValue::Tensors(Vec::new()),
            Kind::Graphs => AttributeValue::Graphs(Vec::new()),
            Kind::SparseTensor => AttributeValue::SparseTensor(Box::default()),
            Kind::SparseTensors => AttributeValue::SparseTensors(Vec::new()),
            Kind::Type => AttributeValue::Type(Box::default()),
            Kind::Types => AttributeValue::Types(Vec::new()),
        };
        ValueReader { value, single: None }
    }

    /// Takes a field that holds the value; false if its wire type is not one that such a field can have.
    fn field(&mut self, d: &mut Decoder<'_>, field: &Field) -> Result<bool, Error> {
        match (&mut self.value, field.value) {
            (AttributeValue::Float(value), Value::Fixed32(bits)) => *value = f32::from_bits(bits),
            (AttributeValue::Int(value), Value::Varint(number)) => *value = int64(number),
            (AttributeValue::String(value), Value::Bytes(payload)) => *value = d.bytes(payload)?.into_owned(),
            (
                AttributeValue::Tensor(_)
                | AttributeValue::Graph(_)
                | AttributeValue::SparseTensor(_)
                | AttributeValue::Type(_),
                Value::Bytes(payload),
            ) => Message::merge(&mut self.single, payload),
            (AttributeValue::Floats(list), Value::Fixed32(bits)) => list.push(f32::from_bits(bits)),
            (AttributeValue::Floats(list), Value::Bytes(payload)) => {
                d.packed_fixed32(payload, |bits| list.push(f32::from_bits(bits)))?;
            }
            (AttributeValue::Ints(list), Value::Varint(number)) => list.push(int64(number)),
            (AttributeValue::Ints(list), Value::Bytes(payload)) => {
                d.packed_varints(payload, |number| list.push(int64(number)))?;
            }
            (AttributeValue::Strings(list), Value::Bytes(payload)) => {
                d.charge(size_of::<Vec<u8>>() as u64, payload.start)?;
                list.push(d.bytes(payload)?.into_owned());
            }
            (AttributeValue::Tensors(list), Value::Bytes(payload)) => {
                d.item(list, "tensors", payload, tensor::read)?;
            }
            (AttributeValue::Graphs(list), Value::Bytes(payload)) => {
                d.item(list, "graphs", payload, graph::read)?;
            }
            (AttributeValue::SparseTensors(list), Value::Bytes(payload)) => {
                d.item(list, "sparse_tensors", payload, tensor::read_sparse)?;
            }
            (AttributeValue::Types(list), Value::Bytes(payload)) => {
                d.item(list, "type_protos", payload, value_info::read_type)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn finish(self, d: &mut Decoder<'_>) -> Result<AttributeValue, Error> {
        let Some(message) = self.single else { return Ok(self.value) };
        Ok(match self.value {
            AttributeValue::Tensor(_) => {
                AttributeValue::Tensor(Box::new(d.message(Step::Field("t"), message, tensor::read)?))
            }
            AttributeValue::Graph(_) => {
                AttributeValue::Graph(Box::new(d.message(Step::Field("g"), message, graph::read)?))
            }
            AttributeValue::SparseTensor(_) => AttributeValue::SparseTensor(Box::new(d.message(
                Step::Field("sparse_tensor"),
                message,
                tensor::read_sparse,
            )?)),
            AttributeValue::Type(_) => AttributeValue::Type(Box::new(d.message(
                Step::Field("tp"),
                message,
                value_info::read_type,
            )?)),
            other => other,
        })
    }
}
