//! `TensorProto` and `SparseTensorProto`. Data of more than a few bytes stays in the file.

use modelexport_graph::onnx::{SparseTensor, Tensor, TensorData, Unknown};
use modelexport_graph::{Span, StridedView, row_major_strides};

use super::decoder::{Decoder, int32, int64};
use crate::onnx::error::Error;
use crate::onnx::limits::MAX_INLINE_DATA;
use crate::onnx::names;
use crate::onnx::reader::{Extent, Field, Message, Step, Value};
use crate::onnx::schema::{sparse_tensor, tensor};

pub(super) fn read(d: &mut Decoder<'_>, message: &mut Message) -> Result<Tensor, Error> {
    let start = message.position();
    let mut result = Tensor::default();
    let mut data = DataFields::default();
    let unknown = &mut result.unknown;
    while let Some(field) = d.next(message)? {
        match (field.number, field.value) {
            (tensor::DIMS, value) if read_dims(d, value, &mut result.dims)? => {}
            (tensor::DATA_TYPE, Value::Varint(code)) => {
                result.data_type = int32(d.number(&field, code, unknown)?);
            }
            (tensor::NAME, Value::Bytes(payload)) => result.name = d.name(&field, payload, unknown)?,
            (tensor::DOC_STRING, Value::Bytes(payload)) => {
                result.doc_string = d.text(&field, payload, unknown)?;
            }
            (tensor::METADATA_PROPS, Value::Bytes(payload)) => {
                d.entry(&field, payload, &mut result.metadata, unknown)?;
            }
            (tensor::RAW_DATA, Value::Bytes(payload)) => data.raw = Some((field, payload)),
            (tensor::EXTERNAL_DATA, Value::Bytes(_)) => data.external.push(field),
            (tensor::DATA_LOCATION, Value::Varint(tensor::EXTERNAL)) => data.is_external = true,
            (
                tensor::FLOAT_DATA
                | tensor::INT32_DATA
                | tensor::STRING_DATA
                | tensor::INT64_DATA
                | tensor::DOUBLE_DATA
                | tensor::UINT64_DATA,
                _,
            ) => data.add_typed(&field),
            (tensor::DATA_LOCATION, Value::Varint(_)) => {
                data.is_external = false;
                d.keep(&field, unknown)?;
            }
            _ => d.keep(&field, unknown)?,
        }
    }
    data.finish(d, &mut result, start)?;
    Ok(result)
}

/// Dimensions come one by one or packed; false if the field is neither.
fn read_dims(d: &mut Decoder<'_>, value: Value, dims: &mut Vec<i64>) -> Result<bool, Error> {
    match value {
        Value::Varint(number) => dims.push(int64(number)),
        Value::Bytes(payload) => d.packed_varints(payload, |number| dims.push(int64(number)))?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// The fields of a tensor that hold its elements or say where they are.
#[derive(Default)]
struct DataFields {
    raw: Option<(Field, Extent)>,
    /// Fields of typed lists that follow each other are one extent.
    typed: Vec<Extent>,
    external: Vec<Field>,
    is_external: bool,
}

impl DataFields {
    fn add_typed(&mut self, field: &Field) {
        match self.typed.last_mut() {
            Some(last) if last.end == field.whole.start => last.end = field.whole.end,
            _ => self.typed.push(field.whole),
        }
    }

    /// Decides what the data is. If there are several kinds, the one that runtimes would use is the data, and the
    /// others are unknown fields.
    fn finish(self, d: &mut Decoder<'_>, result: &mut Tensor, start: u64) -> Result<(), Error> {
        let elements = element_count(&result.dims).ok_or_else(|| Error::BadDims {
            at: d.at(start),
            name: names::for_screen(&result.name).into_owned(),
            dims: result.dims.clone(),
        })?;
        let unknown = &mut result.unknown;
        if self.is_external {
            let mut entries = Vec::new();
            for field in &self.external {
                if let Value::Bytes(payload) = field.value {
                    d.entry(field, payload, &mut entries, unknown)?;
                }
            }
            if let Some((field, _)) = &self.raw {
                d.keep(field, unknown)?;
            }
            load(d, &self.typed, unknown)?;
            result.data = TensorData::External(entries);
            return Ok(());
        }
        for field in &self.external {
            d.keep(field, unknown)?;
        }
        if let Some((_, payload)) = self.raw {
            load(d, &self.typed, unknown)?;
            result.data = raw_data(d, result, elements, payload)?;
            return Ok(());
        }
        result.data = match self.typed.as_slice() {
            [only] if only.len() > MAX_INLINE_DATA => {
                TensorData::TypedStored(Span { source: d.source(), offset: only.start, length: only.len() })
            }
            extents => {
                let mut bytes = Vec::new();
                load(d, extents, &mut bytes)?;
                TensorData::Typed(bytes)
            }
        };
        Ok(())
    }
}

fn load(d: &mut Decoder<'_>, extents: &[Extent], into: &mut Unknown) -> Result<(), Error> {
    for &extent in extents {
        into.extend_from_slice(&d.bytes(extent)?);
    }
    Ok(())
}

fn raw_data(
    d: &mut Decoder<'_>,
    tensor: &Tensor,
    elements: u64,
    payload: Extent,
) -> Result<TensorData, Error> {
    // Elements of a type without a known width, strings among them, are bytes to us.
    let dtype = tensor.dtype().filter(|dtype| dtype.bits().is_some());
    if let Some(dtype) = dtype {
        let expected = dtype.byte_len(elements);
        if expected != Some(payload.len()) {
            return Err(Error::RawDataSize {
                at: d.at(payload.start),
                name: names::for_screen(&tensor.name).into_owned(),
                dtype: dtype.to_string(),
                dims: tensor.dims.clone(),
                expected: expected.unwrap_or(u64::MAX),
                found: payload.len(),
            });
        }
    }
    if payload.len() <= MAX_INLINE_DATA {
        return Ok(TensorData::Raw(d.bytes(payload)?.into_owned()));
    }
    let sizes = match dtype {
        Some(_) => tensor.dims.iter().map(|&dim| dim.unsigned_abs()).collect(),
        None => vec![payload.len()],
    };
    let span = Span { source: d.source(), offset: payload.start, length: payload.len() };
    Ok(TensorData::Stored(StridedView { span, offset: 0, strides: row_major_strides(&sizes), sizes }))
}

/// `None` for negative dimensions and for more elements than can be counted.
fn element_count(dims: &[i64]) -> Option<u64> {
    if dims.iter().any(|&dim| dim < 0) {
        return None;
    }
    if dims.contains(&0) {
        return Some(0);
    }
    dims.iter().try_fold(1u64, |count, &dim| count.checked_mul(dim.unsigned_abs()))
}

pub(super) fn read_sparse(d: &mut Decoder<'_>, message: &mut Message) -> Result<SparseTensor, Error> {
    let mut result = SparseTensor::default();
    let (mut values, mut indices) = (None, None);
    while let Some(field) = d.next(message)? {
        match (field.number, field.value) {
            (sparse_tensor::VALUES, Value::Bytes(payload)) => Message::merge(&mut values, payload),
            (sparse_tensor::INDICES, Value::Bytes(payload)) => Message::merge(&mut indices, payload),
            (sparse_tensor::DIMS, value) if read_dims(d, value, &mut result.dims)? => {}
            _ => d.keep(&field, &mut result.unknown)?,
        }
    }
    if let Some(message) = values {
        result.values = Some(d.message(Step::Field("values"), message, read)?);
    }
    if let Some(message) = indices {
        result.indices = Some(d.message(Step::Field("indices"), message, read)?);
    }
    Ok(result)
}
