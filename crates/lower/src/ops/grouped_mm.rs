//! Products of groups of rows with one matrix each, as mixtures of experts have them.
//!
//! `offs` says behind which row (or column) each group ends; the number of groups is known. One `Split` by computed
//! sizes, and for each group a `Gather` of its matrix (a constant of two dimensions for onnxruntime, which it packs)
//! and a `MatMul`; one `Concat`. What lies behind the last group gives zeros.

use modelexport_graph::{DType, Dim};

use super::matmul::product_type;
use super::support::compute::{tensor_as, tensor_opt_as};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor", |cx| {
        lower(cx, "input", "weight")
    }),
    Row::new(
        "aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) -> Tensor",
        |cx| lower(cx, "self", "mat2"),
    ),
];

fn lower(cx: &mut Context<'_, '_>, left: &str, right: &str) -> Result<Outputs> {
    let out = cx.out()?;
    let compute = product_type(out.dtype);
    let (left_sizes, right_sizes) = (&cx.meta(left)?.sizes, &cx.meta(right)?.sizes);
    let (a, b) = (tensor_as(cx, left, compute)?, tensor_as(cx, right, compute)?);
    let mut y = match (left_sizes.as_slice(), right_sizes.as_slice()) {
        ([_, _, _], [_, _, _]) => cx.emit("MatMul", &[a, b], vec![]),
        ([rows, _], [groups, _, columns]) => {
            let groups = known(cx, groups)?;
            let (parts, rest) = split(cx, a, groups, rows, 0)?;
            let mut products = Vec::new();
            for (group, part) in (0..groups).zip(parts) {
                let matrix = select(cx, b, group);
                products.push(cx.emit("MatMul", &[part, matrix], vec![]));
            }
            products.push(zeros(cx, compute, rest, columns, 0)?);
            cx.concat(&products, 0)
        }
        ([groups, rows, _], [_, columns]) => {
            let groups = known(cx, groups)?;
            let (parts, rest) = split(cx, b, groups, columns, 1)?;
            let mut products = Vec::new();
            for (group, part) in (0..groups).zip(parts) {
                let matrix = select(cx, a, group);
                products.push(cx.emit("MatMul", &[matrix, part], vec![]));
            }
            products.push(zeros(cx, compute, rest, rows, 1)?);
            cx.concat(&products, 1)
        }
        ([_, inner], [_, _]) => {
            let Some(groups) = out.sizes.first() else { return cx.refuse("has a result without groups") };
            let groups = known(cx, groups)?;
            let (left_parts, _) = split(cx, a, groups, inner, 1)?;
            let (right_parts, _) = split(cx, b, groups, inner, 0)?;
            let mut products = Vec::new();
            for (left, right) in left_parts.into_iter().zip(right_parts).take(groups as usize) {
                products.push(cx.emit("MatMul", &[left, right], vec![]));
            }
            let stacked = cx.concat(&products, 0);
            cx.reshape(stacked, &out.sizes)?
        }
        _ => return cx.wrong(left, "matrices or batches of matrices", left_sizes),
    };
    if let Some(bias) = tensor_opt_as(cx, "bias", compute)? {
        y = cx.emit("Add", &[y, bias], vec![]);
    }
    Ok(cx.cast(y, out.dtype).into())
}

fn known(cx: &Context<'_, '_>, groups: &Dim) -> Result<i64> {
    match groups.as_static() {
        Some(groups) => Ok(groups),
        None => cx.refuse(format!("the number of groups must be known when exporting, it is `{groups}`")),
    }
}

/// Matrix `group` of a batch.
fn select(cx: &mut Context<'_, '_>, batch: ValueId, group: i64) -> ValueId {
    let group = cx.const_int(group);
    cx.emit("Gather", &[batch, group], attrs![axis = 0])
}

/// The groups of `x` along `axis`, then what lies behind them; and the size of the latter.
fn split(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    groups: i64,
    size: &Dim,
    axis: i64,
) -> Result<(Vec<ValueId>, ValueId)> {
    let ends = tensor_as(cx, "offs", DType::I64)?;
    let (zero, size) = (cx.const_ints(&[0]), cx.dim_value(size)?);
    let bounds = cx.concat(&[zero, ends, size], 0);
    let ends = cx.slice(bounds, &[0], &[1], &[groups + 2], &[1]);
    let starts = cx.slice(bounds, &[0], &[0], &[-1], &[1]);
    let sizes = cx.emit("Sub", &[ends, starts], vec![]);
    let parts = cx.emit_many("Split", &[Some(x), Some(sizes)], attrs![axis = axis], groups as usize + 1);
    let rest = cx.slice(sizes, &[0], &[-1], &[groups + 1], &[1]);
    Ok((parts, rest))
}

/// Zeros for the rows (axis 0) or columns (axis 1) that no group has.
fn zeros(cx: &mut Context<'_, '_>, dtype: DType, count: ValueId, other: &Dim, axis: i64) -> Result<ValueId> {
    let other = cx.dim_value(other)?;
    let shape = if axis == 0 { cx.concat(&[count, other], 0) } else { cx.concat(&[other, count], 0) };
    let zero = cx.const_scalar(dtype, 0i64);
    Ok(cx.emit("Expand", &[zero, shape], vec![]))
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
