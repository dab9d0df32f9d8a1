//! `histc` and `bincount`: how many elements fall into each bin.
//!
//! Each element adds 1 at the index of its bin: `ScatterElements` with a sum, which takes time in proportion to the
//! elements only. Before opset 16 it cannot add: `OneHot` and a product with the vector of ones. Elements outside the
//! range, and NaN, add 0.

use modelexport_graph::DType;

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::kernel_type;
use crate::literal::{Literal, Number};
use crate::ops::support::compute::product;
use crate::ops::support::fill::filled;
use crate::ops::support::formulas::with_number;
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor", bincount),
    Row::new("aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", histc),
];

/// The opset from which on `ScatterElements` can add.
const ADDS_SINCE: i64 = 16;

/// `bins` numbers: the sum of those `weights` whose index is the bin.
fn accumulate(cx: &mut Context<'_, '_>, bins: ValueId, indices: ValueId, weights: ValueId) -> Result<ValueId> {
    let dtype = cx.dtype(weights);
    let hot_type = kernel_type("OneHot", dtype, cx.opset);
    let zero = Literal::from_numbers(dtype, vec![1], [Number::Int(0)]);
    let range = Literal::from_numbers(hot_type, vec![2], [Number::Int(0), Number::Int(1)]);
    let (Some(zero), Some(range)) = (zero, range) else { return cx.refuse(format!("counts in {dtype}")) };
    if cx.opset >= ADDS_SINCE {
        let empty = cx.emit("ConstantOfShape", &[bins], attrs![value = zero]);
        return Ok(cx.emit("ScatterElements", &[empty, indices, weights], attrs![axis = 0, reduction = "add"]));
    }
    let range = cx.constant(range);
    let hot = cx.emit("OneHot", &[indices, bins, range], attrs![axis = -1]);
    let hot = cx.cast(hot, dtype);
    Ok(cx.emit("MatMul", &[weights, hot], vec![]))
}

/// All elements in one row.
fn flat(cx: &mut Context<'_, '_>, x: ValueId) -> Result<ValueId> {
    let count = product(&cx.meta("self")?.sizes);
    cx.reshape(x, &[count])
}

fn histc(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let kernel = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let x = operand(cx, "self", kernel)?;
    let x = flat(cx, x)?;
    let bins = cx.int("bins")?;
    let (low, high) = ends(cx, x)?;
    let from_low = if is_zero(cx, low) { x } else { cx.emit("Sub", &[x, low], vec![]) };
    let scaled = with_number(cx, "Mul", from_low, bins);
    let width = cx.emit("Sub", &[high, low], vec![]);
    let place = cx.emit("Div", &[scaled, width], vec![]);
    let index = cx.cast(place, DType::I64);
    // The upper end belongs to the last bin.
    let (first, last) = (cx.const_int(0), cx.const_int(bins - 1));
    let index = cx.emit("Clip", &[index, first, last], vec![]);
    let (above, below) =
        (cx.emit("GreaterOrEqual", &[x, low], vec![]), cx.emit("LessOrEqual", &[x, high], vec![]));
    let inside = cx.emit("And", &[above, below], vec![]);
    let weights = cx.cast(inside, kernel);
    let bins = cx.const_ints(&[bins]);
    let counts = accumulate(cx, bins, index, weights)?;
    Ok(cx.cast(counts, dtype).into())
}

/// The ends of the range: as given, or those of the elements if both are equal; one apart from a single value.
fn ends(cx: &mut Context<'_, '_>, x: ValueId) -> Result<(ValueId, ValueId)> {
    let dtype = cx.dtype(x);
    let (low, high) = (cx.scalar_arg("min")?, cx.scalar_arg("max")?);
    let (Some(low), Some(high)) = (low.number(), high.number()) else {
        return cx.refuse("has a range that is computed in the graph");
    };
    let (mut low, mut high) = (low.as_f64(), high.as_f64());
    if low == high && cx.meta("self")?.sizes.iter().all(|size| !size.is(0)) {
        let (low, high) = (cx.reduce("ReduceMin", x, &[], false), cx.reduce("ReduceMax", x, &[], false));
        let single = cx.emit("Equal", &[low, high], vec![]);
        let (less, more) = (with_number(cx, "Sub", low, 1.0), with_number(cx, "Add", high, 1.0));
        let low = cx.emit("Where", &[single, less, low], vec![]);
        let high = cx.emit("Where", &[single, more, high], vec![]);
        return Ok((low, high));
    }
    if low == high {
        (low, high) = (low - 1.0, high + 1.0);
    }
    Ok((cx.const_scalar(dtype, low), cx.const_scalar(dtype, high)))
}

fn is_zero(cx: &Context<'_, '_>, value: ValueId) -> bool {
    let numbers = cx.ir.literal(value).and_then(Literal::numbers).unwrap_or_default();
    matches!(numbers.as_slice(), [number] if number.as_f64() == 0.0)
}

fn bincount(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let sizes = &cx.meta("self")?.sizes;
    let least = cx.dim("minlength")?;
    let x = operand(cx, "self", DType::I64)?;
    if sizes.iter().any(|size| size.is(0)) {
        return Ok(filled(cx, &[least], dtype, 0.0, None)?.into());
    }
    let largest = cx.reduce("ReduceMax", x, &[], true);
    let mut bins = with_number(cx, "Add", largest, 1.0);
    if !least.is(0) {
        let least = cx.dim_value(&least)?;
        bins = cx.emit("Max", &[bins, least], vec![]);
    }
    let weights = match cx.meta_opt("weights") {
        Some(_) => operand(cx, "weights", dtype)?,
        None => filled(cx, sizes, dtype, 1.0, Some(x))?,
    };
    Ok(accumulate(cx, bins, x, weights)?.into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.bincount.default(self: i64[40]) -> i64[u0]
            t1 = ConstantOfShape(Add(ReduceMax(self, keepdims=1), 1), value=[0])
            ScatterElements(t1, self, i64[40], axis=0, reduction=add)
        aten.histc.default(self: f32[40], bins=8, min=0, max=7) -> f32[8]
            t1 = Cast(And(GreaterOrEqual(self, 0.0), LessOrEqual(self, 7.0)), to=f32)
            ScatterElements([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], Clip(Cast(Div(Mul(self, 8.0), 7.0), to=i64), 0, 7), t1, axis=0, reduction=add)
        ");
    }
}
