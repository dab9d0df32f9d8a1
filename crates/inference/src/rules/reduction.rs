//! Operators that take axes away.

use modelexport_graph::DType;

use super::Element::{Fixed, Input};
use super::{Row, row, same};
use crate::operation::Operation;
use crate::size::{Dims, Size, index, indices};

pub(super) const ROWS: &[Row] = &[
    row(
        "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum \
         ReduceSumSquare",
        &[(Input(0), reduce)],
    ),
    row("ArgMax ArgMin", &[(Fixed(DType::I64), arg)]),
    row("Det", &[(Input(0), without_matrices)]),
    row("GlobalAveragePool GlobalLpPool GlobalMaxPool", &[(Input(0), without_space)]),
    row("NegativeLogLikelihoodLoss", &[(Input(0), loss)]),
    row("SoftmaxCrossEntropyLoss", &[(Input(0), loss), (Input(0), same)]),
];

pub(super) fn reduce(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let dims = operation.dims(0)?;
    match operation.ints_or_input("axes", 1) {
        None if operation.has(1) => {
            operation.int("keepdims", 1).ne(&0).then(|| vec![Size::Unknown; dims.len()])
        }
        Some(axes) if !axes.is_empty() => along(operation, &indices(&axes, dims.len())?),
        _ if operation.flag("noop_with_empty_axes") => same(operation, 0),
        _ => along(operation, &(0..dims.len()).collect::<Vec<_>>()),
    }
}

fn arg(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    along(operation, &[index(operation.int("axis", 0), operation.rank(0)?)?])
}

fn along(operation: &Operation<'_>, axes: &[usize]) -> Option<Dims> {
    let keeps = operation.int("keepdims", 1) != 0;
    let dims = operation.dims(0)?.iter().enumerate();
    let left = dims.filter_map(|(axis, &dim)| match (axes.contains(&axis), keeps) {
        (false, _) => Some(dim),
        (true, true) => Some(Size::Known(1)),
        (true, false) => None,
    });
    Some(left.collect())
}

fn without_matrices(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let dims = operation.dims(0)?;
    Some(dims.get(..dims.len().checked_sub(2)?)?.to_vec())
}

pub(super) fn without_space(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let dims = operation.dims(0)?.iter().enumerate();
    Some(dims.map(|(axis, &dim)| if axis < 2 { dim } else { Size::Known(1) }).collect())
}

fn loss(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    match operation.attributes.text("reduction") {
        Some("none") => operation.dims(1).map(<[_]>::to_vec),
        _ => Some(Dims::new()),
    }
}
