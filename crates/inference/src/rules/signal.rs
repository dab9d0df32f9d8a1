//! Transforms of signals, and operators on texts and images.

use modelexport_graph::DType;

use super::Element::{Fixed, Input, StatedOr};
use super::{Row, row, same};
use crate::operation::Operation;
use crate::size::{Dims, Size, index};

const WINDOW: super::Element = StatedOr("output_datatype", DType::F32);

pub(super) const ROWS: &[Row] = &[
    row("BlackmanWindow HammingWindow HannWindow", &[(WINDOW, window)]),
    row("DFT", &[(Input(0), dft)]),
    row("ImageDecoder", &[(Fixed(DType::U8), image)]),
    row("MelWeightMatrix", &[(WINDOW, mel)]),
    row("STFT", &[(Input(0), stft)]),
    row("StringNormalizer", &[(Fixed(DType::String), normalized_text)]),
    row("StringSplit", &[(Fixed(DType::String), pieces), (Fixed(DType::I64), same)]),
    row("TfIdfVectorizer", &[(Fixed(DType::F32), term_weights)]),
];

fn window(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    Some(vec![operation.scalar(0).dimension()])
}

fn mel(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let bins = operation.scalar(1).over(Size::Known(2)).plus(Size::Known(1));
    Some(vec![bins.dimension(), operation.scalar(0).dimension()])
}

/// Half of the frequencies of a real signal tell all.
fn one_sided(length: Size) -> Size {
    length.over(Size::Known(2)).plus(Size::Known(1))
}

fn dft(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let mut dims = operation.dims(0)?.to_vec();
    let rank = dims.len();
    let axis = match operation.opset {
        ..20 => Some(operation.int("axis", 1)),
        _ if operation.has(2) => operation.scalar(2).known(),
        _ => Some(-2),
    };
    let (inverse, is_one_sided) = (operation.flag("inverse"), operation.flag("onesided"));
    let parts = if inverse && is_one_sided { 1 } else { 2 };
    *dims.last_mut()? = Size::Known(parts);
    let Some(axis) = axis else {
        dims.iter_mut().take(rank.checked_sub(1)?).for_each(|dim| *dim = Size::Unknown);
        return Some(dims);
    };
    let dim = dims.get_mut(index(axis, rank)?)?;
    let length = match (operation.has(1), inverse && is_one_sided) {
        (true, _) => operation.scalar(1).dimension(),
        (false, true) => dim.minus(Size::Known(1)).times(Size::Known(2)),
        (false, false) => *dim,
    };
    *dim = if is_one_sided && !inverse { one_sided(length) } else { length };
    Some(dims)
}

fn stft(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let signal = operation.dim(0, 1);
    let length = match (operation.has(2), operation.has(3)) {
        (true, _) => operation.dim(2, 0),
        (false, true) => operation.scalar(3),
        (false, false) => signal,
    };
    let frames = signal.minus(length).over(operation.scalar(1)).plus(Size::Known(1));
    let bins = if operation.int("onesided", 1) != 0 { one_sided(length) } else { length };
    Some(vec![operation.dim(0, 0), frames.dimension(), bins.dimension(), Size::Known(2)])
}

fn image(_: &Operation<'_>, _: usize) -> Option<Dims> {
    Some(vec![Size::Unknown; 3])
}

/// Words may be left out.
fn normalized_text(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let mut dims = operation.dims(0)?.to_vec();
    *dims.last_mut()? = Size::Unknown;
    Some(dims)
}

fn pieces(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    Some(operation.dims(0)?.iter().copied().chain([Size::Unknown]).collect())
}

fn term_weights(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let width = operation.ints("ngram_indexes").and_then(|indexes| indexes.iter().max()?.checked_add(1));
    let mut dims = operation.dims(0)?.to_vec();
    dims.pop();
    dims.push(width.into());
    Some(dims)
}
