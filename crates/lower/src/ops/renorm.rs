//! `renorm`: each slice along an axis whose norm is above a bound is scaled down to it.

use super::distance::norm;
use super::support::compute::{formula_type, tensor_as};
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] =
    &[Row::new("aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", lower)];

/// What PyTorch adds to a norm before it divides by it.
const EPSILON: f64 = 1e-7;

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = formula_type(dtype);
    let rank = cx.meta("self")?.sizes.len();
    let axis = cx.axis("dim", rank)?;
    let (p, bound) = (cx.scalar_arg("p")?.number(), cx.scalar_arg("maxnorm")?.number());
    let (Some(p), Some(bound)) = (p, bound) else { return cx.refuse("has a norm that is computed in the graph") };
    let x = tensor_as(cx, "self", compute)?;
    let axes: Vec<i64> = (0..rank as i64).filter(|&other| other != axis).collect();
    let norm = norm(cx, x, p.as_f64(), &axes, true);
    let [bound, epsilon, one] = [bound.as_f64(), EPSILON, 1.0].map(|number| cx.const_scalar(compute, number));
    let is_above = cx.emit("Greater", &[norm, bound], vec![]);
    let divisor = cx.emit("Add", &[norm, epsilon], vec![]);
    let factor = cx.emit("Div", &[bound, divisor], vec![]);
    let factor = cx.emit("Where", &[is_above, factor, one], vec![]);
    let y = cx.emit("Mul", &[x, factor], vec![]);
    Ok(cx.cast(y, dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.renorm.default(self: f32[4, 3, 2], p=1, dim=1, maxnorm=1.5) -> f32[4, 3, 2]
            t1 = ReduceL1(self, [0, 2], keepdims=1)
            Mul(self, Where(Greater(t1, 1.5), Div(1.5, Add(t1, 1e-7)), 1.0))
        aten.renorm.default(self: f32[s0, 3], p=2, dim=0, maxnorm=1) -> f32[s0, 3]
            t1 = ReduceL2(self, [1], keepdims=1)
            Mul(self, Where(Greater(t1, 1.0), Div(1.0, Add(t1, 1e-7)), 1.0))
        ");
    }
}
