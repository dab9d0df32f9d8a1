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
use crate::ops::support::fill::empty_result;
use crate::ops::support::formulas::{test_number, with_number};
use crate::ops::support::operands::operand;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.special_zeta.default", "special_zeta(Tensor self, Tensor other) -> Tensor", lower),
    Row::new("aten.special_zeta.other_scalar", "special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor", lower),
    Row::new("aten.special_zeta.self_scalar", "special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor", lower),
    Row::new("aten.polygamma.default", "polygamma(int n, Tensor self) -> Tensor", polygamma),
    Row::new("aten.special_polygamma.default", "special_polygamma(int n, Tensor self) -> Tensor", polygamma),
];

/// Terms that are added up.
const TERMS: i64 = 24;
/// `q` down to which the terms reach far enough.
const LOWEST: f64 = -12.0;
/// `B(2k) / (2k)!` of the formula of Euler and Maclaurin.
const SERIES: [f64; 5] = [1.0 / 12.0, -1.0 / 720.0, 1.0 / 30240.0, -1.0 / 1209600.0, 1.0 / 47900160.0];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(empty) = empty_result(cx)? {
        return Ok(empty.into());
    }
    let (x, q) = (operand(cx, "self", DType::F64)?, operand(cx, "other", DType::F64)?);
    let value = zeta(cx, x, q)?;
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

fn polygamma(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(empty) = empty_result(cx)? {
        return Ok(empty.into());
    }
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
        assert_snapshot!(lowered(ROWS), @"
        aten.special_zeta.default(self: f32[4, 1], other: f32[7]) -> f32[4, 7]
            t1 = Cast(self, to=f64)
            t2 = Cast(other, to=f64)
            t3 = Neg(t1)
            t4 = ReduceSum(Pow(Add(Unsqueeze(t2, [-1]), f64[24]), Unsqueeze(t3, [-1])), [-1], keepdims=0)
            t5 = Add(t2, 24.0:f64)
            t6 = Pow(t5, t3)
            t7 = Add(Add(t4, Div(Mul(t6, t5), Sub(t1, 1.0:f64))), Mul(t6, 0.5:f64))
            t8 = Div(t6, t5)
            t9 = Mul(t5, t5)
            t10 = Mul(Mul(t1, Add(t1, 1.0:f64)), Add(t1, 2.0:f64))
            t11 = Div(t8, t9)
            t12 = Add(Add(t7, Mul(Mul(t1, t8), 0.08333333333333333:f64)), Mul(Mul(t10, t11), -0.001388888888888889:f64))
            t13 = Mul(Mul(t10, Add(t1, 3.0:f64)), Add(t1, 4.0:f64))
            t14 = Div(t11, t9)
            t15 = Mul(Mul(t13, Add(t1, 5.0:f64)), Add(t1, 6.0:f64))
            t16 = Div(t14, t9)
            t17 = Add(Add(t12, Mul(Mul(t13, t14), 3.306878306878307e-5:f64)), Mul(Mul(t15, t16), -8.267195767195768e-7:f64))
            t18 = Mul(Mul(Mul(t15, Add(t1, 7.0:f64)), Add(t1, 8.0:f64)), Div(t16, t9))
            t19 = Where(Less(t2, -12.0:f64), NaN:f64, Add(t17, Mul(t18, 2.08767569878681e-8:f64)))
            t20 = Where(And(Equal(t2, Floor(t2)), LessOrEqual(t2, 0.0:f64)), inf:f64, t19)
            t21 = Where(Equal(t1, 1.0:f64), inf:f64, Where(Less(t1, 1.0:f64), NaN:f64, t20))
            Cast(t21, to=f32)
        aten.special_zeta.other_scalar(self: f32[5], other=2.5) -> f32[5]
            t1 = Cast(self, to=f64)
            t2 = Neg(t1)
            t3 = ReduceSum(Pow(f64[24], Unsqueeze(t2, [-1])), [-1], keepdims=0)
            t4 = Pow(26.5:f64, t2)
            t5 = Add(Add(t3, Div(Mul(t4, 26.5:f64), Sub(t1, 1.0:f64))), Mul(t4, 0.5:f64))
            t6 = Div(t4, 26.5:f64)
            t7 = Mul(Mul(t1, Add(t1, 1.0:f64)), Add(t1, 2.0:f64))
            t8 = Div(t6, 702.25:f64)
            t9 = Add(Add(t5, Mul(Mul(t1, t6), 0.08333333333333333:f64)), Mul(Mul(t7, t8), -0.001388888888888889:f64))
            t10 = Mul(Mul(t7, Add(t1, 3.0:f64)), Add(t1, 4.0:f64))
            t11 = Div(t8, 702.25:f64)
            t12 = Mul(Mul(t10, Add(t1, 5.0:f64)), Add(t1, 6.0:f64))
            t13 = Div(t11, 702.25:f64)
            t14 = Add(Add(t9, Mul(Mul(t10, t11), 3.306878306878307e-5:f64)), Mul(Mul(t12, t13), -8.267195767195768e-7:f64))
            t15 = Mul(Mul(Mul(t12, Add(t1, 7.0:f64)), Add(t1, 8.0:f64)), Div(t13, 702.25:f64))
            t16 = Where(false, NaN:f64, Add(t14, Mul(t15, 2.08767569878681e-8:f64)))
            t17 = Where(Less(t1, 1.0:f64), NaN:f64, Where(false, inf:f64, t16))
            Cast(Where(Equal(t1, 1.0:f64), inf:f64, t17), to=f32)
        aten.special_zeta.self_scalar(self=3, other: f32[5]) -> f32[5]
            t1 = Cast(other, to=f64)
            t2 = ReduceSum(Pow(Add(Unsqueeze(t1, [-1]), f64[24]), [-3.0]:f64), [-1], keepdims=0)
            t3 = Add(t1, 24.0:f64)
            t4 = Pow(t3, -3.0:f64)
            t5 = Div(t4, t3)
            t6 = Mul(t3, t3)
            t7 = Add(Add(Add(t2, Div(Mul(t4, t3), 2.0:f64)), Mul(t4, 0.5:f64)), Mul(Mul(3.0:f64, t5), 0.08333333333333333:f64))
            t8 = Div(t5, t6)
            t9 = Div(t8, t6)
            t10 = Add(Add(t7, Mul(Mul(60.0:f64, t8), -0.001388888888888889:f64)), Mul(Mul(2520.0:f64, t9), 3.306878306878307e-5:f64))
            t11 = Div(t9, t6)
            t12 = Add(t10, Mul(Mul(181440.0:f64, t11), -8.267195767195768e-7:f64))
            t13 = Mul(Mul(19958400.0:f64, Div(t11, t6)), 2.08767569878681e-8:f64)
            t14 = Where(And(Equal(t1, Floor(t1)), LessOrEqual(t1, 0.0:f64)), inf:f64, Where(Less(t1, -12.0:f64), NaN:f64, Add(t12, t13)))
            Cast(Where(false, inf:f64, Where(false, NaN:f64, t14)), to=f32)
        aten.polygamma.default(n=0, self: f32[30]) -> f32[30]
            t1 = Cast(self, to=f64)
            t2 = Less(t1, 0.5:f64)
            t3 = Where(t2, Sub(1.0:f64, t1), t1)
            t4 = Add(Unsqueeze(t3, [-1]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]:f64)
            t5 = ReduceSum(Div([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]:f64, t4), [-1], keepdims=0)
            t6 = Add(t3, 8.0:f64)
            t7 = Reciprocal(t6)
            t8 = Mul(t7, t7)
            t9 = Add(Mul(0.021092796092796094:f64, t8), -0.007575757575757576:f64)
            t10 = Add(Mul(Add(Mul(t9, t8), 0.004166666666666667:f64), t8), -0.003968253968253968:f64)
            t11 = Add(Mul(Add(Mul(t10, t8), 0.008333333333333333:f64), t8), -0.08333333333333333:f64)
            t12 = Sub(Add(Sub(Log(t6), Mul(t7, 0.5:f64)), Mul(t11, t8)), t5)
            t13 = Mul(Sub(t1, Floor(t1)), 3.141592653589793:f64)
            t14 = Sub(t12, Mul(Div(Cos(t13), Sin(t13)), 3.141592653589793:f64))
            t15 = Where(And(Less(t1, 0.0:f64), Equal(t13, 0.0:f64)), NaN:f64, Where(t2, t14, t12))
            Cast(t15, to=f32)
        aten.polygamma.default(n=1, self: f32[s0]) -> f32[s0]
            t1 = Cast(self, to=f64)
            t2 = ReduceSum(Pow(Add(Unsqueeze(t1, [-1]), f64[24]), [-2.0]:f64), [-1], keepdims=0)
            t3 = Add(t1, 24.0:f64)
            t4 = Pow(t3, -2.0:f64)
            t5 = Div(t4, t3)
            t6 = Mul(t3, t3)
            t7 = Add(Add(Add(t2, Mul(t4, t3)), Mul(t4, 0.5:f64)), Mul(Mul(2.0:f64, t5), 0.08333333333333333:f64))
            t8 = Div(t5, t6)
            t9 = Div(t8, t6)
            t10 = Add(Add(t7, Mul(Mul(24.0:f64, t8), -0.001388888888888889:f64)), Mul(Mul(720.0:f64, t9), 3.306878306878307e-5:f64))
            t11 = Div(t9, t6)
            t12 = Add(t10, Mul(Mul(40320.0:f64, t11), -8.267195767195768e-7:f64))
            t13 = Mul(Mul(3628800.0:f64, Div(t11, t6)), 2.08767569878681e-8:f64)
            t14 = Where(And(Equal(t1, Floor(t1)), LessOrEqual(t1, 0.0:f64)), inf:f64, Where(Less(t1, -12.0:f64), NaN:f64, Add(t12, t13)))
            Cast(Where(false, inf:f64, Where(false, NaN:f64, t14)), to=f32)
        aten.special_polygamma.default(n=0, self: f32[30]) -> f32[30]
            t1 = Cast(self, to=f64)
            t2 = Less(t1, 0.5:f64)
            t3 = Where(t2, Sub(1.0:f64, t1), t1)
            t4 = Add(Unsqueeze(t3, [-1]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]:f64)
            t5 = ReduceSum(Div([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]:f64, t4), [-1], keepdims=0)
            t6 = Add(t3, 8.0:f64)
            t7 = Reciprocal(t6)
            t8 = Mul(t7, t7)
            t9 = Add(Mul(0.021092796092796094:f64, t8), -0.007575757575757576:f64)
            t10 = Add(Mul(Add(Mul(t9, t8), 0.004166666666666667:f64), t8), -0.003968253968253968:f64)
            t11 = Add(Mul(Add(Mul(t10, t8), 0.008333333333333333:f64), t8), -0.08333333333333333:f64)
            t12 = Sub(Add(Sub(Log(t6), Mul(t7, 0.5:f64)), Mul(t11, t8)), t5)
            t13 = Mul(Sub(t1, Floor(t1)), 3.141592653589793:f64)
            t14 = Sub(t12, Mul(Div(Cos(t13), Sin(t13)), 3.141592653589793:f64))
            t15 = Where(And(Less(t1, 0.0:f64), Equal(t13, 0.0:f64)), NaN:f64, Where(t2, t14, t12))
            Cast(t15, to=f32)
        ");
    }
}
