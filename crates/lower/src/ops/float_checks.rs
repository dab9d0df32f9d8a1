//! `isnan`, `isinf`, `isfinite`, `signbit`, `nan_to_num`: what kind of number an element is.
//!
//! `isfinite` is `Abs(x) < inf`, which is false for NaN too. `signbit` sees -0.0 by the sign of its reciprocal; the
//! sign of a NaN cannot be seen. Integers are never NaN or infinite.

use modelexport_graph::DType;

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::kernel_type;
use crate::ops::support::fill::filled;
use crate::ops::support::formulas::{sign_bit, test_number};
use crate::ops::support::operands::real_only;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::isfinite(Tensor self) -> Tensor", is_finite),
    Row::new("aten::isinf(Tensor self) -> Tensor", |cx| is_inf(cx, true, true)),
    Row::new("aten::isnan(Tensor self) -> Tensor", is_nan),
    Row::new("aten::isneginf(Tensor self) -> Tensor", |cx| is_inf(cx, true, false)),
    Row::new("aten::isposinf(Tensor self) -> Tensor", |cx| is_inf(cx, false, true)),
    Row::new("aten::isreal(Tensor self) -> Tensor", |cx| {
        let x = real_argument(cx)?;
        everywhere(cx, x, true)
    }),
    Row::new(
        "aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
        nan_to_num,
    ),
    Row::new("aten::signbit(Tensor self) -> Tensor", |cx| {
        let x = real_argument(cx)?;
        if cx.dtype(x).is_unsigned() {
            return everywhere(cx, x, false);
        }
        Ok(sign_bit(cx, x).into())
    }),
];

fn real_argument(cx: &mut Context<'_, '_>) -> Result<ValueId> {
    real_only(cx)?;
    cx.tensor("self")
}

/// The same answer for every element of `x`.
fn everywhere(cx: &mut Context<'_, '_>, x: ValueId, answer: bool) -> Result<Outputs> {
    let sizes = &cx.out()?.sizes;
    Ok(filled(cx, sizes, DType::Bool, answer, Some(x))?.into())
}

fn is_nan(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = real_argument(cx)?;
    if !cx.dtype(x).is_float() {
        return everywhere(cx, x, false);
    }
    Ok(cx.test("IsNaN", &[x]).into())
}

fn is_inf(cx: &mut Context<'_, '_>, negative: bool, positive: bool) -> Result<Outputs> {
    let x = real_argument(cx)?;
    let dtype = cx.dtype(x);
    if !dtype.is_float() {
        return everywhere(cx, x, false);
    }
    let kernel = kernel_type("IsInf", dtype, cx.opset);
    let x = cx.cast(x, kernel);
    let attributes = match (negative, positive) {
        (true, true) => vec![],
        (true, false) => attrs![detect_positive = 0],
        _ => attrs![detect_negative = 0],
    };
    Ok(cx.emit("IsInf", &[x], attributes).into())
}

fn is_finite(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = real_argument(cx)?;
    if !cx.dtype(x).is_float() {
        return everywhere(cx, x, true);
    }
    let magnitude = cx.apply("Abs", &[x], vec![]);
    Ok(test_number(cx, "Less", magnitude, f64::INFINITY).into())
}

/// NaN by `Where`; infinities by `Clip` where they become the ends of the type, else by `Where`.
fn nan_to_num(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let mut x = real_argument(cx)?;
    let dtype = cx.dtype(x);
    if !dtype.is_float() {
        return Ok(x.into());
    }
    let (high, low) = (cx.float_opt("posinf")?, cx.float_opt("neginf")?);
    let number = cx.float_opt("nan")?.unwrap_or(0.0);
    let is_nan = cx.test("IsNaN", &[x]);
    let number = cx.const_scalar(dtype, number);
    x = cx.select(is_nan, number, x);
    let end = largest(dtype);
    if high.is_none() && low.is_none() {
        let (low, high) = (cx.const_scalar(dtype, -end), cx.const_scalar(dtype, end));
        return Ok(cx.apply("Clip", &[x, low, high], vec![]).into());
    }
    for (infinity, number) in [(f64::INFINITY, high.unwrap_or(end)), (f64::NEG_INFINITY, low.unwrap_or(-end))] {
        let found = test_number(cx, "Equal", x, infinity);
        let number = cx.const_scalar(dtype, number);
        x = cx.select(found, number, x);
    }
    Ok(x.into())
}

/// The largest finite number of a float type.
fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 65504.0,
        DType::BF16 => f64::from(half::bf16::MAX.to_f32()),
        DType::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
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
