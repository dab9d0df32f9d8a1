//! Exponentials and logarithms that ONNX has only for base e.
//!
//! `log1p`, `expm1`, `log2` and `log10` are computed in the next wider float type: `log(1 + x)` in `float32` has no
//! correct digit for small `x`, and `log2` of a power of two must be whole (it is often floored).

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::{math_type, precise_type};
use crate::ops::support::formulas::with_number;
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::deg2rad(Tensor self) -> Tensor", |cx| scaled(cx, std::f64::consts::PI / 180.0)),
    Row::new("aten::exp2(Tensor self) -> Tensor", exp2),
    Row::new("aten::expm1(Tensor self) -> Tensor", expm1),
    Row::new("aten::log10(Tensor self) -> Tensor", |cx| log(cx, std::f64::consts::LN_10)),
    Row::new("aten::log1p(Tensor self) -> Tensor", log1p),
    Row::new("aten::log2(Tensor self) -> Tensor", |cx| log(cx, std::f64::consts::LN_2)),
    Row::new("aten::logit(Tensor self, float? eps=None) -> Tensor", logit),
    Row::new("aten::rad2deg(Tensor self) -> Tensor", |cx| scaled(cx, 180.0 / std::f64::consts::PI)),
    Row::new("aten::special_exp2(Tensor self) -> Tensor", exp2),
    Row::new("aten::special_expm1(Tensor self) -> Tensor", expm1),
    Row::new("aten::special_log1p(Tensor self) -> Tensor", log1p),
    Row::new("aten::special_logit(Tensor self, float? eps=None) -> Tensor", logit),
];

/// `self`, first in the type of the result, then in the type that the formula needs.
fn widened(cx: &mut Context<'_, '_>, wider: fn(modelexport_graph::DType) -> modelexport_graph::DType) -> Result<ValueId> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let x = operand(cx, "self", dtype)?;
    Ok(cx.cast(x, wider(dtype)))
}

fn rounded(cx: &mut Context<'_, '_>, value: ValueId) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

fn scaled(cx: &mut Context<'_, '_>, factor: f64) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let x = operand(cx, "self", dtype)?;
    Ok(with_number(cx, "Mul", x, factor).into())
}

fn exp2(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = widened(cx, math_type)?;
    let two = cx.const_like(x, 2.0);
    let power = cx.emit("Pow", &[two, x], vec![]);
    rounded(cx, power)
}

fn expm1(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = widened(cx, precise_type)?;
    let exp = cx.emit("Exp", &[x], vec![]);
    let value = with_number(cx, "Sub", exp, 1.0);
    rounded(cx, value)
}

fn log1p(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = widened(cx, precise_type)?;
    let sum = with_number(cx, "Add", x, 1.0);
    let value = cx.emit("Log", &[sum], vec![]);
    rounded(cx, value)
}

fn log(cx: &mut Context<'_, '_>, of_base: f64) -> Result<Outputs> {
    let x = widened(cx, precise_type)?;
    let natural = cx.emit("Log", &[x], vec![]);
    let value = with_number(cx, "Div", natural, of_base);
    rounded(cx, value)
}

/// `log(x / (1 - x))`, with `x` kept `eps` away from 0 and 1.
fn logit(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let mut x = widened(cx, math_type)?;
    if let Some(eps) = cx.float_opt("eps")? {
        let dtype = cx.dtype(x);
        let (low, high) = (cx.const_scalar(dtype, eps), cx.const_scalar(dtype, 1.0 - eps));
        x = cx.emit("Clip", &[x, low, high], vec![]);
    }
    let one = cx.const_like(x, 1.0);
    let rest = cx.emit("Sub", &[one, x], vec![]);
    let odds = cx.emit("Div", &[x, rest], vec![]);
    let value = cx.emit("Log", &[odds], vec![]);
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
