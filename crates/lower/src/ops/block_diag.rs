//! `block_diag`: matrices along a diagonal, zeros beside them. A vector is a row, a number a matrix of one element.

use modelexport_graph::Dim;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::fill::filled;
use crate::ops::support::operands::real_only;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new("aten::block_diag(Tensor[] tensors) -> Tensor", lower)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let tensors = cx.tensors("tensors")?;
    let mut blocks = Vec::with_capacity(tensors.len());
    for (value, meta) in tensors.into_iter().zip(cx.metas("tensors")) {
        let missing = [0, 1].get(..2 - meta.sizes.len().min(2)).unwrap_or_default();
        let value = cx.cast(value, dtype);
        let mut sizes = vec![Dim::Static(1); missing.len()];
        sizes.extend(meta.sizes.iter().cloned());
        blocks.push((cx.unsqueeze(value, missing), sizes));
    }
    let mut rows = Vec::with_capacity(blocks.len());
    for (at, (block, sizes)) in blocks.iter().enumerate() {
        let Some(height) = sizes.first() else { continue };
        let mut parts: Vec<ValueId> = Vec::with_capacity(blocks.len());
        for (other, (_, sizes)) in blocks.iter().enumerate() {
            if other == at {
                parts.push(*block);
            } else if let Some(width) = sizes.get(1) {
                parts.push(filled(cx, &[height.clone(), width.clone()], dtype, 0, None)?);
            }
        }
        rows.push(cx.concat(&parts, 1));
    }
    match rows.is_empty() {
        true => Ok(filled(cx, &[Dim::Static(1), Dim::Static(0)], dtype, 0, None)?.into()),
        false => Ok(cx.concat(&rows, 0).into()),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.block_diag.default(tensors: [f32[2, 3], f32[1, 2]]) -> f32[3, 5]
            Concat(Concat(tensors_0, [[0.0, 0.0], [0.0, 0.0]], axis=1), Concat([[0.0, 0.0, 0.0]], tensors_1, axis=1), axis=0)
        aten.block_diag.default(tensors: [f32[s0, 3], f32[1, 2]]) -> f32[s0 + 1, 5]
            t1 = ConstantOfShape(Concat(Shape(tensors_0, start=0, end=1), [2], axis=0), value=[0.0])
            Concat(Concat(tensors_0, t1, axis=1), Concat([[0.0, 0.0, 0.0]], tensors_1, axis=1), axis=0)
        ");
    }
}
