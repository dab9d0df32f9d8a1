//! `linear`: `Gemm` for matrices, else `MatMul` with the transposed weight and `Add`. The transpose of a weight is
//! folded into the way it is written (see `passes`).
//!
//! `Gemm` has kernels for floats only; integers take the other road.

use super::matmul::product_type;
use super::support::compute::{tensor_as, tensor_opt_as};
use super::support::fill::filled;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] =
    &[Row::new("aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", lower)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = product_type(dtype);
    let (x, weight) = (tensor_as(cx, "input", compute)?, tensor_as(cx, "weight", compute)?);
    let bias = tensor_opt_as(cx, "bias", compute)?;
    if cx.meta("weight")?.sizes.last().is_some_and(|size| size.is(0)) {
        // Where nothing is summed, the result is the bias.
        let sizes = &cx.out()?.sizes;
        let y = match bias {
            Some(bias) => cx.expand(bias, sizes)?,
            None => filled(cx, sizes, compute, 0, None)?,
        };
        return Ok(cx.cast(y, dtype).into());
    }
    let (x_rank, weight_rank) = (cx.meta("input")?.sizes.len(), cx.meta("weight")?.sizes.len());
    if x_rank == 2 && weight_rank == 2 && dtype.is_float() {
        let inputs = [Some(x), Some(weight), bias];
        let y = cx.emit_optional("Gemm", &inputs, attrs![transB = 1]);
        return Ok(cx.cast(y, dtype).into());
    }
    let weight = if weight_rank == 2 { cx.transpose(weight, &[1, 0]) } else { weight };
    let product = cx.emit("MatMul", &[x, weight], vec![]);
    let y = match bias {
        Some(bias) => cx.emit("Add", &[product, bias], vec![]),
        None => product,
    };
    Ok(cx.cast(y, dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.linear.default(input: f32[2, 3], weight: param f32[4, 3]) -> f32[2, 4]
            Gemm(input, weight, transB=1)
        aten.linear.default(input: f32[s0, s1, 3], weight: param f32[4, 3], bias: param f32[4]) -> f32[s0, s1, 4]
            Add(MatMul(input, weight.permute(1,0)), bias)
        ");
    }
}
