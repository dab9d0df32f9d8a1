//! Operators that put tensors together: `Concat`, with `Unsqueeze` where a new axis is made.

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::cat(Tensor[] tensors, int dim=0) -> Tensor", cat),
    Row::new("aten::concat(Tensor[] tensors, int dim=0) -> Tensor", cat),
    Row::new("aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor", cat),
    Row::new("aten::stack(Tensor[] tensors, int dim=0) -> Tensor", stack),
    Row::new("aten::hstack(Tensor[] tensors) -> Tensor", |cx| joined_along(cx, 1)),
    Row::new("aten::vstack(Tensor[] tensors) -> Tensor", |cx| joined_along(cx, 0)),
    Row::new("aten::dstack(Tensor[] tensors) -> Tensor", |cx| joined_along(cx, 2)),
    Row::new("aten::column_stack(Tensor[] tensors) -> Tensor", column_stack),
];

/// The tensors in the type of the result. PyTorch skips old-style empty tensors (1-D without elements).
fn parts(cx: &mut Context<'_, '_>) -> Result<Vec<ValueId>> {
    let out = cx.out()?;
    let metas = cx.metas("tensors");
    let values = cx.tensors("tensors")?;
    let mut parts = Vec::with_capacity(values.len());
    for (value, meta) in values.into_iter().zip(metas) {
        let is_legacy_empty = meta.sizes.len() == 1 && out.sizes.len() != 1 && meta.sizes.iter().all(|size| size.is(0));
        if !is_legacy_empty {
            parts.push(cx.cast(value, out.dtype.real()));
        }
    }
    if parts.is_empty() {
        return cx.refuse("joins no tensor");
    }
    Ok(parts)
}

fn cat(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let parts = parts(cx)?;
    let axis = cx.axis("dim", cx.out()?.sizes.len())?;
    Ok(cx.concat(&parts, axis).into())
}

fn stack(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let axis = cx.axis("dim", cx.out()?.sizes.len())?;
    let dtype = cx.out()?.dtype.real();
    let mut parts = Vec::new();
    for value in cx.tensors("tensors")? {
        let value = cx.cast(value, dtype);
        parts.push(cx.unsqueeze(value, &[axis]));
    }
    Ok(cx.concat(&parts, axis).into())
}

/// `hstack` and its kin: tensors of too low a rank get axes first.
fn joined_along(cx: &mut Context<'_, '_>, axis: i64) -> Result<Outputs> {
    let rank = cx.out()?.sizes.len();
    let dtype = cx.out()?.dtype.real();
    let metas = cx.metas("tensors");
    let mut parts = Vec::new();
    for (value, meta) in cx.tensors("tensors")?.into_iter().zip(metas) {
        let value = cx.cast(value, dtype);
        let missing: &[i64] = match (axis, meta.sizes.len(), rank) {
            (_, have, want) if have == want => &[],
            (0, 0, _) => &[0, 1],
            (0, 1, _) => &[0],
            (1, 0, _) => &[0],
            (2, 0, _) => &[0, 1, 2],
            (2, 1, _) => &[0, 2],
            (2, 2, _) => &[2],
            _ => &[],
        };
        parts.push(cx.unsqueeze(value, missing));
    }
    let axis = if rank == 1 { 0 } else { axis };
    Ok(cx.concat(&parts, axis).into())
}

/// Vectors and numbers are columns.
fn column_stack(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype.real();
    let metas = cx.metas("tensors");
    let mut parts = Vec::new();
    for (value, meta) in cx.tensors("tensors")?.into_iter().zip(metas) {
        let value = cx.cast(value, dtype);
        parts.push(match meta.sizes.len() {
            0 => cx.unsqueeze(value, &[0, 1]),
            1 => cx.unsqueeze(value, &[1]),
            _ => value,
        });
    }
    Ok(cx.concat(&parts, 1).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS));
    }
}
