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
    Row::new("aten.erfc.default", "erfc(Tensor self) -> Tensor", |cx| function(cx, complement)),
    Row::new("aten.erfinv.default", "erfinv(Tensor self) -> Tensor", |cx| function(cx, inverse)),
    Row::new("aten.special_erfc.default", "special_erfc(Tensor self) -> Tensor", |cx| function(cx, complement)),
    Row::new("aten.special_erfcx.default", "special_erfcx(Tensor self) -> Tensor", |cx| {
        function(cx, scaled_complement)
    }),
    Row::new("aten.special_erfinv.default", "special_erfinv(Tensor self) -> Tensor", |cx| {
        function(cx, inverse)
    }),
    Row::new("aten.special_log_ndtr.default", "special_log_ndtr(Tensor self) -> Tensor", |cx| {
        function(cx, log_normal_distribution)
    }),
    Row::new("aten.special_ndtr.default", "special_ndtr(Tensor self) -> Tensor", |cx| {
        function(cx, normal_distribution)
    }),
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
        assert_snapshot!(lowered(ROWS), @r"
        aten.erfc.default(self: f32[12]) -> f32[12]
            t1 = Cast(self, to=f64)
            t2 = Reciprocal(Add(Mul(Abs(t1), 0.5:f64), 1.0:f64))
            t3 = Add(Mul(Add(Mul(0.17087277:f64, t2), -0.82215223:f64), t2), 1.48851587:f64)
            t4 = Add(Mul(Add(Mul(t3, t2), -1.13520398:f64), t2), 0.27886807:f64)
            t5 = Add(Mul(Add(Mul(t4, t2), -0.18628806:f64), t2), 0.09678418:f64)
            t6 = Add(Mul(Add(Mul(t5, t2), 0.37409196:f64), t2), 1.00002368:f64)
            t7 = Sub(Add(Log(t2), Add(Mul(t6, t2), -1.26551223:f64)), Mul(t1, t1))
            t8 = Exp(t7)
            Cast(Where(Less(t1, 0.0:f64), Sub(2.0:f64, t8), t8), to=f32)
        aten.erfinv.default(self: f32[11]) -> f32[11]
            t1 = Cast(self, to=f64)
            t2 = Mul(Sub(1.0:f64, t1), Add(1.0:f64, t1))
            t3 = Neg(Log(t2))
            t4 = Sub(t3, 2.5:f64)
            t5 = Add(Mul(Add(Mul(2.81022636e-8:f64, t4), 3.43273939e-7:f64), t4), -3.5233877e-6:f64)
            t6 = Add(Mul(Add(Mul(t5, t4), -4.39150654e-6:f64), t4), 0.00021858087:f64)
            t7 = Add(Mul(Add(Mul(t6, t4), -0.00125372503:f64), t4), -0.00417768164:f64)
            t8 = Add(Mul(Add(Mul(t7, t4), 0.246640727:f64), t4), 1.50140941:f64)
            t9 = Sub(Sqrt(t3), 3.0:f64)
            t10 = Mul(Add(Mul(-0.000200214257:f64, t9), 0.000100950558:f64), t9)
            t11 = Add(Mul(Add(t10, 0.00134934322:f64), t9), -0.00367342844:f64)
            t12 = Add(Mul(Add(Mul(t11, t9), 0.00573950773:f64), t9), -0.0076224613:f64)
            t13 = Add(Mul(Add(Mul(t12, t9), 0.00943887047:f64), t9), 1.00167406:f64)
            t14 = Where(Less(t3, 5.0:f64), t8, Add(Mul(t13, t9), 2.83297682:f64))
            Cast(Mul(t1, Where(Equal(t2, 0.0:f64), inf:f64, t14)), to=f32)
        aten.special_erfc.default(self: f32[12]) -> f32[12]
            t1 = Cast(self, to=f64)
            t2 = Reciprocal(Add(Mul(Abs(t1), 0.5:f64), 1.0:f64))
            t3 = Add(Mul(Add(Mul(0.17087277:f64, t2), -0.82215223:f64), t2), 1.48851587:f64)
            t4 = Add(Mul(Add(Mul(t3, t2), -1.13520398:f64), t2), 0.27886807:f64)
            t5 = Add(Mul(Add(Mul(t4, t2), -0.18628806:f64), t2), 0.09678418:f64)
            t6 = Add(Mul(Add(Mul(t5, t2), 0.37409196:f64), t2), 1.00002368:f64)
            t7 = Sub(Add(Log(t2), Add(Mul(t6, t2), -1.26551223:f64)), Mul(t1, t1))
            t8 = Exp(t7)
            Cast(Where(Less(t1, 0.0:f64), Sub(2.0:f64, t8), t8), to=f32)
        aten.special_erfcx.default(self: f32[12]) -> f32[12]
            t1 = Cast(self, to=f64)
            t2 = Reciprocal(Add(Mul(Abs(t1), 0.5:f64), 1.0:f64))
            t3 = Add(Mul(Add(Mul(0.17087277:f64, t2), -0.82215223:f64), t2), 1.48851587:f64)
            t4 = Add(Mul(Add(Mul(t3, t2), -1.13520398:f64), t2), 0.27886807:f64)
            t5 = Add(Mul(Add(Mul(t4, t2), -0.18628806:f64), t2), 0.09678418:f64)
            t6 = Add(Mul(Add(Mul(t5, t2), 0.37409196:f64), t2), 1.00002368:f64)
            t7 = Exp(Add(Log(t2), Add(Mul(t6, t2), -1.26551223:f64)))
            t8 = Where(Less(t1, 0.0:f64), Sub(Mul(Exp(Mul(t1, t1)), 2.0:f64), t7), t7)
            Cast(t8, to=f32)
        aten.special_erfinv.default(self: f32[11]) -> f32[11]
            t1 = Cast(self, to=f64)
            t2 = Mul(Sub(1.0:f64, t1), Add(1.0:f64, t1))
            t3 = Neg(Log(t2))
            t4 = Sub(t3, 2.5:f64)
            t5 = Add(Mul(Add(Mul(2.81022636e-8:f64, t4), 3.43273939e-7:f64), t4), -3.5233877e-6:f64)
            t6 = Add(Mul(Add(Mul(t5, t4), -4.39150654e-6:f64), t4), 0.00021858087:f64)
            t7 = Add(Mul(Add(Mul(t6, t4), -0.00125372503:f64), t4), -0.00417768164:f64)
            t8 = Add(Mul(Add(Mul(t7, t4), 0.246640727:f64), t4), 1.50140941:f64)
            t9 = Sub(Sqrt(t3), 3.0:f64)
            t10 = Mul(Add(Mul(-0.000200214257:f64, t9), 0.000100950558:f64), t9)
            t11 = Add(Mul(Add(t10, 0.00134934322:f64), t9), -0.00367342844:f64)
            t12 = Add(Mul(Add(Mul(t11, t9), 0.00573950773:f64), t9), -0.0076224613:f64)
            t13 = Add(Mul(Add(Mul(t12, t9), 0.00943887047:f64), t9), 1.00167406:f64)
            t14 = Where(Less(t3, 5.0:f64), t8, Add(Mul(t13, t9), 2.83297682:f64))
            Cast(Mul(t1, Where(Equal(t2, 0.0:f64), inf:f64, t14)), to=f32)
        aten.special_log_ndtr.default(self: f32[12]) -> f32[12]
            t1 = Cast(self, to=f64)
            t2 = Mul(t1, -0.7071067811865476:f64)
            t3 = Reciprocal(Add(Mul(Relu(t2), 0.5:f64), 1.0:f64))
            t4 = Add(Mul(Add(Mul(0.17087277:f64, t3), -0.82215223:f64), t3), 1.48851587:f64)
            t5 = Add(Mul(Add(Mul(t4, t3), -1.13520398:f64), t3), 0.27886807:f64)
            t6 = Add(Mul(Add(Mul(t5, t3), -0.18628806:f64), t3), 0.09678418:f64)
            t7 = Add(Mul(Add(Mul(t6, t3), 0.37409196:f64), t3), 1.00002368:f64)
            t8 = Mul(t2, t2)
            t9 = Sub(Sub(Add(Log(t3), Add(Mul(t7, t3), -1.26551223:f64)), t8), 0.6931471805599453:f64)
            t10 = Reciprocal(Add(Mul(Abs(t2), 0.5:f64), 1.0:f64))
            t11 = Add(Mul(Add(Mul(0.17087277:f64, t10), -0.82215223:f64), t10), 1.48851587:f64)
            t12 = Add(Mul(Add(Mul(t11, t10), -1.13520398:f64), t10), 0.27886807:f64)
            t13 = Add(Mul(Add(Mul(t12, t10), -0.18628806:f64), t10), 0.09678418:f64)
            t14 = Add(Mul(Add(Mul(t13, t10), 0.37409196:f64), t10), 1.00002368:f64)
            t15 = Exp(Sub(Add(Log(t10), Add(Mul(t14, t10), -1.26551223:f64)), t8))
            t16 = Mul(Where(Less(t2, 0.0:f64), Sub(2.0:f64, t15), t15), 0.5:f64)
            Cast(Where(Less(t1, -1.0:f64), t9, Log(t16)), to=f32)
        aten.special_ndtr.default(self: f32[12]) -> f32[12]
            t1 = Mul(Cast(self, to=f64), -0.7071067811865476:f64)
            t2 = Reciprocal(Add(Mul(Abs(t1), 0.5:f64), 1.0:f64))
            t3 = Add(Mul(Add(Mul(0.17087277:f64, t2), -0.82215223:f64), t2), 1.48851587:f64)
            t4 = Add(Mul(Add(Mul(t3, t2), -1.13520398:f64), t2), 0.27886807:f64)
            t5 = Add(Mul(Add(Mul(t4, t2), -0.18628806:f64), t2), 0.09678418:f64)
            t6 = Add(Mul(Add(Mul(t5, t2), 0.37409196:f64), t2), 1.00002368:f64)
            t7 = Sub(Add(Log(t2), Add(Mul(t6, t2), -1.26551223:f64)), Mul(t1, t1))
            t8 = Exp(t7)
            Cast(Mul(Where(Less(t1, 0.0:f64), Sub(2.0:f64, t8), t8), 0.5:f64), to=f32)
        ");
    }
}
