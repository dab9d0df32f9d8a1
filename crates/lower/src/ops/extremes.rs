//! The larger or smaller of two tensors (`maximum`, `fmax`, `max.other`) and `clamp` between bounds.
//!
//! `Max` and `Min` give NaN where one operand is NaN, as `maximum` does; `fmax` takes the other operand there.
//! Booleans are `Or` and `And`. `Clip` takes bounds that are single numbers.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::operands::{operand, operand_opt, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", clamp),
    Row::new("aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", clamp),
    Row::new("aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", clamp),
    Row::new("aten::clamp_max(Tensor self, Scalar max) -> Tensor", clamp),
    Row::new("aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", clamp),
    Row::new("aten::clamp_min(Tensor self, Scalar min) -> Tensor", clamp),
    Row::new("aten::clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", clamp),
    Row::new("aten::clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", clamp),
    Row::new("aten::fmax(Tensor self, Tensor other) -> Tensor", |cx| ignoring_nan(cx, "Max")),
    Row::new("aten::fmin(Tensor self, Tensor other) -> Tensor", |cx| ignoring_nan(cx, "Min")),
    Row::new("aten::max.other(Tensor self, Tensor other) -> Tensor", |cx| pairwise(cx, "Max")),
    Row::new("aten::maximum(Tensor self, Tensor other) -> Tensor", |cx| pairwise(cx, "Max")),
    Row::new("aten::min.other(Tensor self, Tensor other) -> Tensor", |cx| pairwise(cx, "Min")),
    Row::new("aten::minimum(Tensor self, Tensor other) -> Tensor", |cx| pairwise(cx, "Min")),
];

fn operands(cx: &mut Context<'_, '_>) -> Result<[ValueId; 2]> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    Ok([operand(cx, "self", dtype)?, operand(cx, "other", dtype)?])
}

fn pairwise(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    let [left, right] = operands(cx)?;
    Ok(extreme(cx, op, left, right).into())
}

fn extreme(cx: &mut Context<'_, '_>, op: &'static str, left: ValueId, right: ValueId) -> ValueId {
    let op = match (cx.dtype(left), op) {
        (DType::Bool, "Max") => "Or",
        (DType::Bool, _) => "And",
        _ => op,
    };
    cx.apply(op, &[left, right], vec![])
}

fn ignoring_nan(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    let [left, right] = operands(cx)?;
    let mut value = extreme(cx, op, left, right);
    if cx.dtype(left).is_float() {
        for (operand, other) in [(left, right), (right, left)] {
            let is_nan = cx.test("IsNaN", &[operand]);
            value = cx.select(is_nan, other, value);
        }
    }
    Ok(value.into())
}

/// `Clip` where both bounds are single numbers, else `Max` and `Min`; the upper bound wins where they cross. `Clip`
/// with one bound would replace an infinity on the open side by the largest number.
fn clamp(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let x = operand(cx, "self", dtype)?;
    let (low, high) = (operand_opt(cx, "min", dtype)?, operand_opt(cx, "max", dtype)?);
    let is_number = |name: &str| cx.meta_opt(name).is_none_or(|meta| meta.sizes.is_empty());
    let numbers = is_number("min") && is_number("max");
    let value = match (low, high) {
        // onnxruntime takes no notice of a bound of `Clip` that is NaN.
        (Some(low), Some(high)) if numbers && ![low, high].iter().any(|&bound| is(cx, bound, f64::is_nan)) => {
            cx.apply("Clip", &[x, low, high], vec![])
        }
        (Some(low), None) if dtype.is_float() && is(cx, low, |number| number == 0.0 && number.is_sign_positive()) => {
            cx.apply("Relu", &[x], vec![])
        }
        _ => {
            let mut value = x;
            for (op, bound) in [("Max", low), ("Min", high)] {
                if let Some(bound) = bound {
                    value = cx.apply(op, &[value, bound], vec![]);
                }
            }
            value
        }
    };
    Ok(value.into())
}

/// Whether `value` is one constant number of this kind.
fn is(cx: &Context<'_, '_>, value: ValueId, kind: impl Fn(f64) -> bool) -> bool {
    let numbers = cx.ir.literal(value).and_then(|literal| literal.numbers());
    numbers.is_some_and(|numbers| matches!(numbers.as_slice(), [number] if kind(number.as_f64())))
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
