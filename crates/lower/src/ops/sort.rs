//! `sort`, `argsort`, `msort`, `topk`, `kthvalue`: all by `TopK`, which gives equal elements in their order, so that
//! every sort is stable.
//!
//! Deviation: onnxruntime puts NaN first in either direction; PyTorch counts it as the largest number.

use modelexport_graph::{DType, Dim};

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::kernel_type;
use crate::ops::support::operands::real_only;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", argsort),
    Row::new("aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor", argsort),
    Row::new(
        "aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
        kth_value,
    ),
    Row::new("aten::msort(Tensor self) -> Tensor", |cx| {
        let [values, _] = sorted(cx, 0, false)?;
        Ok(values.into())
    }),
    Row::new("aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)", sort),
    Row::new(
        "aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
        sort,
    ),
    Row::new(
        "aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)",
        topk,
    ),
];

/// Values and indices of the first `count` elements along `axis` in the order that is asked for.
pub(crate) fn top(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    axis: i64,
    count: &Dim,
    largest: bool,
    sorted: bool,
) -> Result<[ValueId; 2]> {
    let dtype = cx.dtype(x);
    let kernel = kernel_type("TopK", dtype, cx.opset);
    let x = cx.cast(x, kernel);
    let count = cx.dim_value(count)?;
    let attributes = attrs![axis = axis, largest = largest, sorted = sorted];
    match cx.emit_many("TopK", &[Some(x), Some(count)], attributes, 2).as_slice() {
        [values, indices] => {
            let (values, indices) = (*values, *indices);
            cx.set_dtype(indices, DType::I64);
            Ok([cx.cast(values, dtype), indices])
        }
        _ => cx.refuse("has no order"),
    }
}

/// The whole tensor along `axis`.
fn sorted(cx: &mut Context<'_, '_>, axis: i64, descending: bool) -> Result<[ValueId; 2]> {
    real_only(cx)?;
    let x = cx.tensor("self")?;
    let sizes = &cx.meta("self")?.sizes;
    match sizes.get(usize::try_from(axis).unwrap_or(usize::MAX)) {
        None => Ok([x, cx.const_int(0)]),
        Some(size) => top(cx, x, axis, size, descending, true),
    }
}

fn sort(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let axis = cx.axis("dim", cx.meta("self")?.sizes.len())?;
    let descending = cx.bool("descending")?;
    Ok(sorted(cx, axis, descending)?.into())
}

fn argsort(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let axis = cx.axis("dim", cx.meta("self")?.sizes.len())?;
    let descending = cx.bool("descending")?;
    let [_, indices] = sorted(cx, axis, descending)?;
    Ok(indices.into())
}

fn topk(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let x = cx.tensor("self")?;
    let rank = cx.meta("self")?.sizes.len();
    let axis = cx.axis("dim", rank)?;
    if rank == 0 {
        return Ok([x, cx.const_int(0)].into());
    }
    let (count, largest, sorted) = (cx.dim("k")?, cx.bool("largest")?, cx.bool("sorted")?);
    Ok(top(cx, x, axis, &count, largest, sorted)?.into())
}

/// The last of the `k` smallest.
fn kth_value(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let x = cx.tensor("self")?;
    let rank = cx.meta("self")?.sizes.len();
    let axis = cx.axis("dim", rank)?;
    if rank == 0 {
        return Ok([x, cx.const_int(0)].into());
    }
    let (count, keepdim) = (cx.dim("k")?, cx.bool("keepdim")?);
    Ok(last_of_smallest(cx, x, axis, &count, keepdim)?.into())
}

/// Value and index of the last of the `count` smallest elements along `axis`.
pub(crate) fn last_of_smallest(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    axis: i64,
    count: &Dim,
    keepdim: bool,
) -> Result<[ValueId; 2]> {
    let [values, indices] = top(cx, x, axis, count, false, true)?;
    let last = if keepdim { cx.const_ints(&[-1]) } else { cx.const_int(-1) };
    let mut pick = |from: ValueId| cx.emit("Gather", &[from, last], attrs![axis = axis]);
    Ok([pick(values), pick(indices)])
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
