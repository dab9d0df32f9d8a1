//! `linear`: `Gemm` for matrices, else `MatMul` with the transposed weight and `Add`. The transpose of a weight is
//! folded into the way it is written (see `passes`).
//!
//! `Gemm` has kernels for floats only; integers take the other road.

use super::matmul::product_type;
use super::support::compute::{tensor_as, tensor_opt_as};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] =
    &[Row::new("aten.linear.default", "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", lower)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = product_type(dtype);
    let (x, weight) = (tensor_as(cx, "input", compute)?, tensor_as(cx, "weight", compute)?);
    let bias = tensor_opt_as(cx, "bias", compute)?;
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
