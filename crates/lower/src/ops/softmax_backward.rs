//! Gradients of `softmax` and `log_softmax`, from what they gave.

use super::support::compute::{formula_type, tensor_as};
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
        softmax,
    ),
    Row::new(
        "aten::_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
        log_softmax,
    ),
];

/// `(gradient - sum(gradient * y)) * y`.
fn softmax(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = formula_type(dtype);
    let (gradient, y) = (tensor_as(cx, "grad_output", compute)?, tensor_as(cx, "output", compute)?);
    let axis = cx.axis("dim", cx.out()?.sizes.len())?;
    let product = cx.emit("Mul", &[gradient, y], vec![]);
    let sum = if cx.out()?.sizes.is_empty() { product } else { cx.reduce("ReduceSum", product, &[axis], true) };
    let scaled = cx.emit("Mul", &[y, sum], vec![]);
    let result = cx.emit("Sub", &[product, scaled], vec![]);
    Ok(cx.cast(result, dtype).into())
}

/// `gradient - exp(y) * sum(gradient)`.
fn log_softmax(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = formula_type(dtype);
    let (gradient, y) = (tensor_as(cx, "grad_output", compute)?, tensor_as(cx, "output", compute)?);
    let axis = cx.axis("dim", cx.out()?.sizes.len())?;
    let sum = if cx.out()?.sizes.is_empty() { gradient } else { cx.reduce("ReduceSum", gradient, &[axis], true) };
    let share = cx.emit("Exp", &[y], vec![]);
    let scaled = cx.emit("Mul", &[share, sum], vec![]);
    let result = cx.emit("Sub", &[gradient, scaled], vec![]);
    Ok(cx.cast(result, dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten._softmax_backward_data.default(grad_output: f32[3, 4], output: f32[3, 4], dim=1, input_dtype=f32) -> f32[3, 4]
            t1 = Mul(grad_output, output)
            Sub(t1, Mul(output, ReduceSum(t1, [1], keepdims=1)))
        aten._log_softmax_backward_data.default(grad_output: f32[3, 4], output: f32[3, 4], dim=0, input_dtype=f32) -> f32[3, 4]
            Sub(grad_output, Mul(Exp(output), ReduceSum(grad_output, [0], keepdims=1)))
        aten._log_softmax_backward_data.default(grad_output: f32[s0, 4], output: f32[s0, 4], dim=-1, input_dtype=f32) -> f32[s0, 4]
            Sub(grad_output, Mul(Exp(output), ReduceSum(grad_output, [1], keepdims=1)))
        ");
    }
}
