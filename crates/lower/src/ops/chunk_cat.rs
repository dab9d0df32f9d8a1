//! `_chunk_cat`: each tensor in equally many chunks, padded with zeros, and chunks of the same number side by side.

use modelexport_graph::Dim;
use modelexport_graph::shape::static_numel;

use crate::context::Context;
use crate::error::Result;
use crate::ops::support::fill::filled;
use crate::ops::support::operands::real_only;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] =
    &[Row::new("aten::_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor", lower)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let chunks = cx.int("num_chunks")?.max(1);
    let tensors = cx.tensors("tensors")?;
    let mut parts = Vec::with_capacity(tensors.len());
    let mut joined = 0;
    for (value, meta) in tensors.into_iter().zip(cx.metas("tensors")) {
        let axis = cx.axis("dim", meta.sizes.len())?;
        let (before, behind) = meta.sizes.split_at(axis as usize);
        let (Some(Dim::Static(size)), Some(inner)) = (behind.first(), static_numel(behind.get(1..).unwrap_or_default()))
        else {
            return cx.refuse("chunks axes whose sizes are known only at run time");
        };
        let mut value = cx.cast(value, dtype);
        let rest = size.rem_euclid(chunks);
        if rest != 0 {
            let mut sizes = meta.sizes.clone();
            if let Some(size) = sizes.get_mut(axis as usize) {
                *size = Dim::Static(chunks - rest);
            }
            let zeros = filled(cx, &sizes, dtype, 0, None)?;
            value = cx.concat(&[value, zeros], axis);
        }
        let width = (size + chunks - 1) / chunks * inner;
        let shape: Vec<Dim> = before.iter().cloned().chain([Dim::Static(chunks), Dim::Static(width)]).collect();
        parts.push(cx.reshape(value, &shape)?);
        joined = axis + 1;
    }
    Ok(cx.concat(&parts, joined).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten._chunk_cat.default(tensors: [f32[4, 3], f32[2, 3]], dim=0, num_chunks=2) -> f32[2, 9]
            Concat(Reshape(tensors_0, [2, 6]), tensors_1, axis=1)
        ");
    }
}
