//! `igamma` and `igammac`: the regularized incomplete gamma functions `P(a, x)` and `Q(a, x) = 1 - P`, in `float64`.
//!
//! Below `a + 1` the power series gives `P`, above it the continued fraction gives `Q` (Lentz' method); both run in one
//! `Loop` until no element changes.

use modelexport_graph::DType;

use super::gamma::log_gamma;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::fill::filled;
use crate::ops::support::formulas::{test_number, with_number};
use crate::ops::support::operands::operand;
use crate::ops::support::repeat::repeat_while;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.igamma.default", "igamma(Tensor self, Tensor other) -> Tensor", |cx| lower(cx, true)),
    Row::new("aten.igammac.default", "igammac(Tensor self, Tensor other) -> Tensor", |cx| lower(cx, false)),
    Row::new("aten.special_gammainc.default", "special_gammainc(Tensor self, Tensor other) -> Tensor", |cx| {
        lower(cx, true)
    }),
    Row::new("aten.special_gammaincc.default", "special_gammaincc(Tensor self, Tensor other) -> Tensor", |cx| {
        lower(cx, false)
    }),
];

/// Both methods need about six times the root of `a`.
const ROUNDS: i64 = 20_000;
/// The relative change that ends the rounds.
const PRECISION: f64 = 1e-15;
/// Stands for infinity at the start of the fraction.
const HUGE: f64 = 1e300;

fn lower(cx: &mut Context<'_, '_>, is_lower: bool) -> Result<Outputs> {
    let sizes = cx.out()?.sizes.clone();
    let (a, x) = (operand(cx, "self", DType::F64)?, operand(cx, "other", DType::F64)?);
    let (a, x) = (cx.expand(a, &sizes)?, cx.expand(x, &sizes)?);
    let border = with_number(cx, "Add", a, 1.0);
    let is_near = cx.emit("Less", &[x, border], vec![]);
    // Elements outside of what the methods are for run along with harmless numbers.
    let (zero, one) = (cx.const_scalar(DType::F64, 0.0), cx.const_scalar(DType::F64, 1.0));
    let plain = is_plain(cx, a, x);
    let order = cx.emit("Where", &[plain, a, one], vec![]);
    let point = cx.emit("Where", &[plain, x, one], vec![]);
    let low = cx.emit("Where", &[is_near, point, zero], vec![]);
    let border = with_number(cx, "Add", order, 1.0);
    let high = cx.emit("Max", &[point, border], vec![]);
    let [series, fraction] = methods(cx, order, low, high)?;

    let log = cx.emit("Log", &[point], vec![]);
    let growth = cx.emit("Mul", &[order, log], vec![]);
    let growth = cx.emit("Sub", &[growth, point], vec![]);
    let log_gamma = log_gamma(cx, order)?;
    let growth = cx.emit("Sub", &[growth, log_gamma], vec![]);
    let factor = cx.emit("Exp", &[growth], vec![]);
    let wanted = if is_lower { series } else { fraction };
    let other = if is_lower { fraction } else { series };
    let value = cx.emit("Mul", &[wanted, factor], vec![]);
    let rest = cx.emit("Mul", &[other, factor], vec![]);
    let rest = cx.emit("Sub", &[one, rest], vec![]);
    let value = match is_lower {
        true => cx.emit("Where", &[is_near, value, rest], vec![]),
        false => cx.emit("Where", &[is_near, rest, value], vec![]),
    };
    let value = borders(cx, [a, x], plain, value, is_lower);
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

/// Whether both are positive and finite.
fn is_plain(cx: &mut Context<'_, '_>, a: ValueId, x: ValueId) -> ValueId {
    let [a, x] = [a, x].map(|value| {
        let is_positive = test_number(cx, "Greater", value, 0.0);
        let is_finite = test_number(cx, "Less", value, f64::INFINITY);
        cx.emit("And", &[is_positive, is_finite], vec![])
    });
    cx.emit("And", &[a, x], vec![])
}

/// The sum of the series at `low` and the fraction at `high`, both without their common factor.
fn methods(cx: &mut Context<'_, '_>, a: ValueId, low: ValueId, high: ValueId) -> Result<[ValueId; 2]> {
    let first = cx.emit("Reciprocal", &[a], vec![]);
    let base = with_number(cx, "Add", high, 1.0);
    let base = cx.emit("Sub", &[base, a], vec![]);
    let sizes = cx.out()?.sizes.clone();
    let under = cx.emit("Reciprocal", &[base], vec![]);
    let over = filled(cx, &sizes, DType::F64, HUGE, Some(low))?;
    for value in [first, base, under] {
        cx.set_shape(value, sizes.clone());
    }
    let rounds = cx.const_int(ROUNDS);
    let initial = [first, first, over, under, under];
    let [_, sum, _, _, fraction] = repeat_while(cx, Some(rounds), initial, |body, number, states| {
        let [term, sum, over, under, fraction] = states;
        let number = body.cast(number, DType::F64);
        let number = with_number(body, "Add", number, 1.0);
        let divisor = body.emit("Add", &[a, number], vec![]);
        let ratio = body.emit("Div", &[low, divisor], vec![]);
        let term = body.emit("Mul", &[term, ratio], vec![]);
        let sum = body.emit("Add", &[sum, term], vec![]);

        let lead = body.emit("Sub", &[a, number], vec![]);
        let numerator = body.emit("Mul", &[lead, number], vec![]);
        let twice = with_number(body, "Mul", number, 2.0);
        let denominator = body.emit("Add", &[base, twice], vec![]);
        let under = body.emit("Mul", &[numerator, under], vec![]);
        let under = body.emit("Add", &[under, denominator], vec![]);
        let under = body.emit("Reciprocal", &[under], vec![]);
        let over = body.emit("Div", &[numerator, over], vec![]);
        let over = body.emit("Add", &[over, denominator], vec![]);
        let change = body.emit("Mul", &[over, under], vec![]);
        let fraction = body.emit("Mul", &[fraction, change], vec![]);

        let least = with_number(body, "Mul", sum, PRECISION);
        let grows = body.emit("Greater", &[term, least], vec![]);
        let change = with_number(body, "Sub", change, 1.0);
        let change = body.emit("Abs", &[change], vec![]);
        let moves = test_number(body, "Greater", change, PRECISION);
        let is_open = body.emit("Or", &[grows, moves], vec![]);
        let open = body.cast(is_open, DType::I64);
        let count = body.reduce("ReduceSum", open, &[], false);
        let goes_on = test_number(body, "Greater", count, 0);
        (goes_on, [term, sum, over, under, fraction])
    });
    Ok([sum, fraction])
}

/// What is left at 0, at infinity and below 0.
fn borders(cx: &mut Context<'_, '_>, [a, x]: [ValueId; 2], plain: ValueId, value: ValueId, is_lower: bool) -> ValueId {
    let (none, all) = if is_lower { (0.0, 1.0) } else { (1.0, 0.0) };
    let [none, all, nan] = [none, all, f64::NAN].map(|number| cx.const_scalar(DType::F64, number));
    // Nothing lies below 0 or under an infinite order; everything lies below infinity or over order 0.
    let [a_zero, x_zero] = [a, x].map(|value| test_number(cx, "Equal", value, 0.0));
    let [a_infinite, x_infinite] = [a, x].map(|value| test_number(cx, "Equal", value, f64::INFINITY));
    let x_positive = test_number(cx, "Greater", x, 0.0);
    let over_zero = cx.emit("And", &[a_zero, x_positive], vec![]);
    let is_none = cx.emit("Or", &[x_zero, a_infinite], vec![]);
    let is_all = cx.emit("Or", &[over_zero, x_infinite], vec![]);
    let either = cx.emit("Where", &[is_none, none, nan], vec![]);
    let either = cx.emit("Where", &[is_all, all, either], vec![]);
    let a_undefined = cx.emit("Xor", &[a_zero, over_zero], vec![]);
    let is_both = cx.emit("And", &[is_none, is_all], vec![]);
    let is_both = cx.emit("Or", &[is_both, a_undefined], vec![]);
    let [a_negative, x_negative] = [a, x].map(|value| test_number(cx, "Less", value, 0.0));
    let is_negative = cx.emit("Or", &[a_negative, x_negative], vec![]);
    let is_undefined = cx.emit("Or", &[is_both, is_negative], vec![]);
    let either = cx.emit("Where", &[is_undefined, nan, either], vec![]);
    cx.emit("Where", &[plain, value, either], vec![])
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.igamma.default(self: f32[5], other: f32[5]) -> f32[5]
            t1 = Cast(self, to=f64)
            t2 = Cast(other, to=f64)
            t3 = Less(t2, Add(t1, 1.0:f64))
            t4 = Greater(t2, 0.0:f64)
            t5 = And(And(Greater(t1, 0.0:f64), Less(t1, inf:f64)), And(t4, Less(t2, inf:f64)))
            t6 = Where(t5, t1, 1.0:f64)
            t7 = Where(t5, t2, 1.0:f64)
            t8 = Reciprocal(t6)
            t9 = Sub(Add(Max(t7, Add(t6, 1.0:f64)), 1.0:f64), t6)
            t10 = Reciprocal(t9)
            _, t26, _, _, t27 = Loop(20000, None, t8, t8, [1e300, 1e300, 1e300, 1e300, 1e300]:f64, t10, t10, body=(t11, _, t12, t13, t14, t15, t16) {
                t17 = Add(Cast(t11, to=f64), 1.0:f64)
                t18 = Mul(t12, Div(Where(t3, t7, 0.0:f64), Add(t6, t17)))
                t19 = Add(t13, t18)
                t20 = Mul(Sub(t6, t17), t17)
                t21 = Add(t9, Mul(t17, 2.0:f64))
                t22 = Reciprocal(Add(Mul(t20, t15), t21))
                t23 = Add(Div(t20, t14), t21)
                t24 = Mul(t23, t22)
                t25 = Or(Greater(t18, Mul(t19, 1e-15:f64)), Greater(Abs(Sub(t24, 1.0:f64)), 1e-15:f64))
                Greater(ReduceSum(Cast(t25, to=i64), keepdims=0), 0), t18, t19, t23, t22, Mul(t16, t24)
            })
            t28 = Less(t6, 0.5:f64)
            t29 = Where(t28, Sub(1.0:f64, t6), t6)
            t30 = Add(Unsqueeze(t29, [-1]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]:f64)
            t31 = Div([676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905, -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7]:f64, t30)
            t32 = Add(ReduceSum(t31, [-1], keepdims=0), 0.9999999999998099:f64)
            t33 = Add(t29, 6.5:f64)
            t34 = Add(Add(Sub(Mul(Sub(t29, 0.5:f64), Log(t33)), t33), Log(t32)), 0.9189385332046727:f64)
            t35 = Div(3.141592653589793:f64, Sin(Mul(Sub(t6, Floor(t6)), 3.141592653589793:f64)))
            t36 = Where(Equal(Abs(t6), inf:f64), inf:f64, Where(t28, Sub(Log(t35), t34), t34))
            t37 = Exp(Sub(Sub(Mul(t6, Log(t7)), t7), t36))
            t38 = Equal(t1, 0.0:f64)
            t39 = And(t38, t4)
            t40 = Or(Equal(t2, 0.0:f64), Equal(t1, inf:f64))
            t41 = Or(t39, Equal(t2, inf:f64))
            t42 = Or(Or(And(t40, t41), Xor(t38, t39)), Or(Less(t1, 0.0:f64), Less(t2, 0.0:f64)))
            t43 = Where(t42, NaN:f64, Where(t41, 1.0:f64, Where(t40, 0.0:f64, NaN:f64)))
            t44 = Where(t5, Where(t3, Mul(t26, t37), Sub(1.0:f64, Mul(t27, t37))), t43)
            Cast(t44, to=f32)
        aten.igamma.default(self: f32[s0], other: f32[s0]) -> f32[s0]
            t1 = Cast(self, to=f64)
            t2 = Cast(other, to=f64)
            t3 = Less(t2, Add(t1, 1.0:f64))
            t4 = Greater(t2, 0.0:f64)
            t5 = And(And(Greater(t1, 0.0:f64), Less(t1, inf:f64)), And(t4, Less(t2, inf:f64)))
            t6 = Where(t5, t1, 1.0:f64)
            t7 = Where(t5, t2, 1.0:f64)
            t8 = Where(t3, t7, 0.0:f64)
            t9 = Reciprocal(t6)
            t10 = Sub(Add(Max(t7, Add(t6, 1.0:f64)), 1.0:f64), t6)
            t11 = Reciprocal(t10)
            _, t27, _, _, t28 = Loop(20000, None, t9, t9, ConstantOfShape(Shape(t8), value=[1e300]:f64), t11, t11, body=(t12, _, t13, t14, t15, t16, t17) {
                t18 = Add(Cast(t12, to=f64), 1.0:f64)
                t19 = Mul(t13, Div(t8, Add(t6, t18)))
                t20 = Add(t14, t19)
                t21 = Mul(Sub(t6, t18), t18)
                t22 = Add(t10, Mul(t18, 2.0:f64))
                t23 = Reciprocal(Add(Mul(t21, t16), t22))
                t24 = Add(Div(t21, t15), t22)
                t25 = Mul(t24, t23)
                t26 = Or(Greater(t19, Mul(t20, 1e-15:f64)), Greater(Abs(Sub(t25, 1.0:f64)), 1e-15:f64))
                Greater(ReduceSum(Cast(t26, to=i64), keepdims=0), 0), t19, t20, t24, t23, Mul(t17, t25)
            })
            t29 = Less(t6, 0.5:f64)
            t30 = Where(t29, Sub(1.0:f64, t6), t6)
            t31 = Add(Unsqueeze(t30, [-1]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]:f64)
            t32 = Div([676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905, -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7]:f64, t31)
            t33 = Add(ReduceSum(t32, [-1], keepdims=0), 0.9999999999998099:f64)
            t34 = Add(t30, 6.5:f64)
            t35 = Add(Add(Sub(Mul(Sub(t30, 0.5:f64), Log(t34)), t34), Log(t33)), 0.9189385332046727:f64)
            t36 = Div(3.141592653589793:f64, Sin(Mul(Sub(t6, Floor(t6)), 3.141592653589793:f64)))
            t37 = Where(Equal(Abs(t6), inf:f64), inf:f64, Where(t29, Sub(Log(t36), t35), t35))
            t38 = Exp(Sub(Sub(Mul(t6, Log(t7)), t7), t37))
            t39 = Equal(t1, 0.0:f64)
            t40 = And(t39, t4)
            t41 = Or(Equal(t2, 0.0:f64), Equal(t1, inf:f64))
            t42 = Or(t40, Equal(t2, inf:f64))
            t43 = Or(Or(And(t41, t42), Xor(t39, t40)), Or(Less(t1, 0.0:f64), Less(t2, 0.0:f64)))
            t44 = Where(t43, NaN:f64, Where(t42, 1.0:f64, Where(t41, 0.0:f64, NaN:f64)))
            t45 = Where(t5, Where(t3, Mul(t27, t38), Sub(1.0:f64, Mul(t28, t38))), t44)
            Cast(t45, to=f32)
        aten.igammac.default(self: f32[5], other: f32[5]) -> f32[5]
            t1 = Cast(self, to=f64)
            t2 = Cast(other, to=f64)
            t3 = Less(t2, Add(t1, 1.0:f64))
            t4 = Greater(t2, 0.0:f64)
            t5 = And(And(Greater(t1, 0.0:f64), Less(t1, inf:f64)), And(t4, Less(t2, inf:f64)))
            t6 = Where(t5, t1, 1.0:f64)
            t7 = Where(t5, t2, 1.0:f64)
            t8 = Reciprocal(t6)
            t9 = Sub(Add(Max(t7, Add(t6, 1.0:f64)), 1.0:f64), t6)
            t10 = Reciprocal(t9)
            _, t26, _, _, t27 = Loop(20000, None, t8, t8, [1e300, 1e300, 1e300, 1e300, 1e300]:f64, t10, t10, body=(t11, _, t12, t13, t14, t15, t16) {
                t17 = Add(Cast(t11, to=f64), 1.0:f64)
                t18 = Mul(t12, Div(Where(t3, t7, 0.0:f64), Add(t6, t17)))
                t19 = Add(t13, t18)
                t20 = Mul(Sub(t6, t17), t17)
                t21 = Add(t9, Mul(t17, 2.0:f64))
                t22 = Reciprocal(Add(Mul(t20, t15), t21))
                t23 = Add(Div(t20, t14), t21)
                t24 = Mul(t23, t22)
                t25 = Or(Greater(t18, Mul(t19, 1e-15:f64)), Greater(Abs(Sub(t24, 1.0:f64)), 1e-15:f64))
                Greater(ReduceSum(Cast(t25, to=i64), keepdims=0), 0), t18, t19, t23, t22, Mul(t16, t24)
            })
            t28 = Less(t6, 0.5:f64)
            t29 = Where(t28, Sub(1.0:f64, t6), t6)
            t30 = Add(Unsqueeze(t29, [-1]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]:f64)
            t31 = Div([676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905, -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7]:f64, t30)
            t32 = Add(ReduceSum(t31, [-1], keepdims=0), 0.9999999999998099:f64)
            t33 = Add(t29, 6.5:f64)
            t34 = Add(Add(Sub(Mul(Sub(t29, 0.5:f64), Log(t33)), t33), Log(t32)), 0.9189385332046727:f64)
            t35 = Div(3.141592653589793:f64, Sin(Mul(Sub(t6, Floor(t6)), 3.141592653589793:f64)))
            t36 = Where(Equal(Abs(t6), inf:f64), inf:f64, Where(t28, Sub(Log(t35), t34), t34))
            t37 = Exp(Sub(Sub(Mul(t6, Log(t7)), t7), t36))
            t38 = Equal(t1, 0.0:f64)
            t39 = And(t38, t4)
            t40 = Or(Equal(t2, 0.0:f64), Equal(t1, inf:f64))
            t41 = Or(t39, Equal(t2, inf:f64))
            t42 = Or(Or(And(t40, t41), Xor(t38, t39)), Or(Less(t1, 0.0:f64), Less(t2, 0.0:f64)))
            t43 = Where(t42, NaN:f64, Where(t41, 0.0:f64, Where(t40, 1.0:f64, NaN:f64)))
            t44 = Where(t5, Where(t3, Sub(1.0:f64, Mul(t26, t37)), Mul(t27, t37)), t43)
            Cast(t44, to=f32)
        aten.igammac.default(self: f32[s0], other: f32[s0]) -> f32[s0]
            t1 = Cast(self, to=f64)
            t2 = Cast(other, to=f64)
            t3 = Less(t2, Add(t1, 1.0:f64))
            t4 = Greater(t2, 0.0:f64)
            t5 = And(And(Greater(t1, 0.0:f64), Less(t1, inf:f64)), And(t4, Less(t2, inf:f64)))
            t6 = Where(t5, t1, 1.0:f64)
            t7 = Where(t5, t2, 1.0:f64)
            t8 = Where(t3, t7, 0.0:f64)
            t9 = Reciprocal(t6)
            t10 = Sub(Add(Max(t7, Add(t6, 1.0:f64)), 1.0:f64), t6)
            t11 = Reciprocal(t10)
            _, t27, _, _, t28 = Loop(20000, None, t9, t9, ConstantOfShape(Shape(t8), value=[1e300]:f64), t11, t11, body=(t12, _, t13, t14, t15, t16, t17) {
                t18 = Add(Cast(t12, to=f64), 1.0:f64)
                t19 = Mul(t13, Div(t8, Add(t6, t18)))
                t20 = Add(t14, t19)
                t21 = Mul(Sub(t6, t18), t18)
                t22 = Add(t10, Mul(t18, 2.0:f64))
                t23 = Reciprocal(Add(Mul(t21, t16), t22))
                t24 = Add(Div(t21, t15), t22)
                t25 = Mul(t24, t23)
                t26 = Or(Greater(t19, Mul(t20, 1e-15:f64)), Greater(Abs(Sub(t25, 1.0:f64)), 1e-15:f64))
                Greater(ReduceSum(Cast(t26, to=i64), keepdims=0), 0), t19, t20, t24, t23, Mul(t17, t25)
            })
            t29 = Less(t6, 0.5:f64)
            t30 = Where(t29, Sub(1.0:f64, t6), t6)
            t31 = Add(Unsqueeze(t30, [-1]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]:f64)
            t32 = Div([676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905, -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7]:f64, t31)
            t33 = Add(ReduceSum(t32, [-1], keepdims=0), 0.9999999999998099:f64)
            t34 = Add(t30, 6.5:f64)
            t35 = Add(Add(Sub(Mul(Sub(t30, 0.5:f64), Log(t34)), t34), Log(t33)), 0.9189385332046727:f64)
            t36 = Div(3.141592653589793:f64, Sin(Mul(Sub(t6, Floor(t6)), 3.141592653589793:f64)))
            t37 = Where(Equal(Abs(t6), inf:f64), inf:f64, Where(t29, Sub(Log(t36), t35), t35))
            t38 = Exp(Sub(Sub(Mul(t6, Log(t7)), t7), t37))
            t39 = Equal(t1, 0.0:f64)
            t40 = And(t39, t4)
            t41 = Or(Equal(t2, 0.0:f64), Equal(t1, inf:f64))
            t42 = Or(t40, Equal(t2, inf:f64))
            t43 = Or(Or(And(t41, t42), Xor(t39, t40)), Or(Less(t1, 0.0:f64), Less(t2, 0.0:f64)))
            t44 = Where(t43, NaN:f64, Where(t42, 0.0:f64, Where(t41, 1.0:f64, NaN:f64)))
            t45 = Where(t5, Where(t3, Sub(1.0:f64, Mul(t27, t38)), Mul(t28, t38)), t44)
            Cast(t45, to=f32)
        aten.special_gammainc.default(self: f32[5], other: f32[5]) -> f32[5]
            t1 = Cast(self, to=f64)
            t2 = Cast(other, to=f64)
            t3 = Less(t2, Add(t1, 1.0:f64))
            t4 = Greater(t2, 0.0:f64)
            t5 = And(And(Greater(t1, 0.0:f64), Less(t1, inf:f64)), And(t4, Less(t2, inf:f64)))
            t6 = Where(t5, t1, 1.0:f64)
            t7 = Where(t5, t2, 1.0:f64)
            t8 = Reciprocal(t6)
            t9 = Sub(Add(Max(t7, Add(t6, 1.0:f64)), 1.0:f64), t6)
            t10 = Reciprocal(t9)
            _, t26, _, _, t27 = Loop(20000, None, t8, t8, [1e300, 1e300, 1e300, 1e300, 1e300]:f64, t10, t10, body=(t11, _, t12, t13, t14, t15, t16) {
                t17 = Add(Cast(t11, to=f64), 1.0:f64)
                t18 = Mul(t12, Div(Where(t3, t7, 0.0:f64), Add(t6, t17)))
                t19 = Add(t13, t18)
                t20 = Mul(Sub(t6, t17), t17)
                t21 = Add(t9, Mul(t17, 2.0:f64))
                t22 = Reciprocal(Add(Mul(t20, t15), t21))
                t23 = Add(Div(t20, t14), t21)
                t24 = Mul(t23, t22)
                t25 = Or(Greater(t18, Mul(t19, 1e-15:f64)), Greater(Abs(Sub(t24, 1.0:f64)), 1e-15:f64))
                Greater(ReduceSum(Cast(t25, to=i64), keepdims=0), 0), t18, t19, t23, t22, Mul(t16, t24)
            })
            t28 = Less(t6, 0.5:f64)
            t29 = Where(t28, Sub(1.0:f64, t6), t6)
            t30 = Add(Unsqueeze(t29, [-1]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]:f64)
            t31 = Div([676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905, -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7]:f64, t30)
            t32 = Add(ReduceSum(t31, [-1], keepdims=0), 0.9999999999998099:f64)
            t33 = Add(t29, 6.5:f64)
            t34 = Add(Add(Sub(Mul(Sub(t29, 0.5:f64), Log(t33)), t33), Log(t32)), 0.9189385332046727:f64)
            t35 = Div(3.141592653589793:f64, Sin(Mul(Sub(t6, Floor(t6)), 3.141592653589793:f64)))
            t36 = Where(Equal(Abs(t6), inf:f64), inf:f64, Where(t28, Sub(Log(t35), t34), t34))
            t37 = Exp(Sub(Sub(Mul(t6, Log(t7)), t7), t36))
            t38 = Equal(t1, 0.0:f64)
            t39 = And(t38, t4)
            t40 = Or(Equal(t2, 0.0:f64), Equal(t1, inf:f64))
            t41 = Or(t39, Equal(t2, inf:f64))
            t42 = Or(Or(And(t40, t41), Xor(t38, t39)), Or(Less(t1, 0.0:f64), Less(t2, 0.0:f64)))
            t43 = Where(t42, NaN:f64, Where(t41, 1.0:f64, Where(t40, 0.0:f64, NaN:f64)))
            t44 = Where(t5, Where(t3, Mul(t26, t37), Sub(1.0:f64, Mul(t27, t37))), t43)
            Cast(t44, to=f32)
        aten.special_gammaincc.default(self: f32[5], other: f32[5]) -> f32[5]
            t1 = Cast(self, to=f64)
            t2 = Cast(other, to=f64)
            t3 = Less(t2, Add(t1, 1.0:f64))
            t4 = Greater(t2, 0.0:f64)
            t5 = And(And(Greater(t1, 0.0:f64), Less(t1, inf:f64)), And(t4, Less(t2, inf:f64)))
            t6 = Where(t5, t1, 1.0:f64)
            t7 = Where(t5, t2, 1.0:f64)
            t8 = Reciprocal(t6)
            t9 = Sub(Add(Max(t7, Add(t6, 1.0:f64)), 1.0:f64), t6)
            t10 = Reciprocal(t9)
            _, t26, _, _, t27 = Loop(20000, None, t8, t8, [1e300, 1e300, 1e300, 1e300, 1e300]:f64, t10, t10, body=(t11, _, t12, t13, t14, t15, t16) {
                t17 = Add(Cast(t11, to=f64), 1.0:f64)
                t18 = Mul(t12, Div(Where(t3, t7, 0.0:f64), Add(t6, t17)))
                t19 = Add(t13, t18)
                t20 = Mul(Sub(t6, t17), t17)
                t21 = Add(t9, Mul(t17, 2.0:f64))
                t22 = Reciprocal(Add(Mul(t20, t15), t21))
                t23 = Add(Div(t20, t14), t21)
                t24 = Mul(t23, t22)
                t25 = Or(Greater(t18, Mul(t19, 1e-15:f64)), Greater(Abs(Sub(t24, 1.0:f64)), 1e-15:f64))
                Greater(ReduceSum(Cast(t25, to=i64), keepdims=0), 0), t18, t19, t23, t22, Mul(t16, t24)
            })
            t28 = Less(t6, 0.5:f64)
            t29 = Where(t28, Sub(1.0:f64, t6), t6)
            t30 = Add(Unsqueeze(t29, [-1]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]:f64)
            t31 = Div([676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905, -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7]:f64, t30)
            t32 = Add(ReduceSum(t31, [-1], keepdims=0), 0.9999999999998099:f64)
            t33 = Add(t29, 6.5:f64)
            t34 = Add(Add(Sub(Mul(Sub(t29, 0.5:f64), Log(t33)), t33), Log(t32)), 0.9189385332046727:f64)
            t35 = Div(3.141592653589793:f64, Sin(Mul(Sub(t6, Floor(t6)), 3.141592653589793:f64)))
            t36 = Where(Equal(Abs(t6), inf:f64), inf:f64, Where(t28, Sub(Log(t35), t34), t34))
            t37 = Exp(Sub(Sub(Mul(t6, Log(t7)), t7), t36))
            t38 = Equal(t1, 0.0:f64)
            t39 = And(t38, t4)
            t40 = Or(Equal(t2, 0.0:f64), Equal(t1, inf:f64))
            t41 = Or(t39, Equal(t2, inf:f64))
            t42 = Or(Or(And(t40, t41), Xor(t38, t39)), Or(Less(t1, 0.0:f64), Less(t2, 0.0:f64)))
            t43 = Where(t42, NaN:f64, Where(t41, 0.0:f64, Where(t40, 1.0:f64, NaN:f64)))
            t44 = Where(t5, Where(t3, Sub(1.0:f64, Mul(t26, t37)), Mul(t27, t37)), t43)
            Cast(t44, to=f32)
        ");
    }
}
