//! `lerp`, `addcmul`, `addcdiv`, `threshold`, `heaviside`: short formulas of two or three tensors.
//!
//! 16-bit floats are computed in `float32` and rounded once, as PyTorch does.

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::ops::support::formulas::test_number;
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", |cx| {
        accumulate(cx, "Div")
    }),
    Row::new("aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", |cx| {
        accumulate(cx, "Mul")
    }),
    Row::new("aten::heaviside(Tensor self, Tensor values) -> Tensor", heaviside),
    Row::new("aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", lerp),
    Row::new("aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", lerp),
    Row::new("aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", threshold),
];

/// An operand in the type in which the formula is computed.
fn wide(cx: &mut Context<'_, '_>, name: &str) -> Result<ValueId> {
    let dtype = cx.out()?.dtype;
    operand(cx, name, math_type(dtype))
}

fn rounded(cx: &mut Context<'_, '_>, value: ValueId) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

/// `self + value * (tensor1 op tensor2)`.
fn accumulate(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    real_only(cx)?;
    let (x, first, second) = (wide(cx, "self")?, wide(cx, "tensor1")?, wide(cx, "tensor2")?);
    let value = cx.scalar_arg("value")?;
    let mut term = first;
    if !value.is(1.0) {
        let value = { let dtype = cx.dtype(first); cx.scalar_value(value, dtype) };
        term = cx.emit("Mul", &[value, first], vec![]);
    }
    let term = cx.emit(op, &[term, second], vec![]);
    let sum = cx.emit("Add", &[x, term], vec![]);
    rounded(cx, sum)
}

/// From the nearer end, as PyTorch does, where the weight is known.
fn lerp(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let (start, end) = (wide(cx, "self")?, wide(cx, "end")?);
    let way = cx.emit("Sub", &[end, start], vec![]);
    if cx.meta_opt("weight").is_none()
        && let Some(weight) = cx.scalar_arg("weight")?.number()
        && weight.as_f64().abs() >= 0.5
    {
        let rest = cx.const_like(start, 1.0 - weight.as_f64());
        let back = cx.emit("Mul", &[way, rest], vec![]);
        let value = cx.emit("Sub", &[end, back], vec![]);
        return rounded(cx, value);
    }
    let weight = wide(cx, "weight")?;
    let step = cx.emit("Mul", &[weight, way], vec![]);
    let value = cx.emit("Add", &[start, step], vec![]);
    rounded(cx, value)
}

/// `value` where `self` is at most the threshold; NaN stays.
fn threshold(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let dtype = cx.out()?.dtype;
    let (bound, value) = (operand(cx, "threshold", dtype)?, operand(cx, "value", dtype)?);
    let below = cx.test("LessOrEqual", &[x, bound]);
    Ok(cx.select(below, value, x).into())
}

fn heaviside(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let (x, values) = (operand(cx, "self", dtype)?, operand(cx, "values", dtype)?);
    let is_zero = test_number(cx, "Equal", x, 0.0);
    let is_positive = test_number(cx, "Greater", x, 0.0);
    let step = cx.cast(is_positive, dtype);
    Ok(cx.select(is_zero, values, step).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.addcdiv.default(self: f32[2, 3], tensor1: f32[2, 3], tensor2: f32[3]) -> f32[2, 3]
            Add(self, Div(tensor1, tensor2))
        aten.addcmul.default(self: f32[2, 3], tensor1: f32[2, 3], tensor2: f32[3]) -> f32[2, 3]
            Add(self, Mul(tensor1, tensor2))
        aten.heaviside.default(self: f32[7], values: f32[]) -> f32[7]
            Where(Equal(self, 0.0), values, Cast(Greater(self, 0.0), to=f32))
        aten.lerp.Scalar(self: f32[2, 3], end: f32[3], weight=0.2) -> f32[2, 3]
            Add(self, Mul(0.2, Sub(end, self)))
        aten.lerp.Tensor(self: f32[2, 3], end: f32[3], weight: param f32[2, 1]) -> f32[2, 3]
            Add(self, Mul(weight, Sub(end, self)))
        aten.threshold.default(self: f32[7], threshold=0.0, value=7.0) -> f32[7]
            Where(LessOrEqual(self, 0.0), 7.0, self)
        ");
    }
}
