//! `sum`, `mean`, `prod`, `nansum`, `nanmean`, `count_nonzero`: `ReduceSum`, `ReduceMean`, `ReduceProd` in the type of
//! the result (integers are summed as `int64`).

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::ops::support::complex::is_complex;
use crate::ops::support::fill::filled;
use crate::ops::support::operands::{operand, real_only};
use crate::ops::support::reduction::{count_value, reduced_axes, reduced_count, reduces_something};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::count_nonzero(Tensor self, int? dim=None) -> Tensor", count_nonzero),
    Row::new("aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", count_nonzero),
    Row::new("aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", |cx| lower(cx, "ReduceMean")),
    Row::new(
        "aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        |cx| lower(cx, "ReduceMean"),
    ),
    Row::new(
        "aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        nan_mean,
    ),
    Row::new(
        "aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        nan_sum,
    ),
    Row::new("aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", |cx| lower(cx, "ReduceProd")),
    Row::new(
        "aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        |cx| lower(cx, "ReduceProd"),
    ),
    Row::new("aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", |cx| lower(cx, "ReduceSum")),
    Row::new(
        "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        |cx| lower(cx, "ReduceSum"),
    ),
];

fn lower(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    if is_complex(cx) && op != "ReduceProd" {
        return lower_parts(cx, op);
    }
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let x = operand(cx, "self", dtype)?;
    let (axes, keepdim) = (reduced_axes(cx)?, cx.bool("keepdim")?);
    if op == "ReduceMean" && reduced_count(cx, &axes)?.is(0) {
        // The mean of nothing is NaN; runtimes say 0.
        let sizes = &cx.out()?.sizes;
        return Ok(filled(cx, sizes, dtype, f64::NAN, None)?.into());
    }
    if op == "ReduceMean" && !reduces_something(cx, &axes)? {
        let compute = math_type(dtype);
        let x = cx.cast(x, compute);
        let sum = cx.reduce("ReduceSum", x, &axes, keepdim);
        let count = reduced_count(cx, &axes)?;
        let count = count_value(cx, &count, compute)?;
        let mean = cx.emit("Div", &[sum, count], vec![]);
        return Ok(cx.cast(mean, dtype).into());
    }
    Ok(cx.apply_reduce(op, x, &axes, keepdim).into())
}

/// Complex numbers are summed part by part: over all axes but the one of the parts.
fn lower_parts(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    if !cx.meta("self")?.dtype.is_complex() {
        return cx.refuse("sums real numbers as complex ones");
    }
    let x = cx.tensor("self")?;
    let mut axes = reduced_axes(cx)?;
    let rank = cx.meta("self")?.sizes.len() as i64;
    if rank == 0 {
        return Ok(x.into());
    }
    if axes.is_empty() {
        axes = (0..rank).collect();
    }
    let part = cx.out()?.dtype.real();
    let x = cx.cast(x, part);
    let keepdim = cx.bool("keepdim")?;
    Ok(cx.reduce(op, x, &axes, keepdim).into())
}

/// `self` in the type of the result, with 0 for NaN; and where it is NaN, if it can be.
fn without_nan(cx: &mut Context<'_, '_>) -> Result<(ValueId, Option<ValueId>)> {
    real_only(cx)?;
    let dtype = math_type(cx.out()?.dtype);
    let x = operand(cx, "self", dtype)?;
    if !dtype.is_float() {
        return Ok((x, None));
    }
    let is_nan = cx.emit("IsNaN", &[x], vec![]);
    let zero = cx.const_like(x, 0.0);
    Ok((cx.emit("Where", &[is_nan, zero, x], vec![]), Some(is_nan)))
}

fn nan_sum(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, _) = without_nan(cx)?;
    let (axes, keepdim) = (reduced_axes(cx)?, cx.bool("keepdim")?);
    let sum = cx.apply_reduce("ReduceSum", x, &axes, keepdim);
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(sum, dtype).into())
}

fn nan_mean(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, is_nan) = without_nan(cx)?;
    let Some(is_nan) = is_nan else { return cx.refuse("takes the mean of integers") };
    let (axes, keepdim) = (reduced_axes(cx)?, cx.bool("keepdim")?);
    let sum = cx.reduce("ReduceSum", x, &axes, keepdim);
    let counted = cx.emit("Not", &[is_nan], vec![]);
    let counted = cx.cast_like(counted, x);
    let count = cx.reduce("ReduceSum", counted, &axes, keepdim);
    let mean = cx.emit("Div", &[sum, count], vec![]);
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(mean, dtype).into())
}

fn count_nonzero(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let x = operand(cx, "self", DType::Bool)?;
    let x = cx.cast(x, DType::I64);
    let axes = reduced_axes(cx)?;
    Ok(cx.reduce("ReduceSum", x, &axes, false).into())
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
