//! Operators that look up elements, and those that tell where elements are.

use modelexport_graph::DType;

use super::Element::{Fixed, Input};
use super::{Row, like, row};
use crate::operation::Operation;
use crate::size::{Dims, Size, index};

const I64: super::Element = Fixed(DType::I64);

pub(super) const ROWS: &[Row] = &[
    row("Compress", &[(Input(0), compress)]),
    row("Gather", &[(Input(0), gather)]),
    row("GatherElements", &[(Input(0), like::<1>)]),
    row("GatherND", &[(Input(0), gather_nd)]),
    row("NonMaxSuppression", &[(I64, boxes)]),
    row("NonZero", &[(I64, non_zero)]),
    row("OneHot", &[(Input(2), one_hot)]),
    row("TopK", &[(Input(0), top_k), (I64, top_k)]),
    row("Unique", &[(Input(0), unique), (I64, vector)]),
];

pub(super) fn gather(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let (dims, indices) = (operation.dims(0)?, operation.dims(1)?);
    let axis = index(operation.int("axis", 0), dims.len())?;
    Some([dims.get(..axis)?, indices, dims.get(axis + 1..)?].concat())
}

fn gather_nd(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let batch = usize::try_from(operation.int("batch_dims", 0)).ok()?;
    let (depth, before) = operation.dims(1)?.split_last()?;
    let taken = batch.checked_add(usize::try_from(depth.known()?).ok()?)?;
    Some([before, operation.dims(0)?.get(taken..)?].concat())
}

fn compress(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let Some(axis) = operation.attributes.int("axis") else { return Some(vec![Size::Unknown]) };
    let mut dims = operation.dims(0)?.to_vec();
    let axis = index(axis, dims.len())?;
    *dims.get_mut(axis)? = Size::Unknown;
    Some(dims)
}

fn boxes(_: &Operation<'_>, _: usize) -> Option<Dims> {
    Some(vec![Size::Unknown, Size::Known(3)])
}

fn non_zero(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    Some(vec![operation.rank(0).map(|rank| rank as i64).into(), Size::Unknown])
}

fn one_hot(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let mut dims = operation.dims(0)?.to_vec();
    let axis = index(operation.int("axis", -1), dims.len() + 1)?;
    dims.insert(axis, operation.scalar(1).dimension());
    Some(dims)
}

fn top_k(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let mut dims = operation.dims(0)?.to_vec();
    let axis = index(operation.int("axis", -1), dims.len())?;
    let kept = operation.attributes.int("k").map_or_else(|| operation.scalar(1), Size::Known);
    *dims.get_mut(axis)? = kept.dimension();
    Some(dims)
}

fn unique(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    compress(operation, 0)
}

fn vector(_: &Operation<'_>, _: usize) -> Option<Dims> {
    Some(vec![Size::Unknown])
}
