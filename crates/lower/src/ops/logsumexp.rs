//! `logsumexp`: `ReduceLogSumExp`, which subtracts the largest element first in runtimes, as PyTorch does.

use crate::context::Context;
use crate::error::Result;
use crate::kernels::math_type;
use crate::ops::support::operands::{operand, real_only};
use crate::ops::support::reduction::reduced_axes;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.logsumexp.default", "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", lower),
    Row::new(
        "aten.special_logsumexp.default",
        "special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
        lower,
    ),
];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let x = operand(cx, "self", math_type(dtype))?;
    let (axes, keepdim) = (reduced_axes(cx)?, cx.bool("keepdim")?);
    let value = cx.reduce("ReduceLogSumExp", x, &axes, keepdim);
    Ok(cx.cast(value, dtype).into())
}
