//! `logsumexp`: `ReduceLogSumExp`, which subtracts the largest element first in runtimes, as PyTorch does.

use crate::context::Context;
use crate::error::Result;
use crate::kernels::math_type;
use crate::ops::support::operands::{operand, real_only};
use crate::ops::support::reduction::reduced_axes;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", lower),
    Row::new("aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", lower),
];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let x = operand(cx, "self", math_type(dtype))?;
    let (axes, keepdim) = (reduced_axes(cx)?, cx.bool("keepdim")?);
    let value = cx.reduce("ReduceLogSumExp", x, &axes, keepdim);
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
        aten.logsumexp.default(self: f32[2, 3, 4], dim=[0]) -> f32[3, 4]
            ReduceLogSumExp(self, [0], keepdims=0)
        aten.logsumexp.default(self: f32[s0, 4], dim=[1]) -> f32[s0]
            ReduceLogSumExp(self, [1], keepdims=0)
        aten.special_logsumexp.default(self: f32[2, 3, 4], dim=[0]) -> f32[3, 4]
            ReduceLogSumExp(self, [0], keepdims=0)
        aten.special_logsumexp.default(self: f32[s0, 4], dim=[1]) -> f32[s0]
            ReduceLogSumExp(self, [1], keepdims=0)
        ");
    }
}
