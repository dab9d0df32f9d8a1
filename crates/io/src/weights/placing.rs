//! Decides where each initializer is stored.

use modelexport_graph::StridedView;
use modelexport_graph::onnx::{Model, Tensor, TensorData};

use super::data_file::DataFile;
use super::reference::References;
use super::{Counts, EXTERNAL_FROM, Error, INLINE_BELOW, WeightsMode};
use crate::external_data::Entry;
use crate::stream;
use crate::tensors::for_each_initializer_mut;

/// What an element takes where the type says nothing: such a tensor is stored as bytes.
const BITS_OF_A_BYTE: u64 = 8;

/// What `Auto` comes to for this model.
pub(super) fn mode_for(model: &mut Model, mode: WeightsMode) -> WeightsMode {
    if mode != WeightsMode::Auto {
        return mode;
    }
    let mut total = 0u64;
    for_each_initializer_mut(model, &mut |tensor| {
        total = total.saturating_add(length(tensor).unwrap_or(u64::MAX))
    });
    if total < EXTERNAL_FROM { WeightsMode::Embed } else { WeightsMode::External }
}

/// Replaces the data of initializers by entries, as the mode asks, and gathers what goes into the data file.
pub(super) fn place(
    model: &mut Model,
    mode: WeightsMode,
    data_file: &mut DataFile,
    references: &mut References<'_>,
    counts: &mut Counts,
) -> Result<(), Error> {
    let mut outcome = Ok(());
    for_each_initializer_mut(model, &mut |tensor| {
        if outcome.is_ok() {
            outcome = place_tensor(tensor, mode, data_file, references, counts);
        }
    });
    outcome
}

fn place_tensor(
    tensor: &mut Tensor,
    mode: WeightsMode,
    data_file: &mut DataFile,
    references: &mut References<'_>,
    counts: &mut Counts,
) -> Result<(), Error> {
    check_shape(tensor)?;
    let name = tensor.name.clone();
    let located = |source| Error::Tensor { tensor: name.to_string(), source };
    let is_large = length(tensor).map_err(located)? >= INLINE_BELOW;
    let bits = bits(tensor);
    let entry = match &mut tensor.data {
        TensorData::External(_) => {
            counts.referenced += 1;
            return Ok(());
        }
        TensorData::Stored(view) if is_large && mode == WeightsMode::External => {
            Some(data_file.add_view(view, bits).map_err(located)?)
        }
        TensorData::Raw(bytes) if is_large && mode == WeightsMode::External => {
            Some(data_file.add_bytes(std::mem::take(bytes)))
        }
        TensorData::Stored(view) if mode == WeightsMode::Reference => {
            let range = stream::byte_range(view, bits).map_err(located)?;
            match range.filter(|_| references.may_refer_to(view.span.source)) {
                Some((offset, length)) if is_large => {
                    let location = references.location(&name, view.span.source)?;
                    counts.referenced += 1;
                    let entry = Entry { location, offset, length: Some(length) };
                    tensor.data = TensorData::External(entry.to_entries());
                    return Ok(());
                }
                None => {
                    counts.copied_instead += 1;
                    is_large.then(|| data_file.add_view(view, bits)).transpose().map_err(located)?
                }
                Some(_) => None,
            }
        }
        _ => None,
    };
    match entry {
        Some(entry) => {
            counts.external += 1;
            tensor.data = TensorData::External(entry.to_entries());
        }
        None => counts.embedded += 1,
    }
    Ok(())
}

/// Bytes of a tensor's elements, where they are known.
pub(super) fn length(tensor: &Tensor) -> Result<u64, stream::Error> {
    match &tensor.data {
        TensorData::Raw(bytes) | TensorData::Typed(bytes) => Ok(bytes.len() as u64),
        TensorData::Stored(view) | TensorData::Scaled { view, .. } => stream::byte_length(view, bits(tensor)),
        TensorData::TypedStored(span) => Ok(span.length),
        TensorData::External(_) => Ok(0),
    }
}

/// Bits of an element.
pub(super) fn bits(tensor: &Tensor) -> u64 {
    tensor.dtype().and_then(|dtype| dtype.bits()).unwrap_or(BITS_OF_A_BYTE)
}

/// A stored tensor must have as many elements as its dimensions say; a tensor of an unknown type is just bytes.
fn check_shape(tensor: &Tensor) -> Result<(), Error> {
    let TensorData::Stored(StridedView { sizes, .. }) = &tensor.data else { return Ok(()) };
    let count = |mut sizes: Box<dyn Iterator<Item = u64> + '_>| {
        sizes.try_fold(1u128, |product, size| product.checked_mul(size.into()))
    };
    let dims = count(Box::new(tensor.dims.iter().map(|&dim| u64::try_from(dim).unwrap_or(u64::MAX))));
    let is_known = tensor.dtype().is_some_and(|dtype| dtype.bits().is_some());
    if is_known && (dims.is_none() || dims != count(Box::new(sizes.iter().copied()))) {
        let tensor = tensor.clone();
        return Err(Error::WrongShape {
            tensor: tensor.name.to_string(),
            dims: tensor.dims,
            sizes: sizes.clone(),
        });
    }
    Ok(())
}
