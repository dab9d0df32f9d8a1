//! `lgamma` and `digamma`, in `float64`.
//!
//! `lgamma` by Lanczos' sum of nine terms, `digamma` by its asymptotic series from 8 on and the recurrence below; both
//! by reflection for arguments under one half. Terms of a sum lie on a new last axis, so that the number of nodes does
//! not grow with them.

use std::f64::consts::PI;

use modelexport_graph::{DType, Dim};

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::literal::{Literal, Number};
use crate::ops::support::compute::const_floats;
use crate::ops::support::formulas::{polynomial, test_number, with_number};
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::digamma(Tensor self) -> Tensor", |cx| function(cx, digamma)),
    Row::new("aten::lgamma(Tensor self) -> Tensor", |cx| function(cx, log_gamma)),
    Row::new("aten::special_digamma(Tensor self) -> Tensor", |cx| function(cx, digamma)),
    Row::new("aten::special_gammaln(Tensor self) -> Tensor", |cx| function(cx, log_gamma)),
    Row::new("aten::mvlgamma(Tensor self, int p) -> Tensor", multivariate),
    Row::new("aten::special_multigammaln(Tensor self, int p) -> Tensor", multivariate),
    Row::new("aten::special_psi(Tensor self) -> Tensor", |cx| function(cx, digamma)),
];

fn function(
    cx: &mut Context<'_, '_>,
    formula: fn(&mut Context<'_, '_>, ValueId) -> Result<ValueId>,
) -> Result<Outputs> {
    real_only(cx)?;
    let x = operand(cx, "self", DType::F64)?;
    let value = formula(cx, x)?;
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

/// Whether the argument is reflected, and what the series is computed for.
fn reflected(cx: &mut Context<'_, '_>, x: ValueId) -> (ValueId, ValueId) {
    let is_low = test_number(cx, "Less", x, 0.5);
    let one = cx.const_like(x, 1.0);
    let opposite = cx.emit("Sub", &[one, x], vec![]);
    let y = cx.emit("Where", &[is_low, opposite, x], vec![]);
    if let Some(sizes) = cx.shape(x).map(<[Dim]>::to_vec) {
        cx.set_shape(y, sizes);
    }
    (is_low, y)
}

/// `π` times what is left of `x` above the whole number below it: exactly 0 at whole numbers.
fn angle(cx: &mut Context<'_, '_>, x: ValueId) -> ValueId {
    let whole = cx.emit("Floor", &[x], vec![]);
    let rest = cx.emit("Sub", &[x, whole], vec![]);
    with_number(cx, "Mul", rest, PI)
}

/// `numerators[0] / (y + shifts[0]) + …`.
fn fractions(cx: &mut Context<'_, '_>, y: ValueId, numerators: &[f64], shifts: &[f64]) -> Result<ValueId> {
    let count = numerators.len() as i64;
    let mut vector = |numbers: &[f64]| {
        let numbers = numbers.iter().copied().map(Number::Float);
        match Literal::from_numbers(DType::F64, vec![count], numbers) {
            Some(literal) => Ok(cx.constant(literal)),
            None => cx.refuse("needs float64"),
        }
    };
    let (numerators, shifts) = (vector(numerators)?, vector(shifts)?);
    let column = cx.unsqueeze(y, &[-1]);
    let below = cx.emit("Add", &[column, shifts], vec![]);
    let terms = cx.emit("Div", &[numerators, below], vec![]);
    // Counted from the front: onnxruntime does not find an axis from the back where there are no elements.
    let axis = cx.rank(y).map_or(-1, |rank| rank as i64);
    Ok(cx.reduce("ReduceSum", terms, &[axis], false))
}

/// Lanczos' coefficients for `g = 7`.
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

pub(super) fn log_gamma(cx: &mut Context<'_, '_>, x: ValueId) -> Result<ValueId> {
    let (is_low, y) = reflected(cx, x);
    let shifts: Vec<f64> = (0..8).map(f64::from).collect();
    let sum = fractions(cx, y, &LANCZOS[1..], &shifts)?;
    let sum = with_number(cx, "Add", sum, LANCZOS[0]);
    let log_sum = cx.emit("Log", &[sum], vec![]);
    // (y - 1/2) log(t) - t with t = y + 6.5
    let t = with_number(cx, "Add", y, 6.5);
    let log_t = cx.emit("Log", &[t], vec![]);
    let power = with_number(cx, "Sub", y, 0.5);
    let growth = cx.emit("Mul", &[power, log_t], vec![]);
    let growth = cx.emit("Sub", &[growth, t], vec![]);
    let value = cx.emit("Add", &[growth, log_sum], vec![]);
    let value = with_number(cx, "Add", value, 0.5 * (2.0 * PI).ln());
    // log(π / |sin(πx)|) - log Γ(1 - x)
    let angle = angle(cx, x);
    let sine = cx.emit("Sin", &[angle], vec![]);
    let pi = cx.const_like(x, PI);
    let ratio = cx.emit("Div", &[pi, sine], vec![]);
    let log_ratio = cx.emit("Log", &[ratio], vec![]);
    let opposite = cx.emit("Sub", &[log_ratio, value], vec![]);
    let value = cx.emit("Where", &[is_low, opposite, value], vec![]);
    // Infinities of both signs give infinity; the terms above would cancel to NaN.
    let magnitude = cx.emit("Abs", &[x], vec![]);
    let infinity = cx.const_like(x, f64::INFINITY);
    let is_infinite = cx.emit("Equal", &[magnitude, infinity], vec![]);
    Ok(cx.emit("Where", &[is_infinite, infinity, value], vec![]))
}

/// `sum of log Γ(x - i / 2) for i below p, plus p (p - 1) / 4 log π`.
fn multivariate(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let p = cx.int("p")?.max(1);
    let x = operand(cx, "self", DType::F64)?;
    let shifts = const_floats(cx, DType::F64, &[p], (0..p).map(|i| -0.5 * i as f64))?;
    let column = cx.unsqueeze(x, &[-1]);
    let shifted = cx.emit("Add", &[column, shifts], vec![]);
    let sizes = cx.out()?.sizes.iter().cloned().chain([Dim::Static(p)]).collect();
    cx.set_shape(shifted, sizes);
    let logs = log_gamma(cx, shifted)?;
    let sum = cx.reduce("ReduceSum", logs, &[-1], false);
    let value = with_number(cx, "Add", sum, 0.25 * (p * (p - 1)) as f64 * PI.ln());
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

/// `-B(2k) / 2k` of the asymptotic series, for powers of `1 / z²`.
const SERIES: [f64; 7] =
    [0.0, -1.0 / 12.0, 1.0 / 120.0, -1.0 / 252.0, 1.0 / 240.0, -1.0 / 132.0, 691.0 / 32760.0];

pub(super) fn digamma(cx: &mut Context<'_, '_>, x: ValueId) -> Result<ValueId> {
    let (is_low, y) = reflected(cx, x);
    let shifts: Vec<f64> = (0..8).map(f64::from).collect();
    let steps = fractions(cx, y, &[1.0; 8], &shifts)?;
    let z = with_number(cx, "Add", y, 8.0);
    let log = cx.emit("Log", &[z], vec![]);
    let inverse = cx.emit("Reciprocal", &[z], vec![]);
    let half = with_number(cx, "Mul", inverse, 0.5);
    let square = cx.emit("Mul", &[inverse, inverse], vec![]);
    let series = polynomial(cx, square, &SERIES);
    let value = cx.emit("Sub", &[log, half], vec![]);
    let value = cx.emit("Add", &[value, series], vec![]);
    let value = cx.emit("Sub", &[value, steps], vec![]);
    // ψ(1 - x) - π / tan(πx)
    let angle = angle(cx, x);
    let (sine, cosine) = (cx.emit("Sin", &[angle], vec![]), cx.emit("Cos", &[angle], vec![]));
    let cotangent = cx.emit("Div", &[cosine, sine], vec![]);
    let cotangent = with_number(cx, "Mul", cotangent, PI);
    let opposite = cx.emit("Sub", &[value, cotangent], vec![]);
    let value = cx.emit("Where", &[is_low, opposite, value], vec![]);
    // Negative whole numbers are poles of both signs.
    let negative = test_number(cx, "Less", x, 0.0);
    let whole = test_number(cx, "Equal", angle, 0.0);
    let pole = cx.emit("And", &[negative, whole], vec![]);
    let nan = cx.const_like(x, f64::NAN);
    Ok(cx.emit("Where", &[pole, nan, value], vec![]))
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
