//! `nextafter`: the neighbour of a number on the way to another.
//!
//! A step of between a half and one and a half times the distance to the neighbour is added in `float64`; rounding to the
//! type of the tensor gives the neighbour. `float64` itself rounds its own addition.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ops::support::formulas::with_number;
use crate::ops::support::operands::operand;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new("aten::nextafter(Tensor self, Tensor other) -> Tensor", lower)];

/// Digits, the exponent of the smallest number, and the largest number of a type.
fn limits(dtype: DType) -> Option<(i32, i32, f64)> {
    match dtype {
        DType::F16 => Some((11, -24, 65504.0)),
        DType::BF16 => Some((8, -133, 3.389_531_389_251_535_5e38)),
        DType::F32 => Some((24, -149, f64::from(f32::MAX))),
        DType::F64 => Some((53, -1074, f64::MAX)),
        _ => None,
    }
}

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let Some((digits, smallest, largest)) = limits(dtype) else {
        return cx.refuse(format!("takes the neighbour of numbers in {dtype}"));
    };
    let (x, other) = (operand(cx, "self", DType::F64)?, operand(cx, "other", DType::F64)?);
    let magnitude = cx.emit("Abs", &[x], vec![]);
    let step = with_number(cx, "Mul", magnitude, 2f64.powi(-digits) * (1.0 + 2f64.powi(-10)));
    let least = if dtype == DType::F64 { f64::from_bits(1) } else { 0.75 * 2f64.powi(smallest) };
    let step = with_number(cx, "Max", step, least);
    let is_up = cx.emit("Greater", &[other, x], vec![]);
    let opposite = cx.emit("Neg", &[step], vec![]);
    let step = cx.emit("Where", &[is_up, step, opposite], vec![]);
    let value = cx.emit("Add", &[x, step], vec![]);
    // The neighbour of an infinity is the largest number of its sign.
    let is_infinite = cx.emit("IsInf", &[x], vec![]);
    let sign = cx.emit("Sign", &[x], vec![]);
    let largest = with_number(cx, "Mul", sign, largest);
    let value = cx.emit("Where", &[is_infinite, largest, value], vec![]);
    let is_there = cx.emit("Equal", &[x, other], vec![]);
    let value = cx.emit("Where", &[is_there, other, value], vec![]);
    let is_nan = cx.emit("IsNaN", &[other], vec![]);
    let value = cx.emit("Where", &[is_nan, other, value], vec![]);
    Ok(cx.cast(value, dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.nextafter.default(self: f32[40], other: f32[40]) -> f32[40]
            t1 = Cast(self, to=f64)
            t2 = Cast(other, to=f64)
            t3 = Max(Mul(Abs(t1), 5.966285243630409e-8:f64), 1.0509738482436128e-45:f64)
            t4 = Where(IsInf(t1), Mul(Sign(t1), 3.4028234663852886e38:f64), Add(t1, Where(Greater(t2, t1), t3, Neg(t3))))
            Cast(Where(IsNaN(t2), t2, Where(Equal(t1, t2), t2, t4)), to=f32)
        ");
    }
}
