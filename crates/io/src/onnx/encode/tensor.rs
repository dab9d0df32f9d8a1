//! `TensorProto` and `SparseTensorProto`.

use modelexport_graph::onnx::{SparseTensor, Tensor, TensorData};
use modelexport_graph::{StridedView, element_count};

use super::sink::Sink;
use crate::onnx::error::Error;
use crate::onnx::names;
use crate::onnx::schema::{sparse_tensor, tensor};
use crate::onnx::wire::WireType;

/// What a stored element takes where the type says nothing: a tensor of an unknown type is stored as bytes.
const BITS_OF_A_BYTE: u64 = 8;

pub(super) fn put(sink: &mut impl Sink, value: &Tensor) {
    for &dim in &value.dims {
        sink.number_item(tensor::DIMS, dim);
    }
    sink.number_unless_zero(tensor::DATA_TYPE, i64::from(value.data_type));
    sink.text(tensor::NAME, &value.name);
    match &value.data {
        TensorData::Raw(bytes) => sink.bytes_field(tensor::RAW_DATA, bytes),
        TensorData::Stored(view) => put_stored(sink, value, view),
        // These are whole fields already.
        TensorData::Typed(fields) => sink.bytes(fields),
        TensorData::TypedStored(span) => sink.span_field(*span),
        TensorData::External(_) => {}
        TensorData::Scaled { .. } => {
            sink.fail(Error::NotScaled { name: names::for_screen(&value.name).into_owned() });
        }
    }
    sink.text(tensor::DOC_STRING, &value.doc_string);
    if let TensorData::External(entries) = &value.data {
        sink.entries(tensor::EXTERNAL_DATA, entries);
        sink.number(tensor::DATA_LOCATION, tensor::EXTERNAL as i64);
    }
    sink.entries(tensor::METADATA_PROPS, &value.metadata);
    sink.unknown(&value.unknown);
}

fn put_stored(sink: &mut impl Sink, owner: &Tensor, view: &StridedView) {
    let dtype_bits = owner.dtype().and_then(|dtype| dtype.bits()).unwrap_or(BITS_OF_A_BYTE);
    match element_count(&view.sizes).and_then(|count| count.checked_mul(dtype_bits)) {
        Some(bits) => {
            let length = bits.div_ceil(8);
            sink.tag(tensor::RAW_DATA, WireType::Length);
            sink.varint(length);
            sink.view(view, dtype_bits, length);
        }
        None => {
            let name = names::for_screen(&owner.name).into_owned();
            sink.fail(Error::BadView { name, sizes: view.sizes.clone() });
        }
    }
}

pub(super) fn put_sparse(sink: &mut impl Sink, value: &SparseTensor) {
    if let Some(values) = &value.values {
        sink.message(sparse_tensor::VALUES, |sink| put(sink, values));
    }
    if let Some(indices) = &value.indices {
        sink.message(sparse_tensor::INDICES, |sink| put(sink, indices));
    }
    for &dim in &value.dims {
        sink.number_item(sparse_tensor::DIMS, dim);
    }
    sink.unknown(&value.unknown);
}
