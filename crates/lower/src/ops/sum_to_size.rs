//! `sum_to_size`: sums over the axes that broadcasting to the given tensor's sizes made.

use crate::context::Context;
use crate::error::Result;
use crate::kernels::kernel_type;
use crate::ops::support::operands::real_only;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new("aten::sum_to_size(Tensor self, SymInt[] size) -> Tensor", lower)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let out = cx.out()?;
    let sizes = &cx.meta("self")?.sizes;
    let x = cx.tensor("self")?;
    let new = sizes.len().saturating_sub(out.sizes.len());
    let made = (new..).zip(&out.sizes).filter(|(at, size)| size.is(1) && !sizes.get(*at).is_some_and(|own| own.is(1)));
    let axes: Vec<i64> = (0..new).chain(made.map(|(at, _)| at)).map(|at| at as i64).collect();
    if axes.is_empty() {
        return Ok(cx.cast(x, out.dtype).into());
    }
    let kernel = kernel_type("ReduceSum", out.dtype, cx.opset);
    let x = cx.cast(x, kernel);
    let sum = cx.reduce("ReduceSum", x, &axes, true);
    let sum = cx.squeeze(sum, &(0..new as i64).collect::<Vec<_>>());
    Ok(cx.cast(sum, out.dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.sum_to_size.default(self: f32[4, 3], size=[1, 3]) -> f32[1, 3]
            ReduceSum(self, [0], keepdims=1)
        aten.sum_to_size.default(self: f32[s0, 3], size=[3]) -> f32[3]
            Squeeze(ReduceSum(self, [0], keepdims=1), [0])
        ");
    }
}
