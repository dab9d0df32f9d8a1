//! `linear`: `Gemm` for matrices, else `MatMul` with the transposed weight and `Add`. The transpose of a weight is
//! folded into the way it is written (see `passes`).

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] =
    &[Row::new("aten.linear.default", "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", lower)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, weight, bias) = (cx.tensor("input")?, cx.tensor("weight")?, cx.tensor_opt("bias")?);
    let (x_rank, weight_rank) = (cx.meta("input")?.sizes.len(), cx.meta("weight")?.sizes.len());
    if x_rank == 2 && weight_rank == 2 {
        let inputs = [Some(x), Some(weight), bias];
        return Ok(cx.emit_optional("Gemm", &inputs, attrs![transB = 1]).into());
    }
    let weight = if weight_rank == 2 { cx.transpose(weight, &[1, 0]) } else { weight };
    let product = cx.emit("MatMul", &[x, weight], vec![]);
    Ok(match bias {
        Some(bias) => cx.emit("Add", &[product, bias], vec![]),
        None => product,
    }
    .into())
}
