//! `AttributeProto`.

use modelexport_graph::onnx::{Attribute, AttributeValue};

use super::decoder::{Decoder, int64};
use super::{graph, tensor, value_info};
use crate::onnx::attribute_kind::{Kind, kind_of};
use crate::onnx::error::Error;
use crate::onnx::reader::{Field, Message, Step, Value};
use crate::onnx::schema::attribute;

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
            // What it is was found out from its value.
            (attribute::TYPE, Value::Varint(0)) if kind != Kind::Undefined => {}
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
