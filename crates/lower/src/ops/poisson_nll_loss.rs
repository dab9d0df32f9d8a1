//! `poisson_nll_loss`: `exp(x) - t * x`, or `x - t * log(x + eps)`; with `full`, Stirling's term where the target is above 1.

use super::loss::reduced;
use super::support::compute::{formula_type, tensor_as};
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new(
    "aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor",
    lower,
)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let compute = formula_type(cx.out()?.dtype);
    let (x, target) = (tensor_as(cx, "input", compute)?, tensor_as(cx, "target", compute)?);
    let (rate, log) = if cx.bool("log_input")? {
        (cx.emit("Exp", &[x], vec![]), x)
    } else {
        let eps = cx.float("eps")?;
        let eps = cx.const_scalar(compute, eps);
        let above = cx.emit("Add", &[x, eps], vec![]);
        (x, cx.emit("Log", &[above], vec![]))
    };
    let expected = cx.emit("Mul", &[target, log], vec![]);
    let mut loss = cx.emit("Sub", &[rate, expected], vec![]);
    if cx.bool("full")? {
        // t * log(t) - t + log(2 * pi * t) / 2
        let [zero, half, one, circle] =
            [0.0, 0.5, 1.0, std::f64::consts::TAU].map(|number| cx.const_scalar(compute, number));
        let of_target = cx.emit("Log", &[target], vec![]);
        let product = cx.emit("Mul", &[target, of_target], vec![]);
        let around = cx.emit("Mul", &[target, circle], vec![]);
        let around = cx.emit("Log", &[around], vec![]);
        let around = cx.emit("Mul", &[around, half], vec![]);
        let term = cx.emit("Sub", &[product, target], vec![]);
        let term = cx.emit("Add", &[term, around], vec![]);
        let is_above = cx.emit("Greater", &[target, one], vec![]);
        let term = cx.emit("Where", &[is_above, term, zero], vec![]);
        loss = cx.emit("Add", &[loss, term], vec![]);
    }
    reduced(cx, loss)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.poisson_nll_loss.default(input: f32[3, 4], target: f32[3, 4], log_input=True, full=False, eps=1e-08, reduction=0) -> f32[3, 4]
            Sub(Exp(input), Mul(target, input))
        ");
    }
}
