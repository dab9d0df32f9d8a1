//! `erfc`, `erfcx`, `erfinv` and what follows from them: `ndtr`, `log_ndtr`.
//!
//! `1 - Erf(x)` has no correct digit where `erf` is close to one. These are computed in `float64` by approximations
//! that keep their relative precision (about 1e-7): for the complement a polynomial in `1 / (1 + |x| / 2)` inside an
//! exponential, for the inverse two polynomials, one for the middle and one for the tails.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::formulas::{polynomial, test_number, with_number};
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::erfc(Tensor self) -> Tensor", |cx| function(cx, complement)),
    Row::new("aten::erfinv(Tensor self) -> Tensor", |cx| function(cx, inverse)),
    Row::new("aten::special_erfc(Tensor self) -> Tensor", |cx| function(cx, complement)),
    Row::new("aten::special_erfcx(Tensor self) -> Tensor", |cx| function(cx, scaled_complement)),
    Row::new("aten::special_erfinv(Tensor self) -> Tensor", |cx| function(cx, inverse)),
    Row::new("aten::special_log_ndtr(Tensor self) -> Tensor", |cx| function(cx, log_normal_distribution)),
    Row::new("aten::special_ndtr(Tensor self) -> Tensor", |cx| function(cx, normal_distribution)),
];

/// `self` in `float64` through `formula`.
fn function(
    cx: &mut Context<'_, '_>,
    formula: fn(&mut Context<'_, '_>, ValueId) -> ValueId,
) -> Result<Outputs> {
    real_only(cx)?;
    let x = operand(cx, "self", DType::F64)?;
    let value = formula(cx, x);
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

/// Logarithm of `exp(x²) erfc(x) / t` for `x >= 0` as a polynomial in `t = 1 / (1 + x / 2)`.
const COMPLEMENT: [f64; 10] = [
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587,
    -0.82215223, 0.17087277,
];

/// `log(exp(x²) erfc(x))` for `x >= 0`.
fn log_scaled(cx: &mut Context<'_, '_>, x: ValueId) -> ValueId {
    let half = with_number(cx, "Mul", x, 0.5);
    let below = with_number(cx, "Add", half, 1.0);
    let t = cx.emit("Reciprocal", &[below], vec![]);
    let exponent = polynomial(cx, t, &COMPLEMENT);
    let log = cx.emit("Log", &[t], vec![]);
    cx.emit("Add", &[log, exponent], vec![])
}

fn complement(cx: &mut Context<'_, '_>, x: ValueId) -> ValueId {
    let magnitude = cx.emit("Abs", &[x], vec![]);
    let log = log_scaled(cx, magnitude);
    let square = cx.emit("Mul", &[x, x], vec![]);
    let log = cx.emit("Sub", &[log, square], vec![]);
    let right = cx.emit("Exp", &[log], vec![]);
    let two = cx.const_like(x, 2.0);
    let left = cx.emit("Sub", &[two, right], vec![]);
    let negative = test_number(cx, "Less", x, 0.0);
    cx.emit("Where", &[negative, left, right], vec![])
}

/// `exp(x²) erfc(x)`.
fn scaled_complement(cx: &mut Context<'_, '_>, x: ValueId) -> ValueId {
    let magnitude = cx.emit("Abs", &[x], vec![]);
    let log = log_scaled(cx, magnitude);
    let right = cx.emit("Exp", &[log], vec![]);
    let square = cx.emit("Mul", &[x, x], vec![]);
    let growth = cx.emit("Exp", &[square], vec![]);
    let growth = with_number(cx, "Mul", growth, 2.0);
    let left = cx.emit("Sub", &[growth, right], vec![]);
    let negative = test_number(cx, "Less", x, 0.0);
    cx.emit("Where", &[negative, left, right], vec![])
}

/// `erfc(-x / √2) / 2`.
fn normal_distribution(cx: &mut Context<'_, '_>, x: ValueId) -> ValueId {
    let scaled = with_number(cx, "Mul", x, -std::f64::consts::FRAC_1_SQRT_2);
    let complement = complement(cx, scaled);
    with_number(cx, "Mul", complement, 0.5)
}

/// In the left tail from the scaled complement, whose logarithm does not underflow.
fn log_normal_distribution(cx: &mut Context<'_, '_>, x: ValueId) -> ValueId {
    let scaled = with_number(cx, "Mul", x, -std::f64::consts::FRAC_1_SQRT_2);
    let bounded = cx.emit("Relu", &[scaled], vec![]);
    let log = log_scaled(cx, bounded);
    let square = cx.emit("Mul", &[scaled, scaled], vec![]);
    let tail = cx.emit("Sub", &[log, square], vec![]);
    let tail = with_number(cx, "Sub", tail, std::f64::consts::LN_2);
    let probability = normal_distribution(cx, x);
    let middle = cx.emit("Log", &[probability], vec![]);
    let is_tail = test_number(cx, "Less", x, -1.0);
    cx.emit("Where", &[is_tail, tail, middle], vec![])
}

/// `erfinv(x) / x` as a polynomial in `w - 2.5` for `w < 5`, where `w = -log(1 - x²)`.
const MIDDLE: [f64; 9] = [
    1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087, -4.39150654e-06, -3.5233877e-06,
    3.43273939e-07, 2.81022636e-08,
];

/// The same in `√w - 3` for larger `w`.
const TAIL: [f64; 9] = [
    2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773, -0.00367342844, 0.00134934322,
    0.000100950558, -0.000200214257,
];

fn inverse(cx: &mut Context<'_, '_>, x: ValueId) -> ValueId {
    let one = cx.const_like(x, 1.0);
    let (below, above) = (cx.emit("Sub", &[one, x], vec![]), cx.emit("Add", &[one, x], vec![]));
    let rest = cx.emit("Mul", &[below, above], vec![]);
    let log = cx.emit("Log", &[rest], vec![]);
    let w = cx.emit("Neg", &[log], vec![]);
    let from_middle = with_number(cx, "Sub", w, 2.5);
    let middle = polynomial(cx, from_middle, &MIDDLE);
    let root = cx.emit("Sqrt", &[w], vec![]);
    let from_tail = with_number(cx, "Sub", root, 3.0);
    let tail = polynomial(cx, from_tail, &TAIL);
    let is_middle = test_number(cx, "Less", w, 5.0);
    let slope = cx.emit("Where", &[is_middle, middle, tail], vec![]);
    // At the ends the logarithm is infinite and a polynomial has the wrong sign there.
    let is_end = test_number(cx, "Equal", rest, 0.0);
    let infinity = cx.const_like(x, f64::INFINITY);
    let slope = cx.emit("Where", &[is_end, infinity, slope], vec![]);
    cx.emit("Mul", &[x, slope], vec![])
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
