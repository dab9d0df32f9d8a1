//! Functions of two tensors that ONNX lacks: `atan2`, `hypot`, `copysign`, `logaddexp`, `xlogy`, `ldexp`.
//!
//! - `atan2` is `Atan(y / x)` moved by π where `x` is negative. Deviation: -0.0 counts as +0.0, and two infinities
//!   give NaN.
//! - `hypot` squares in the next wider float, so that nothing overflows.
//! - `logaddexp` is the larger operand plus `Softplus` of minus their distance.
//! - `copysign` sees -0.0; the sign of a NaN cannot be seen.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::{math_type, precise_type};
use crate::ops::support::formulas::{log_add_exp, sign_bit, test_number, with_number};
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::arctan2(Tensor self, Tensor other) -> Tensor", atan2),
    Row::new("aten::atan2(Tensor self, Tensor other) -> Tensor", atan2),
    Row::new("aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor", copysign),
    Row::new("aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor", copysign),
    Row::new("aten::hypot(Tensor self, Tensor other) -> Tensor", hypot),
    Row::new("aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor", ldexp),
    Row::new("aten::logaddexp(Tensor self, Tensor other) -> Tensor", |cx| {
        let (a, b) = operands(cx, math_type)?;
        let value = log_add_exp(cx, a, b);
        rounded(cx, value)
    }),
    Row::new("aten::logaddexp2(Tensor self, Tensor other) -> Tensor", |cx| {
        let (a, b) = operands(cx, math_type)?;
        let ln_2 = std::f64::consts::LN_2;
        let (a, b) = (with_number(cx, "Mul", a, ln_2), with_number(cx, "Mul", b, ln_2));
        let natural = log_add_exp(cx, a, b);
        let value = with_number(cx, "Div", natural, ln_2);
        rounded(cx, value)
    }),
    Row::new("aten::special_xlog1py(Tensor self, Tensor other) -> Tensor", |cx| times_log(cx, true)),
    Row::new("aten::special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor", |cx| times_log(cx, true)),
    Row::new("aten::special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor", |cx| times_log(cx, true)),
    Row::new("aten::special_xlogy(Tensor self, Tensor other) -> Tensor", |cx| times_log(cx, false)),
    Row::new("aten::special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor", |cx| times_log(cx, false)),
    Row::new("aten::special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor", |cx| times_log(cx, false)),
    Row::new("aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", |cx| times_log(cx, false)),
    Row::new("aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", |cx| times_log(cx, false)),
    Row::new("aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor", |cx| times_log(cx, false)),
];

fn operands(cx: &mut Context<'_, '_>, wider: fn(DType) -> DType) -> Result<(ValueId, ValueId)> {
    real_only(cx)?;
    let dtype = wider(cx.out()?.dtype);
    Ok((operand(cx, "self", dtype)?, operand(cx, "other", dtype)?))
}

fn rounded(cx: &mut Context<'_, '_>, value: ValueId) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

fn atan2(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (y, x) = operands(cx, math_type)?;
    let angle = angle_of(cx, y, x);
    rounded(cx, angle)
}

/// The angle of the point `(x, y)`.
pub(super) fn angle_of(cx: &mut Context<'_, '_>, y: ValueId, x: ValueId) -> ValueId {
    let dtype = cx.dtype(y);
    let slope = cx.emit("Div", &[y, x], vec![]);
    let angle = cx.apply("Atan", &[slope], vec![]);
    let below = test_number(cx, "Less", y, 0.0);
    let (minus, plus) =
        (cx.const_scalar(dtype, -std::f64::consts::PI), cx.const_scalar(dtype, std::f64::consts::PI));
    let half_turn = cx.emit("Where", &[below, minus, plus], vec![]);
    let turned = cx.emit("Add", &[angle, half_turn], vec![]);
    let leftward = test_number(cx, "Less", x, 0.0);
    let angle = cx.emit("Where", &[leftward, turned, angle], vec![]);
    // At the origin the slope is not a number.
    let (no_x, no_y) = (test_number(cx, "Equal", x, 0.0), test_number(cx, "Equal", y, 0.0));
    let origin = cx.emit("And", &[no_x, no_y], vec![]);
    let zero = cx.const_scalar(dtype, 0.0);
    cx.emit("Where", &[origin, zero, angle], vec![])
}

fn hypot(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (a, b) = operands(cx, precise_type)?;
    let (a, b) = (cx.emit("Mul", &[a, a], vec![]), cx.emit("Mul", &[b, b], vec![]));
    let sum = cx.emit("Add", &[a, b], vec![]);
    let root = cx.emit("Sqrt", &[sum], vec![]);
    rounded(cx, root)
}

fn copysign(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (magnitude, sign) = operands(cx, math_type)?;
    let magnitude = cx.emit("Abs", &[magnitude], vec![]);
    let opposite = cx.emit("Neg", &[magnitude], vec![]);
    let negative = sign_bit(cx, sign);
    let value = cx.emit("Where", &[negative, opposite, magnitude], vec![]);
    rounded(cx, value)
}

/// `self * 2 ** other`.
fn ldexp(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, exponent) = operands(cx, math_type)?;
    let two = cx.const_like(x, 2.0);
    let power = cx.emit("Pow", &[two, exponent], vec![]);
    let value = cx.emit("Mul", &[x, power], vec![]);
    rounded(cx, value)
}

/// `self * log(other)`, or of `1 + other`: 0 where `self` is 0, but NaN where `other` is.
fn times_log(cx: &mut Context<'_, '_>, plus_one: bool) -> Result<Outputs> {
    let (x, y) = operands(cx, math_type)?;
    let dtype = cx.dtype(x);
    let log = if plus_one {
        let precise = cx.cast(y, precise_type(dtype));
        let sum = with_number(cx, "Add", precise, 1.0);
        let log = cx.emit("Log", &[sum], vec![]);
        cx.cast(log, dtype)
    } else {
        cx.emit("Log", &[y], vec![])
    };
    let product = cx.emit("Mul", &[x, log], vec![]);
    let is_zero = test_number(cx, "Equal", x, 0.0);
    let is_nan = cx.emit("IsNaN", &[y], vec![]);
    let zero = cx.const_scalar(dtype, 0.0);
    let nothing = cx.emit("Where", &[is_nan, y, zero], vec![]);
    let value = cx.emit("Where", &[is_zero, nothing, product], vec![]);
    rounded(cx, value)
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
