//! Products of vectors and matrices: `MatMul`, which broadcasts and treats vectors as PyTorch does.
//!
//! Integers narrower than 32 bits and `bfloat16` have no kernels and are computed in a wider type. Complex numbers
//! are refused. `out_dtype` is wider than the type of the factors, which are widened before they are multiplied: nothing
//! is rounded in between.

use modelexport_graph::{DType, Dim};

use super::support::compute::{broadcast, tensor_as};
use super::support::fill::filled;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::matmul(Tensor self, Tensor other) -> Tensor", |cx| pair(cx, "self", "other")),
    Row::new("aten::linalg_matmul(Tensor self, Tensor other) -> Tensor", |cx| pair(cx, "self", "other")),
    Row::new("aten::mm(Tensor self, Tensor mat2) -> Tensor", |cx| pair(cx, "self", "mat2")),
    Row::new("aten::bmm(Tensor self, Tensor mat2) -> Tensor", |cx| pair(cx, "self", "mat2")),
    Row::new("aten::mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", |cx| pair(cx, "self", "mat2")),
    Row::new("aten::bmm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", |cx| {
        pair(cx, "self", "mat2")
    }),
    Row::new("aten::mv(Tensor self, Tensor vec) -> Tensor", |cx| pair(cx, "self", "vec")),
    Row::new("aten::dot(Tensor self, Tensor tensor) -> Tensor", |cx| pair(cx, "self", "tensor")),
    Row::new("aten::vdot(Tensor self, Tensor other) -> Tensor", |cx| pair(cx, "self", "other")),
    Row::new("aten::outer(Tensor self, Tensor vec2) -> Tensor", outer),
    Row::new("aten::ger(Tensor self, Tensor vec2) -> Tensor", outer),
    Row::new("aten::chain_matmul(Tensor[] matrices) -> Tensor", |cx| chain(cx, "matrices")),
    Row::new("aten::linalg_multi_dot(Tensor[] tensors) -> Tensor", |cx| chain(cx, "tensors")),
    Row::new("aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", along_axis),
];

/// The type in which a product is computed.
pub(crate) fn product_type(dtype: DType) -> DType {
    match dtype {
        DType::BF16 => DType::F32,
        DType::Bool | DType::U8 | DType::I8 | DType::U16 | DType::I16 => DType::I32,
        other => other,
    }
}

fn pair(cx: &mut Context<'_, '_>, first: &str, second: &str) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = product_type(dtype);
    let product = product(cx, first, second, compute)?;
    Ok(cx.cast(product, dtype).into())
}

/// The product of two tensor arguments, computed in `compute`.
///
/// Where nothing is summed the result is 0. onnxruntime leaves it uninitialised unless both factors are matrices, so a
/// summed size that may be 0 gets one more element, which is 0.
pub(crate) fn product(cx: &mut Context<'_, '_>, first: &str, second: &str, compute: DType) -> Result<ValueId> {
    let (mut a, mut b) = (tensor_as(cx, first, compute)?, tensor_as(cx, second, compute)?);
    let (left, right) = (&cx.meta(first)?.sizes, &cx.meta(second)?.sizes);
    let Some(summed) = left.last() else { return cx.wrong(first, "a vector or a matrix", "a number") };
    if summed.is(0) {
        return filled(cx, &product_sizes(left, right), compute, 0, None);
    }
    if (left.len(), right.len()) != (2, 2) && cx.may_be_empty(summed) {
        a = with_zero(cx, a, left.len(), left.len() - 1);
        b = with_zero(cx, b, right.len(), right.len().saturating_sub(2));
    }
    Ok(cx.emit("MatMul", &[a, b], vec![]))
}

/// Batches broadcast, then the rows of a left matrix, then the columns of a right one.
fn product_sizes(left: &[Dim], right: &[Dim]) -> Vec<Dim> {
    fn parts(sizes: &[Dim]) -> (&[Dim], &[Dim]) {
        sizes.split_at(sizes.len().saturating_sub(2))
    }
    let ((batches, matrix), (more, other)) = (parts(left), parts(right));
    let mut sizes = broadcast(batches, more);
    sizes.extend(matrix.split_last().map_or(&[][..], |(_, rows)| rows).iter().cloned());
    sizes.extend(other.get(1).cloned());
    sizes
}

/// One more element along an axis, 0.
fn with_zero(cx: &mut Context<'_, '_>, x: ValueId, rank: usize, axis: usize) -> ValueId {
    let mut pads = vec![0; 2 * rank];
    if let Some(behind) = pads.get_mut(rank + axis) {
        *behind = 1;
    }
    let pads = cx.const_ints(&pads);
    cx.apply_pad(x, pads)
}

fn outer(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = if dtype == DType::BF16 { DType::F32 } else { dtype };
    if dtype == DType::Bool {
        let (a, b) = (cx.tensor("self")?, cx.tensor("vec2")?);
        let column = cx.unsqueeze(a, &[1]);
        return Ok(cx.emit("And", &[column, b], vec![]).into());
    }
    let (a, b) = (tensor_as(cx, "self", compute)?, tensor_as(cx, "vec2", compute)?);
    let column = cx.unsqueeze(a, &[1]);
    let product = cx.emit("Mul", &[column, b], vec![]);
    Ok(cx.cast(product, dtype).into())
}

/// The sum of products along one axis of two tensors that broadcast.
fn along_axis(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = math_type(product_type(dtype));
    // An axis from the front is one of the shape that both broadcast to.
    let rank = cx.meta("x")?.sizes.len().max(cx.meta("y")?.sizes.len());
    let axis = cx.axis("dim", rank)?;
    let (x, y) = (tensor_as(cx, "x", compute)?, tensor_as(cx, "y", compute)?);
    let product = cx.emit("Mul", &[x, y], vec![]);
    let sum = cx.apply_reduce("ReduceSum", product, &[axis], false);
    Ok(cx.cast(sum, dtype).into())
}

/// A product of several matrices, from left to right.
fn chain(cx: &mut Context<'_, '_>, name: &str) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    if dtype.is_complex() {
        return cx.refuse("complex numbers are not supported");
    }
    let compute = product_type(dtype);
    let mut product = None;
    for matrix in cx.tensors(name)? {
        let matrix = cx.cast(matrix, compute);
        product = Some(match product {
            None => matrix,
            Some(left) => cx.emit("MatMul", &[left, matrix], vec![]),
        });
    }
    match product {
        Some(product) => Ok(cx.cast(product, dtype).into()),
        None => cx.wrong(name, "at least one matrix", "none"),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS));
    }
}
