//! Hurwitz' zeta function `sum over k of (q + k)^-x`, and `polygamma`, which it gives: `(-1)^(n + 1) n! zeta(n + 1, x)`.
//!
//! The first terms are added up, the rest follows from the formula of Euler and Maclaurin, in `float64`. That is exact to
//! rounding for `q` above -12; below, terms near the poles of the function are missing and the result is NaN.

use modelexport_graph::DType;

use super::gamma;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::compute::const_floats;
use crate::ops::support::formulas::{test_number, with_number};
use crate::ops::support::operands::operand;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::special_zeta(Tensor self, Tensor other) -> Tensor", lower),
    Row::new("aten::special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor", lower),
    Row::new("aten::special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor", lower),
    Row::new("aten::polygamma(int n, Tensor self) -> Tensor", polygamma),
    Row::new("aten::special_polygamma(int n, Tensor self) -> Tensor", polygamma),
];

/// Terms that are added up.
const TERMS: i64 = 24;
/// `q` down to which the terms reach far enough.
const LOWEST: f64 = -12.0;
/// `B(2k) / (2k)!` of the formula of Euler and Maclaurin.
const SERIES: [f64; 5] = [1.0 / 12.0, -1.0 / 720.0, 1.0 / 30240.0, -1.0 / 1209600.0, 1.0 / 47900160.0];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, q) = (operand(cx, "self", DType::F64)?, operand(cx, "other", DType::F64)?);
    let value = zeta(cx, x, q)?;
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

fn polygamma(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let n = cx.int("n")?;
    let q = operand(cx, "self", DType::F64)?;
    let dtype = cx.out()?.dtype;
    if n == 0 {
        let value = gamma::digamma(cx, q)?;
        return Ok(cx.cast(value, dtype).into());
    }
    let x = cx.const_scalar(DType::F64, (n + 1) as f64);
    let zeta = zeta(cx, x, q)?;
    let factorial: f64 = (1..=n).map(|factor| factor as f64).product();
    let factor = if n % 2 == 0 { -factorial } else { factorial };
    let value = with_number(cx, "Mul", zeta, factor);
    Ok(cx.cast(value, dtype).into())
}

fn zeta(cx: &mut Context<'_, '_>, x: ValueId, q: ValueId) -> Result<ValueId> {
    let steps = const_floats(cx, DType::F64, &[TERMS], (0..TERMS).map(|step| step as f64))?;
    let exponent = cx.emit("Neg", &[x], vec![]);
    let (bases, exponents) = (cx.unsqueeze(q, &[-1]), cx.unsqueeze(exponent, &[-1]));
    let bases = cx.emit("Add", &[bases, steps], vec![]);
    let terms = cx.emit("Pow", &[bases, exponents], vec![]);
    let mut sum = cx.reduce("ReduceSum", terms, &[-1], false);
    // The rest from `a` on: a^(1 - x) / (x - 1) + a^-x / 2 + x a^(-x - 1) / 12 - …
    let a = with_number(cx, "Add", q, TERMS as f64);
    let power = cx.emit("Pow", &[a, exponent], vec![]);
    let above = cx.emit("Mul", &[power, a], vec![]);
    let below = with_number(cx, "Sub", x, 1.0);
    let integral = cx.emit("Div", &[above, below], vec![]);
    let half = with_number(cx, "Mul", power, 0.5);
    sum = cx.emit("Add", &[sum, integral], vec![]);
    sum = cx.emit("Add", &[sum, half], vec![]);
    let mut rising = x;
    let mut power = cx.emit("Div", &[power, a], vec![]);
    let square = cx.emit("Mul", &[a, a], vec![]);
    for (at, &coefficient) in SERIES.iter().enumerate() {
        if at > 0 {
            for more in [2 * at - 1, 2 * at] {
                let next = with_number(cx, "Add", x, more as f64);
                rising = cx.emit("Mul", &[rising, next], vec![]);
            }
            power = cx.emit("Div", &[power, square], vec![]);
        }
        let term = cx.emit("Mul", &[rising, power], vec![]);
        let term = with_number(cx, "Mul", term, coefficient);
        sum = cx.emit("Add", &[sum, term], vec![]);
    }
    borders(cx, x, q, sum)
}

/// `value` where it holds: infinity for `x` of 1 and for `q` of 0, -1, …; NaN for smaller `x`, and below `LOWEST`.
fn borders(cx: &mut Context<'_, '_>, x: ValueId, q: ValueId, value: ValueId) -> Result<ValueId> {
    let infinity = cx.const_scalar(DType::F64, f64::INFINITY);
    let nan = cx.const_scalar(DType::F64, f64::NAN);
    let is_low = test_number(cx, "Less", q, LOWEST);
    let value = cx.emit("Where", &[is_low, nan, value], vec![]);
    let whole = cx.emit("Floor", &[q], vec![]);
    let is_whole = cx.emit("Equal", &[q, whole], vec![]);
    let is_below = test_number(cx, "LessOrEqual", q, 0.0);
    let is_pole = cx.emit("And", &[is_whole, is_below], vec![]);
    let value = cx.emit("Where", &[is_pole, infinity, value], vec![]);
    let is_small = test_number(cx, "Less", x, 1.0);
    let value = cx.emit("Where", &[is_small, nan, value], vec![]);
    let is_one = test_number(cx, "Equal", x, 1.0);
    Ok(cx.emit("Where", &[is_one, infinity, value], vec![]))
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
