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
    Row::new("aten::special_modified_bessel_k0(Tensor self) -> Tensor", |cx| lower(cx, "self", &K0, false)),
    Row::new("aten::special_modified_bessel_k1(Tensor self) -> Tensor", |cx| lower(cx, "self", &K1, false)),
    Row::new("aten::special_scaled_modified_bessel_k0(Tensor x) -> Tensor", |cx| lower(cx, "x", &K0, true)),
    Row::new("aten::special_scaled_modified_bessel_k1(Tensor x) -> Tensor", |cx| lower(cx, "x", &K1, true)),
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
        assert_snapshot!(lowered(ROWS));
    }
}
