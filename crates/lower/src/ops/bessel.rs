//! Modified Bessel functions of the first kind, `i0` and `i1`, and their scaled forms `exp(-|x|) i(x)`.
//!
//! Polynomials in `(x / 3.75)²` below 3.75 and in `3.75 / |x|` above (Abramowitz and Stegun 9.8.1 to 9.8.4, relative
//! precision about 2e-7), in `float64`.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::formulas::{polynomial, test_number, with_number};
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::i0(Tensor self) -> Tensor", |cx| lower(cx, &I0, false)),
    Row::new("aten::special_i0(Tensor self) -> Tensor", |cx| lower(cx, &I0, false)),
    Row::new("aten::special_i0e(Tensor self) -> Tensor", |cx| lower(cx, &I0, true)),
    Row::new("aten::special_modified_bessel_i0(Tensor self) -> Tensor", |cx| lower(cx, &I0, false)),
    Row::new("aten::special_modified_bessel_i1(Tensor self) -> Tensor", |cx| lower(cx, &I1, false)),
    Row::new("aten::special_i1(Tensor self) -> Tensor", |cx| lower(cx, &I1, false)),
    Row::new("aten::special_i1e(Tensor self) -> Tensor", |cx| lower(cx, &I1, true)),
];

pub(super) struct Order {
    /// Coefficients for powers of `(x / 3.75)²`; an odd function is multiplied by `x`.
    near: [f64; 7],
    /// Coefficients for powers of `3.75 / |x|`.
    far: [f64; 9],
    is_odd: bool,
}

pub(super) const I0: Order = Order {
    near: [1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813],
    far: [
        0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633,
        0.00392377,
    ],
    is_odd: false,
};

pub(super) const I1: Order = Order {
    near: [0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411],
    far: [
        0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967, -0.02895312, 0.01787654,
        -0.00420059,
    ],
    is_odd: true,
};

const BORDER: f64 = 3.75;

fn lower(cx: &mut Context<'_, '_>, order: &Order, scaled: bool) -> Result<Outputs> {
    real_only(cx)?;
    let x = operand(cx, "self", DType::F64)?;
    let value = first_kind(cx, x, order, scaled);
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

/// Of numbers in `float64`.
pub(super) fn first_kind(cx: &mut Context<'_, '_>, x: ValueId, order: &Order, scaled: bool) -> ValueId {
    let magnitude = cx.emit("Abs", &[x], vec![]);
    let ratio = with_number(cx, "Div", x, BORDER);
    let square = cx.emit("Mul", &[ratio, ratio], vec![]);
    let mut near = polynomial(cx, square, &order.near);
    if order.is_odd {
        near = cx.emit("Mul", &[near, x], vec![]);
    }
    let border = cx.const_like(x, BORDER);
    let inverse = cx.emit("Div", &[border, magnitude], vec![]);
    let mut far = polynomial(cx, inverse, &order.far);
    let root = cx.emit("Sqrt", &[magnitude], vec![]);
    far = cx.emit("Div", &[far, root], vec![]);
    if order.is_odd {
        let sign = cx.emit("Sign", &[x], vec![]);
        far = cx.emit("Mul", &[far, sign], vec![]);
    }
    if scaled {
        let opposite = cx.emit("Neg", &[magnitude], vec![]);
        let decay = cx.emit("Exp", &[opposite], vec![]);
        near = cx.emit("Mul", &[near, decay], vec![]);
    } else {
        let growth = cx.emit("Exp", &[magnitude], vec![]);
        far = cx.emit("Mul", &[far, growth], vec![]);
    }
    let is_near = test_number(cx, "Less", magnitude, BORDER);
    cx.emit("Where", &[is_near, near, far], vec![])
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
