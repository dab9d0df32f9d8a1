//! `div` with its rounding modes, `floor_divide`, `remainder`, `fmod`.
//!
//! - Integers: `Div` of ONNX cuts towards zero; `Mod` has the sign of the divisor, so that `(a - Mod(a, b)) / b` is
//!   the floor. With `fmod=1` it has the sign of the dividend.
//! - Floats: the quotient rounds before it is floored, so that `Floor(Div(a, b))` is one too high where `a` is just
//!   below a multiple of `b`. As PyTorch does, the floor is computed from the remainder, unless the divisor is a whole
//!   number or a power of two. `remainder` adds the divisor to a rest of the other sign.

use modelexport_graph::DType;

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::literal::Number;
use crate::ops::support::complex::{self, complex_operand, is_complex};
use crate::ops::support::formulas::{test_number, truncate};
use crate::ops::support::operands::{arithmetic_operands, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::div.Scalar(Tensor self, Scalar other) -> Tensor", div),
    Row::new("aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", div),
    Row::new("aten::div.Tensor(Tensor self, Tensor other) -> Tensor", div),
    Row::new("aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", div),
    Row::new("aten::divide.Scalar(Tensor self, Scalar other) -> Tensor", div),
    Row::new("aten::divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", div),
    Row::new("aten::divide.Tensor(Tensor self, Tensor other) -> Tensor", div),
    Row::new("aten::divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", div),
    Row::new("aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor", floor_divide),
    // What an in-place `floor_divide_` becomes; PyTorch has no schema for it.
    Row::new("aten.floor_divide.Tensor", floor_divide),
    Row::new("aten::floor_divide(Tensor self, Tensor other) -> Tensor", floor_divide),
    Row::new("aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor", fmod),
    Row::new("aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor", fmod),
    Row::new("aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor", remainder),
    Row::new("aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", remainder),
    Row::new("aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor", remainder),
    Row::new("aten::true_divide.Scalar(Tensor self, Scalar other) -> Tensor", div),
    Row::new("aten::true_divide.Tensor(Tensor self, Tensor other) -> Tensor", div),
];

fn div(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if is_complex(cx) {
        let part = cx.out()?.dtype.real();
        let (left, right) = (complex_operand(cx, "self", part)?, complex_operand(cx, "other", part)?);
        return Ok(complex::quotient(cx, left, right)?.into());
    }
    match cx.str_opt("rounding_mode")?.as_deref() {
        Some("floor") => floor_divide(cx),
        Some("trunc") => {
            let (dtype, [left, right]) = operands(cx)?;
            let quotient = cx.emit("Div", &[left, right], vec![]);
            let whole = truncate(cx, quotient);
            Ok(cx.cast(whole, dtype).into())
        }
        None => {
            let (dtype, [left, right]) = operands(cx)?;
            let quotient = cx.emit("Div", &[left, right], vec![]);
            Ok(cx.cast(quotient, dtype).into())
        }
        Some(other) => cx.wrong("rounding_mode", "`floor` or `trunc`", other.to_owned()),
    }
}

/// Type of the result, and both operands in the type in which they are divided.
fn operands(cx: &mut Context<'_, '_>) -> Result<(DType, [ValueId; 2])> {
    let dtype = cx.out()?.dtype;
    Ok((dtype, arithmetic_operands(cx, "Div", ["self", "other"], dtype)?))
}

fn floor_divide(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let (dtype, [left, right]) = operands(cx)?;
    let value = if !dtype.is_float() {
        floor_divide_integers(cx, left, right)
    } else if divides_cleanly(cx, right) {
        let quotient = cx.emit("Div", &[left, right], vec![]);
        cx.emit("Floor", &[quotient], vec![])
    } else {
        floor_divide_floats(cx, left, right)
    };
    Ok(cx.cast(value, dtype).into())
}

pub(super) fn floor_divide_integers(cx: &mut Context<'_, '_>, left: ValueId, right: ValueId) -> ValueId {
    if cx.dtype(left).is_unsigned() {
        return cx.emit("Div", &[left, right], vec![]);
    }
    let rest = cx.emit("Mod", &[left, right], vec![]);
    let multiple = cx.emit("Sub", &[left, rest], vec![]);
    cx.emit("Div", &[multiple, right], vec![])
}

/// A known divisor for which the floor of the rounded quotient is right.
fn divides_cleanly(cx: &Context<'_, '_>, divisor: ValueId) -> bool {
    let number = |value: &Number| {
        let value = value.as_f64();
        let is_power_of_two = value.is_normal() && value.to_bits().trailing_zeros() >= 52;
        let is_whole = value.fract() == 0.0 && value != 0.0 && value.abs() < 16_777_216.0;
        is_power_of_two || is_whole
    };
    let numbers = cx.ir.literal(divisor).and_then(|literal| literal.numbers());
    numbers.is_some_and(|numbers| numbers.iter().all(number))
}

fn floor_divide_floats(cx: &mut Context<'_, '_>, left: ValueId, right: ValueId) -> ValueId {
    let rest = cx.emit("Mod", &[left, right], attrs![fmod = 1]);
    let multiple = cx.emit("Sub", &[left, rest], vec![]);
    let quotient = cx.emit("Div", &[multiple, right], vec![]);
    let whole = cx.emit("Round", &[quotient], vec![]);
    let differs = signs_differ(cx, rest, right);
    let one_less = cx.cast_like(differs, whole);
    let floor = cx.emit("Sub", &[whole, one_less], vec![]);
    if cx.ir.literal(right).and_then(|literal| literal.numbers()).is_some_and(|n| n.iter().all(|n| n.as_f64() != 0.0)) {
        return floor;
    }
    // Division by zero leaves no remainder; the quotient is the result.
    let by_zero = test_number(cx, "Equal", right, 0.0);
    let plain = cx.emit("Div", &[left, right], vec![]);
    cx.emit("Where", &[by_zero, plain, floor], vec![])
}

fn signs_differ(cx: &mut Context<'_, '_>, rest: ValueId, divisor: ValueId) -> ValueId {
    let numbers = cx.ir.literal(divisor).and_then(|literal| literal.numbers()).unwrap_or_default();
    match numbers.as_slice() {
        [number] if number.as_f64() > 0.0 => test_number(cx, "Less", rest, 0.0),
        [number] if number.as_f64() < 0.0 => test_number(cx, "Greater", rest, 0.0),
        _ => {
            let product = cx.emit("Mul", &[rest, divisor], vec![]);
            test_number(cx, "Less", product, 0.0)
        }
    }
}

fn fmod(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let [left, right] = arithmetic_operands(cx, "Mod", ["self", "other"], dtype)?;
    let rest = cx.emit("Mod", &[left, right], attrs![fmod = 1]);
    Ok(cx.cast(rest, dtype).into())
}

fn remainder(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let [left, right] = arithmetic_operands(cx, "Mod", ["self", "other"], dtype)?;
    if !dtype.is_float() {
        return Ok(cx.emit("Mod", &[left, right], vec![]).into());
    }
    let rest = cx.emit("Mod", &[left, right], attrs![fmod = 1]);
    let differs = signs_differ(cx, rest, right);
    let moved = cx.emit("Add", &[rest, right], vec![]);
    let value = cx.emit("Where", &[differs, moved, rest], vec![]);
    Ok(cx.cast(value, dtype).into())
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
