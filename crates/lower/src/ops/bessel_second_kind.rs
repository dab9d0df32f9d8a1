//! Modified Bessel functions of the second kind, `k0` and `k1`, and their scaled forms `exp(x) k(x)`.
//!
//! Polynomials in `(x / 2)²` with a logarithm up to 2 and in `2 / x` above (Abramowitz and Stegun 9.8.5 to 9.8.8, relative
//! precision about 2e-7), in `float64`. Infinity at 0, NaN below.

use modelexport_graph::DType;

use super::bessel::{I0, I1, Order, first_kind};
use crate::context::Context;
use crate::error::Result;
use crate::ops::support::formulas::{polynomial, test_number, with_number};
use crate::ops::support::operands::operand;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.special_modified_bessel_k0.default", "special_modified_bessel_k0(Tensor self) -> Tensor", |cx| {
        lower(cx, "self", &K0, false)
    }),
    Row::new("aten.special_modified_bessel_k1.default", "special_modified_bessel_k1(Tensor self) -> Tensor", |cx| {
        lower(cx, "self", &K1, false)
    }),
    Row::new(
        "aten.special_scaled_modified_bessel_k0.default",
        "special_scaled_modified_bessel_k0(Tensor x) -> Tensor",
        |cx| lower(cx, "x", &K0, true),
    ),
    Row::new(
        "aten.special_scaled_modified_bessel_k1.default",
        "special_scaled_modified_bessel_k1(Tensor x) -> Tensor",
        |cx| lower(cx, "x", &K1, true),
    ),
];

struct SecondKind {
    /// The function of the first kind that the logarithm is multiplied with.
    first_kind: &'static Order,
    /// Coefficients for powers of `(x / 2)²`; divided by `x` for order 1.
    near: [f64; 7],
    /// Coefficients for powers of `2 / x`.
    far: [f64; 7],
    is_order_one: bool,
}

const K0: SecondKind = SecondKind {
    first_kind: &I0,
    near: [-0.57721566, 0.42278420, 0.23069756, 0.03488590, 0.00262698, 0.00010750, 0.00000740],
    far: [1.25331414, -0.07832358, 0.02189568, -0.01062446, 0.00587872, -0.00251540, 0.00053208],
    is_order_one: false,
};

const K1: SecondKind = SecondKind {
    first_kind: &I1,
    near: [1.0, 0.15443144, -0.67278579, -0.18156897, -0.01919402, -0.00110404, -0.00004686],
    far: [1.25331414, 0.23498619, -0.03655620, 0.01504268, -0.00780353, 0.00325614, -0.00068245],
    is_order_one: true,
};

const BORDER: f64 = 2.0;

fn lower(cx: &mut Context<'_, '_>, name: &str, kind: &SecondKind, scaled: bool) -> Result<Outputs> {
    let x = operand(cx, name, DType::F64)?;
    let half = with_number(cx, "Mul", x, 0.5);
    let square = cx.emit("Mul", &[half, half], vec![]);
    let log = cx.emit("Log", &[half], vec![]);
    let first = first_kind(cx, x, kind.first_kind, false);
    let product = cx.emit("Mul", &[log, first], vec![]);
    let rest = polynomial(cx, square, &kind.near);
    let mut near = if kind.is_order_one {
        let rest = cx.emit("Div", &[rest, x], vec![]);
        cx.emit("Add", &[product, rest], vec![])
    } else {
        cx.emit("Sub", &[rest, product], vec![])
    };
    let inverse = cx.emit("Reciprocal", &[half], vec![]);
    let far = polynomial(cx, inverse, &kind.far);
    let root = cx.emit("Sqrt", &[x], vec![]);
    let mut far = cx.emit("Div", &[far, root], vec![]);
    if scaled {
        let growth = cx.emit("Exp", &[x], vec![]);
        near = cx.emit("Mul", &[near, growth], vec![]);
    } else {
        let opposite = cx.emit("Neg", &[x], vec![]);
        let decay = cx.emit("Exp", &[opposite], vec![]);
        far = cx.emit("Mul", &[far, decay], vec![]);
    }
    let is_near = test_number(cx, "LessOrEqual", x, BORDER);
    let value = cx.emit("Where", &[is_near, near, far], vec![]);
    let is_zero = test_number(cx, "Equal", x, 0.0);
    let infinity = cx.const_scalar(DType::F64, f64::INFINITY);
    let value = cx.emit("Where", &[is_zero, infinity, value], vec![]);
    let dtype = cx.out()?.dtype;
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
        aten.special_modified_bessel_k0.default(self: f32[11]) -> f32[11]
            t1 = Cast(self, to=f64)
            t2 = Mul(t1, 0.5:f64)
            t3 = Mul(t2, t2)
            t4 = Abs(t1)
            t5 = Div(t1, 3.75:f64)
            t6 = Mul(t5, t5)
            t7 = Add(Mul(Add(Mul(0.0045813:f64, t6), 0.0360768:f64), t6), 0.2659732:f64)
            t8 = Mul(Add(Mul(Add(Mul(t7, t6), 1.2067492:f64), t6), 3.0899424:f64), t6)
            t9 = Div(3.75:f64, t4)
            t10 = Add(Mul(Add(Mul(0.00392377:f64, t9), -0.01647633:f64), t9), 0.02635537:f64)
            t11 = Add(Mul(Add(Mul(t10, t9), -0.02057706:f64), t9), 0.00916281:f64)
            t12 = Add(Mul(Add(Mul(t11, t9), -0.00157565:f64), t9), 0.00225319:f64)
            t13 = Add(Mul(Add(Mul(t12, t9), 0.01328592:f64), t9), 0.39894228:f64)
            t14 = Where(Less(t4, 3.75:f64), Add(Mul(Add(t8, 3.5156229:f64), t6), 1.0:f64), Mul(Div(t13, Sqrt(t4)), Exp(t4)))
            t15 = Add(Mul(Add(Mul(7.4e-6:f64, t3), 0.0001075:f64), t3), 0.00262698:f64)
            t16 = Add(Mul(Add(Mul(t15, t3), 0.0348859:f64), t3), 0.23069756:f64)
            t17 = Add(Mul(Add(Mul(t16, t3), 0.4227842:f64), t3), -0.57721566:f64)
            t18 = Reciprocal(t2)
            t19 = Add(Mul(Add(Mul(0.00053208:f64, t18), -0.0025154:f64), t18), 0.00587872:f64)
            t20 = Add(Mul(Add(Mul(t19, t18), -0.01062446:f64), t18), 0.02189568:f64)
            t21 = Add(Mul(Add(Mul(t20, t18), -0.07832358:f64), t18), 1.25331414:f64)
            t22 = Where(LessOrEqual(t1, 2.0:f64), Sub(t17, Mul(Log(t2), t14)), Mul(Div(t21, Sqrt(t1)), Exp(Neg(t1))))
            Cast(Where(Equal(t1, 0.0:f64), inf:f64, t22), to=f32)
        aten.special_modified_bessel_k1.default(self: f32[11]) -> f32[11]
            t1 = Cast(self, to=f64)
            t2 = Mul(t1, 0.5:f64)
            t3 = Mul(t2, t2)
            t4 = Abs(t1)
            t5 = Div(t1, 3.75:f64)
            t6 = Mul(t5, t5)
            t7 = Add(Mul(Add(Mul(0.00032411:f64, t6), 0.00301532:f64), t6), 0.02658733:f64)
            t8 = Add(Mul(Add(Mul(t7, t6), 0.15084934:f64), t6), 0.51498869:f64)
            t9 = Mul(Add(Mul(Add(Mul(t8, t6), 0.87890594:f64), t6), 0.5:f64), t1)
            t10 = Div(3.75:f64, t4)
            t11 = Add(Mul(Add(Mul(-0.00420059:f64, t10), 0.01787654:f64), t10), -0.02895312:f64)
            t12 = Add(Mul(Add(Mul(t11, t10), 0.02282967:f64), t10), -0.01031555:f64)
            t13 = Add(Mul(Add(Mul(t12, t10), 0.00163801:f64), t10), -0.00362018:f64)
            t14 = Add(Mul(Add(Mul(t13, t10), -0.03988024:f64), t10), 0.39894228:f64)
            t15 = Where(Less(t4, 3.75:f64), t9, Mul(Mul(Div(t14, Sqrt(t4)), Sign(t1)), Exp(t4)))
            t16 = Add(Mul(Add(Mul(-4.686e-5:f64, t3), -0.00110404:f64), t3), -0.01919402:f64)
            t17 = Add(Mul(Add(Mul(t16, t3), -0.18156897:f64), t3), -0.67278579:f64)
            t18 = Div(Add(Mul(Add(Mul(t17, t3), 0.15443144:f64), t3), 1.0:f64), t1)
            t19 = Reciprocal(t2)
            t20 = Add(Mul(Add(Mul(-0.00068245:f64, t19), 0.00325614:f64), t19), -0.00780353:f64)
            t21 = Add(Mul(Add(Mul(t20, t19), 0.01504268:f64), t19), -0.0365562:f64)
            t22 = Add(Mul(Add(Mul(t21, t19), 0.23498619:f64), t19), 1.25331414:f64)
            t23 = Where(LessOrEqual(t1, 2.0:f64), Add(Mul(Log(t2), t15), t18), Mul(Div(t22, Sqrt(t1)), Exp(Neg(t1))))
            Cast(Where(Equal(t1, 0.0:f64), inf:f64, t23), to=f32)
        aten.special_scaled_modified_bessel_k0.default(x: f32[11]) -> f32[11]
            t1 = Cast(x, to=f64)
            t2 = Mul(t1, 0.5:f64)
            t3 = Mul(t2, t2)
            t4 = Abs(t1)
            t5 = Div(t1, 3.75:f64)
            t6 = Mul(t5, t5)
            t7 = Add(Mul(Add(Mul(0.0045813:f64, t6), 0.0360768:f64), t6), 0.2659732:f64)
            t8 = Mul(Add(Mul(Add(Mul(t7, t6), 1.2067492:f64), t6), 3.0899424:f64), t6)
            t9 = Div(3.75:f64, t4)
            t10 = Add(Mul(Add(Mul(0.00392377:f64, t9), -0.01647633:f64), t9), 0.02635537:f64)
            t11 = Add(Mul(Add(Mul(t10, t9), -0.02057706:f64), t9), 0.00916281:f64)
            t12 = Add(Mul(Add(Mul(t11, t9), -0.00157565:f64), t9), 0.00225319:f64)
            t13 = Add(Mul(Add(Mul(t12, t9), 0.01328592:f64), t9), 0.39894228:f64)
            t14 = Where(Less(t4, 3.75:f64), Add(Mul(Add(t8, 3.5156229:f64), t6), 1.0:f64), Mul(Div(t13, Sqrt(t4)), Exp(t4)))
            t15 = Add(Mul(Add(Mul(7.4e-6:f64, t3), 0.0001075:f64), t3), 0.00262698:f64)
            t16 = Add(Mul(Add(Mul(t15, t3), 0.0348859:f64), t3), 0.23069756:f64)
            t17 = Add(Mul(Add(Mul(t16, t3), 0.4227842:f64), t3), -0.57721566:f64)
            t18 = Reciprocal(t2)
            t19 = Add(Mul(Add(Mul(0.00053208:f64, t18), -0.0025154:f64), t18), 0.00587872:f64)
            t20 = Add(Mul(Add(Mul(t19, t18), -0.01062446:f64), t18), 0.02189568:f64)
            t21 = Add(Mul(Add(Mul(t20, t18), -0.07832358:f64), t18), 1.25331414:f64)
            t22 = Where(LessOrEqual(t1, 2.0:f64), Mul(Sub(t17, Mul(Log(t2), t14)), Exp(t1)), Div(t21, Sqrt(t1)))
            Cast(Where(Equal(t1, 0.0:f64), inf:f64, t22), to=f32)
        aten.special_scaled_modified_bessel_k1.default(x: f32[11]) -> f32[11]
            t1 = Cast(x, to=f64)
            t2 = Mul(t1, 0.5:f64)
            t3 = Mul(t2, t2)
            t4 = Abs(t1)
            t5 = Div(t1, 3.75:f64)
            t6 = Mul(t5, t5)
            t7 = Add(Mul(Add(Mul(0.00032411:f64, t6), 0.00301532:f64), t6), 0.02658733:f64)
            t8 = Add(Mul(Add(Mul(t7, t6), 0.15084934:f64), t6), 0.51498869:f64)
            t9 = Mul(Add(Mul(Add(Mul(t8, t6), 0.87890594:f64), t6), 0.5:f64), t1)
            t10 = Div(3.75:f64, t4)
            t11 = Add(Mul(Add(Mul(-0.00420059:f64, t10), 0.01787654:f64), t10), -0.02895312:f64)
            t12 = Add(Mul(Add(Mul(t11, t10), 0.02282967:f64), t10), -0.01031555:f64)
            t13 = Add(Mul(Add(Mul(t12, t10), 0.00163801:f64), t10), -0.00362018:f64)
            t14 = Add(Mul(Add(Mul(t13, t10), -0.03988024:f64), t10), 0.39894228:f64)
            t15 = Where(Less(t4, 3.75:f64), t9, Mul(Mul(Div(t14, Sqrt(t4)), Sign(t1)), Exp(t4)))
            t16 = Add(Mul(Add(Mul(-4.686e-5:f64, t3), -0.00110404:f64), t3), -0.01919402:f64)
            t17 = Add(Mul(Add(Mul(t16, t3), -0.18156897:f64), t3), -0.67278579:f64)
            t18 = Div(Add(Mul(Add(Mul(t17, t3), 0.15443144:f64), t3), 1.0:f64), t1)
            t19 = Reciprocal(t2)
            t20 = Add(Mul(Add(Mul(-0.00068245:f64, t19), 0.00325614:f64), t19), -0.00780353:f64)
            t21 = Add(Mul(Add(Mul(t20, t19), 0.01504268:f64), t19), -0.0365562:f64)
            t22 = Add(Mul(Add(Mul(t21, t19), 0.23498619:f64), t19), 1.25331414:f64)
            t23 = Where(LessOrEqual(t1, 2.0:f64), Mul(Add(Mul(Log(t2), t15), t18), Exp(t1)), Div(t22, Sqrt(t1)))
            Cast(Where(Equal(t1, 0.0:f64), inf:f64, t23), to=f32)
        ");
    }
}
