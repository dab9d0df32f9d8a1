//! `sinc`, which is `sin(πx) / πx` and 1 at zero; `entr`, which is `-x log x` with its limits.

use std::f64::consts::PI;

use crate::context::Context;
use crate::error::Result;
use crate::kernels::math_type;
use crate::ops::support::formulas::{test_number, with_number};
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::sinc(Tensor self) -> Tensor", sinc),
    Row::new("aten::special_entr(Tensor self) -> Tensor", entropy),
    Row::new("aten::special_sinc(Tensor self) -> Tensor", sinc),
];

fn sinc(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let x = operand(cx, "self", math_type(dtype))?;
    let angle = with_number(cx, "Mul", x, PI);
    let sine = cx.emit("Sin", &[angle], vec![]);
    let ratio = cx.emit("Div", &[sine, angle], vec![]);
    let is_zero = test_number(cx, "Equal", x, 0.0);
    let one = cx.const_like(x, 1.0);
    let value = cx.emit("Where", &[is_zero, one, ratio], vec![]);
    Ok(cx.cast(value, dtype).into())
}

/// 0 at zero and minus infinity below.
fn entropy(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let x = operand(cx, "self", math_type(dtype))?;
    let log = cx.emit("Log", &[x], vec![]);
    let product = cx.emit("Mul", &[x, log], vec![]);
    let value = cx.emit("Neg", &[product], vec![]);
    let (is_zero, is_negative) = (test_number(cx, "Equal", x, 0.0), test_number(cx, "Less", x, 0.0));
    let (zero, lowest) = (cx.const_like(x, 0.0), cx.const_like(x, f64::NEG_INFINITY));
    let value = cx.emit("Where", &[is_zero, zero, value], vec![]);
    let value = cx.emit("Where", &[is_negative, lowest, value], vec![]);
    Ok(cx.cast(value, dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.sinc.default(self: f32[5]) -> f32[5]
            t1 = Mul(self, 3.1415927)
            Where(Equal(self, 0.0), 1.0, Div(Sin(t1), t1))
        aten.special_entr.default(self: f32[6]) -> f32[6]
            Where(Less(self, 0.0), -inf, Where(Equal(self, 0.0), 0.0, Neg(Mul(self, Log(self)))))
        aten.special_sinc.default(self: f32[5]) -> f32[5]
            t1 = Mul(self, 3.1415927)
            Where(Equal(self, 0.0), 1.0, Div(Sin(t1), t1))
        ");
    }
}
