//! Orthogonal polynomials of each element: Chebyshev's, Hermite's, Laguerre's, Legendre's.
//!
//! All follow from the two before: `p[k + 1] = ((a k + b) x + c k + d) p[k] - (e k + f) p[k - 1]`, divided by `k + 1` for some.
//! A `Loop` goes up to the highest degree, and each element keeps the polynomial of its own. Below degree 0 the value is 0.

use modelexport_graph::DType;

use crate::builder::Builder;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::fill::filled;
use crate::ops::support::formulas::{test_number, with_number};
use crate::ops::support::operands::operand;
use crate::ops::support::repeat::repeat;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::special_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor", |cx| lower(cx, &T)),
    Row::new("aten::special_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor", |cx| lower(cx, &T)),
    Row::new("aten::special_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor", |cx| lower(cx, &T)),
    Row::new("aten::special_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor", |cx| lower(cx, &U)),
    Row::new("aten::special_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor", |cx| lower(cx, &U)),
    Row::new("aten::special_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor", |cx| lower(cx, &U)),
    Row::new("aten::special_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor", |cx| lower(cx, &V)),
    Row::new("aten::special_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor", |cx| lower(cx, &V)),
    Row::new("aten::special_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor", |cx| lower(cx, &V)),
    Row::new("aten::special_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor", |cx| lower(cx, &W)),
    Row::new("aten::special_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor", |cx| lower(cx, &W)),
    Row::new("aten::special_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor", |cx| lower(cx, &W)),
    Row::new("aten::special_shifted_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor", |cx| {
        lower(cx, &T.shifted())
    }),
    Row::new("aten::special_shifted_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor", |cx| {
        lower(cx, &T.shifted())
    }),
    Row::new("aten::special_shifted_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor", |cx| {
        lower(cx, &T.shifted())
    }),
    Row::new("aten::special_shifted_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor", |cx| {
        lower(cx, &U.shifted())
    }),
    Row::new("aten::special_shifted_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor", |cx| {
        lower(cx, &U.shifted())
    }),
    Row::new("aten::special_shifted_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor", |cx| {
        lower(cx, &U.shifted())
    }),
    Row::new("aten::special_shifted_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor", |cx| {
        lower(cx, &V.shifted())
    }),
    Row::new("aten::special_shifted_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor", |cx| {
        lower(cx, &V.shifted())
    }),
    Row::new("aten::special_shifted_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor", |cx| {
        lower(cx, &V.shifted())
    }),
    Row::new("aten::special_shifted_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor", |cx| {
        lower(cx, &W.shifted())
    }),
    Row::new("aten::special_shifted_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor", |cx| {
        lower(cx, &W.shifted())
    }),
    Row::new("aten::special_shifted_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor", |cx| {
        lower(cx, &W.shifted())
    }),
    Row::new("aten::special_hermite_polynomial_h(Tensor x, Tensor n) -> Tensor", |cx| lower(cx, &H)),
    Row::new("aten::special_hermite_polynomial_h.x_scalar(Scalar x, Tensor n) -> Tensor", |cx| lower(cx, &H)),
    Row::new("aten::special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n) -> Tensor", |cx| lower(cx, &H)),
    Row::new("aten::special_hermite_polynomial_he(Tensor x, Tensor n) -> Tensor", |cx| lower(cx, &HE)),
    Row::new("aten::special_hermite_polynomial_he.x_scalar(Scalar x, Tensor n) -> Tensor", |cx| lower(cx, &HE)),
    Row::new("aten::special_hermite_polynomial_he.n_scalar(Tensor x, Scalar n) -> Tensor", |cx| lower(cx, &HE)),
    Row::new("aten::special_laguerre_polynomial_l(Tensor x, Tensor n) -> Tensor", |cx| lower(cx, &L)),
    Row::new("aten::special_laguerre_polynomial_l.x_scalar(Scalar x, Tensor n) -> Tensor", |cx| lower(cx, &L)),
    Row::new("aten::special_laguerre_polynomial_l.n_scalar(Tensor x, Scalar n) -> Tensor", |cx| lower(cx, &L)),
    Row::new("aten::special_legendre_polynomial_p(Tensor x, Tensor n) -> Tensor", |cx| lower(cx, &P)),
    Row::new("aten::special_legendre_polynomial_p.x_scalar(Scalar x, Tensor n) -> Tensor", |cx| lower(cx, &P)),
    Row::new("aten::special_legendre_polynomial_p.n_scalar(Tensor x, Scalar n) -> Tensor", |cx| lower(cx, &P)),
];

/// A family by its recurrence.
#[derive(Clone, Copy)]
struct Family {
    /// `p[1]` as `[slope, offset]` of `x`.
    first: [f64; 2],
    /// The factor of `x` as `[per k, constant]`.
    of_x: [f64; 2],
    /// What is added to it, likewise.
    beside: [f64; 2],
    /// The factor of the polynomial before the last, likewise.
    of_earlier: [f64; 2],
    /// Whether each step divides by `k + 1`.
    divides: bool,
    /// Whether `2 x - 1` takes the place of `x`.
    is_shifted: bool,
}

impl Family {
    const fn chebyshev(first: [f64; 2]) -> Family {
        Family { first, of_x: [0.0, 2.0], beside: [0.0; 2], of_earlier: [0.0, 1.0], divides: false, is_shifted: false }
    }

    const fn shifted(self) -> Family {
        Family { is_shifted: true, ..self }
    }
}

const T: Family = Family::chebyshev([1.0, 0.0]);
const U: Family = Family::chebyshev([2.0, 0.0]);
const V: Family = Family::chebyshev([2.0, -1.0]);
const W: Family = Family::chebyshev([2.0, 1.0]);
const H: Family = Family { of_earlier: [2.0, 0.0], ..U };
const HE: Family = Family { of_x: [0.0, 1.0], of_earlier: [1.0, 0.0], ..T };
const P: Family = Family { of_x: [2.0, 1.0], of_earlier: [1.0, 0.0], divides: true, ..T };
const L: Family = Family {
    first: [-1.0, 1.0],
    of_x: [0.0, -1.0],
    beside: [2.0, 1.0],
    of_earlier: [1.0, 0.0],
    divides: true,
    is_shifted: false,
};

fn lower(cx: &mut Context<'_, '_>, family: &Family) -> Result<Outputs> {
    let out = cx.out()?;
    let mut x = operand(cx, "x", DType::F64)?;
    if family.is_shifted {
        x = linear(cx, x, [2.0, -1.0]);
    }
    let x = cx.expand(x, &out.sizes)?;
    let degree = operand(cx, "n", DType::I64)?;
    let degree = cx.expand(degree, &out.sizes)?;
    let one = filled(cx, &out.sizes, DType::F64, 1.0, Some(x))?;
    let first = linear(cx, x, family.first);
    let zero = cx.const_scalar(DType::F64, 0.0);
    let is_first = test_number(cx, "Equal", degree, 1);
    let is_constant = test_number(cx, "Equal", degree, 0);
    let value = cx.emit("Where", &[is_first, first, zero], vec![]);
    let value = cx.emit("Where", &[is_constant, one, value], vec![]);
    cx.set_shape(value, out.sizes.clone());
    let highest = cx.reduce("ReduceMax", degree, &[], false);
    let rounds = with_number(cx, "Sub", highest, 1);
    let rounds = with_number(cx, "Max", rounds, 0);
    let [_, _, value] = repeat(cx, rounds, [one, first, value], |body, number, [earlier, last, value]| {
        let next = step(body, family, x, number, [earlier, last]);
        let reached = with_number(body, "Add", number, 2);
        let is_own = body.emit("Equal", &[degree, reached], vec![]);
        let value = body.emit("Where", &[is_own, next, value], vec![]);
        [last, next, value]
    });
    Ok(cx.cast(value, out.dtype).into())
}

/// The polynomial after the `last` two, in the round `number`: `k` is one more.
fn step(body: &mut Builder, family: &Family, x: ValueId, number: ValueId, last: [ValueId; 2]) -> ValueId {
    let k = body.cast(number, DType::F64);
    let k = with_number(body, "Add", k, 1.0);
    let of_x = linear(body, k, family.of_x);
    let mut factor = body.emit("Mul", &[x, of_x], vec![]);
    if family.beside != [0.0; 2] {
        let beside = linear(body, k, family.beside);
        factor = body.emit("Add", &[factor, beside], vec![]);
    }
    let new = body.emit("Mul", &[factor, last[1]], vec![]);
    let of_earlier = linear(body, k, family.of_earlier);
    let earlier = body.emit("Mul", &[last[0], of_earlier], vec![]);
    let next = body.emit("Sub", &[new, earlier], vec![]);
    if !family.divides {
        return next;
    }
    let divisor = with_number(body, "Add", k, 1.0);
    body.emit("Div", &[next, divisor], vec![])
}

/// `slope * x + offset`; a slope of 0 leaves the number.
fn linear(builder: &mut Builder, x: ValueId, [slope, offset]: [f64; 2]) -> ValueId {
    if slope == 0.0 {
        return builder.const_scalar(DType::F64, offset);
    }
    let scaled = if slope == 1.0 { x } else { with_number(builder, "Mul", x, slope) };
    if offset == 0.0 { scaled } else { with_number(builder, "Add", scaled, offset) }
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
