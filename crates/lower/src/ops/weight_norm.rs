//! `_weight_norm`: `v * g / norm(v)`, the norm over all axes but one (`dim`), or over all (`dim=-1`).

use modelexport_graph::DType;

use super::support::compute::{formula_type, tensor_as};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::Row;

pub static ROWS: &[Row] = &[
    Row::new("aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", |cx| Ok(lower(cx)?.0.into())),
    Row::new("aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)", |cx| {
        let (weight, norm) = lower(cx)?;
        Ok([weight, norm].into())
    }),
];

/// The weight and the norm.
fn lower(cx: &mut Context<'_, '_>) -> Result<(ValueId, ValueId)> {
    let dtype = cx.out()?.dtype;
    let compute = formula_type(dtype);
    let (v, g) = (tensor_as(cx, "v", compute)?, tensor_as(cx, "g", compute)?);
    let rank = cx.meta("v")?.sizes.len() as i64;
    let kept = cx.int("dim")?;
    let axes: Vec<i64> = (0..rank).filter(|&axis| axis != kept).collect();
    let norm = cx.reduce("ReduceL2", v, &axes, true);
    let factor = cx.emit("Div", &[g, norm], vec![]);
    let weight = cx.emit("Mul", &[v, factor], vec![]);
    let norm_type = cx.out_metas().get(1).map_or(DType::F32, |meta| meta.dtype);
    Ok((cx.cast(weight, dtype), cx.cast(norm, norm_type)))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten._weight_norm.default(v: f32[4, 3, 2], g: f32[4, 1, 1]) -> f32[4, 3, 2]
            Mul(v, Div(g, ReduceL2(v, [1, 2], keepdims=1)))
        aten._weight_norm_interface.default(v: f32[4, 3, 2], g: f32[4, 1, 1]) -> (f32[4, 3, 2], f32[4, 1, 1])
            t1 = ReduceL2(v, [1, 2], keepdims=1)
            Mul(v, Div(g, t1)), t1
        ");
    }
}
